"""SQLite behind the store's protocol: one file, a connection for each thread."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from errno import EDQUOT, ENOSPC, EROFS
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import apsw

from haversack.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly
from haversack.store.engine import ConstraintBroken, Hint, Row, Statement, Value
from haversack.store.sqlite import schema
from haversack.store.sqlite.words import FtsWords

if TYPE_CHECKING:
    from haversack.store.copying import Incoming

BUSY_TIMEOUT_MS = 30_000
_LEAST_ROOM = 200_000
"""Bytes of free disk below which a failed write is put down to a full disk."""
MEMORY = ":memory:"
"""The path of a store in memory, which ends with its `Database`."""

_HINTS: dict[Hint, str] = {"pinned": "INDEXED BY observations_pinned", "in order": "CROSS"}


class Reader:
    """A consistent view of the store for the length of a `with` block."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    @property
    def words(self) -> FtsWords:
        return FtsWords(self)

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        try:
            return self.execute(sql, values).fetchall()
        except UnicodeDecodeError as error:
            raise _not_text(error) from None

    def row(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        try:
            found: Row | None = self.execute(sql, values).fetchone()
        except UnicodeDecodeError as error:
            raise _not_text(error) from None
        return found

    def value(self, sql: str, values: Sequence[Value] = ()) -> Any:
        found = self.row(sql, values)
        return found[0] if found else None

    def among(self, column: str, wanted: Iterable[int]) -> tuple[str, Value]:
        return f"{column} IN (SELECT value FROM json_each(?))", f"[{','.join(map(str, wanted))}]"

    def hint(self, name: Hint) -> str:
        return _HINTS[name]

    def ahead(self, statements: Callable[[], Iterable[Statement]]) -> None:
        """Does nothing: a query needs no round trip."""

    def numbers(self) -> dict[str, int]:
        """The last number that was given in each table that numbers its rows."""
        return dict(self.rows("SELECT name, seq FROM sqlite_sequence WHERE name <> 'vector_changes'"))

    def execute(self, sql: str, values: Sequence[Value] = ()) -> apsw.Cursor:
        """Run a statement of SQLite's own."""
        try:
            return self._connection.execute(sql, values)
        except apsw.ConstraintError as error:
            raise ConstraintBroken(str(error)) from None


class Writer(Reader):
    """A transaction: everything in the `with` block happens, or nothing does."""

    next_position = "(SELECT coalesce(max(position), 0) + 1 FROM observations)"

    def run(self, sql: str, values: Sequence[Value] = ()) -> int:
        self.execute(sql, values)
        return self._connection.changes()

    def run_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        """Run a statement once for each row of values."""
        self._connection.executemany(sql, rows)

    def insert(self, sql: str, values: Sequence[Value] = ()) -> int:
        found: Any = self.execute(sql, values).fetchall()[0][0]
        return int(found)


class Database:
    """A SQLite file; every thread has its own connection, each with the same settings.

    A store in memory has one connection, which threads use in turn.
    """

    def __init__(self, path: str, *, busy_milliseconds: int | None = None) -> None:
        self.path = path
        self._busy_milliseconds = BUSY_TIMEOUT_MS if busy_milliseconds is None else busy_milliseconds
        self._turn: AbstractContextManager[object] = threading.RLock() if path == MEMORY else nullcontext()
        self._local = self._unconnected()
        self._opened: list[apsw.Connection] = []
        self._opening = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Read from one snapshot, whatever others write meanwhile; inside a write, from that transaction."""
        with translated(self.path), self._turn:
            connection = self._connection()
            if connection.in_transaction:
                yield Reader(connection)
                return
            connection.execute("BEGIN")
            try:
                yield Reader(connection)
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """One transaction that took the write lock at its start; joined when the thread is already in one."""
        with translated(self.path), self._turn:
            connection = self._connection()
            if connection.in_transaction:
                yield Writer(connection)
                return
            connection.execute("BEGIN IMMEDIATE")
            afterwards: list[Callable[[], None]] = []
            self._local.afterwards = afterwards
            try:
                # A newer program may have changed the schema since this connection was opened.
                schema.refuse_newer(connection.pragma("user_version"))
                yield Writer(connection)
                connection.execute("COMMIT")
            except BaseException:
                # On some errors SQLite has rolled back by itself; on others even a failed commit leaves it open,
                # and a later write must not join what will never be written.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._local.afterwards = None
        for action in afterwards:
            action()

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a write."""
        return getattr(self._local, "afterwards", None) is not None

    def after_commit(self, action: Callable[[], None]) -> None:
        """Run an action once this thread's write is committed, at once outside a write, and never if it fails."""
        afterwards: list[Callable[[], None]] | None = getattr(self._local, "afterwards", None)
        if afterwards is None:
            action()
        else:
            afterwards.append(action)

    def close(self) -> None:
        """Close every thread's connection."""
        with self._opening:
            for connection in self._opened:
                connection.close()
            self._opened.clear()
            self._local = self._unconnected()

    @property
    def cache_path(self) -> str:
        """The path prefix of cache files; empty for a store in memory."""
        return "" if self.path == MEMORY else self.path

    def describe(self) -> str:
        """The file."""
        return self.path

    def note_export(self, what: str) -> None:
        """Does nothing: a file has one user and no audit."""

    def incoming(self, salt: str) -> "Incoming":
        """The target for a copy of the store with this salt; an error if this store is not empty."""
        from haversack.store.sqlite.incoming import SqliteIncoming

        return SqliteIncoming(self.path, salt)

    def size(self) -> int:
        """The bytes of the file, its log among them."""
        held = (self.path, f"{self.path}-wal")
        return sum(os.path.getsize(path) for path in held if os.path.exists(path))

    def _unconnected(self) -> threading.local | SimpleNamespace:
        return SimpleNamespace() if self.path == MEMORY else threading.local()

    def _connection(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection, lasting = self._open()
            connection.execute(schema.VOCABULARY)
            if not lasting:
                return connection
            self._local.connection = connection
            with self._opening:
                self._opened.append(connection)
        return connection

    def _open(self) -> tuple[apsw.Connection, bool]:
        """A connection, and whether it may be reused."""
        try:
            create(self.path)
            refuse_empty(self.path)
            connection = connect(self.path)
            connection.set_busy_timeout(self._busy_milliseconds)
            schema.migrate(connection, is_new=self.path == MEMORY)
        except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError, apsw.FullError):
            # Where nothing can be written, what is there can still be read. The view is opened anew each time,
            # since nothing would tell it of a change.
            connection = connect_to_read(self.path)
            if connection.pragma("user_version") != schema.VERSION:
                raise
            return connection, False
        return connection, True


def create(path: str) -> None:
    """Make an empty store, readable by its owner alone, unless there is a file.

    It is renamed into place when complete, so a file without a schema is always a damaged one.
    """
    if path == MEMORY or os.path.exists(path):
        return
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    unfinished = f"{path}.{os.getpid()}-{threading.get_ident()}.new"
    try:
        os.close(os.open(unfinished, os.O_CREAT | os.O_RDWR, 0o600))
        connection = connect(unfinished)
        try:
            schema.migrate(connection, is_new=True)
        finally:
            connection.close()
        # Another process may have made the store meanwhile; then its file stays.
        with suppress(FileExistsError):
            _name(unfinished, path)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                os.remove(unfinished + suffix)


def _name(unfinished: str, path: str) -> None:
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise
    except OSError:
        # Not every file system has links. Windows refuses to rename over a file; elsewhere a copy into a file that
        # must not exist does the same.
        if os.name == "nt":
            os.rename(unfinished, path)
            return
        with open(unfinished, "rb") as made:
            whole = made.read()
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as named:
            named.write(whole)


def refuse_empty(path: str) -> None:
    """Raise StoreDamaged for an empty file: opening it would discard its log, which may hold all remaining data."""
    if path != MEMORY and os.path.getsize(path) == 0:
        raise StoreDamaged(
            f"the store {path} is damaged (the file is empty)",
            hint="put a backup back with `haversack restore-backup FILE --force`, or move the file away to begin anew",
        )


def connect(path: str) -> apsw.Connection:
    """A connection to a file with every setting applied."""
    connection = apsw.Connection(path)
    # The timeout comes first: the statements below need locks themselves when several processes start at once.
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    if connection.pragma("journal_mode") not in {"wal", "memory"}:
        _switch_to_wal(connection)
    connection.execute(
        "PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16000"
    )
    return connection


def connect_to_read(path: str) -> apsw.Connection:
    """A connection that changes nothing, also where the file's folder cannot be written."""
    flags = apsw.SQLITE_OPEN_READONLY
    connection = apsw.Connection(path, flags=flags)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        connection.pragma("user_version")
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.IOError, apsw.FullError):
        connection.close()
        log = f"{path}-wal"
        if os.path.exists(log) and os.path.getsize(log) > 0:
            raise
        from urllib.parse import quote

        # The index of the log cannot be made here; without a log nothing is missed by taking the file as it is.
        connection = apsw.Connection(f"file:{quote(path)}?immutable=1", flags=flags | apsw.SQLITE_OPEN_URI)
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection


