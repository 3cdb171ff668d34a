"""Child programs: found by absolute path, started without a shell in a clean environment, ended on time."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import lru_cache
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from haversack.cancellation import check, current
from haversack.errors import ToolFailed
from haversack.processes import OWN_GROUP, Group
from haversack.values import record

if TYPE_CHECKING:
    from subprocess import Popen

BLOCK = 1 << 18
_PIPE = 1 << 20
"""Bytes a program may say before it has to wait for its reader, where that can be set."""
_STDERR_KEPT = 8_192
_KEPT_VARIABLES = (
    "PATH", "HOME", "TZ", "TMPDIR", "XDG_CONFIG_HOME",
    "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP",
)  # fmt: skip


@record
class Limits:
    """How long a program may run, and how many bytes it may write."""

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
    return os.path.join(os.path.realpath(folder), "").startswith(os.path.join(root, ""))


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
        self._stack = ExitStack()
        check()
        import subprocess  # the root is opened far more often than a program is started

        if not os.access(command[0], os.X_OK):
            raise ToolFailed(f"{self.name} cannot be started: it is not there")
        try:
            self._process = subprocess.Popen(
                [*_leash(), *command],
                cwd=cwd,
                env=environment,
                stdin=stdin or subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # A group and not a session of its own: Linux gives a new session a smaller share of a busy machine.
                process_group=OWN_GROUP,
            )
        except OSError as error:
            raise ToolFailed(f"{self.name} cannot be started: {error.strerror}") from None
        self._group = Group(self._process)
        self._attendant = _ATTENDANT(self._process, limits.seconds, self._expire)
        if (cancellation := current()) is not None:
            self._stack.enter_context(cancellation.stopping(self._kill))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
        if self._process.poll() is None:
            self._kill()
        self._process.wait()
        self._attendant.close()
        self.stdout.close()
        assert self._process.stderr
        self._process.stderr.close()

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout
        return self._process.stdout

    def blocks(self) -> Iterator[bytes]:
        """The program's output in blocks as they arrive; too much output is an error."""
        said = 0
        descriptor = self.stdout.fileno()
        self._attendant.await_output()
        while block := os.read(descriptor, BLOCK):
            said += len(block)
            if said > self.limits.max_bytes:
                raise ToolFailed(
                    f"{self.name} gave more than {self.limits.max_bytes // 1_000_000:,} MB",
                    hint="narrow the question: a path, a longer pattern, fewer files",
                )
            yield block
            self._attendant.await_output()

    def ended(self) -> Ended:
        """The exit status, after waiting for the end; running out of time is an error."""
        self._attendant.await_end()
        code = self._process.wait()
        check()
        if self.timed_out:
            raise ToolFailed(
                f"{self.name} did not finish within {self.limits.seconds:g} seconds and was stopped",
                hint="narrow the question, or raise workspace.timeout_seconds",
            )
        return Ended(code, self._attendant.complaints.decode("utf-8", "replace").strip())

    def _expire(self) -> None:
        self.timed_out = True
        self._kill()

    def _kill(self) -> None:
        if self._process.returncode is not None:
            return
        self._group.end()


@lru_cache(maxsize=1)
def _leash() -> tuple[str, ...]:
    """The command prefix that makes Linux end a program when this process is killed.

    A program does it, and no code between fork and exec: that is not safe in a process with threads.
    """
    if sys.platform != "linux":
        return ()
    import subprocess

    folders = ("/usr/bin", "/bin", "/usr/local/bin")
    program = next((path for folder in folders if os.access(path := f"{folder}/setpriv", os.X_OK)), "")
    leash = (program, "--pdeathsig", "KILL", "--")
    # Older ones do not know the option.
    asked = [*leash, program, "--version"]
    works = program and subprocess.run(asked, check=False, stdin=subprocess.DEVNULL, capture_output=True)
    return leash if works and works.returncode == 0 else ()


class Polling:
    """Waits for a program: reads its standard error meanwhile, and ends it when its time is up.

    It works on the waiting thread: starting another thread takes longer than many programs run.
    """

    def __init__(self, process: "Popen[bytes]", seconds: float, expire: Callable[[], None]) -> None:
        import select

        assert process.stdout and process.stderr
        self.complaints = bytearray()
        self._process = process
        self._deadline = time.monotonic() + seconds
        self._expire = expire
        self._output, self._errors = process.stdout.fileno(), process.stderr.fileno()
        posix: Any = select  # Windows has no poll, and never comes here
        self._poll = posix.poll()
        for descriptor in (self._output, self._errors):
            self._poll.register(descriptor, posix.POLLIN)
        self._end: int | None = None
        _widen(self._output)

    def await_output(self) -> None:
        """Wait until there is output, or the end of it."""
        while self._output not in self._ready():
            pass

    def await_end(self) -> None:
        """Wait until the program has ended, and read the rest of its standard error."""
        self._poll.unregister(self._output)
        with suppress(AttributeError, OSError):
            # Linux signals the end of a process; elsewhere it has to be polled.
            if sys.platform == "linux":
                self._end = os.pidfd_open(self._process.pid)
                self._poll.register(self._end)
        while self._process.poll() is None:
            self._ready(most=3_600 if self._end is not None else 0.001)
        self.close()
        while self._ready(most=0):
            pass

    def close(self) -> None:
        """Release the poll object and the descriptors."""
        if self._end is not None:
            self._poll.unregister(self._end)
            os.close(self._end)
            self._end = None

    def _ready(self, most: float = 3_600) -> list[int]:
        """The descriptors ready to be read, after waiting; standard error is read at once."""
        left = self._deadline - time.monotonic()
        found = [descriptor for descriptor, _ in self._poll.poll(max(0, min(left, most)) * 1_000)]
        if self._errors in found:
            said = os.read(self._errors, 4_096)
            # Standard error is read to its end, but only its beginning is kept: it may be endless.
            self.complaints += said[: _STDERR_KEPT - len(self.complaints)]
            if not said:
                self._poll.unregister(self._errors)
        if not found and most and left <= most:
            self._expire()
            # The program has ended, so its output can be read to the end.
            self._deadline = time.monotonic() + 3_600
        return found


class Threads:
    """Does what `Polling` does where pipes cannot be polled."""

    def __init__(self, process: "Popen[bytes]", seconds: float, expire: Callable[[], None]) -> None:
        import threading

        self.complaints = bytearray()
        self._process = process
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._clock = threading.Timer(seconds, expire)
        self._clock.daemon = True
        self._listener.start()
        self._clock.start()

    def await_output(self) -> None:
        """Reading waits by itself."""

    def await_end(self) -> None:
        """Wait until the program has ended, and read the rest of its standard error."""
        self._process.wait()
        self.close()

    def close(self) -> None:
        """Wait for the threads to end."""
        self._clock.cancel()
        self._listener.join(1)

    def _listen(self) -> None:
        assert self._process.stderr
        descriptor = self._process.stderr.fileno()
        with suppress(OSError):
            while said := os.read(descriptor, 4_096):
                self.complaints += said[: _STDERR_KEPT - len(self.complaints)]


_ATTENDANT: type[Polling] | type[Threads] = Threads if sys.platform == "win32" else Polling


def _widen(pipe: int) -> None:
    if sys.platform != "linux":
        return
    import fcntl

    with suppress(OSError):
        # A user may hold only so much in pipes; the usual size does too.
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


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
