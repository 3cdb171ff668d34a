"""Writing to a terminal or a pipe: colour only for people, and nothing stored can steer the terminal."""

import os
import sys
import time

from haversack.errors import ToolFailed
from haversack.patterns import pattern

QUIET_SECONDS = 1.0
"""Work that is done by then shows no progress."""
REFRESH_SECONDS = 0.2

_CONTROL = pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FOOTER = pattern(r"^(📏|⚡|Showing [\d,]+ of |\[Budget )")
_TITLE = pattern(r"^(#\d+ |## |# )")


def make_utf8() -> None:
    """Write UTF-8 whatever the platform's default encoding is."""
    if sys.stdout is None:  # closed by the parent process, which does not read it
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and (stream.encoding or "").lower() != "utf-8":
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def width() -> int:
    """The columns of the terminal; 100 where there is none."""
    try:
        return os.get_terminal_size().columns
    except OSError:
        return 100


def is_for_people() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def has_colour() -> bool:
    """Whether to use colour: standard output is a terminal, and NO_COLOR is not set."""
    return is_for_people() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show(text: str) -> None:
    """Print a reply: as it is into a pipe, made safe and readable on a terminal."""
    if is_for_people():
        text = neutralised(text)
        if has_colour():
            text = "\n".join(_painted(line) for line in text.split("\n"))
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # the reader closed the pipe, which is no error
    except OSError as error:
        forget_output()
        raise ToolFailed(f"the output could not be written: {error.strerror}") from None


def forget_output() -> None:
    """Redirect standard output to the null device, so that flushing it at exit cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_afresh(text: str) -> None:
    """Print a reply in place of the one before."""
    if is_for_people():
        sys.stdout.write("\x1b[H\x1b[2J")
    show(text)


def say(text: str) -> None:
    """Print a message on standard error."""
    sys.stderr.write(neutralised(text) + "\n")


def neutralised(text: str) -> str:
    """The text with control characters and direction overrides replaced by visible escapes."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def _painted(line: str) -> str:
    if _FOOTER.match(line):
        return f"\x1b[2m{line}\x1b[0m"
    if _TITLE.match(line):
        # The text of an observation may follow its title on the same line.
        title, colon, text = line.partition(": ") if line[1:2].isdigit() else (line, "", "")
        return f"\x1b[1m{title}{colon.rstrip()}\x1b[0m{' ' if colon else ''}{text}"
    return line


def table(rows: list[dict[str, object]], columns: tuple[str, ...], columns_wide: int) -> str:
    """Rows as aligned columns; the last column is cut to the width of the terminal."""
    cells = [[neutralised(str(row.get(column, ""))) for column in columns] for row in rows]
    widths = [max(len(column), *(len(line[at]) for line in cells)) for at, column in enumerate(columns)]
    room = max(20, columns_wide - sum(widths[:-1]) - 2 * (len(columns) - 1))
    lines = []
    for line in ([column.upper() for column in columns], *cells):
        last = line[-1] if len(line[-1]) <= room else line[-1][: room - 1] + "…"
        fixed = [cell.rjust(size) if column == "id" else cell.ljust(size)
                 for cell, size, column in zip(line[:-1], widths, columns, strict=False)]  # fmt: skip
        lines.append("  ".join([*fixed, last]).rstrip())
    return "\n".join(lines)


class ProgressLine:
    """One line on standard error that says how far work has come, while people watch; nothing into a pipe."""

    def __init__(self) -> None:
        self._began = self._shown_at = time.monotonic()
        self._noun = ""
        self._is_open = False

    def show(self, noun: str, done: int, total: int | None = None) -> None:
        """Show how many of the things that `noun` names are done; another noun begins another measurement."""
        now = time.monotonic()
        if noun != self._noun:
            self._noun, self._began = noun, now if self._noun else self._began
        is_early = now - self._began < QUIET_SECONDS and not self._is_open
        if is_early or now - self._shown_at < REFRESH_SECONDS or not sys.stderr.isatty():
            return
        self._shown_at = now
        self._is_open = True
        sys.stderr.write(f"\r\x1b[K{progress_line(noun, done, total, now - self._began)}")
        sys.stderr.flush()

    def close(self) -> None:
        """Remove the line."""
        if self._is_open:
            self._is_open = False
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
