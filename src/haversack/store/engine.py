"""The protocol of every store engine: transactions with a few methods, and errors a reader can act on.

The SQL of the table modules is one text for every engine. Differences between engines are behind `among`, `hint`,
`next_position` and `words`.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from haversack.errors import StoreError
from haversack.store.words import Words

if TYPE_CHECKING:
    from haversack.store.copying import Incoming

Value = str | int | float | bytes | None | list[int] | list[str]
Row = tuple[Any, ...]
Statement = tuple[str, Sequence[Value]]
"""A query and its values."""
Hint = Literal["pinned", "in order"]


class ConstraintBroken(StoreError):
    """A row that contradicts the schema, such as a reference to nothing."""

    code = "constraint_broken"


Result = TypeVar("Result")
TRIES = 3


class _Kept(threading.local):
    transactions = 0


_kept = _Kept()


def note_commit() -> None:
    """Record for `persistently` that this thread has committed something."""
    _kept.transactions += 1


def persistently(act: Callable[[], Result]) -> Result:
    """The result of `act`, which is retried when the server aborted it before anything was committed."""
    before = _kept.transactions
    for left in reversed(range(TRIES)):
        try:
            return act()
        except StoreError as error:
            if not left or not error.is_passing or _kept.transactions != before:
                raise
    raise AssertionError("the last try returns or raises")


class Reader(Protocol):
    """A consistent view of the store for the length of a `with` block."""

    @property
    def words(self) -> Words:
        """The search index as this transaction sees it."""

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Every row of a query; `?` stands for a value."""

    def row(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        """The first row of a query."""

    def value(self, sql: str, values: Sequence[Value] = ()) -> Any:
        """The first column of the first row; None where there is no row."""

    def among(self, column: str, wanted: Iterable[int]) -> tuple[str, Value]:
        """A condition that a column is one of the numbers, however many they are, and its only value."""

    def hint(self, name: Hint) -> str:
        """SQL that tells the engine's planner which index to use, or to join tables in the order written."""

    def ahead(self, statements: Callable[[], Iterable[Statement]]) -> None:
        """Send several queries in one round trip, whose answers later calls use; a local engine does nothing."""

    def numbers(self) -> dict[str, int]:
        """The last number that was given in each table that numbers its rows."""


class Writer(Reader, Protocol):
    """A transaction: everything in the `with` block happens, or nothing does."""

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Run a statement and say how many rows it changed."""

    def insert(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Run an INSERT that returns the new row's id, and give that id."""

    def run_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Run a statement once for each row of values."""

    @property
    def next_position(self) -> str:
        """The SQL of the position behind every observation."""


class Engine(Protocol):
    """A store: SQLite's file, or a schema of a database server."""

    def read(self) -> AbstractContextManager[Reader]:
        """Read from one snapshot, whatever others write meanwhile; inside a write, from that transaction."""

    def write(self) -> AbstractContextManager[Writer]:
        """One transaction that took the write lock at its start; joined when the thread is already in one."""

    def after_commit(self, action: Callable[[], None]) -> None:
        """Run an action once this thread's write is committed, at once outside a write, and never if it fails."""

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a write."""

    @property
    def cache_path(self) -> str:
        """The path prefix of cache files; empty where there is no folder for them."""

    def close(self) -> None:
        """Close every connection."""

    def describe(self) -> str:
        """Which store this is, for messages; without a password."""

    def size(self) -> int:
        """The bytes the store takes on disk."""

    def note_export(self, what: str) -> None:
        """Record an export in the audit, where the store has one."""

    def incoming(self, salt: str) -> "Incoming":
        """The target for a copy of the store with this salt; an error if this store is not empty."""
