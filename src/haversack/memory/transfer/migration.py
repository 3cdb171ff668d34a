"""A store moved to another engine: copied in one transaction, and checked before it ends."""

from collections.abc import Callable

from haversack.config import MemorySettings
from haversack.errors import Conflict, HaversackError, StoreDamaged, StoreError
from haversack.memory.room import Memory
from haversack.memory.search import search
from haversack.memory.search.index_words import index_new
from haversack.store import copying, observations
from haversack.store.engine import Engine, Reader, Writer
from haversack.store.records import Filters
from haversack.values import record

SEARCHES = 200
"""Questions asked of both stores before a copy is believed."""


@record
class Migrated:
    """What a copy holds: rows of each table, and how many questions both stores answered alike."""

    rows: dict[str, int]
    searches: int


class _DryRun(HaversackError):
    """Ends a transaction that was only tried."""


def migrate(
    source: Engine,
    target: Engine,
    *,
    dry_run: bool = False,
    step: Callable[[str, int], None] = lambda name, count: None,
) -> Migrated:
    """Copy a store into an empty one, in one transaction; any difference undoes it and is named.

    A source that is damaged is refused; it is never changed.
    """
    done: list[Migrated] = []
    source.note_export(f"copied to {target.describe()}")
    try:
        with source.read() as reading:
            if wrong := reading.words.check():
                raise StoreDamaged(
                    f"{source.describe()}: {wrong}", hint="run `haversack doctor --mend` there, then again"
                )
            with target.write() as writing:
                if not copying.is_empty(writing):
                    raise Conflict(f"{target.describe()} is in use", hint="name an empty store; nothing was changed")
                rows = copying.copy(reading, writing, step)
                _index(reading, writing, step)
                writing.count_rows()
                done.append(Migrated(rows, _verified(source, target, reading, writing)))
                if dry_run:
                    raise _DryRun("tried")
    except _DryRun:
        pass
    return done[0]


def _index(source: Reader, target: Writer, step: Callable[[str, int], None]) -> None:
    last = count = 0
    sql = "SELECT id FROM observations WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?"
    while rows := source.rows(sql, (last, copying.BATCH)):
        with target.together():
            for (identifier,) in rows:
                held = observations.get(source, identifier)
                assert held is not None
                index_new(target, identifier, held.title, held.content, held.tags, held.topic_key)
        last, count = rows[-1][0], count + len(rows)
        step("search index", count)


def _verified(source: Engine, target: Engine, reading: Reader, writing: Writer) -> int:
    wrong = copying.differences(reading, writing)
    if index_trouble := writing.words.check():
        wrong.append(index_trouble)
    both = [Memory(engine, MemorySettings(semantic="off"), "/", lambda: 0) for engine in (source, target)]
    asked = 0
    for question in _questions(reading):
        try:
            found = [search.search(memory, question, Filters(), limit=20) for memory in both]
        except HaversackError:
            continue  # a title without a word
        asked += 1
        answers = [([hit.observation.id for hit in each.hits], each.total) for each in found]
        if answers[0] != answers[1]:
            wrong.append(f"a search for {question[:60]!r} finds something else")
    if wrong:
        raise StoreError(f"the copy differs: {'; '.join(wrong[:5])}", hint="nothing was changed; please report this")
    return asked


def _questions(tx: Reader) -> list[str]:
    """Titles from all over the store."""
    highest = tx.value("SELECT coalesce(max(id), 0) FROM observations")
    wanted = sorted({1 + highest * number // SEARCHES for number in range(SEARCHES)})
    condition, values = tx.among("id", wanted)
    return [row[0] for row in tx.rows(f"SELECT title FROM observations WHERE {condition}", (values,))]
