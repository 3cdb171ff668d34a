"""Transcripts of Gemini CLI: JSON Lines in which a message may be written again, or one JSON document in older ones."""

import json
import os
from collections.abc import Iterator
from typing import Any

from haversack.errors import InvalidArgument
from haversack.hosts.transcripts.items import Item, at, lines, moment, name_of, short, text_of, whole


def items(path: str, last: int = 0) -> Iterator[Item]:
    """The items of a session."""
    head, messages = _document(path) if path.endswith(".json") else _lines(path, last)
    if not messages:
        return
    started = moment(head.get("startTime")) or moment(messages[0].get("timestamp"))
    yield Item("session", started, str(head.get("sessionId") or name_of(path)), _directory(path))
    for message in messages:
        when, text = moment(message.get("timestamp")), text_of(message.get("content"))
        if message.get("type") == "user":
            if text and not text.startswith("<session_context>"):
                yield Item("prompt", when, text)
            continue
        for called in message.get("toolCalls") or ():
            if isinstance(called, dict):
                given = called.get("args")
                yield Item(
                    "tool", when, tool=str(called.get("name")), tool_input=given if isinstance(given, dict) else {},
                    tool_output=short(_output(called)),
                )  # fmt: skip
        if text and message.get("type") == "gemini":
            yield Item("answer", when, text)
        tokens = message.get("tokens")
        if isinstance(tokens, dict):
            yield Item("usage", when, context=whole(tokens.get("input")), spent=whole(tokens.get("total")))


def _lines(path: str, last: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    head: dict[str, Any] = {}
    messages: dict[str, dict[str, Any]] = {}
    for line in lines(path, last):
        if "sessionId" in line and not head:
            head = line
        changed = at(line, "$set", "messages")
        for each in [line, *(changed if isinstance(changed, list) else ())]:
            if isinstance(each, dict) and "type" in each and "id" in each:
                messages[str(each["id"])] = each  # the last writing of a message is the whole of it
    return head, list(messages.values())


def _document(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    try:
        with open(path, encoding="utf-8") as file:
            held = json.load(file)
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        return {}, []
    found = at(held, "messages")
    messages = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return held if isinstance(held, dict) else {}, messages


def _directory(path: str) -> str:
    """The project's folder, which stands in a file beside the folder of the transcripts."""
    beside = os.path.join(os.path.dirname(os.path.dirname(path)), ".project_root")
    try:
        with open(beside, encoding="utf-8") as file:
            return file.read(4_000).strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _output(called: dict[str, Any]) -> str:
    results = called.get("result")
    told = [at(each, "functionResponse", "response", "output") for each in results or () if isinstance(each, dict)]
    return "\n".join(each for each in told if isinstance(each, str))
