"""The input of a hook, read into one class whatever the host calls its fields."""

import re
from collections.abc import Mapping
from typing import Any

from haversack.hosts.host import COMMON_TAGS, Event, Host
from haversack.patterns import pattern
from haversack.values import record

LONGEST_PROMPT = 20_000
"""Characters of a prompt that are kept; what people paste may be longer than any memory should be."""
INJECTED, STARTED, SUMMARISED = "injected", "started", "summarised"
"""Events of a session that hooks note for themselves: a memory was given, the start was, a host's summary was kept."""
_LONGEST_NAME = 120
_NAME = pattern(r"[^\w.:@-]+")
_EMPTY_LINES = pattern(r"\n{3,}")


@record
class Payload:
    """One event of a host's session."""

    event: Event
    session_id: str
    directory: str
    source: str = ""
    prompt: str = ""
    last_message: str = ""
    summary: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    tool_output: str = ""
    reason: str = ""
    usage: Mapping[str, int] = {}
    transcript: str = ""


def read(host: Host, event: Event, sent: Mapping[str, Any]) -> Payload:
    """The payload of an event; what is missing or of another type than expected is empty."""
    tool_input = _first(sent, "tool_input", "toolArgs", "toolInput")
    return Payload(
        event=event,
        session_id=_session_id(host, sent),
        directory=_directory(sent),
        source=_text(sent, "source", "trigger"),
        prompt=clean_prompt(host, _text(sent, "prompt", "initialPrompt", "user_prompt")),
        last_message=_text(sent, "last_assistant_message", "prompt_response", "lastAssistantMessage"),
        summary=_text(sent, "compact_summary", "summary"),
        tool=_text(sent, "tool_name", "toolName"),
        tool_input=_mapping(tool_input),
        tool_output=_output(_first(sent, "tool_response", "toolResult", "tool_output")),
        reason=_text(sent, "reason", "stopReason"),
        usage=_usage(sent),
        transcript=_text(sent, "transcript_path", "transcriptPath"),
    )


def clean_prompt(host: Host, prompt: str) -> str:
    """The prompt a person typed, without text that the host or this program added, cut to LONGEST_PROMPT."""
    for tag in (*COMMON_TAGS, *host.strips):
        while f"<{tag}" in prompt:
            shorter = re.sub(rf"<{tag}\b[^>]*>.*?(?:</{tag}>|\Z)", "", prompt, count=1, flags=re.DOTALL)
            if shorter == prompt:
                break
            prompt = shorter
    prompt = _EMPTY_LINES.sub("\n\n", prompt).strip()
    if len(prompt) > LONGEST_PROMPT:
        prompt = f"{prompt[:LONGEST_PROMPT].rstrip()}\n… ({len(prompt) - LONGEST_PROMPT:,} characters more)"
    return prompt.encode("utf-8", "replace").decode()


def _session_id(host: Host, sent: Mapping[str, Any]) -> str:
    return session_name(host, _text(sent, "session_id", "sessionId", "conversation_id", "thread_id"))


def session_name(host: Host, given: str) -> str:
    """The session id made from the host's own id, with safe characters only; empty for an empty one."""
    cleaned = _NAME.sub("-", given)[:_LONGEST_NAME].strip("-")
    return f"{host.name}-{cleaned}" if cleaned else ""


def _directory(sent: Mapping[str, Any]) -> str:
    if given := _text(sent, "cwd", "directory"):
        return given
    roots = sent.get("workspace_roots")
    return roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""


def _first(sent: Mapping[str, Any], *names: str) -> Any:
    return next((sent[name] for name in names if sent.get(name)), None)


def _text(sent: Mapping[str, Any], *names: str) -> str:
    found = _first(sent, *names)
    return found if isinstance(found, str) else ""


def _mapping(found: Any) -> Mapping[str, Any]:
    if isinstance(found, str) and found.startswith("{"):
        import json

        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            return {}
    return found if isinstance(found, dict) else {}


def _output(found: Any) -> str:
    """The text of a tool's result, which hosts wrap in different ways."""
    if isinstance(found, str):
        return found
    if isinstance(found, dict):
        parts = (found.get(name) for name in ("stdout", "stderr", "output", "llmContent", "textResultForLlm"))
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


def _usage(sent: Mapping[str, Any]) -> Mapping[str, int]:
    found = _first(sent, "token_usage", "usage")
    figures = dict(found) if isinstance(found, dict) else {}
    if "context_tokens" in sent:
        figures["input_tokens"] = sent["context_tokens"]
    return {name: value for name, value in figures.items() if isinstance(value, int) and not isinstance(value, bool)}
