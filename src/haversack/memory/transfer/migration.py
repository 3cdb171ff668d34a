"""Moving a store to another engine: copied in batches, and compared row by row before it is used."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from haversack.config import MemorySettings
from haversack.errors import HaversackError, InvalidArgument, StoreDamaged, StoreError
from haversack.memory.room import Memory
from haversack.memory.search import search
from haversack.memory.search.index_words import entry_of
from haversack.store import copying, observations, stash
from haversack.store.copying import Incoming, Table
from haversack.store.engine import Engine, Reader
from haversack.store.records import Filters
from haversack.values import record

SEARCHES = 200
"""Searches run on both stores to verify a copy."""
INDEX = "search index"
Step = Callable[[str, int], None]


@record
class Migrated:
    """What a copy holds: rows of each table, those of an earlier try, and how many questions both answered alike."""

    rows: dict[str, int]
    searches: int
    resumed: int = 0


class _DryRun(HaversackError):
    """Ends a transaction that was only tried."""


class _Differs(StoreError):
    """Ends the transaction that found a difference."""


def migrate(
    source: Engine, target: Engine, *, dry_run: bool = False, step: Step = lambda name, count: None
) -> Migrated:
    """Copy a store into an empty one; any difference undoes the end of it and is named.

    An interrupted copy continues from its last batch; until it is complete nobody can use the target. A source that
    is damaged is refused; it is never changed.
    """
    source.note_export(f"copied to {target.describe()}")
    with source.read() as reading:
        if wrong := reading.words.check():
            raise StoreDamaged(f"{source.describe()}: {wrong}", hint="run `haversack doctor --mend` there, then again")
        incoming = target.incoming(stash.salt(reading))
        try:
            if not dry_run:
                return _filled(source, reading, incoming, step)
            done: list[Migrated] = []
            with suppress(_DryRun), incoming.engine.write():
                done.append(_filled(source, reading, incoming, step))
                raise _DryRun("tried")
            return done[0]
        finally:
            incoming.close()


def _filled(source: Engine, reading: Reader, incoming: Incoming, step: Step) -> Migrated:
    before = _Progress.read(incoming.progress())
    resumed = sum(before.rows.values())
    try:
        return _completed(source, reading, incoming, before, step)
    except _Differs:
        if not resumed:
            raise
    # The source has changed since the earlier attempt, so its rows are discarded.
    step("what was copied before differs from the source: copying anew", 0)
    anew = _Progress()
    with incoming.batch(anew.written()) as batch:
        batch.clear()
    return _completed(source, reading, incoming, anew, step)


class _Progress:
    """How far a copy is: the table and the key of the last row, and the rows of each table."""

    def __init__(self, table: str = "", after: Iterable[str | int] = (), rows: dict[str, int] | None = None) -> None:
        self.table, self.after, self.rows = table, list(after), rows or {}

    @staticmethod
    def read(text: str) -> "_Progress":
        import json

        return _Progress(**json.loads(text)) if text else _Progress()

    def written(self) -> str:
        import json

        return json.dumps({"table": self.table, "after": self.after, "rows": self.rows})

    def reach(self, table: str, after: Iterable[str | int], count: int) -> None:
        self.table, self.after = table, list(after)
        self.rows[table] = self.rows.get(table, 0) + count


def _completed(source: Engine, reading: Reader, incoming: Incoming, progress: _Progress, step: Step) -> Migrated:
    resumed = sum(progress.rows.values())
    phases: list[Table] = copying.tables()
    names = [table.name for table in phases] + [INDEX]
    begun = names.index(progress.table) if progress.table else 0
    for table in phases[begun:]:
        _copy(reading, incoming, table, progress, step)
    _index(reading, incoming, progress, step)
    rows = {name: count for name, count in progress.rows.items() if name != INDEX}
    with incoming.batch("") as batch:
        batch.settle(reading.numbers())
        searches = _verified(source, incoming.engine, reading, batch.tx, step)
    return Migrated(rows, searches, resumed)


def _copy(reading: Reader, incoming: Incoming, table: Table, progress: _Progress, step: Step) -> None:
    after = progress.after if progress.table == table.name else []
    progress.rows.setdefault(table.name, 0)
    for rows in copying.batches(reading, table, after):
        progress.reach(table.name, table.key_of(rows[-1]) if rows else [], len(rows))
        with incoming.batch(progress.written()) as batch:
            batch.put(table, rows)
        step(table.name, progress.rows[table.name])


def _index(reading: Reader, incoming: Incoming, progress: _Progress, step: Step) -> None:
    last = int(progress.after[0]) if progress.table == INDEX else 0
    sql = "SELECT id FROM observations WHERE id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?"
    while rows := reading.rows(sql, (last, copying.BATCH // 5)):
        held = observations.get_many(reading, [row[0] for row in rows])
        entries = [(one.id, entry_of(one.title, one.content, one.tags, one.topic_key)) for one in held.values()]
        last = rows[-1][0]
        progress.reach(INDEX, [last], len(rows))
        with incoming.batch(progress.written()) as batch:
            batch.index(entries)
        step(INDEX, progress.rows[INDEX])


def _verified(source: Engine, target: Engine, reading: Reader, writing: Reader, step: Step) -> int:
    wrong = copying.differences(reading, writing, step)
    if index_trouble := writing.words.check():
        wrong.append(index_trouble)
    both = [Memory(engine, MemorySettings(semantic="off"), "/", lambda: 0) for engine in (source, target)]
    asked = 0
    for question in _questions(reading):
        try:
            found = [search.search(memory, question, Filters(), limit=20) for memory in both]
        except InvalidArgument:
            continue  # a title without a word
        asked += 1
        answers = [([hit.observation.id for hit in each.hits], each.total) for each in found]
        if answers[0] != answers[1]:
            wrong.append(f"a search for {question[:60]!r} finds something else")
    step("searches", asked)
    if wrong:
        raise _Differs(
            f"the copy differs: {'; '.join(wrong[:5])}", hint="the target is not in use; run it again, or report this"
        )
    return asked


def _questions(tx: Reader) -> list[str]:
    """Titles from all over the store."""
    highest = tx.value("SELECT coalesce(max(id), 0) FROM observations")
    wanted = sorted({1 + highest * number // SEARCHES for number in range(SEARCHES)})
    condition, values = tx.among("id", wanted)
    return [row[0] for row in tx.rows(f"SELECT title FROM observations WHERE {condition}", (values,))]