def _switch_to_wal(connection: apsw.Connection) -> None:
    # SQLite does not wait for the exclusive lock this needs, so the waiting is done here.
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Database and file errors as the errors a reader can act on."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError):
        raise StoreBusy(
            f"the store {path} stayed locked for {BUSY_TIMEOUT_MS // 1000} seconds",
            hint="another process is holding it; try again, or run `haversack doctor`",
        ) from None
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.ConstraintError) as error:
        raise _damaged(path, error) from None
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, PermissionError) as error:
        raise (_full(path) if _has_no_room(path) else _read_only(path, error)) from None
    except apsw.FullError:
        raise _full(path) from None
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHORT_READ:
            raise StoreDamaged(
                f"the store {path} is damaged (the file is cut short)", hint="run `haversack doctor`"
            ) from None
        if _has_no_room(path):
            raise _full(path) from None
        raise StoreError(f"the store {path} cannot be used ({error})", hint="run `haversack doctor`") from None
    except (NotADirectoryError, FileExistsError, IsADirectoryError) as error:
        raise StoreError(
            f"the store {path} cannot be opened ({error.strerror})", hint="set HAVERSACK_HOME to a folder"
        ) from None
    except OSError as error:
        if error.errno in (ENOSPC, EDQUOT):
            raise _full(path) from None
        if error.errno == EROFS:
            raise _read_only(path, error) from None
        raise StoreError(
            f"the store {path} cannot be opened ({error.strerror})", hint="name another file or folder"
        ) from None


