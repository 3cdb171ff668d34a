"""The journal of entries in hosts' files, so that the files can be restored byte for byte."""

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from haversack.errors import DamagedFile, StoreReadOnly
from haversack.sdd.documents.lock import locked
from haversack.values import asdict, record, replace

_PATIENCE = 90.0
"""Seconds to wait for another install: a host's own program may take a minute."""
FILE = os.path.join("hosts", "journal.json")


@record
class Entry:
    """One file of a host: its hash before and after, its bytes before, and the paths of what was put in.

    `before` is None where there was no file. `made` are paths of containers made for our entries, `folders` those
    made for the file.
    """

    host: str
    file: str
    paths: tuple[str, ...]
    made: tuple[str, ...]
    folders: tuple[str, ...]
    hash_before: str
    hash_after: str
    before: bytes | None


def digest(data: bytes | None) -> str:
    """The hash of a file's content; empty for a missing file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


class Journal:
    """The entries in force, one per host and file."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, FILE)
        self.entries = self._read()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock on hosts' files inside the block, and read the journal again first."""
        path = f"{self._path}.lock"
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise self._unwritable(error) from None
        with locked(descriptor, path, patience=_PATIENCE):
            self.entries = self._read()
            yield

    def of(self, host: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.host == host]

    def find(self, host: str, file: str) -> Entry | None:
        return next((entry for entry in self.entries if (entry.host, entry.file) == (host, file)), None)

    def put(self, entry: Entry) -> None:
        """Store an entry; one for the same file as an earlier entry keeps that one's original bytes."""
        held = self.find(entry.host, entry.file)
        if held is not None and held.hash_after == entry.hash_before:
            entry = replace(
                entry, before=held.before, hash_before=held.hash_before, made=(*held.made, *entry.made),
                folders=(*held.folders, *entry.folders),
            )  # fmt: skip
        self._write([*(each for each in self.entries if each is not held), entry])

    def remove(self, entry: Entry) -> None:
        self._write([each for each in self.entries if each != entry])

    def _read(self) -> list[Entry]:
        try:
            with open(self._path, encoding="utf-8") as file:
                return [_entry(values) for values in json.load(file)]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError, KeyError, OSError) as error:
            raise DamagedFile(
                f"the journal {self._path} cannot be read: {error}", hint="mend it, or move it away"
            ) from None

    def _write(self, entries: list[Entry]) -> None:
        self.entries = entries
        text = json.dumps([_written(entry) for entry in entries], indent=1, ensure_ascii=False)
        try:
            write_whole(self._path, text.encode(), mode=0o600)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> StoreReadOnly:
        return StoreReadOnly(
            f"the journal {self._path} cannot be written: {error.strerror}", hint="set HAVERSACK_HOME to a folder"
        )


def write_whole(path: str, data: bytes, *, mode: int | None = None) -> None:
    """Replace a file atomically, with its mode; a reader sees the old or the new content."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    target = os.path.realpath(path)
    if mode is None:
        mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o600
    beside = f"{target}.haversack-{os.getpid()}"
    try:
        with open(os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode), "wb") as file:
            os.chmod(beside, mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


def _written(entry: Entry) -> dict[str, Any]:
    before = None if entry.before is None else base64.b64encode(entry.before).decode()
    return {**asdict(entry), "before": before}


def _entry(values: dict[str, Any]) -> Entry:
    before = values["before"]
    lists = {name: tuple(values[name]) for name in ("paths", "made", "folders")}
    return Entry(**{**values, **lists, "before": None if before is None else base64.b64decode(before)})
