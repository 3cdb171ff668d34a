"""Files for their owner alone: what the program writes for a person, whatever the umask is."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from haversack.errors import InvalidArgument

FILE_MODE, FOLDER_MODE = 0o600, 0o700


def make_folders(folder: str) -> None:
    """Make a folder and the missing ones above it, each for its owner alone; those there already stay as they are."""
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
    """A UTF-8 text file to write, in place of the one that was there once all of it is written.

    Missing folders are made. What is not a regular file, such as `/dev/null` or a pipe, is written to as it is.
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
    """Write texts to a file of its owner's alone."""
    with opened(path) as file:
        file.writelines(texts)
