"""claude-mem: one SQLite file with sessions, observations, summaries and prompts."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from haversack.memory.importers.values import kind, text, time, titled, words

PLACES = ("~/.claude-mem/claude-mem.db",)
_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def records(path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    """Its sessions, observations, summaries and prompts; recorded tool output is not imported."""
    from haversack.store.sqlite.foreign import rows

    sessions: dict[str, str] = {}
    projects: dict[str, str] = {}
    for row in rows(path, "sdk_sessions"):
        own = text(row.get("content_session_id") or row.get("claude_session_id"))
        sessions[_session(row)] = own
        projects[own] = text(row.get("project"))
        yield {
            "type": "session", "id": own, "project": projects[own], "namespace": "", "directory": "",
            "started_at": time(row.get("started_at_epoch")) or 0, "ended_at": time(row.get("completed_at_epoch")),
            "summary": "",
        }  # fmt: skip
    for row in rows(path, "observations"):
        content = "\n\n".join(
            part
            for part in (
                text(row.get("subtitle")), text(row.get("narrative") or row.get("text")),
                "\n".join(f"- {each}" for each in words(row.get("facts"))),
                _named("Files read", row.get("files_read")), _named("Files changed", row.get("files_modified")),
            )
            if part.strip()
        )  # fmt: skip
        made = titled(text(row.get("title")), content)
        yield _observation(row, "observation", sessions) | made | {
            "kind": kind(row.get("type")), "tags": words(row.get("concepts")),
        }  # fmt: skip
    for row in rows(path, "session_summaries", optional=True):
        told = [(name.replace("_", " ").capitalize(), text(row.get(name))) for name in _PARTS]
        content = "\n\n".join(f"{name}: {part}" for name, part in told if part.strip())
        made = titled(text(row.get("request")) or "Session summary", content)
        yield _observation(row, "summary", sessions) | made | {"kind": "session_summary"}
    for row in rows(path, "user_prompts", optional=True):
        own = text(row.get("content_session_id") or row.get("claude_session_id"))
        yield {
            "type": "prompt", "id": row["id"], "session_id": own, "project": projects.get(own, ""), "namespace": "",
            "content": text(row.get("prompt_text")), "created_at": time(row.get("created_at_epoch")) or 0,
        }  # fmt: skip
    for table in ("pending_messages", "observation_queue", "tool_uses"):
        left["tool calls"] += sum(1 for _ in rows(path, table, optional=True))


def _session(row: dict[str, object]) -> str:
    return text(row.get("memory_session_id") or row.get("sdk_session_id"))


def _observation(row: dict[str, object], what: str, sessions: dict[str, str]) -> dict[str, Any]:
    when = time(row.get("created_at_epoch"))
    project = row.get("merged_into_project") or row.get("project")
    return {
        "uid": f"claude-mem:{what}/{_session(row)}/{row['id']}/{when}", "project": text(project),
        "session_id": sessions.get(_session(row)) or _session(row), "created_at": when, "updated_at": when,
    }  # fmt: skip


def _named(name: str, value: object) -> str:
    files = words(value)
    return f"{name}: {', '.join(files)}" if files else ""
