"""Compaction: old observations are softly deleted, and a summary takes their place."""

from haversack.errors import InvalidArgument
from haversack.memory.room import Memory
from haversack.memory.save.pipeline import Draft, Saved, save
from haversack.store import observations
from haversack.store.records import Filters, Observation
from haversack.text.times import DAY
from haversack.values import record, replace

CANDIDATES = 500


@record
class Candidates:
    """Observations that may be compacted, the oldest first, and the ids of those behind them.

    `total` and `units` are of all of them.
    """

    observations: tuple[Observation, ...]
    others: tuple[int, ...]
    total: int
    units: int


@record
class Compacted:
    """The result of a compaction: the ids deleted, those that did not match, and the saved summary."""

    deleted: tuple[Observation, ...]
    refused: tuple[int, ...]
    summary: Saved | None


def _cutoff(memory: Memory, older_than_days: int) -> int:
    if older_than_days < 0:
        raise InvalidArgument(f"older_than_days is {older_than_days}, below zero")
    return memory.now() - min(older_than_days, 1_000_000) * DAY


def candidates(memory: Memory, filters: Filters, older_than_days: int) -> Candidates:
    """The observations old enough to be compacted; pinned ones never are."""
    cutoff = _cutoff(memory, older_than_days)
    with memory.database.read() as tx:
        found = observations.older_than(tx, filters, cutoff, CANDIDATES)
        total, units = observations.total_older_than(tx, filters, cutoff)
        others = observations.ids_older_than(tx, filters, cutoff, after=len(found)) if total > len(found) else []
    return Candidates(tuple(found), tuple(others), total, units)


def compact(
    memory: Memory, filters: Filters, older_than_days: int, identifiers: tuple[int, ...], summary: Draft | None
) -> Compacted:
    """Softly delete exactly those of the ids that match the filters, and save the summary, in one transaction."""
    cutoff = _cutoff(memory, older_than_days)
    wanted = tuple(dict.fromkeys(identifiers))
    with memory.database.write() as tx:
        held = observations.get_many(tx, wanted)
        matching = {found.id for found in observations.older_than(tx, filters, cutoff, observations.ALL)}
        deleted = [held[identifier] for identifier in wanted if identifier in matching]
        for found in deleted:
            observations.change(tx, found.id, {"deleted_at": memory.now()})
            tx.words.remove(found.id)
        saved = None
        if summary is not None and deleted:
            saved = save(memory, replace(summary, kind="compaction_summary"))
    refused = tuple(identifier for identifier in wanted if identifier not in matching)
    return Compacted(tuple(deleted), refused, saved)
