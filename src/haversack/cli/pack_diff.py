"""`pack diff`: two packs, by id or as files, and what changed between them."""

import json
import os
from typing import Any

from haversack import terminal
from haversack.app import open_caller
from haversack.errors import InvalidArgument
from haversack.packs.comparison import Difference, Entry, compare_packs, compare_texts


def compare(before: str, after: str, *, as_json: bool) -> int:
    """Print what changed from one pack to the other."""
    found = _difference(before, after)
    terminal.show(_as_json(found) if as_json else _as_text(found))
    return 0


def _difference(before: str, after: str) -> Difference:
    first, second = (_saved_pack(name) if os.path.exists(name) else None for name in (before, after))
    if first is not None and second is not None:
        held = _memories(before, first), _memories(after, second)
        titles = {each: str(facts.get("title", "")) for memories in held for each, facts in memories.items()}
        return compare_texts(*held, titles)
    # A file beside an id stands for the pack whose id it carries: only so are the two of one kind.
    identifiers = (
        before if first is None else _pack_id(before, first),
        after if second is None else _pack_id(after, second),
    )
    caller = open_caller()
    try:
        return compare_packs(caller.memory, *identifiers)
    finally:
        caller.app.close()


def _saved_pack(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"{path} is not a pack: {error}", hint="write one with `haversack context-pack --json -o FILE`"
        ) from None
    if not isinstance(content, dict) or not isinstance(content.get("memories"), list):
        raise InvalidArgument(
            f"{path} holds no memories", hint="write a pack with `haversack context-pack --json -o FILE`"
        )
    return content


def _memories(path: str, pack: dict[str, Any]) -> dict[int, dict[str, Any]]:
    try:
        return {int(each["id"]): each for each in pack["memories"]}
    except (KeyError, TypeError, ValueError):
        raise InvalidArgument(
            f"{path} holds a memory without an id", hint="packs are written by context-pack"
        ) from None


def _pack_id(path: str, pack: dict[str, Any]) -> str:
    found = pack.get("pack_id")
    if not isinstance(found, str):
        raise InvalidArgument(f"{path} carries no pack_id", hint="compare it with another file")
    return found


def _as_json(found: Difference) -> str:
    def listed(entries: tuple[Entry, ...]) -> list[dict[str, object]]:
        return [{"id": each.id, "title": each.title} for each in entries]

    facts = {
        "added": listed(found.added),
        "removed": listed(found.removed),
        "changed": listed(found.changed),
        "unchanged": found.unchanged,
    }
    return json.dumps(facts, ensure_ascii=False)


def _as_text(found: Difference) -> str:
    signs = (("+", found.added), ("-", found.removed), ("~", found.changed))
    lines = [f"{sign} #{each.id} {each.title}".rstrip() for sign, entries in signs for each in entries]
    total = (
        f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed,"
        f" {found.unchanged} unchanged"
    )
    return "\n".join([*lines, total])
