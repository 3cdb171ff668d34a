"""Shabka: one SQLite file with memories and relations."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from haversack.memory.importers.values import kind, text, time, titled, words
from haversack.memory.save.checks import STATUSES

PLACES = ()


def records(path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    """Its memories; sessions, vectors and relations are not imported."""
    from haversack.store.sqlite.foreign import rows

    for row in rows(path, "memories"):
        status = text(row.get("status"))
        importance = row.get("importance")
        yield {
            "uid": f"shabka:{row['id']}", **titled(text(row.get("title")), text(row.get("content"))),
            "kind": kind(row.get("kind")), "tags": words(row.get("tags")), "project": text(row.get("project_id")),
            "importance": importance if isinstance(importance, float) else 0.5,
            "status": status if status in STATUSES else "active", "session_id": text(row.get("session_id")),
            "created_at": time(row.get("created_at")), "updated_at": time(row.get("updated_at")),
        }  # fmt: skip
    left["relations"] += sum(1 for _ in rows(path, "relations", optional=True))
