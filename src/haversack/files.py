"""Files below a folder, opened so that nothing outside the folder can be reached.

Every path is walked from the folder's own descriptor, one component at a time, and a link in it is refused: what was
checked is what is opened, whatever another process does to the path meanwhile. Only regular files are opened, without
waiting for them, so a pipe or a device never blocks. Where the system cannot open relative to a descriptor (Windows),
each component is checked before and after opening.
"""

import errno
import os
import stat
import time
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self

from haversack.path_components import is_refused, is_refused_by_windows

TEMPORARY = ".tmp"
"""Ending of a file that is being written."""
LARGEST = 64_000_000
"""Bytes that `read` returns at most."""

Kind = Literal["file", "folder", "link", "special"]

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOSE_ON_EXEC
_REPARSE_POINT = 0x400


class RefusedPath(OSError):
    """A path that is not opened: a link, a special file, a file that is too large, or a path that leaves the folder."""

    def __init__(self, number: int, reason: str, path: str) -> None:
        super().__init__(number, reason, path)


class LinkRefused(RefusedPath):
    """A component of the path is a symbolic link or a junction."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ELOOP, "it is a link, and links are not followed here", path)


class NotRegular(RefusedPath):
    """The path names a folder, a pipe, a socket or a device."""

    def __init__(self, path: str, mode: int) -> None:
        self.mode = mode
        super().__init__(errno.EINVAL, f"it is {special_kind(mode)}, not a file", path)


class FileTooLarge(RefusedPath):
    """The file has more bytes than the caller takes."""

    def __init__(self, path: str, size: int, limit: int) -> None:
        super().__init__(errno.EFBIG, f"it has {size:,} bytes, more than the {limit:,} that are read", path)


def special_kind(mode: int) -> str:
    """The kind of a path that is not a regular file, in words."""
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for is_kind, name in kinds if is_kind(mode)), "a device")


def open_regular(path: str) -> int:
    """A descriptor of the regular file at a path that the user chose; links are followed, and opening never waits.

    This is for trusted paths. Paths inside a workspace go through `Tree`.
    """
    descriptor = os.open(path, os.O_RDONLY | _NO_WAIT | _BINARY | _CLOSE_ON_EXEC)
    return _regular(descriptor, path)


def read_small(path: str, limit: int = 1 << 20) -> bytes:
    """The first `limit` bytes of a regular file at a trusted path; empty when it cannot be read."""
    try:
        descriptor = open_regular(path)
    except (OSError, ValueError):
        return b""
    try:
        return _read(descriptor, limit)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


class Tree:
    """A folder whose files are opened beneath it; paths are relative to it, with forward slashes.

    It keeps the folder used last open, so files in order of path cost one system call each. One thread uses it at a
    time. Every method raises OSError: the system's own, or a RefusedPath.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._folders: _Descriptors | _CheckedPaths = (
            _Descriptors(root) if os.open in os.supports_dir_fd else _CheckedPaths(root)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the folders that are open."""
        self._folders.close()

    def open(self, path: str) -> int:
        """A descriptor of a regular file, for reading."""
        return _regular(self._folders.open(path, os.O_RDONLY, 0), path)

    def read(self, path: str, *, limit: int = LARGEST) -> bytes:
        """All bytes of a regular file; one with more than `limit` is refused."""
        descriptor = self.open(path)
        try:
            size = os.fstat(descriptor).st_size
            content = b"" if size > limit else _read(descriptor, limit + 1)
            if size > limit or len(content) > limit:
                raise FileTooLarge(path, max(size, len(content)), limit)
            return content
        finally:
            os.close(descriptor)

    def facts(self, path: str) -> os.stat_result:
        """The `stat` result of a path; links are not followed."""
        return self._folders.facts(path)

    def exists(self, path: str) -> bool:
        """Whether a path exists; a path below a link counts as missing."""
        try:
            self._folders.facts(path)
        except OSError:
            return False
        return True

    def names(self, path: str = "") -> list[str]:
        """The names in a folder, in the order of the file system."""
        return self._folders.names(path)

    def entries(self, path: str = "") -> list[tuple[str, Kind]]:
        """The names in a folder with the type of each; links are not followed."""
        return self._folders.entries(path)

    def make_folders(self, path: str) -> None:
        """Make a folder and its missing parents."""
        parts = parts_of(path)
        for depth in range(1, len(parts) + 1):
            part = "/".join(parts[:depth])
            with suppress(FileExistsError):
                self._folders.make(part)
        self._folders.names(path)

    def open_lock(self, path: str) -> int:
        """A descriptor of a file to lock, made when it is missing; a file with several hard links is refused."""
        descriptor = _regular(self._folders.open(path, os.O_RDWR | os.O_CREAT, 0o666), path)
        if os.fstat(descriptor).st_nlink > 1:
            os.close(descriptor)
            raise RefusedPath(errno.EMLINK, "it is a hard link to another file", path)
        return descriptor

    def write(self, path: str, content: bytes) -> None:
        """Replace the content of a file atomically: a reader or a crash sees the old or the new content."""
        folder, _, name = path.rpartition("/")
        if self.exists(path) and not stat.S_ISREG((facts := self.facts(path)).st_mode):
            raise LinkRefused(path) if stat.S_ISLNK(facts.st_mode) else NotRegular(path, facts.st_mode)
        temporary = f".{name}.{os.getpid()}.{os.urandom(4).hex()}{TEMPORARY}"
        temporary = f"{folder}/{temporary}" if folder else temporary
        descriptor = self._folders.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self._folders.rename(temporary, path)
        except BaseException:
            with suppress(OSError):
                self._folders.remove(temporary)
            raise
        self._folders.sync(folder)

    def remove(self, path: str) -> None:
        """Delete a file, or a link itself."""
        self._folders.remove(path)


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "special"


def parts_of(path: str, *, windows: bool = os.name == "nt") -> list[str]:
    """The components of a path with slashes; a path that leaves its folder, or cannot name a file, is refused."""
    parts = path.split("/") if path else []
    refuses = is_refused_by_windows if windows else is_refused
    if any(map(refuses, parts)):
        raise RefusedPath(errno.EINVAL, "it is not a path inside the folder", path)
    return parts


def _regular(descriptor: int, path: str) -> int:
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotRegular(path, mode)
    return descriptor


def _read(descriptor: int, limit: int) -> bytes:
    blocks: list[bytes] = []
    left = limit
    while left > 0 and (block := os.read(descriptor, min(left, 1 << 20))):
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks)


class _Descriptors:
    """Opens each component relative to the descriptor of the one before."""

    def __init__(self, root: str) -> None:
        self._root_path = root
        self._root = -1
        self._last: tuple[str, int] | None = None

    def close(self) -> None:
        self._forget()
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def _forget(self) -> None:
        if self._last is not None:
            os.close(self._last[1])
            self._last = None

    def folder(self, path: str) -> int:
        """The descriptor of a folder; it stays open until another is asked for."""
        if self._root < 0:
            self._root = os.open(self._root_path, _FOLDER)
        if not path:
            return self._root
        if self._last is not None and self._last[0] == path:
            return self._last[1]
        current = self._root
        for part in parts_of(path):
            try:
                following = _open_folder(part, current, path)
            finally:
                if current != self._root:
                    os.close(current)
            current = following
        self._forget()
        self._last = (path, current)
        return current

    def place(self, path: str) -> tuple[int, str]:
        """The descriptor of a path's parent folder, and the name inside it."""
        parts = parts_of(path)
        if not parts:
            raise NotRegular(path, stat.S_IFDIR)
        return self.folder("/".join(parts[:-1])), parts[-1]

    def open(self, path: str, flags: int, mode: int) -> int:
        folder, name = self.place(path)
        try:
            return os.open(name, flags | _NO_FOLLOW | _NO_WAIT | _CLOSE_ON_EXEC, mode, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise LinkRefused(path) from None
            if error.errno in (errno.ENXIO, errno.ENODEV, errno.EISDIR, errno.EOPNOTSUPP):
                raise NotRegular(path, self.facts(path).st_mode) from None
            raise

    def facts(self, path: str) -> os.stat_result:
        if not path:
            return os.fstat(self.folder(""))
        folder, name = self.place(path)
        return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def names(self, path: str) -> list[str]:
        return os.listdir(self.folder(path))

    def entries(self, path: str) -> list[tuple[str, Kind]]:
        with os.scandir(self.folder(path)) as entries:
            return [(entry.name, _kind(entry)) for entry in entries]

    def make(self, path: str) -> None:
        folder, name = self.place(path)
        os.mkdir(name, dir_fd=folder)

    def rename(self, old: str, new: str) -> None:
        folder, name = self.place(new)
        os.rename(old.rpartition("/")[2], name, src_dir_fd=folder, dst_dir_fd=folder)

    def remove(self, path: str) -> None:
        folder, name = self.place(path)
        os.unlink(name, dir_fd=folder)

    def sync(self, path: str) -> None:
        os.fsync(self.folder(path))


def _open_folder(name: str, parent: int, path: str) -> int:
    try:
        return os.open(name, _FOLDER | _NO_FOLLOW, dir_fd=parent)
    except OSError as error:
        # Systems report different errors for a link in place of a folder.
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR) and _is_link(name, parent):
            raise LinkRefused(path) from None
        raise


