"""Files that only their owner can read, whatever the umask is."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from haversack.errors import InvalidArgument

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def make_folders(folder: str) -> None:
    """Make a folder and its missing parents, accessible to their owner alone; existing ones are not changed."""
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    for each in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(each, FOLDER_MODE)


@contextmanager
def opened(path: str) -> Iterator[IO[str]]:
    """A UTF-8 text file to write; it replaces the existing file when all of it is written.

    Missing folders are made. A path that is not a regular file, such as `/dev/null` or a pipe, is written to directly.
    """
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "w", encoding="utf-8", newline="\n") as file:
                yield file
            return
        make_folders(os.path.dirname(target))
        passing = f"{target}.{os.getpid()}.tmp"
        try:
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
            descriptor = os.open(passing, flags | getattr(os, "O_BINARY", 0), FILE_MODE)
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                yield file
            os.replace(passing, target)
        finally:
            with suppress(OSError):
                os.unlink(passing)
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be written: {error.strerror}", hint="name another file") from None


def write(path: str, texts: Iterable[str]) -> None:
    """Write texts to a file that only its owner can read."""
    with opened(path) as file:
        file.writelines(texts)
