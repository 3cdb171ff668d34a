"""Transcripts of Codex: a file of JSON Lines, a "rollout", for each session."""

from collections.abc import Iterator
from typing import Any

from haversack.hosts.transcripts.items import Item, arguments, at, finished, lines, moment, name_of, text_of, whole


def items(path: str, last: int = 0) -> Iterator[Item]:
    """The items of a session."""
    pending: dict[str, Item] = {}
    named = has_events = False
    unsure: list[Item] = []
    for line in lines(path, last):
        payload = line.get("payload")
        if not isinstance(payload, dict):
            continue
        kind, when = line.get("type"), moment(line.get("timestamp"))
        if not named:
            named = True
            session = str(payload.get("id") or payload.get("session_id") or name_of(path))
            directory = payload.get("cwd")
            yield Item("session", when, session, directory if isinstance(directory, str) else "")
        if kind == "event_msg":
            for item in _of_event(payload, when):
                has_events = has_events or item.kind == "prompt"
                yield item
        elif kind == "compacted":
            yield Item("summary", when, _summary(text_of(payload.get("message"))))
        elif kind == "response_item" and payload.get("role") == "user":
            # These hold what Codex itself adds too; they count only where no event tells what a person typed.
            unsure.append(Item("prompt", when, text_of(payload.get("content"))))
        elif kind == "response_item":
            yield from _of_response(payload, when, pending)
    yield from pending.values()
    if not has_events:
        yield from unsure


def _summary(message: str) -> str:
    """The summary a model wrote, without the sentence Codex puts before it for the next one."""
    introduction, _, summary = message.partition(":\n")
    return summary if introduction.startswith("Another language model") and summary.strip() else message


def _of_event(payload: dict[str, Any], when: int) -> Iterator[Item]:
    kind, item = payload.get("type"), payload.get("item")
    if kind == "user_message":
        yield Item("prompt", when, text_of(payload.get("message")))
    elif kind == "item_completed" and at(item, "type") == "UserMessage":
        yield Item("prompt", when, text_of(at(item, "content")))
    elif kind == "token_count":
        last = at(payload, "info", "last_token_usage")
        if isinstance(last, dict):
            yield Item("usage", when, context=whole(last.get("input_tokens")), spent=whole(last.get("total_tokens")))


def _of_response(payload: dict[str, Any], when: int, pending: dict[str, Item]) -> Iterator[Item]:
    kind = payload.get("type")
    if kind == "message" and payload.get("role") == "assistant":
        yield Item("answer", when, text_of(payload.get("content")))
    elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
        given = payload.get("arguments") or payload.get("input") or at(payload, "action")
        called = Item("tool", when, tool=str(payload.get("name") or "shell"), tool_input=arguments(given))
        pending[str(payload.get("call_id"))] = called
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output = payload.get("output")
        told = text_of(output) or text_of(at(output, "content")) or text_of(at(output, "output"))
        yield from finished(pending, payload.get("call_id"), when, told)
