"""The console of a command: standard streams as UTF-8, and progress with rate and time left while people watch."""

import sys
import time
from collections.abc import Iterable

from haversack import terminal
from haversack.console import Console
from haversack.errors import InvalidArgument

QUIET_SECONDS = 1.0
"""Work that is done by then shows no progress."""
REFRESH_SECONDS = 0.2


class CommandConsole(Console):
    """Standard input and output of this process."""

    def __init__(self) -> None:
        super().__init__()
        self._began = self._shown_at = time.monotonic()
        self._line_is_open = False

    def lines(self) -> Iterable[str]:
        sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        return sys.stdin

    def write(self, text: str) -> None:
        self.wrote = True
        try:
            sys.stdout.write(terminal.neutralised(text) if terminal.is_for_people() else text)
        except BrokenPipeError:
            raise
        except OSError as error:
            terminal.forget_output()
            raise InvalidArgument(f"the output cannot be written: {error.strerror}") from None

    def progress(self, noun: str, done: int, total: int | None = None) -> None:
        now = time.monotonic()
        if now - self._shown_at < REFRESH_SECONDS or now - self._began < QUIET_SECONDS or not sys.stderr.isatty():
            return
        self._shown_at = now
        self._line_is_open = True
        sys.stderr.write(f"\r\x1b[K{progress_line(noun, done, total, now - self._began)}")
        sys.stderr.flush()

    def close(self) -> None:
        """Remove the line of progress."""
        if self._line_is_open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def progress_line(noun: str, done: int, total: int | None, seconds: float) -> str:
    """How far work has come, how fast it goes, and how long the rest will take where the end is known."""
    rate = done / seconds if seconds > 0 else 0.0
    if not total:
        return f"{done:,} {noun}, {rate:,.0f}/s"
    left = f", {duration((total - done) / rate)} left" if rate and done < total else ""
    return f"{done:,} of {total:,} {noun} ({min(done / total, 1):.0%}), {rate:,.0f}/s{left}"


def duration(seconds: float) -> str:
    """A length of time as `45 s`, `3 min` or `2 h`."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 5_400 else f"{round(seconds / 3600)} h"
