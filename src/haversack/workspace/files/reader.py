"""`read_file`: lines of a file of any size, of any usual encoding, without holding the file."""

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal

from haversack.errors import InvalidArgument, TooLarge
from haversack.patterns import pattern
from haversack.text.fences import with_fences
from haversack.values import record
from haversack.workspace.files.encodings import LINE_CAP, Line, as_utf8, blocks_of, sniff
from haversack.workspace.files.line_scan import LineScan
from haversack.workspace.root import Workspace, locate_readable, opened

OUTLINED = 40
LARGEST = 2_000_000_000
"""Bytes of a text file that is read: all of it is looked through to count its lines."""

_DEFINITION = pattern(
    r"(?:export\s+|default\s+|pub(?:\([a-z]+\))?\s+|public\s+|static\s+|final\s+|abstract\s+|async\s+|unsafe\s+)*"
    r"(?:def|class|function|func|fn|struct|enum|trait|impl|interface|type|module|mod|namespace|protocol|object|defun)"
    r"\s+[^\s({:;=<]+"
)
_HEADING = pattern(r"#{1,6} +\S.*")
_MARKDOWN = (".md", ".markdown", ".mdx", ".rst")


@record
class FileText:
    """Lines of a file.

    `text` holds the lines `first_line` to `last_line` (both 0 when there are none) without their ends, joined by
    newlines. Lines over LINE_CAP characters are cut, and `cuts` has their numbers and full lengths; when a single line
    was asked for it is not cut but given in parts of LINE_CAP, from `start_column` on. `is_whole` is false when KEPT
    ended the reading before the range did. A binary file has facts and no text. `outline` has the headings or
    top-level definitions of the lines read.
    """

    path: str
    kind: Literal["text", "binary"]
    size: int
    total_lines: int
    encoding: str
    first_line: int
    last_line: int
    text: str
    cuts: tuple[tuple[int, int], ...]
    start_column: int
    is_whole: bool
    outline: tuple[str, ...]

    def lines(self) -> Iterator[Line]:
        """The lines read; the parts of a single long line share its number."""
        lengths = dict(self.cuts)
        if self.first_line and self.first_line == self.last_line and lengths:
            length = lengths[self.first_line]
            for start in range(0, len(self.text), LINE_CAP):
                part = self.text[start : start + LINE_CAP]
                yield Line(self.first_line, part, length, self.start_column - 1 + start)
            return
        if self.first_line:
            for number, text in enumerate(self.text.split("\n"), self.first_line):
                yield Line(number, text, lengths.get(number, len(text)))


def read_file(
    workspace: Workspace,
    path: str,
    *,
    start_line: int | None = None,
    end_line: int | None = None,
    start_column: int = 1,
) -> FileText:
    """Lines `start_line` to `end_line` of a file, counted from 1; either end may be left out.

    `start_column` says where in a single long line to begin.
    """
    for name, value in (("start_line", start_line), ("end_line", end_line), ("start_column", start_column)):
        if value is not None and value < 1:
            raise InvalidArgument(f"{name} is {value}", hint="lines and columns are counted from 1")
    if start_line and end_line and start_line > end_line:
        raise InvalidArgument(f"start_line {start_line} comes after end_line {end_line}")
    place = locate_readable(workspace, path)
    with opened(workspace, place, path) as descriptor:
        size = os.fstat(descriptor).st_size
        blocks = blocks_of(descriptor, workspace.limits.seconds)
        return _read(blocks, place.relative, size, start_line or 1, end_line, start_column)


def _read(blocks: Iterator[bytes], path: str, size: int, start: int, end: int | None, column: int) -> FileText:
    beginning = next(blocks, b"")
    sniffed = sniff(beginning)
    if sniffed.is_binary:
        return FileText(path, "binary", size, 0, "", 0, 0, "", (), 1, True, ())
    if size > LARGEST:
        raise TooLarge(
            f"{path} has {size:,} bytes, more than the {LARGEST:,} that are read",
            hint="split it, or look at it with another program",
        )
    scan = LineScan(start, end, column if start == end else 1)
    scan.run(as_utf8(chain((beginning[sniffed.mark :],), blocks), sniffed.encoding))
    if start > max(scan.total, 1):
        raise InvalidArgument(
            f"start_line is {start:,}, but {path} has {scan.total:,} lines", hint="ask for lines that are there"
        )
    is_single = start == end
    texts = [each.text if is_single else each.text[:LINE_CAP] for each in scan.lines]
    cuts = tuple((number, each.length) for number, each in enumerate(scan.lines, start) if each.length > LINE_CAP)
    marked = f"{sniffed.encoding} with byte order mark" if sniffed.encoding else ""
    return FileText(
        path=path,
        kind="text",
        size=size,
        total_lines=scan.total,
        encoding=marked or ("utf-8" if scan.is_utf8 else "windows-1252"),
        first_line=start if texts else 0,
        last_line=start + len(texts) - 1 if texts else 0,
        text="\n".join(texts),
        cuts=cuts,
        start_column=column if is_single else 1,
        is_whole=scan.is_whole,
        outline=_outline(path, texts),
    )


def _outline(path: str, texts: Sequence[str]) -> tuple[str, ...]:
    """The headings of a Markdown text, or the top-level definitions of code: the first OUTLINED of them."""
    is_markdown = path.lower().endswith(_MARKDOWN)
    expression = _HEADING if is_markdown else _DEFINITION
    found: list[str] = []
    # Comments in code hold fenced examples too, but there a row of tildes may underline a title.
    for text, is_fenced in with_fences(texts, indent=3 if is_markdown else 0, tildes=is_markdown):
        if not is_fenced and (entry := expression.match(text)):
            found.append(entry[0].strip())
            if len(found) == OUTLINED:
                break
    return tuple(found)
