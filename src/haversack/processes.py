"""Child processes that end together, and the signals that ask this one to end, on every platform."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subprocess import Popen

OWN_GROUP = None if sys.platform == "win32" else 0
"""For Popen's `process_group`: the program leads a group of its own, so that what it starts can be ended with it."""
KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)


class Group:
    """A program started with `OWN_GROUP` and all that it starts."""

    def __init__(self, process: "Popen[bytes]") -> None:
        self._pid = process.pid
        if sys.platform == "win32":
            from haversack.windows_processes import Job

            self._job = Job(int(getattr(process, "_handle")))  # noqa: B009 - Popen has it on Windows alone

    def end(self, number: int = KILL) -> None:
        """Send every process of the group a signal; on Windows, which has none, end them."""
        if sys.platform == "win32":
            self._job.end()
        else:
            signal_group(self._pid, number)


def signal_group(group: int, number: int) -> None:
    """Send a signal to every process of a group that is still there."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.killpg(group, number)


def group_lives(group: int) -> bool:
    """Whether a process of the group is still there."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def is_running(pid: int) -> bool:
    """Whether a process has this number."""
    if sys.platform == "win32":
        from haversack.windows_processes import is_running

        return is_running(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def program_path(name: str, platform: str = sys.platform) -> str:
    """The program a name stands for: Windows finds `npx.cmd` by the name `npx` only when asked for it."""
    if platform != "win32":
        return name
    from shutil import which

    return which(name) or name


def stop_signals() -> list[int]:
    """The signals of this platform that ask a program to end."""
    names = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


@contextmanager
def stopped_by(
    handler: Callable[[int, Any], object], signals: Sequence[int] = (signal.SIGINT, signal.SIGTERM)
) -> Iterator[None]:
    """Install `handler` for the stop signals inside the block; outside the main thread nothing is installed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, handler) for each in signals}
    try:
        yield
    finally:
        for each, held in before.items():
            signal.signal(each, held)
