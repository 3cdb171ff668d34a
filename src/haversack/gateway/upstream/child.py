"""One upstream server as a process: its streams, the last lines of its standard error, and how it ends."""

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from haversack.errors import ToolFailed
from haversack.gateway.upstream.watchdog import Watchdog
from haversack.processes import KILL, OWN_GROUP, Group, program_path

EOF_SECONDS = 2.0
TERMINATE_SECONDS = 3.0
LAST_LINES = 12
LONGEST_LAST_LINE = 300


class Child:
    """A running server. Its process group is its own, so that ending it ends what it started too."""

    def __init__(
        self,
        command: Sequence[str],
        watchdog: Watchdog,
        *,
        environment: Mapping[str, str] | None = None,
        folder: str | None = None,
    ) -> None:
        self._watchdog = watchdog
        self._process = _started(command, environment, folder)
        self._group = Group(self._process)
        self._writing = threading.Lock()
        self._last: deque[bytes] = deque(maxlen=LAST_LINES)
        watchdog.guard(self._process.pid)
        assert self._process.stdin and self._process.stdout
        self._input = self._process.stdin.fileno()
        self.output = self._process.stdout.fileno()
        self._errors = threading.Thread(target=self._pass_errors, daemon=True)
        self._errors.start()
        self._stopping = threading.Lock()
        self._closed = False
        self.was_ended = False
        """Whether it took a signal to end it, so that its exit code says nothing of its own."""

    def send(self, line: bytes) -> bool:
        """Write a line; False when the server no longer reads."""
        with self._writing:
            return not self._closed and _write(self._input, line)

    def send_all(self, chunks: Iterable[bytes]) -> None:
        """Write the chunks of one line; nothing else is written between them."""
        with self._writing:
            for chunk in chunks:
                if self._closed or not _write(self._input, chunk):
                    return

    def last_words(self) -> str:
        """The last lines the server wrote to its standard error."""
        self._errors.join(timeout=0.2)
        return b"".join(self._last).decode("utf-8", "replace").strip()

    def wait(self) -> int:
        """Wait for the end and give the exit code, as a shell would."""
        return _as_exit_code(self._process.wait())

    def stop(self) -> int:
        """Close the input, wait, ask the process group to end, wait, end it; give the exit code."""
        with self._stopping:
            self._close_input()
            for seconds, number in ((EOF_SECONDS, signal.SIGTERM), (TERMINATE_SECONDS, KILL)):
                try:
                    code = self._process.wait(timeout=seconds)
                    break
                except subprocess.TimeoutExpired:
                    self.was_ended = True
                    self._group.end(number)
            else:
                code = self._process.wait()
            # Children of the server may have outlived it; its group goes with it.
            self._group.end()
            self._watchdog.release(self._process.pid)
            return _as_exit_code(code)

    def _close_input(self) -> None:
        def close() -> None:
            with self._writing:
                if not self._closed:
                    self._closed = True
                    assert self._process.stdin
                    with suppress(OSError):
                        self._process.stdin.close()

        # A pump may be blocked in a write to a server that does not read; then only a signal helps.
        closing = threading.Thread(target=close, daemon=True)
        closing.start()
        closing.join(timeout=0.2)

    def _pass_errors(self) -> None:
        stream = self._process.stderr
        assert stream
        while line := stream.readline(65_536):
            self._last.append(line if len(line) <= LONGEST_LAST_LINE else line[:LONGEST_LAST_LINE] + b"...\n")
            _write(2, line)


def _started(
    command: Sequence[str], environment: Mapping[str, str] | None, folder: str | None
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            [program_path(command[0]), *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if environment is None else dict(environment),
            cwd=folder,
            bufsize=0,
            process_group=OWN_GROUP,
            preexec_fn=_dies_with_parent(),
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ToolFailed(
            f"{command[0]!r} cannot be started ({why})", hint="check the command, and that it is on the PATH"
        ) from None


def _dies_with_parent() -> Callable[[], None] | None:
    """What a child on Linux does first: ask for a signal when this process dies."""
    if sys.platform != "linux":
        return None
    import ctypes

    control = ctypes.CDLL(None).prctl
    parent = os.getpid()
    parent_death_signal = 1

    def ask() -> None:
        control(parent_death_signal, signal.SIGTERM)
        if os.getppid() != parent:
            raise ProcessLookupError("the gateway ended before its server began")

    return ask


def _write(descriptor: int, content: bytes) -> bool:
    try:
        written = os.write(descriptor, content)
        if written < len(content):
            view = memoryview(content)[written:]
            while view:
                view = view[os.write(descriptor, view) :]
    except OSError:
        return False
    return True


def _as_exit_code(code: int) -> int:
    return code if code >= 0 else 128 - code
