"""One writer at a time, across processes and threads.

The lock is the operating system's own, on a file that stays in place: it ends with the process that holds
it, however that dies, so that there is never a stale lock to judge. The file names its last holder.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from haversack.errors import StoreBusy

LOCK_FILE = ".lock"
PATIENCE = 10.0

if sys.platform == "win32":
    import msvcrt

    # Locked bytes cannot be read by others on Windows, so the lock lies beyond the holder's name.
    _BEYOND = 1 << 20

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _BEYOND, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(descriptor: int, path: str, *, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock on an open file and close it afterwards; StoreBusy, naming the holder, after `patience` seconds."""
    try:
        _wait(descriptor, path, patience)
        try:
            _sign(descriptor)
            yield
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: str, patience: float) -> None:
    deadline = time.monotonic() + patience
    pause = 0.002
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise StoreBusy(f"{path} is held by {_holder(descriptor)}", hint="try again when it is done")
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _sign(descriptor: int) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.truncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()}\n".encode())


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 100).decode("ascii", "replace").strip() or "another process"
