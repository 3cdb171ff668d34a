"""Backups: one sound file beside a store that stays in use, and a store put back from such a file."""

import os
from collections.abc import Callable

import apsw

from haversack.errors import Conflict, NotFound, StoreBusy, StoreDamaged, StoreError
from haversack.private_files import make_folders
from haversack.store.sqlite import health, schema
from haversack.store.sqlite.engine import connect_to_read, translated
from haversack.values import record

_MAGIC = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")

Step = Callable[[str, int, int | None], None]
"""Takes what is counted, how much of it is done, and how much there is."""


def _unseen(noun: str, done: int, total: int | None) -> None:
    pass


@record
class Backup:
    """A backup that was checked: its file, its size in bytes and how many observations it holds."""

    path: str
    size: int
    observations: int


@record
class Restored:
    """A store that was put back, and where the one before it is kept; empty when there was none."""

    backup: Backup
    kept: str


def back_up(store: str, target: str, *, overwrite: bool = False, step: Step = _unseen) -> Backup:
    """Write the store as it is now to one file, and check that file before it takes its name.

    Others may write to the store meanwhile: the file has the state of one moment, without what was deleted.
    """
    if not os.path.exists(store):
        raise NotFound(f"there is no store {store} yet", hint="the first save makes it")
    if os.path.exists(target) and os.path.samefile(store, target):
        raise Conflict(f"{target} is the store itself", hint="name another file")
    if os.path.exists(target) and not overwrite:
        raise Conflict(f"{target} is there already", hint="name another file, or add --force")
    return _put_in_place(target, lambda unchecked: _copy(store, unchecked, step), step)


def restore(source: str, store: str, *, overwrite: bool = False, step: Step = _unseen) -> Restored:
    """Make a checked backup the store; the store that was there is kept beside it."""
    inspect(source, step)
    if os.path.exists(store) and os.path.samefile(source, store):
        raise Conflict(f"{source} is the store itself", hint="name a backup")
    if not os.path.exists(store):
        return Restored(_put_in_place(store, lambda unchecked: _copy(source, unchecked, step), step), "")
    if not overwrite:
        raise Conflict(
            f"there is a store {store} already", hint="add --force: it is then kept beside under another name"
        )
    _close_for_others(store)
    kept = _free_name(f"{store}.before-restore")

    def put_aside_and_copy(unchecked: str) -> None:
        _copy(source, unchecked, step)
        _put_aside(store, kept)

    return Restored(_put_in_place(store, put_aside_and_copy, step), kept)


def inspect(path: str, step: Step = _unseen) -> Backup:
    """What a backup holds; an error when it is not a sound store of this program."""
    if not os.path.isfile(path):
        raise NotFound(f"there is no file {path}", hint="name a file that `haversack backup` wrote")
    found = health.examine(path, step)
    if not found.version:
        raise StoreDamaged(f"{path} is not a store of haversack", hint="name a file that `haversack backup` wrote")
    if not found.is_sound or found.index:
        trouble = found.index if found.is_sound else f"{found.integrity}; {found.foreign_keys} broken references"
        raise StoreDamaged(f"{path} is damaged ({trouble[:300]})", hint="use another backup; nothing was changed")
    with translated(path):
        connection = connect_to_read(path)
        try:
            row = connection.execute("SELECT count(*) FROM observations WHERE deleted_at IS NULL").fetchone()
        finally:
            connection.close()
    return Backup(path, os.path.getsize(path), row[0] if row else 0)


def _put_in_place(target: str, write: Callable[[str], None], step: Step) -> Backup:
    """Write a file under a temporary name, check it, and only then rename it."""
    unchecked = f"{target}.unchecked"
    try:
        with translated(target):
            make_folders(os.path.dirname(target))
            _remove(unchecked)
            os.close(os.open(unchecked, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        write(unchecked)
        made = inspect(unchecked, step)
        os.replace(unchecked, target)
        _make_durable(os.path.dirname(os.path.abspath(target)))
    except OSError as error:
        raise StoreError(f"{target} cannot be written ({error.strerror})", hint="name a file elsewhere") from None
    finally:
        _remove(unchecked)
    return Backup(target, made.size, made.observations)


def _copy(source: str, target: str, step: Step) -> None:
    """One consistent copy of a database into an empty file."""
    size = os.path.getsize(source) // 1_000

    def look() -> bool:
        written = os.path.getsize(target) // 1_000
        step("KB copied", written, max(size, written))
        return False  # true would end the copy

    try:
        with translated(source):
            connection = connect_to_read(source)
            try:
                schema.refuse_newer(connection.pragma("user_version"))
                connection.set_progress_handler(look, health.LOOK)
                connection.execute("VACUUM INTO ?", (target,))
            finally:
                connection.close()
    except apsw.Error as error:
        raise StoreError(f"{source} cannot be copied ({error})", hint="run `haversack doctor`") from None
    with open(target, "rb+") as written:
        os.fsync(written.fileno())


def _close_for_others(store: str) -> None:
    """Make sure that nobody has the store open, and that its file holds all of it."""
    with open(store, "rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            # Opening it would discard its write-ahead log, which may hold all remaining data.
            return
    try:
        connection = apsw.Connection(store)
        try:
            # Leaving the write-ahead log needs the file for itself, so it fails while a server runs.
            connection.pragma("journal_mode", "delete")
        finally:
            connection.close()
    except (apsw.BusyError, apsw.LockedError):
        raise StoreBusy(
            f"another process has the store {store} open", hint="stop the servers that use it, then restore again"
        ) from None
    except apsw.Error:
        # A damaged store is the usual reason to restore: its files are kept as they are.
        return


def _put_aside(store: str, kept: str) -> None:
    for suffix in _BESIDE:
        if os.path.exists(store + suffix):
            os.replace(store + suffix, kept + suffix)
    try:
        os.link(store, kept)
    except OSError:
        # Not every file system has links; without one there is a moment in which the store has no name.
        os.replace(store, kept)


def _free_name(wanted: str) -> str:
    number, name = 1, wanted
    while os.path.exists(name):
        number += 1
        name = f"{wanted}-{number}"
    return name


def _remove(path: str) -> None:
    for suffix in ("", *_BESIDE):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)


def _make_durable(folder: str) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
