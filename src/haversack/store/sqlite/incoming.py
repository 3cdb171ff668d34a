"""A copy of another store into a file, which is renamed into place when complete."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from haversack.errors import Conflict
from haversack.store.copying import PROJECTS, Table, is_empty
from haversack.store.sqlite.engine import MEMORY, Database
from haversack.store.words import IndexEntry

if TYPE_CHECKING:
    from haversack.store.engine import Row
    from haversack.store.sqlite.engine import Writer

UNFINISHED = ".copying"
_NOTED = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


class SqliteBatch:
    """One transaction of a copy."""

    def __init__(self, tx: "Writer") -> None:
        self.tx = tx

    def put(self, table: Table, rows: "Sequence[Row]") -> None:
        if table.name == PROJECTS:
            # Triggers made them from sessions and observations, also those that were forgotten since.
            self.tx.run(f"DELETE FROM {PROJECTS}")
        marks = ", ".join("?" * len(table.columns))
        self.tx.run_many(f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})", rows)

    def index(self, entries: Sequence[tuple[int, IndexEntry]]) -> None:
        for identifier, entry in entries:
            self.tx.words.add(identifier, entry)

    def settle(self, numbers: dict[str, int]) -> None:
        for name, last in numbers.items():
            if not self.tx.run("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name)) and last:
                self.tx.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))

    def clear(self) -> None:
        self.tx.words.clear()
        # Referring tables first.
        for table in ("session_events", "project_changes", "packs", "stash", "entries", "accounts", "vectors",
                      "relations", "prompts", "revisions", "tags", "observations", "sessions", PROJECTS):  # fmt: skip
            self.tx.run(f"DELETE FROM {table}")


class SqliteIncoming:
    """A copy in a temporary file beside the target."""

    def __init__(self, path: str, salt: str) -> None:
        self._path = path
        self._is_whole = False
        if path != MEMORY and os.path.exists(path):
            _refuse_used(path)
        self._unfinished = path if path == MEMORY else path + UNFINISHED
        self.engine = Database(self._unfinished)
        with self.engine.write() as tx:
            held = tx.value("SELECT value FROM meta WHERE name = 'copying'")
            if held not in (None, salt):
                raise Conflict(
                    f"{self._unfinished} is an unfinished copy of another store",
                    hint=f"name another file, or remove it; {path} was not touched",
                )
            tx.run(_NOTED, ("copying", salt))
            tx.run(_NOTED, ("salt", salt))

    def progress(self) -> str:
        with self.engine.read() as tx:
            return tx.value("SELECT value FROM meta WHERE name = 'copied'") or ""

    @contextmanager
    def batch(self, progress: str) -> Iterator[SqliteBatch]:
        with self.engine.write() as tx:
            yield SqliteBatch(tx)
            if progress:
                tx.run(_NOTED, ("copied", progress))
            else:
                tx.run("DELETE FROM meta WHERE name IN ('copying', 'copied')")
        self._is_whole = not progress

    def close(self) -> None:
        nothing_noted = self._unfinished != MEMORY and not self._is_whole and not self.progress()
        self.engine.close()
        if self._unfinished == MEMORY:
            return
        if self._is_whole:
            _remove(self._path)
            os.replace(self._unfinished, self._path)
        if self._is_whole or nothing_noted:
            _remove(self._unfinished)


def _refuse_used(path: str) -> None:
    held = Database(path)
    try:
        with held.read() as tx:
            if not is_empty(tx):
                raise Conflict(f"{path} is in use", hint="name an empty store; nothing was changed")
    finally:
        held.close()


def _remove(path: str) -> None:
    for suffix in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            os.remove(path + suffix)
