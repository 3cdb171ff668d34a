"""The reference memory server of MCP: JSON Lines of entities and relations."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from haversack.errors import InvalidArgument
from haversack.memory.importers.values import kind, text, titled
from haversack.memory.save.checks import RELATION_TYPES
from haversack.memory.transfer.plain_records import uid

PLACES = ()


def records(path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    """An observation for each entity, dated as the file is, and the relations between them."""
    changed = int(os.path.getmtime(path) * 1_000_000)
    relations = []
    names = set()
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                is_relation = row["type"] == "relation"
                name = "" if is_relation else text(row["name"])
            except (ValueError, KeyError, TypeError):
                raise InvalidArgument(f"line {number} of {path} is no entity and no relation") from None
            if is_relation:
                relations.append(row)
                continue
            names.add(name)
            told = "\n".join(f"- {each}" for each in row.get("observations") or [])
            yield {
                "uid": _origin(name), **titled(name, told), "kind": kind(row.get("entityType")),
                "created_at": changed, "updated_at": changed,
            }  # fmt: skip
    seen = set()
    for row in relations:
        if row.get("from") not in names or row.get("to") not in names:
            left["relations of entities that are not there"] += 1
            continue
        word = text(row.get("relationType"))
        is_known = word in RELATION_TYPES
        link = (row["from"], row["to"], word if is_known else "relates_to")
        if link in seen:
            left["further relations between the same two"] += 1
            continue
        seen.add(link)
        yield {
            "type": "relation", "id": 1, "from_uid": uid(_origin(row["from"])), "to_uid": uid(_origin(row["to"])),
            "relation_type": link[2], "note": "" if is_known else word, "strength": 1.0,
            "created_at": changed,
        }  # fmt: skip


def _origin(name: str) -> str:
    return f"server-memory:{name}"