def _is_link(name: str, parent: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False


class _CheckedPaths:
    """Checks every component for links before and after opening, where descriptors of folders cannot be used."""

    def __init__(self, root: str) -> None:
        self._root = root

    def close(self) -> None:
        """Nothing is kept open."""

    def _checked(self, path: str) -> str:
        current = self._root
        for part in parts_of(path):
            current = os.path.join(current, part)
            try:
                facts = os.lstat(current)
            except FileNotFoundError:
                break
            if stat.S_ISLNK(facts.st_mode) or getattr(facts, "st_file_attributes", 0) & _REPARSE_POINT:
                raise LinkRefused(path)
        return os.path.join(self._root, *parts_of(path))

    def open(self, path: str, flags: int, mode: int) -> int:
        absolute = self._checked(path)
        try:
            descriptor = os.open(absolute, flags | _NO_FOLLOW | _NO_WAIT | _BINARY | _CLOSE_ON_EXEC, mode)
        except OSError:
            if os.path.isdir(absolute):
                raise NotRegular(path, os.stat(absolute).st_mode) from None
            raise
        try:
            self._checked(path)
            if not os.path.samestat(os.fstat(descriptor), os.lstat(absolute)):
                raise LinkRefused(path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def facts(self, path: str) -> os.stat_result:
        folder, _, name = path.rpartition("/")
        return os.lstat(os.path.join(self._checked(folder), name))

    def names(self, path: str) -> list[str]:
        return os.listdir(self._checked(path))

    def entries(self, path: str) -> list[tuple[str, Kind]]:
        with os.scandir(self._checked(path)) as entries:
            return [(entry.name, _kind(entry)) for entry in entries]

    def make(self, path: str) -> None:
        os.mkdir(self._checked(path))

    def rename(self, old: str, new: str) -> None:
        source, target = self._checked(old), self._checked(new)
        # Windows refuses to replace a file while somebody reads it, which takes a moment at most.
        for pause in (0.01, 0.02, 0.05, 0.1, 0.2):
            try:
                os.replace(source, target)
            except PermissionError:
                time.sleep(pause)
            else:
                return
        os.replace(source, target)

    def remove(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        os.unlink(os.path.join(self._checked(folder), name))

    def sync(self, path: str) -> None:
        """Folders cannot be flushed by name here."""
