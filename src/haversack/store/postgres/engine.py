"""PostgreSQL behind the store's protocol: one schema, a few connections, one member at a time."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any

import psycopg

from haversack.store.engine import Hint, Row, Value, note_commit
from haversack.store.postgres.address import Address
from haversack.store.postgres.connections import Connection
from haversack.store.postgres.failures import lost_at_commit, translate, translated
from haversack.store.postgres.schema import VERSION
from haversack.store.postgres.servers import Servers, end
from haversack.store.postgres.words import PostgresWords

COMMAND_CONNECTIONS = 2
"""For a single command, in which a background thread may read beside it."""


@lru_cache(maxsize=1024)
def _native(sql: str) -> str:
    return sql.replace("%", "%%").replace("?", "%s")


class Reader:
    """A consistent view of the store for the length of a `with` block."""

    def __init__(self, connection: Connection, address: Address) -> None:
        self._connection = connection
        self._address = address

    @property
    def words(self) -> PostgresWords:
        return PostgresWords(self)

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        found: list[Row] = self.execute(sql, values).fetchall()
        return found

    def row(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        found: Row | None = self.execute(sql, values).fetchone()
        return found

    def value(self, sql: str, values: Sequence[Value] = ()) -> Any:
        found = self.row(sql, values)
        return found[0] if found else None

    def among(self, column: str, wanted: Iterable[int]) -> tuple[str, Value]:
        return f"{column} = ANY (?)", list(wanted)

    def hint(self, name: Hint) -> str:
        return ""

    def execute(self, sql: str, values: Sequence[Value] = ()) -> "psycopg.Cursor[Any]":
        """Run a statement; `?` stands for a value."""
        try:
            return self._connection.execute(_native(sql), values)
        except psycopg.Error as error:
            is_lost = self._connection.closed or self._connection.broken
            raise translate(error, self._address, VERSION, is_lost=is_lost) from None


class Writer(Reader):
    """A transaction: everything in the `with` block happens, or nothing does."""

    next_position = "next_serial('position')"

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        changed: int = self.execute(sql, values).rowcount
        return changed

    def run_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_native(sql), rows)

    def adopt_salt(self, salt: str) -> None:
        self.execute("SELECT adopt_salt(?)", (salt,))

    def together(self) -> AbstractContextManager[object]:
        sending: AbstractContextManager[object] = self._connection.pipeline()
        return sending

    def count_rows(self) -> None:
        self.execute("SELECT count_rows()")

    def insert(self, sql: str, values: Sequence[Value] = ()) -> int:
        return int(self.value(sql, values))


class PostgresStore:
    """A schema on a server, as one of its members sees it; members share the connections."""

    def __init__(
        self, url: str, *, member: str = "", connections: int = COMMAND_CONNECTIONS, read_url: str = ""
    ) -> None:
        self._servers = Servers(url, read_url, connections)
        self.address = self._servers.address
        self._local = threading.local()
        self._set_member(member)

    def as_member(self, subject: str) -> "PostgresStore":
        """The same store for another member."""
        view = object.__new__(PostgresStore)
        view.address, view._servers, view._local = self.address, self._servers, threading.local()
        view._set_member(subject)
        return view

    def _set_member(self, subject: str) -> None:
        self.member = subject
        schema, who = self.address.schema, _literal(subject) if subject else "NULL"
        enter = f"SET LOCAL search_path TO {schema}; SELECT {schema}.enter({who}, {VERSION})"
        self._reading = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {enter}"
        # The lock is taken in a statement of its own: what follows must see what its last holder wrote.
        self._writing = (
            f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off; {enter};"
            f" SELECT pg_advisory_xact_lock(hashtextextended('haversack.{schema}', 0))"
        )

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Read from one snapshot, whatever others write meanwhile; inside a write, from that transaction."""
        joined: Reader | None = getattr(self._local, "tx", None)
        if joined is not None:
            yield joined
            return
        with translated(self.address, VERSION):
            pool, connection = self._servers.begin_reading(self._reading)
            try:
                self._local.tx = Reader(connection, self.address)
                yield self._local.tx
            finally:
                self._local.tx = None
                end(pool, connection, "COMMIT")

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """One transaction that took the write lock at its start; joined when the thread is already in one."""
        joined: Reader | None = getattr(self._local, "tx", None)
        if isinstance(joined, Writer):
            yield joined
            return
        with translated(self.address, VERSION):
            pool, connection = self._servers.begin(self._writing)
            afterwards: list[Callable[[], None]] = []
            self._local.afterwards = afterwards
            try:
                self._local.tx = Writer(connection, self.address)
                yield self._local.tx
                self._commit(connection)
            finally:
                self._local.tx, self._local.afterwards = joined, None
                end(pool, connection)
        for action in afterwards:
            action()

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a write."""
        return isinstance(getattr(self._local, "tx", None), Writer)

    def after_commit(self, action: Callable[[], None]) -> None:
        """Run an action once this thread's write is committed, at once outside a write, and never if it fails."""
        afterwards: list[Callable[[], None]] | None = getattr(self._local, "afterwards", None)
        if afterwards is None:
            action()
        else:
            afterwards.append(action)

    def close(self) -> None:
        """Close every connection that is not in use."""
        self._servers.close()

    @property
    def cache_path(self) -> str:
        """Empty: members share a server, not a folder."""
        return ""

    def describe(self) -> str:
        """The address, without a password."""
        return self.address.shown()

    def size(self) -> int:
        """The bytes of the schema's tables and indexes."""
        with self.read() as tx:
            return int(
                tx.value(
                    "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bigint) FROM pg_class c"
                    " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relkind = 'r'",
                    (self.address.schema,),
                )
            )

    def note_export(self, what: str) -> None:
        """Keep in the audit that the member took out what they see."""
        with self.write() as tx:
            tx.run("SELECT note_export(?)", (what,))

    def _commit(self, connection: Connection) -> None:
        try:
            self._servers.commit(connection)
        except psycopg.OperationalError:
            if connection.closed or connection.broken:
                raise lost_at_commit(self.address) from None
            raise
        note_commit()


def _literal(text: str) -> str:
    """A text as SQL writes it; the opening of a transaction is one message, so it cannot have parameters."""
    return "'{}'".format(text.replace("\0", "").replace("'", "''"))
