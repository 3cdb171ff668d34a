"""Mem0: the history of its memories in SQLite, or its memories as a JSON document."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from haversack.errors import InvalidArgument
from haversack.memory.importers.values import text, time, titled, words

PLACES = ("~/.mem0/history.db",)


def records(path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    """An observation for each memory, as it was after its last change."""
    return _exported(path) if path.endswith(".json") else _history(path, left)


def _history(path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    from haversack.store.sqlite.foreign import rows

    last: dict[str, dict[str, object]] = {}
    for row in rows(path, "history"):
        key = text(row.get("memory_id"))
        first = text(last.get(key, row).get("created_at") or row.get("created_at"))
        last[key] = {**row, "created_at": first}
    for key, row in last.items():
        if row.get("is_deleted") or text(row.get("event")).upper() == "DELETE":
            left["deleted there"] += 1
            continue
        yield _record(key, text(row.get("new_memory")), row.get("created_at"), row.get("updated_at"))


def _exported(path: str) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise InvalidArgument(f"{path} is not JSON ({error})") from None
    found = document.get("results", document.get("memories")) if isinstance(document, dict) else document
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InvalidArgument(f"{path} holds no list of memories", hint="export them with get_all()")
    for each in found:
        made = _record(text(each.get("id")), text(each.get("memory")), each.get("created_at"), each.get("updated_at"))
        yield made | {"tags": words(each.get("categories") or [])}


def _record(key: str, content: str, created: object, updated: object) -> dict[str, Any]:
    made, changed = time(created), time(updated)
    return {
        "uid": f"mem0:{key}", **titled("", content), "kind": "fact", "created_at": made, "updated_at": changed or made,
    }  # fmt: skip
