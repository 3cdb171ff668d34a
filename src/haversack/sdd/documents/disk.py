"""The `sdd/` folder on disk: found by walking up, written atomically under a lock, nothing ever overwritten.

A file is written beside its place, flushed to the disk and renamed into it, so that a reader sees the old
text or the new and a crash leaves one of the two. Whatever a write replaces is first copied to `history/`,
numbered: `history/design-001.md`, `history/changes/<slug>/spec-001.md`.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NoReturn

from haversack.errors import DamagedFile, OutsideRoot, StoreError, StoreFull, StoreReadOnly
from haversack.files import TEMPORARY, LinkRefused, RefusedPath, Tree
from haversack.repositories import git_top
from haversack.sdd.documents import lock
from haversack.sdd.flows.pipeline import ARTIFACTS
from haversack.values import record

FOLDER = "sdd"
STATE_FILE = "sdd.json"
HISTORY = "history"
CHANGES = "changes"
DECISIONS = "adrs"
LARGEST = 16_000_000
"""Bytes of one file that are read."""


@record
class Written:
    """The result of a write: path from the root with `/`, size in bytes, lines, the old version's path."""

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
        with Tree(self.root) as tree:
            return tree.exists(self.shown(name))

    def read(self, name: str) -> str | None:
        """The text of a file, None when there is none; DamagedFile when it is not UTF-8."""
        return read_text(self.root, self.shown(name))

    def read_bytes(self, name: str) -> bytes:
        """The bytes of a file; OSError when there is none or it is not opened."""
        with Tree(self.root) as tree:
            return tree.read(self.shown(name), limit=LARGEST)

    def measured(self, name: str) -> tuple[int | None, int]:
        """A file's size in bytes, None when there is none, and its number of lines."""
        try:
            content = self.read_bytes(name)
        except OSError:
            return None, 0
        return len(content), content.count(b"\n")

    def modified(self, name: str) -> float:
        """When a file was last changed, in seconds since 1970."""
        with Tree(self.root) as tree:
            return tree.facts(self.shown(name)).st_mtime

    def names(self, name: str = "") -> tuple[str, ...]:
        """The sorted names in a subfolder; empty when there is no such folder."""
        try:
            with Tree(self.root) as tree:
                return tuple(sorted(tree.names(self.shown(name))))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise _unreadable(error, self.shown(name)) from None

    @contextmanager
    def locked(self, *, patience: float = lock.PATIENCE) -> Iterator[None]:
        """Hold the folder for writing; it is made when it does not exist."""
        with ExitStack() as stack:
            with Tree(self.root) as tree, _explained(self.shown()):
                tree.make_folders(self.shown())
                path = self.shown(lock.LOCK_FILE)
                stack.enter_context(lock.locked(tree.open_lock(path), self.path(lock.LOCK_FILE), patience=patience))
                if not tree.exists(self.shown(".gitignore")):
                    tree.write(self.shown(".gitignore"), f"{lock.LOCK_FILE}\n*{TEMPORARY}\n".encode())
            yield

    def write(self, name: str, text: str, *, keep: bool = True) -> Written:
        """Put `text` in place; an older version with another text is kept in the history first."""
        content = text.encode("utf-8")
        kept = ""
        with Tree(self.root) as tree, _explained(self.shown(name)):
            tree.make_folders(self.shown(name).rpartition("/")[0])
            if keep and tree.exists(self.shown(name)):
                kept = self.keep(name, unless=content)
            tree.write(self.shown(name), content)
        return Written(self.shown(name), len(content), text.count("\n"), kept)

    def keep(self, name: str, *, unless: bytes = b"") -> str:
        """Copy a file into the history and return the copy's path; None when its content equals `unless`."""
        old = self.read_bytes(name)
        if old == unless:
            return ""
        stem, extension = os.path.splitext(name)
        number = 1
        with Tree(self.root) as tree:
            while tree.exists(copy := self.shown(f"{HISTORY}/{stem}-{number:03d}{extension}")):
                number += 1
            tree.make_folders(copy.rpartition("/")[0])
            tree.write(copy, old)
        return copy

    def remove(self, name: str) -> None:
        """Delete a file."""
        with Tree(self.root) as tree, _explained(self.shown(name)):
            tree.remove(self.shown(name))

    def leftovers(self) -> tuple[str, ...]:
        """Files that a write left behind when it was interrupted, by their names inside the folder."""
        found: list[str] = []
        folders = [self.shown()]
        with Tree(self.root) as tree:
            while folders:
                folder = folders.pop()
                try:
                    entries = tree.entries(folder)
                except OSError:
                    continue
                folders += [f"{folder}/{name}" for name, kind in entries if kind == "folder"]
                found += [
                    f"{folder}/{name}"[len(FOLDER) + 1 :]
                    for name, kind in entries
                    if kind == "file" and name.startswith(".") and name.endswith(TEMPORARY)
                ]
        return tuple(sorted(found))

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
    """The nearest `sdd/` folder with files of this program, from `start` upwards.

    The walk ends at the top of the repository that `start` lies in; outside a repository it does not leave `start`.
    """
    marks = (STATE_FILE, CHANGES, DECISIONS, *ARTIFACTS.values())
    current = os.path.abspath(start)
    top = git_top(current) or current
    while True:
        folder = Folder(current)
        if any(folder.exists(name) for name in marks):
            return folder
        if current == top:
            return None
        current = os.path.dirname(current)


def read_text(root: str, path: str) -> str | None:
    """The text of a file below a folder with plain line ends, None when there is none.

    A file that is not UTF-8, not a regular file, a link or too large is a DamagedFile.
    """
    try:
        with Tree(root) as tree:
            content = tree.read(path, limit=LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(error, path) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path} is not UTF-8 text, from byte {error.start} on", hint="mend or move it") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _unreadable(error: OSError, path: str) -> DamagedFile | StoreError:
    if isinstance(error, RefusedPath):
        return DamagedFile(f"{path} is not read: {error.strerror}", hint="put a plain file in its place")
    return StoreError(f"{path} cannot be read: {error.strerror}")


@contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _explain(error, path)


def _explain(error: OSError, path: str) -> NoReturn:
    reason = f"{path} cannot be written: {error.strerror}"
    if isinstance(error, LinkRefused):
        raise OutsideRoot(reason, hint="put a plain folder and plain files in its place") from None
    if isinstance(error, RefusedPath):
        raise DamagedFile(reason, hint="put a plain file in its place") from None
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        raise StoreReadOnly(reason, hint="give this user the right to write there") from error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise StoreFull(reason, hint="free some room and try again") from error
    raise StoreError(reason) from error
