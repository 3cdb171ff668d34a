"""The `sdd/` folder on disk: found by walking up, written atomically under a lock, nothing ever overwritten.

A file is written beside its place, flushed to the disk and renamed into it, so that a reader sees the old
text or the new and a crash leaves one of the two. Whatever a write replaces is first copied to `history/`,
numbered: `history/design-001.md`, `history/changes/<slug>/spec-001.md`.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NoReturn

from haversack.errors import DamagedFile, StoreError, StoreFull, StoreReadOnly
from haversack.sdd.documents import lock
from haversack.sdd.flows.pipeline import ARTIFACTS
from haversack.values import record

FOLDER = "sdd"
STATE_FILE = "sdd.json"
HISTORY = "history"
CHANGES = "changes"
DECISIONS = "adrs"
TEMPORARY = ".tmp"


@record
class Written:
    """What a write left behind: path from the root with `/`, size in bytes, lines, the old version's path."""

    path: str
    size: int
    lines: int
    kept: str = ""


@record
class Folder:
    """The `sdd/` folder of one root; names are paths inside it, with `/`."""

    root: str

    def path(self, name: str = "") -> str:
        return os.path.join(self.root, FOLDER, *name.split("/")) if name else os.path.join(self.root, FOLDER)

    def shown(self, name: str = "") -> str:
        """The path as a reader sees it, from the root."""
        return f"{FOLDER}/{name}" if name else FOLDER

    def exists(self, name: str = "") -> bool:
        return os.path.exists(self.path(name))

    def read(self, name: str) -> str | None:
        """The text of a file, None when there is none; DamagedFile when it is not UTF-8."""
        return read_text(self.path(name), self.shown(name))

    def measured(self, name: str) -> tuple[int | None, int]:
        """A file's size in bytes, None when there is none, and its number of lines."""
        try:
            with open(self.path(name), "rb") as file:
                content = file.read()
        except OSError:
            return None, 0
        return len(content), content.count(b"\n")

    def names(self, name: str = "") -> tuple[str, ...]:
        """What a folder inside holds, sorted; nothing when there is no such folder."""
        try:
            return tuple(sorted(os.listdir(self.path(name))))
        except (FileNotFoundError, NotADirectoryError):
            return ()

    @contextmanager
    def locked(self, *, patience: float = lock.PATIENCE) -> Iterator[None]:
        """Hold the folder for writing; it is made when it does not exist."""
        with ExitStack() as held:
            with _explained(self.path()):
                os.makedirs(self.path(), exist_ok=True)
                held.enter_context(lock.locked(self.path(), patience=patience))
                if not self.exists(".gitignore"):
                    _replace(self.path(".gitignore"), f"{lock.LOCK_FILE}\n*{TEMPORARY}\n".encode())
            yield

    def write(self, name: str, text: str, *, keep: bool = True) -> Written:
        """Put `text` in place; an older version with another text is kept in the history first."""
        content = text.encode("utf-8")
        path = self.path(name)
        kept = ""
        with _explained(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if keep and os.path.exists(path):
                kept = self.keep(name, unless=content)
            _replace(path, content)
        return Written(self.shown(name), len(content), text.count("\n"), kept)

    def keep(self, name: str, *, unless: bytes = b"") -> str:
        """Copy a file as it stands into the history and say where; nothing when it holds `unless`."""
        with open(self.path(name), "rb") as file:
            old = file.read()
        if old == unless:
            return ""
        stem, extension = os.path.splitext(name)
        number = 1
        while self.exists(copy := f"{HISTORY}/{stem}-{number:03d}{extension}"):
            number += 1
        os.makedirs(os.path.dirname(self.path(copy)), exist_ok=True)
        _replace(self.path(copy), old)
        return self.shown(copy)

    def versions(self, name: str) -> tuple[str, ...]:
        """The texts a file has had, newest first; versions that cannot be read are left out."""
        stem, extension = os.path.splitext(name)
        copies: list[str] = []
        while self.exists(copy := f"{HISTORY}/{stem}-{len(copies) + 1:03d}{extension}"):
            copies.append(copy)
        texts: list[str] = []
        for each in (name, *reversed(copies)):
            with suppress(DamagedFile):
                texts += [text for text in (self.read(each),) if text is not None]
        return tuple(texts)


def find(start: str) -> Folder | None:
    """The nearest `sdd/` with something of ours in it, from `start` upwards.

    The walk ends at the top of the repository that `start` lies in.
    """
    marks = (STATE_FILE, CHANGES, DECISIONS, *ARTIFACTS.values())
    current = os.path.abspath(start)
    while True:
        folder = Folder(current)
        if any(folder.exists(name) for name in marks):
            return folder
        parent = os.path.dirname(current)
        if parent == current or os.path.exists(os.path.join(current, ".git")):
            return None
        current = parent


def read_text(path: str, shown: str) -> str | None:
    """A file's text with plain line ends, None when there is none; DamagedFile when it is not UTF-8."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{shown} cannot be read: {error.strerror}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{shown} is not UTF-8 text, from byte {error.start} on", hint="mend or move it") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _explain(error, path)


def _explain(error: OSError, path: str) -> NoReturn:
    reason = f"{path} cannot be written: {error.strerror}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        raise StoreReadOnly(reason, hint="give this user the right to write there") from error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise StoreFull(reason, hint="free some room and try again") from error
    raise StoreError(reason) from error


def _replace(path: str, content: bytes) -> None:
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}{TEMPORARY}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _rename(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if os.name != "nt":
        _sync_folder(folder)


def _rename(temporary: str, path: str) -> None:
    # Windows refuses to replace a file while somebody reads it, which takes a moment at most.
    for pause in (0.01, 0.02, 0.05, 0.1, 0.2) if os.name == "nt" else ():
        try:
            os.replace(temporary, path)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    os.replace(temporary, path)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
