"""Transcripts of Copilot CLI: a file of events for each session."""

from collections.abc import Iterator
from typing import Any

from haversack.hosts.transcripts.items import Item, arguments, at, finished, lines, moment, text_of, whole


def items(path: str, last: int = 0) -> Iterator[Item]:
    """The items of a session."""
    pending: dict[str, Item] = {}
    for line in lines(path, last):
        held, when = line.get("data"), moment(line.get("timestamp"))
        if not isinstance(held, dict):
            continue
        kind = line.get("type")
        if kind == "session.start":
            directory = at(held, "context", "cwd")
            yield Item("session", when, str(held.get("sessionId")), directory if isinstance(directory, str) else "")
        elif kind == "tool.execution_start":
            called = Item(
                "tool", when, tool=str(held.get("toolName")), tool_input=arguments(held.get("arguments") or {})
            )
            pending[str(held.get("toolCallId"))] = called
        else:
            yield from _of_event(str(kind), held, when, pending)
    yield from pending.values()


def _of_event(kind: str, held: dict[str, Any], when: int, pending: dict[str, Item]) -> Iterator[Item]:
    if kind == "user.message":
        yield Item("prompt", when, text_of(held.get("content")))
    elif kind == "assistant.message" and (text := text_of(held.get("content"))):
        yield Item("answer", when, text)
    elif kind == "session.compaction_complete" and (text := text_of(held.get("summaryContent"))):
        yield Item("summary", when, text)
    elif kind == "session.usage_record":
        usage = at(held, "usage")
        context = whole(at(usage, "inputTokens"))
        yield Item("usage", when, context=context, spent=context + whole(at(usage, "outputTokens")))
    elif kind == "tool.execution_complete":
        yield from finished(pending, held.get("toolCallId"), when, text_of(at(held, "result", "content")))
