"""Child programs: found by absolute path, started without a shell in a clean environment, ended on time."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Self

from haversack.errors import ToolFailed
from haversack.values import record

BLOCK = 1 << 18
_STDERR_KEPT = 8_192
_KEPT_VARIABLES = (
    "PATH", "HOME", "TZ", "TMPDIR", "XDG_CONFIG_HOME",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP",
)  # fmt: skip


@record
class Limits:
    """How long a program may run, and how many bytes it may say."""

    seconds: float = 30.0
    max_bytes: int = 512_000_000


@record
class Ended:
    """How a program ended."""

    code: int
    errors: str


def find_program(name: str, *, outside: str) -> str | None:
    """The absolute path of a program, never one that lies under `outside`.

    The interpreter's own folder comes first, where packages of a virtual environment put their programs.
    """
    suffix = ".exe" if sys.platform == "win32" else ""
    folders = [os.path.dirname(sys.executable), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    for folder in folders:
        # A relative folder, or one in the workspace, would let the project choose what is run.
        if not os.path.isabs(folder) or _is_under(folder, outside):
            continue
        candidate = os.path.join(folder, name + suffix)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def _is_under(folder: str, root: str) -> bool:
    # A virtual environment kept inside its project is the user's own choice of interpreter.
    if folder == os.path.dirname(sys.executable):
        return False
    return os.path.realpath(folder).startswith(os.path.join(root, ""))


def clean_environment(**extra: str) -> dict[str, str]:
    """The few variables a program needs to find its files, and nothing that changes what it does."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8"} | extra


class Running:
    """A child program; as a context manager it is ended, with all it started, whatever happens."""

    def __init__(
        self,
        command: Sequence[str | bytes],
        *,
        cwd: str,
        environment: dict[str, str],
        limits: Limits,
        stdin: IO[bytes] | None = None,
        name: str = "",
    ) -> None:
        self.name = name or os.path.basename(os.fsdecode(command[0])).removesuffix(".exe")
        self.limits = limits
        self.timed_out = False
        import subprocess  # the root is opened far more often than a program is started

        self._errors = bytearray()
        try:
            self._process = subprocess.Popen(
                command,
                cwd=cwd,
                env=environment,
                stdin=stdin or subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # A group and not a session of its own: Linux gives a new session a smaller share of a busy machine.
                process_group=None if sys.platform == "win32" else 0,
            )
        except OSError as error:
            raise ToolFailed(f"{self.name} cannot be started: {error.strerror}") from None
        _widen(self.stdout)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        _WATCH.add(self, limits.seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _WATCH.remove(self)
        if self._process.poll() is None:
            self._kill()
        assert self._process.stderr
        self.stdout.close()
        self._process.wait()
        self._listener.join(1)
        self._process.stderr.close()

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout
        return self._process.stdout

    def blocks(self) -> Iterator[bytes]:
        """What the program says, as it says it; too much of it is an error."""
        said = 0
        descriptor = self.stdout.fileno()
        while block := os.read(descriptor, BLOCK):
            said += len(block)
            if said > self.limits.max_bytes:
                raise ToolFailed(
                    f"{self.name} gave more than {self.limits.max_bytes // 1_000_000:,} MB",
                    hint="narrow the question: a path, a longer pattern, fewer files",
                )
            yield block

    def ended(self) -> Ended:
        """How it ended, once it has; one that ran out of time is an error."""
        code = self._process.wait()
        _WATCH.remove(self)
        self._listener.join(1)
        if self.timed_out:
            raise ToolFailed(
                f"{self.name} did not finish within {self.limits.seconds:g} seconds and was stopped",
                hint="narrow the question, or raise workspace.timeout_seconds",
            )
        return Ended(code, self._errors.decode("utf-8", "replace").strip())

    def _listen(self) -> None:
        # Errors are drained to the end and forgotten beyond their beginning: they may be endless.
        assert self._process.stderr
        descriptor = self._process.stderr.fileno()
        try:
            while block := os.read(descriptor, 4_096):
                self._errors += block[: _STDERR_KEPT - len(self._errors)]
        except OSError:
            return

    def expire(self) -> None:
        """End it: its time is up."""
        self.timed_out = True
        self._kill()

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
            return
        try:
            # The program leads its own group, so its children go with it.
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def _widen(pipe: IO[bytes]) -> None:
    """Let a program say more before it has to wait for its reader."""
    if sys.platform != "linux":
        return
    import fcntl

    with suppress(OSError):
        # A user may hold only so much in pipes; the usual size does too.
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, BLOCK)


class _Watch:
    """Ends programs whose time is up: one thread for all of them, started with the first."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._deadlines: dict[Running, float] = {}
        self._is_started = False

    def add(self, running: Running, seconds: float) -> None:
        with self._change:
            self._deadlines[running] = time.monotonic() + seconds
            if not self._is_started:
                self._is_started = True
                threading.Thread(target=self._run, name="haversack-watch", daemon=True).start()
            self._change.notify()

    def remove(self, running: Running) -> None:
        with self._change:
            self._deadlines.pop(running, None)

    def _run(self) -> None:
        while True:
            with self._change:
                now = time.monotonic()
                due = [running for running, deadline in self._deadlines.items() if deadline <= now]
                for running in due:
                    del self._deadlines[running]
                    running.expire()
                nearest = min(self._deadlines.values(), default=None)
                self._change.wait(None if nearest is None else nearest - now)


_WATCH = _Watch()


def wholes(blocks: Iterator[bytes], separator: bytes = b"\0") -> Iterator[bytes]:
    """A stream in parts that end with a separator; what follows the last one, if anything, is a part too."""
    carried = b""
    for block in blocks:
        joined = carried + block
        end = joined.rfind(separator) + 1
        carried = joined[end:]
        if end:
            yield joined[:end]
    if carried:
        yield carried


def records(blocks: Iterator[bytes], separator: bytes = b"\0") -> Iterator[bytes]:
    """The pieces of a stream between separators; what follows the last separator, if anything, is a piece too."""
    for part in wholes(blocks, separator):
        yield from part.removesuffix(separator).split(separator)
