"""`compare_packs`: two packs, by id or as files, and what changed between them."""

import json
import os
from collections.abc import Iterator
from typing import Annotated, Any

from haversack.app import Caller
from haversack.errors import InvalidArgument
from haversack.packs.comparison import Difference, Entry, compare_texts
from haversack.packs.comparison import compare_packs as compare_kept
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Block, Facts, Outcome, Result

WRITE_ONE = "write one with `haversack context-pack --json -o FILE`"


@tool(
    Command(
        "pack diff",
        ("before", "after"),
        heading="packs and budget",
        examples=(
            "haversack pack diff p038467120952 p720184463301",
            "haversack pack diff monday.json friday.json --json",
        ),
    ),
    group="upkeep",
    terminal_only=True,
)
def compare_packs(
    caller: Caller,
    *,
    before: Annotated[str, "A pack_id, or a file written by context-pack --json"],
    after: Annotated[str, "The same, of the later pack"],
) -> Outcome:
    """Say what changed between two packs: the memories added, removed and changed."""
    found = _difference(caller, before, after)
    total = (
        f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed,"
        f" {found.unchanged} unchanged"
    )
    blocks = list(_blocks(found))
    counts = {name: len(entries) for name, entries in (("added", found.added), ("removed", found.removed))}
    return Result(
        blocks=blocks,
        noun="memories",
        total=len(blocks),
        heading=total,
        empty=total,
        items_name="changes",
        facts={**counts, "changed": len(found.changed), "unchanged": found.unchanged},
        brief=total,
    )


def _blocks(found: Difference) -> Iterator[Block]:
    for sign, change, entries in (
        ("+", "added", found.added),
        ("-", "removed", found.removed),
        ("~", "changed", found.changed),
    ):
        for entry in entries:
            yield _block(sign, change, entry)


def _block(sign: str, change: str, entry: Entry) -> Block:
    def facts(level: str) -> Facts:
        return {"change": change, "id": entry.id, "title": entry.title}

    title = " ".join(entry.title.split())
    return Block(f"{sign}#{entry.id}", lambda level: f"{sign} #{entry.id} {title}".rstrip(), facts)


def _difference(caller: Caller, before: str, after: str) -> Difference:
    first, second = (_saved_pack(caller, name) for name in (before, after))
    if first is not None and second is not None:
        memories = _memories(before, first), _memories(after, second)
        titles = {each: str(facts.get("title", "")) for pack in memories for each, facts in pack.items()}
        return compare_texts(*memories, titles)
    # A file beside an id stands for the pack whose id it carries: only so are the two of one kind.
    return compare_kept(
        caller.memory,
        before if first is None else _pack_id(before, first),
        after if second is None else _pack_id(after, second),
    )


def _saved_pack(caller: Caller, name: str) -> dict[str, Any] | None:
    """The pack in a file; None where there is no such file."""
    path = os.path.join(caller.directory, os.path.expanduser(name))
    if not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"{name} is not a pack: {error}", hint=WRITE_ONE) from None
    if not isinstance(content, dict) or not isinstance(content.get("memories"), list):
        raise InvalidArgument(f"{name} holds no memories", hint=WRITE_ONE)
    return content


def _memories(name: str, pack: dict[str, Any]) -> dict[int, dict[str, Any]]:
    try:
        return {int(each["id"]): each for each in pack["memories"]}
    except (KeyError, TypeError, ValueError):
        raise InvalidArgument(f"{name} holds a memory without an id", hint=WRITE_ONE) from None


def _pack_id(name: str, pack: dict[str, Any]) -> str:
    found = pack.get("pack_id")
    if not isinstance(found, str):
        raise InvalidArgument(f"{name} carries no pack_id", hint="compare it with another file")
    return found