_DAMAGED_SCHEMA = ("no such table", "no such column", "no such index", "no such module", "vtable constructor failed")


def _damaged(path: str, error: apsw.Error) -> Exception:
    # The statements are ours and the version was checked, so a missing table means a damaged schema. SQLite names the
    # table and column of a constraint that a statement of ours breaks; without a name it is one of the search index.
    if isinstance(error, apsw.SQLError) and not str(error).startswith(_DAMAGED_SCHEMA):
        return error
    if isinstance(error, apsw.ConstraintError) and str(error) != "constraint failed":
        return error
    return StoreDamaged(
        f"the store {path} is damaged ({str(error)!a})", hint="run `haversack doctor`; nothing has been changed"
    )


def _not_text(error: UnicodeDecodeError) -> apsw.CorruptError:
    # SQLite does not validate texts; only valid UTF-8 was ever stored.
    return apsw.CorruptError(f"a stored text is not UTF-8: {error.reason}")


def _full(path: str) -> StoreFull:
    return StoreFull(f"no room left on the disk for the store {path}", hint="free some space; nothing was lost")


def _read_only(path: str, error: Exception) -> StoreReadOnly:
    return StoreReadOnly(
        f"the store {path} cannot be written ({error})",
        hint="check the permissions of the file and its folder, or set HAVERSACK_HOME",
    )


def _has_no_room(path: str) -> bool:
    """Whether the disk is full, which SQLite does not always report."""
    folder = os.path.dirname(path) or "."
    if sys.platform == "win32" or not os.path.isdir(folder):
        return False
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize < _LEAST_ROOM
