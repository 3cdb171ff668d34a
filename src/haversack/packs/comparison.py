"""The difference of two packs: the memories that were added, removed and changed."""

from collections.abc import Mapping

from haversack.memory.room import Memory
from haversack.packs.candidates import items_of_pack
from haversack.store import observations
from haversack.values import record


@record
class Entry:
    """A memory in one of the packs; the title is empty when the memory was erased."""

    id: int
    title: str


@record
class Difference:
    """The memories that differ between two packs, by id."""

    added: tuple[Entry, ...]
    removed: tuple[Entry, ...]
    changed: tuple[Entry, ...]
    unchanged: int


def compare_texts(before: Mapping[int, object], after: Mapping[int, object], titles: Mapping[int, str]) -> Difference:
    """The difference of two packs given as id -> anything that is equal for equal texts."""

    def entries(identifiers: set[int]) -> tuple[Entry, ...]:
        return tuple(Entry(each, titles.get(each, "")) for each in sorted(identifiers))

    both = before.keys() & after.keys()
    changed = {each for each in both if before[each] != after[each]}
    return Difference(
        added=entries(set(after.keys() - before.keys())),
        removed=entries(set(before.keys() - after.keys())),
        changed=entries(changed),
        unchanged=len(both) - len(changed),
    )


def compare_packs(memory: Memory, before: str, after: str) -> Difference:
    """The difference of two packs given by their ids; titles are those the memories have now."""
    first, second = items_of_pack(memory, before), items_of_pack(memory, after)
    with memory.database.read() as tx:
        held = observations.get_many(tx, sorted({*first, *second}))
    return compare_texts(first, second, {each: found.title for each, found in held.items()})
