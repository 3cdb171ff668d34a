"""A small process that ends the upstream servers when this one is killed and cannot do it itself."""

import os
import signal
import sys
import time
from contextlib import suppress

from haversack.processes import KILL, group_lives, signal_group

TERMINATE_SECONDS = 3.0
_TICK = 0.05


class Watchdog:
    """Guards process groups: when this process dies, it asks them to end, and then kills them.

    It is a fork made before any thread runs. Where there is no fork it does nothing.
    """

    def __init__(self) -> None:
        self._pipe = self._process = -1
        if not hasattr(os, "fork"):
            return
        ends = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(ends[1])
            _watch(ends[0])
        os.close(ends[0])
        self._pipe = ends[1]

    def guard(self, group: int) -> None:
        """End this process group when this process is gone."""
        self._tell(f"+{group}\n")

    def release(self, group: int) -> None:
        """Forget a process group that has ended: its number may be given to another."""
        self._tell(f"-{group}\n")

    def close(self) -> None:
        """Let the watchdog go, and wait until it has; it ends what it still guards."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
            with suppress(OSError):
                os.waitpid(self._process, 0)

    def _tell(self, word: str) -> None:
        if self._pipe >= 0:
            with suppress(OSError):
                os.write(self._pipe, word.encode())


def _watch(pipe: int) -> None:
    """Read what to guard until the other end is gone, then end it. Never returns."""
    if sys.platform == "win32":
        return
    try:
        # A session of its own: a signal to the client's whole process group must not reach the watchdog.
        os.setsid()
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
        _close_all_but(pipe)
        groups: set[int] = set()
        held = b""
        while chunk := os.read(pipe, 4096):
            *words, held = (held + chunk).split(b"\n")
            for word in words:
                (groups.add if word[:1] == b"+" else groups.discard)(int(word[1:]))
        _end(groups)
    finally:
        # A fork must not run the exit handlers of the program.
        os._exit(0)


def _close_all_but(pipe: int) -> None:
    # Open descriptors would keep the client's and the servers' streams from ending.
    os.closerange(0, pipe)
    os.closerange(pipe + 1, 4096)


def _end(groups: set[int]) -> None:
    until = time.monotonic() + TERMINATE_SECONDS
    for group in groups:
        signal_group(group, signal.SIGTERM)
    while any(map(group_lives, groups)) and time.monotonic() < until:
        time.sleep(_TICK)
    for group in groups:
        signal_group(group, KILL)
