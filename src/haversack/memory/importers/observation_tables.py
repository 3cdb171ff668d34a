"""The tables that Engram has and Hoofy took over: sessions, observations and user_prompts."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from haversack.memory.importers.values import kind, text, time, titled, words


def records(source: str, path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    """Sessions, then their observations and prompts; deleted rows are not imported."""
    from haversack.store.sqlite.foreign import rows

    for row in rows(path, "sessions"):
        yield {
            "type": "session", "id": text(row["id"]), "project": text(row.get("project")), "namespace": "",
            "directory": text(row.get("directory")), "started_at": time(row.get("started_at")) or 0,
            "ended_at": time(row.get("ended_at")), "summary": text(row.get("summary")),
        }  # fmt: skip
    for row in rows(path, "observations"):
        if row.get("deleted_at"):
            left["deleted there"] += 1
            continue
        own = text(row.get("sync_id")) or f"{row.get('session_id')}/{row['id']}/{row.get('created_at')}"
        yield {
            "uid": f"{source}:{own}", **titled(text(row.get("title")), text(row.get("content"))),
            "kind": kind(row.get("type")), "project": text(row.get("project")),
            "scope": "personal" if row.get("scope") == "personal" else "project",
            "topic_key": text(row.get("topic_key")), "tags": words(row.get("tags")),
            "session_id": text(row.get("session_id")), "tool_name": text(row.get("tool_name")),
            "created_at": time(row.get("created_at")), "updated_at": time(row.get("updated_at")),
        }  # fmt: skip
    for row in rows(path, "user_prompts", optional=True):
        yield {
            "type": "prompt", "id": row["id"], "session_id": text(row.get("session_id")),
            "project": text(row.get("project")), "namespace": "", "content": text(row.get("content")),
            "created_at": time(row.get("created_at")) or 0,
        }  # fmt: skip
    for table in ("relations", "memory_relations"):
        left["relations"] += sum(1 for _ in rows(path, table, optional=True))
