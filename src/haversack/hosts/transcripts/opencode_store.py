"""Transcripts of opencode: one SQLite file with the sessions, messages and parts of messages of all projects."""

from collections.abc import Iterator
from typing import Any

from haversack.hosts.transcripts.items import Item, arguments, at, moment, short, whole
from haversack.store.sqlite.foreign import rows


def items(path: str, last: int = 0) -> Iterator[Item]:
    """The items of every session, one session after the other; there is no reading its end alone."""
    messages = _by(path, "message", "session_id")
    parts = _by(path, "part", "message_id")
    for session in sorted(rows(path, "session"), key=lambda row: moment(row.get("time_created"))):
        if session.get("parent_id"):
            continue  # a sub-agent's
        yield Item(
            "session", moment(session.get("time_created")), str(session["id"]), str(session.get("directory") or "")
        )
        for message in messages.get(str(session["id"]), ()):
            yield from _of_message(message, parts.get(str(message["id"]), []))


def _of_message(message: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[Item]:
    held, when = message["data"], moment(message.get("time_created"))
    is_summary = bool(held.get("summary")) and held.get("role") == "assistant"
    kind: Any = "prompt" if held.get("role") == "user" else "summary" if is_summary else "answer"
    texts = []
    for part in parts:
        data = part["data"]
        if data.get("type") == "text" and isinstance(data.get("text"), str) and not data.get("synthetic"):
            texts.append(data["text"])
        elif data.get("type") == "tool":
            given = at(data, "state", "input")
            output = at(data, "state", "output") or at(data, "state", "error")
            yield Item(
                "tool", when, tool=str(data.get("tool")), tool_input=arguments(given or {}),
                tool_output=short(output) if isinstance(output, str) else "",
            )  # fmt: skip
    if texts:
        yield Item(kind, when, "\n".join(texts))
    tokens = held.get("tokens")
    if isinstance(tokens, dict) and tokens.get("input"):
        context = whole(tokens["input"]) + whole(at(tokens, "cache", "read")) + whole(at(tokens, "cache", "write"))
        output = whole(tokens.get("output")) + whole(tokens.get("reasoning"))
        yield Item("usage", when, context=context, spent=context + output)


def _by(path: str, table: str, column: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a table by the value of a column, in the order they were made, with their JSON read."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in rows(path, table):
        data = arguments(row.get("data"))
        grouped.setdefault(str(row.get(column)), []).append({**row, "data": data})
    for each in grouped.values():
        each.sort(key=lambda row: (moment(row.get("time_created")), str(row.get("id"))))
    return grouped
