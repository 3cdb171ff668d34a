"""Every row of one store for another, with the ids, keys and times it has."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Protocol

from haversack.store.words import IndexEntry
from haversack.values import record

if TYPE_CHECKING:
    from haversack.store.engine import Engine, Reader, Row

# In the order of their references; derived rows are computed again.
_FIRST = ("sessions", "observations", "tags", "revisions", "prompts", "relations", "vectors", "accounts", "entries")
_DERIVED = ("meta", "tallies", "stash_size", "vector_changes")
# Triggers make its rows from sessions and observations; a server has one in every realm that holds a project.
PROJECTS = "projects"
_KEYS = {"sessions": ("number",), "tags": ("tag", "observation_id"), "revisions": ("observation_id", "revision"),
         "vectors": ("observation_id",), "accounts": ("opened_at", "handle"), "stash": ("key",),
         PROJECTS: ("key",)}  # fmt: skip
BATCH = 5_000
"""Rows of a transaction."""
_WHOLE = ("accounts", PROJECTS)
"""Tables that are copied at once, also without a row: rows refer to each other, or take the place of others."""


@record
class Table:
    """A table to copy, its columns, and its key columns, which also order the rows."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    def key_of(self, row: "Row") -> list[str | int]:
        return [row[self.columns.index(name)] for name in self.key]


class Batch(Protocol):
    """A transaction of a copy."""

    @property
    def tx(self) -> "Reader":
        """The transaction: all rows copied so far, including this batch."""

    def put(self, table: Table, rows: "Sequence[Row]") -> None:
        """Add rows as they are."""

    def index(self, entries: Sequence[tuple[int, IndexEntry]]) -> None:
        """Add observations to the search index."""

    def settle(self, numbers: dict[str, int]) -> None:
        """Compute the stored counts, and continue the id sequences after those of the source."""

    def clear(self) -> None:
        """Delete all copied rows."""


class Incoming(Protocol):
    """A store that is being filled with a copy of another, in several transactions.

    Nobody else can use it until it is complete.
    """

    @property
    def engine(self) -> "Engine":
        """The store with the rows copied so far."""

    def progress(self) -> str:
        """The progress note of the last batch, also of an earlier process; empty before the first."""

    def batch(self, progress: str) -> AbstractContextManager[Batch]:
        """A transaction that notes how far the copy is when it ends; without a note it ends the copy."""

    def close(self) -> None:
        """Close the connections, and move a complete store into place."""


def tables() -> list[Table]:
    """The tables of a store, as a file has them; every engine has their columns."""
    columns = _columns()
    wanted = [name for name in columns if not name.startswith(("sqlite_", "search_index")) and name not in _DERIVED]
    ordered = [*_FIRST, *sorted(set(wanted) - set(_FIRST))]
    return [Table(name, columns[name], _KEYS.get(name, ("id",))) for name in ordered]


@cache
def _columns() -> dict[str, tuple[str, ...]]:
    """Every table of a file with its columns."""
    import apsw

    from haversack.store.sqlite import schema

    model = apsw.Connection(":memory:")
    schema.migrate(model, is_new=True)
    names = [str(row[0]) for row in model.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {name: tuple(str(row[1]) for row in model.execute(f"PRAGMA table_info({name})")) for name in names}
    model.close()
    return found


def is_empty(tx: "Reader") -> bool:
    """Whether a store holds nothing that a copy could collide with."""
    return not any(tx.value(f"SELECT count(*) FROM {table.name}") for table in tables())


def batches(tx: "Reader", table: Table, after: Sequence[str | int] = ()) -> "Iterator[list[Row]]":
    """The rows of a table by its key, after a given key; each project once, whatever realms it is in."""
    columns, grouped = ", ".join(table.columns), ""
    if table.name == PROJECTS:
        columns, grouped = "key, min(name), min(short), max(moved_to)", " GROUP BY key"
    order = ", ".join(table.key)
    marks = ", ".join("?" * len(table.key))
    limit = BATCH if table.name not in _WHOLE else 2**62
    while True:
        behind = f" WHERE ({order}) > ({marks})" if after else ""
        rows = tx.rows(f"SELECT {columns} FROM {table.name}{behind}{grouped} ORDER BY {order} LIMIT ?", (*after, limit))
        if not rows and table.name not in _WHOLE:
            return
        yield rows
        if len(rows) < limit:
            return
        after = table.key_of(rows[-1])


def differences(
    source: "Reader", target: "Reader", step: Callable[[str, int], None] = lambda name, count: None
) -> list[str]:
    """The differences between two stores, by table, from comparing every row; empty when there are none."""
    from haversack.digests import blake2b

    found = []
    for table in tables():
        counts, digests = [], []
        for tx in (source, target):
            digest, count = blake2b(), 0
            for rows in batches(tx, table):
                digest.update(repr(rows).encode("utf-8", "surrogatepass"))
                count += len(rows)
            counts.append(count)
            digests.append(digest.digest())
        step(f"comparison of {table.name}", counts[1])
        if counts[0] != counts[1]:
            found.append(f"{table.name} has {counts[1]} rows instead of {counts[0]}")
        elif digests[0] != digests[1]:
            found.append(f"rows of {table.name} differ")
    live = target.value("SELECT count(*) FROM observations WHERE deleted_at IS NULL")
    tallied = target.value("SELECT CAST(coalesce(sum(observations), 0) AS bigint) FROM tallies")
    if tallied != live:
        found.append(f"{tallied} live observations are counted instead of {live}")
    return found
