"""PostgreSQL behind the store's protocol: one schema, a few connections, one member at a time."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import psycopg

from haversack.errors import StoreError
from haversack.store.engine import Hint, Row, Statement, Value, note_commit
from haversack.store.postgres.address import Address
from haversack.store.postgres.connections import Connection
from haversack.store.postgres.failures import lost_at_commit, translate, translated
from haversack.store.postgres.schema import VERSION
from haversack.store.postgres.servers import Servers, end, leave
from haversack.store.postgres.words import PostgresWords

if TYPE_CHECKING:
    from haversack.store.copying import Incoming

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
        self._answers: dict[str, list[Row]] = {}
        self._later: list[Statement] = []

    @property
    def words(self) -> PostgresWords:
        return PostgresWords(self)

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        known = self._answers.get(_question(sql, values)) if self._answers else None
        if known is not None:
            return known
        found: list[Row] = self.execute(sql, values).fetchall()
        return found

    def row(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    def value(self, sql: str, values: Sequence[Value] = ()) -> Any:
        found = self.row(sql, values)
        return found[0] if found else None

    def among(self, column: str, wanted: Iterable[int]) -> tuple[str, Value]:
        return f"{column} = ANY (?)", list(wanted)

    def hint(self, name: Hint) -> str:
        return ""

    def numbers(self) -> dict[str, int]:
        """The last number that was given in each table that numbers its rows."""
        kept = "SELECT name, last FROM serials WHERE last > 0 AND name NOT IN ('position', 'vector_changes')"
        return dict(self.rows(kept))

    def ahead(self, statements: Callable[[], Iterable[Statement]]) -> None:
        """Send several queries in one round trip; one snapshot answers them all."""
        asked = {_question(sql, values): (sql, values) for sql, values in statements()}
        wanted = {question: each for question, each in asked.items() if question not in self._answers}
        cursors = self._send(list(wanted.values()))
        self._answers.update((question, each.fetchall()) for question, each in zip(wanted, cursors, strict=True))

    def execute(self, sql: str, values: Sequence[Value] = ()) -> "psycopg.Cursor[Any]":
        """Run a statement; `?` stands for a value."""
        return self._send([(sql, values)])[0]

    def _send(self, statements: list[Statement]) -> "list[psycopg.Cursor[Any]]":
        """Run statements in one round trip, after the deferred ones."""
        before, self._later = self._later, []
        run = self._connection.execute
        try:
            if len(before) + len(statements) == 1:
                ((sql, values),) = *before, *statements
                return [run(_native(sql), values)]
            with self._connection.pipeline():
                cursors = [run(_native(sql), values) for sql, values in (*before, *statements)]
            return cursors[len(before) :]
        except psycopg.Error as error:
            is_lost = self._connection.closed or self._connection.broken
            raise translate(error, self._address, VERSION, is_lost=is_lost) from None


class Writer(Reader):
    """A transaction: everything in the `with` block happens, or nothing does."""

    next_position = "next_serial('position')"

    def ahead(self, statements: Callable[[], Iterable[Statement]]) -> None:
        """Does nothing: writes in between would change the answers."""

    def run_later(self, sql: str, values: Sequence[Value]) -> None:
        """Defer a statement without a result to the next one, at the latest to the commit."""
        self._later.append((sql, values))

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        changed: int = self.execute(sql, values).rowcount
        return changed

    def run_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_native(sql), rows)

    def stream(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Send rows to a COPY."""
        with self._connection.cursor() as cursor, cursor.copy(sql) as copy:
            for row in rows:
                copy.write_row(row)

    def commit(self) -> None:
        """Commit, together with the deferred statements."""
        self._send([("COMMIT", ())])

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

    def for_copy(self, salt: str) -> "PostgresStore":
        """The same store, opened to be filled with a copy of the store with this salt."""
        view = self.as_member(self.member)
        view._set_member(self.member, copying=salt)
        return view

    def incoming(self, salt: str) -> "Incoming":
        """The target for a copy of the store with this salt; an error if this store is not empty."""
        from haversack.store.postgres.incoming import PostgresIncoming

        return PostgresIncoming(self, salt)

    def _set_member(self, subject: str, *, copying: str = "") -> None:
        self.member = subject
        schema, who = self.address.schema, _literal(subject) if subject else "NULL"
        self._enter = (
            f"SELECT {schema}.enter_copy({who}, {VERSION}, {_literal(copying)})"
            if copying
            else f"SELECT {schema}.enter({who}, {VERSION})"
        )
        # Only a custom plan uses the lists that narrow a search; queries of writes never vary.
        self._reading = (
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL plan_cache_mode = force_custom_plan;"
            f" SET LOCAL search_path TO {schema}; {self._enter}"
        )
        # The lock is taken in a statement of its own: what follows must see what its last holder wrote.
        self._writing = (
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off;"
            f" SET LOCAL search_path TO {schema}; {self._enter};"
            f" SELECT pg_advisory_xact_lock(hashtextextended('haversack.{schema}', 0))"
        )

    def enter_copy(self, tx: Reader) -> None:
        """Begin another batch of a copy in a transaction that held one before."""
        tx.execute(self._enter)

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
                leave(pool, connection)

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
                writer: Writer = self._local.tx
                yield writer
                self._commit(connection, writer)
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
        """Record the member's export in the audit."""
        with self.write() as tx:
            tx.run("SELECT note_export(?)", (what,))

    def _commit(self, connection: Connection, writer: Writer) -> None:
        try:
            writer.commit()
        except StoreError:
            if connection.closed or connection.broken:
                raise lost_at_commit(self.address) from None
            raise
        note_commit()
        self._servers.note_written(connection)


def _question(sql: str, values: Sequence[Value]) -> str:
    return f"{sql}{values!r}"


def _literal(text: str) -> str:
    """A text as an SQL literal; the opening of a transaction is one message, so it cannot have parameters."""
    return "'{}'".format(text.replace("\0", "").replace("'", "''"))
