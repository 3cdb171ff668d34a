"""Content for a server to show: calls made before the examination, from a file or made up."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from haversack.errors import InvalidArgument, NotFound, ToolFailed
from haversack.fitcheck.arguments import Inventor, budget_parameter
from haversack.protocol.client import Refused, StdioClient
from haversack.values import record

SAVES = 60
_TEXTS = ("content", "text", "body", "note", "value", "observation", "description", "memory", "message", "summary")
_WORDS = (
    "gateway", "port", "token", "cache", "retry", "deploy", "index", "session", "queue", "latency", "数据库", "ключ",
    "🚀", "the", "because", "we", "chose", "was", "slow", "then",
)  # fmt: skip


@record
class Prepared:
    """How many calls were made beforehand, how many of them the server refused, and why the last one."""

    calls: int = 0
    refused: int = 0
    reason: str = ""


def read_calls(path: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls in a file with one `{"tool": ..., "arguments": {...}}` on each line."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{path} cannot be read: {error}", hint="name a file of JSON lines in UTF-8") from None
    calls = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            call = json.loads(line)
        except ValueError:
            call = None
        if not isinstance(call, dict) or not isinstance(call.get("tool"), str) or call.keys() - {"tool", "arguments"}:
            call = {"arguments": None}
        if not isinstance(arguments := call.get("arguments", {}), dict):
            raise InvalidArgument(
                f"line {number} of {path} is not a call", hint='write {"tool": "NAME", "arguments": {...}} on each line'
            )
        calls.append((call["tool"], arguments))
    return calls


def prepare(client: StdioClient, calls: list[tuple[str, dict[str, Any]]], inventor: Inventor) -> Prepared:
    """Make calls one after another; later calls use the words and ids of their replies."""
    refused, reason = 0, ""
    for tool, arguments in calls:
        try:
            answer = client.call(tool, arguments)
        except Refused as error:
            refused, reason = refused + 1, error.message
            continue
        if answer.is_error:
            refused, reason = refused + 1, answer.text[:200]
        for value in arguments.values():
            if isinstance(value, str):
                inventor.learn(value)
        inventor.learn(answer.text)
    return Prepared(len(calls), refused, reason)


def fill(client: StdioClient, tool: Mapping[str, Any], inventor: Inventor, random: Random) -> Prepared:
    """Save made-up texts through a tool; it is an error if the tool accepts none."""
    calls = [(tool["name"], made_up(tool, inventor, random, number)) for number in range(1, SAVES + 1)]
    done = prepare(client, calls, inventor)
    if done.refused == done.calls:
        raise ToolFailed(
            f"{tool['name']} refused everything made up for it: {done.reason}",
            hint="write calls that it takes into a file, for --prepare",
        )
    return done


def made_up(tool: Mapping[str, Any], inventor: Inventor, random: Random, number: int) -> dict[str, Any]:
    """Arguments for a save: another text in each parameter for content, else in every required text."""
    schema = tool.get("inputSchema") or {}
    properties, required = schema.get("properties") or {}, schema.get("required") or ()
    free = [
        name
        for name, described in properties.items()
        if described.get("type") == "string" and not described.get("enum")
    ]
    texts = [name for name in free if name.lower() in _TEXTS]
    made = {name: value for name, value in inventor.arguments(tool, budget_parameter(tool)).items() if name in required}
    for name in texts or [name for name in free if name in required]:
        made[name] = " ".join(random.choices(_WORDS, k=random.choice((10, 60, 300)))) + f" {number}"
    if "title" in free:
        made["title"] = f"{' '.join(random.choices(_WORDS, k=4))} {number}"
    return made
