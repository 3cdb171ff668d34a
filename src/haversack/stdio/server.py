"""Serving MCP on standard input and output until the client leaves or a signal asks to stop."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TypeVar

from haversack.app import Caller
from haversack.mcp.conversation import Conversation
from haversack.mcp.heartbeat import Heartbeat
from haversack.mcp.journal import Journal
from haversack.mcp.methods import Offer
from haversack.mcp.pool import Pool
from haversack.processes import stopped_by
from haversack.protocol.lines import Lines, Output

T = TypeVar("T")

QUEUE = 2_000
"""Calls that may wait for a thread; a client that sends more is read again when there is room."""
PATIENCE_SECONDS = 60.0
"""How long calls that were begun have to finish after the last message; longer than the store's busy timeout."""


def serve(
    caller: Caller,
    *,
    tool_names: Sequence[str] = (),
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
    log_file: str = "",
) -> int:
    """Serve one client and return the exit code; a wrong tool name is an error before anything is read."""
    offer = Offer(caller, tool_names)
    settings = caller.config.server
    journal = Journal(log_file)
    with _own_input(stdin) as source, _own_output(stdout) as target, _stopping() as stop:
        output = Output(target)
        pool = Pool(settings.workers, QUEUE)
        conversation = Conversation(offer, output, pool, Heartbeat(), journal)
        journal.note(f"serving, process {os.getpid()}")
        _read(Lines(source, settings.max_line_bytes), conversation, output, stop)
        if stop.asked:
            pool.drop()
        finished = pool.finish(PATIENCE_SECONDS)
        conversation.close()
        journal.note("stopped" if finished else "stopped with a call unfinished")
    if finished:
        caller.app.close()
    return 0


def _read(lines: Lines, conversation: Conversation, output: Output, stop: "_Stop") -> None:
    messages = iter(lines)
    try:
        while not output.closed and (line := stop.interruptible(lambda: next(messages, None))) is not None:
            conversation.receive(line)
    except _Interrupted:
        return


class _Interrupted(BaseException):
    """Raised out of the blocking read by a signal."""


class _Stop:
    """A request to stop, which interrupts waiting for input but never the answer to a message."""

    def __init__(self) -> None:
        self.asked = False
        self._waiting = False

    def ask(self, *_: object) -> None:
        """Ask to stop."""
        self.asked = True
        if self._waiting:
            raise _Interrupted

    def interruptible(self, wait: Callable[[], T]) -> T | None:
        """The result of `wait`, or None when the request to stop came first."""
        try:
            self._waiting = True
            return None if self.asked else wait()
        finally:
            self._waiting = False


@contextmanager
def _stopping() -> Iterator[_Stop]:
    """A `_Stop` that the stop signals trigger, where this thread may install signal handlers."""
    stop = _Stop()
    with stopped_by(stop.ask):
        yield stop


@contextmanager
def _own_input(given: IO[bytes] | None) -> Iterator[IO[bytes]]:
    """The input stream, which child programs do not inherit: they would consume messages."""
    if given is not None:
        yield given
        return
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    with os.fdopen(own, "rb", buffering=65_536) as stream:
        yield stream


@contextmanager
def _own_output(given: IO[bytes] | None) -> Iterator[IO[bytes]]:
    """The stream answers go to; whatever else is printed goes to standard error instead."""
    if given is not None:
        yield given
        return
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)
    printed, sys.stdout = sys.stdout, sys.stderr
    try:
        with os.fdopen(own, "wb") as stream:
            yield stream
    except BrokenPipeError:
        # The reader is gone, so flushing the rest fails.
        return
    finally:
        sys.stdout = printed
