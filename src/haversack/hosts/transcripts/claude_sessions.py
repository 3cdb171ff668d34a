"""Transcripts of Claude Code: a file of JSON Lines for each session; what its sub-agents did is left out."""

from collections.abc import Iterator
from typing import Any

from haversack.hosts.transcripts.items import Item, at, finished, lines, moment, name_of, text_of, whole


def items(path: str, last: int = 0) -> Iterator[Item]:
    """The items of a session."""
    named = False
    pending: dict[str, Item] = {}
    counted: set[str] = set()
    for line in lines(path, last):
        if line.get("type") not in ("user", "assistant") or line.get("isSidechain") or line.get("isMeta"):
            continue
        when = moment(line.get("timestamp"))
        if not named:
            named = True
            directory = line.get("cwd")
            session = str(line.get("sessionId") or name_of(path))
            yield Item("session", when, session, directory if isinstance(directory, str) else "")
        content = at(line, "message", "content")
        if line["type"] == "user":
            yield from _of_user(line, content, when, pending)
        else:
            yield from _of_assistant(line, content, when, pending, counted)
    yield from pending.values()


def _of_user(line: dict[str, Any], content: Any, when: int, pending: dict[str, Item]) -> Iterator[Item]:
    parts = content if isinstance(content, list) else []
    results = [part for part in parts if at(part, "type") == "tool_result"]
    for part in results:
        yield from finished(pending, part.get("tool_use_id"), when, text_of(part.get("content")))
    if results:
        return
    if text := text_of(content):
        yield Item("summary" if line.get("isCompactSummary") else "prompt", when, text)


def _of_assistant(
    line: dict[str, Any], content: Any, when: int, pending: dict[str, Item], counted: set[str]
) -> Iterator[Item]:
    for part in content if isinstance(content, list) else []:
        if at(part, "type") == "tool_use":
            given = part.get("input")
            called = Item("tool", when, tool=str(part.get("name")), tool_input=given if isinstance(given, dict) else {})
            pending[str(part.get("id"))] = called
    if text := text_of(content):
        yield Item("answer", when, text)
    usage = at(line, "message", "usage")
    # A message of several parts is several lines, each with the usage of all of it.
    message = f"{at(line, 'message', 'id')}/{line.get('requestRef') or line.get('requestId') or ''}"
    if isinstance(usage, dict) and message not in counted:
        counted.add(message)
        held = sum(
            whole(usage.get(name))
            for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        )
        yield Item("usage", when, context=held, spent=held + whole(usage.get("output_tokens")))
