"""Draw docs/pictures/terminal.svg, the picture of the README: what commands print in a real terminal."""

import html
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from haversack.cli.demo import memories

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "terminal.svg"
COLUMNS, ROWS = 100, 50
TYPED = (
    'save "Deploys wait for green smoke tests on staging" --kind decision',
    'search "how did we do the jwt auth" --token-budget 120',
    'search "what port does the database listen on" --token-budget 80',
    "context-pack --project orchard --tokens 160",
)
LETTER, LINE, MARGIN = 8.0, 19, 18
STYLES = {"1": "bold", "2": "dim"}
_PIECE = re.compile(r"\x1b\[(\d*)m")


def printed(command: list[str], folder: str, home: str) -> str:
    """What a command shows on a terminal of its own."""
    inside, outside = pty.openpty()
    environment = {**os.environ, "HAVERSACK_HOME": home, "HOME": home, "TERM": "xterm-256color"}
    environment |= {"COLUMNS": str(COLUMNS), "LINES": str(ROWS)}
    environment.pop("NO_COLOR", None)
    import fcntl
    import struct
    import termios

    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=outside, stderr=outside, cwd=folder, env=environment
    ) as run:
        os.close(outside)
        parts = []
        while part := _read(inside):
            parts.append(part)
    os.close(inside)
    if run.returncode:
        raise SystemExit(f"{command} ended with {run.returncode}:\n{b''.join(parts).decode()}")
    return b"".join(parts).decode().replace("\r\n", "\n").rstrip("\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # Linux says so when the other end is closed
        return b""


def session() -> list[str]:
    """The lines of the terminal after the commands, the letters for styles among them."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "orchard"
        folder.mkdir()
        program = [sys.executable, "-m", "haversack"]
        saved = "\n".join(json.dumps(memory) for memory in memories())
        (Path(home) / "saved.jsonl").write_text(saved + "\n", encoding="utf-8")
        printed([*program, "import", "../saved.jsonl"], str(folder), home)
        lines: list[str] = []
        for line in TYPED:
            words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]
            shown = printed([*program, *words], str(folder), home)
            lines += [f"\x1b[1m$ haversack {line}\x1b[0m", *shown.split("\n"), ""]
    return lines[:-1]


def wrapped(lines: list[str]) -> Iterator[list[tuple[str, str]]]:
    """Each row of the terminal as pieces of text with their style, folded where the terminal would fold."""
    for line in lines:
        style, row, room = "", list[tuple[str, str]](), COLUMNS
        for at, piece in enumerate(_PIECE.split(line)):
            if at % 2:
                style = STYLES.get(piece, "")
                continue
            while len(piece) > room:
                yield [*row, (piece[:room], style)]
                piece, row, room = piece[room:], [], COLUMNS
            if piece:
                row.append((piece, style))
                room -= len(piece)
        yield row


def drawing(lines: list[str]) -> str:
    """The lines as SVG that follows the reader's light or dark theme."""
    rows = list(wrapped(lines))
    width, height = int(COLUMNS * LETTER + 2 * MARGIN), (len(rows) + 1) * LINE + 2 * MARGIN
    texts = []
    for number, row in enumerate(rows, 1):
        spans = "".join(
            f'<tspan class="{style}">{html.escape(text)}</tspan>' if style else html.escape(text) for text, style in row
        )
        texts.append(f'<text x="{MARGIN}" y="{MARGIN + number * LINE}" xml:space="preserve">{spans}</text>')
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} \
role="img" aria-label="A terminal: haversack saves a note, searches within 120 and 80 tokens, and makes a context pack">
<style>
rect {{ fill: #fbfaf7; stroke: #d5d0c4 }}
text {{ font: 13.3px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #24292f }}
.bold {{ font-weight: bold }}
.dim {{ fill: #6b6f76 }}
@media (prefers-color-scheme: dark) {{
  rect {{ fill: #16191d; stroke: #343a41 }} text {{ fill: #e3e6e9 }} .dim {{ fill: #9aa1a9 }}
}}
</style>
<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>
{chr(10).join(texts)}
</svg>
"""


def main() -> int:
    """Draw the picture, or print it with `-`."""
    made = drawing(session())
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(made)
    else:
        PICTURE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
