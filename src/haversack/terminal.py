"""Writing to a terminal or a pipe: colour only for people, and nothing stored can steer the terminal."""

import os
import sys

from haversack.errors import ToolFailed
from haversack.patterns import pattern

_CONTROL = pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FOOTER = pattern(r"^(📏|⚡|Showing [\d,]+ of |\[Budget )")
_TITLE = pattern(r"^(#\d+ \[[^\]\n]{1,40}\]|## |# )")


def make_utf8() -> None:
    """Write UTF-8 whatever the platform's habit is."""
    if sys.stdout is None:  # closed by whoever started the program, who does not want to read it
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
    """Whether colour is wanted: a terminal, and nobody has asked for none."""
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
        raise  # the reader has seen enough, which is no error
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
    """Tell the person something beside the output."""
    sys.stderr.write(neutralised(text) + "\n")


def neutralised(text: str) -> str:
    """The text with control characters and direction overrides shown instead of obeyed."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def _painted(line: str) -> str:
    if _FOOTER.match(line):
        return f"\x1b[2m{line}\x1b[0m"
    if _TITLE.match(line):
        return f"\x1b[1m{line}\x1b[0m"
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
