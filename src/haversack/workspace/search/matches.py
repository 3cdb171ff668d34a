"""Matching lines with their context lines."""

import re
from typing import Any

from haversack.values import record
from haversack.workspace.files.encodings import LINE_CAP, Line, cut_line

Row = tuple[str, int, int, list[str], list[tuple[int, int, int]]]
"""A match in a snapshot: path, line number, number of the first line shown, the lines, and which of them are cut."""


@record
class Match:
    """A matching line, with the context lines that no earlier match of the file shows."""

    path: str
    number: int
    lines: tuple[Line, ...]


def match_from(path: str, number: int, first: int, texts: list[str], cuts: list[tuple[int, int, int]]) -> Match:
    """A match from its row in a snapshot."""
    lines = [Line(at, text, len(text)) for at, text in enumerate(texts, first)]
    for at, length, start in cuts:
        lines[at] = Line(first + at, texts[at], length, start)
    return Match(path, number, tuple(lines))


def rows_of(path: str, lines: list[str], expression: re.Pattern[str], context: int) -> list[Row]:
    """The matches in the lines of a file."""
    search = expression.search
    found = [at for at, line in enumerate(lines) if search(line)]
    rows: list[Row] = []
    shown = 0
    for at, following in zip(found, [*found[1:], len(lines)], strict=False):
        first = max(shown, at - context)
        shown = min(at + context + 1, following)
        rows.append(_row(path, lines[first:shown], first, at, search))
    return rows


def _row(path: str, texts: list[str], first: int, at: int, search: Any) -> Row:
    cuts: list[tuple[int, int, int]] = []
    for number, text in enumerate(texts):
        if len(text) > LINE_CAP:
            match_at = search(text).start() if first + number == at else 0
            line = cut_line(number, text, match_at=match_at)
            texts[number] = line.text
            cuts.append((number, line.length, line.start))
    return (path, at + 1, first + 1, texts, cuts)
