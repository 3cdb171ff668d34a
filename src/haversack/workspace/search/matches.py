"""Matches with the lines around them, gathered file by file and put in order of path."""

import os
import re
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from heapq import nsmallest
from typing import Any

from haversack.errors import ToolFailed
from haversack.patterns import pattern
from haversack.values import record
from haversack.workspace.files.encodings import LINE_CAP, Line, cut_line
from haversack.workspace.snapshots import SnapshotWriter, bundle, encode

_MOST = 64_000_000
"""Compressed bytes of matches that are kept: some ten times as much text."""
_BATCH = 256
_SAID = pattern(r"(\d+)([:-])(.*)", re.DOTALL)
RANKED = 50
"""How many files a search names by their number of matches."""


@record
class Match:
    """A line that matches, with the lines around it that no earlier match of the file has already brought."""

    path: str
    number: int
    lines: tuple[Line, ...]


def match_from(path: str, number: int, first: int, texts: list[str], cuts: list[tuple[int, int, int]]) -> Match:
    """A match from its record in a snapshot."""
    lines = [Line(at, text, len(text)) for at, text in enumerate(texts, first)]
    for at, length, start in cuts:
        lines[at] = Line(first + at, texts[at], length, start)
    return Match(path, number, tuple(lines))


def rows_in(told: str) -> list[tuple[Any, ...]]:
    """The records of a file's matches, from what ripgrep says of it."""
    path, context, said = told.split("\0", 2)
    rows: list[tuple[Any, ...]] = []
    # No line that ripgrep gives is so long that it has to be cut around the match.
    lines = FileLines(lambda _: True, int(context), path, rows.extend)
    for line in said.split("\n"):
        number, mark, text = _SAID.match(line).groups()  # type: ignore[union-attr]
        lines.add(int(number), text.removesuffix("\r"), mark == ":")
    lines.end()
    return rows


@record
class Collected:
    """All matches as a snapshot, how many files have any, and those with most (most first, ties by path)."""

    snapshot: bytes
    files: int
    top: tuple[tuple[str, int], ...]


Keep = Callable[[str, bytes, int], None]
"""Takes some matches of a file: its path, their records, and how many they are."""


def keeper(keep: Keep, path: str) -> Callable[[list[tuple[Any, ...]]], None]:
    """Takes records of matches of one file."""
    return lambda records: keep(path, encode(records), len(records))


class Collector:
    """Gathers matches and puts them in order of path; the matches of a file come in order, files in any.

    Matches are compressed as they come, so memory holds little more than the name of each file that has any.
    """

    def __init__(self, context: int) -> None:
        self._context = context
        self._writer = SnapshotWriter("matches", in_order=False)
        self._names: list[bytes] = []
        self._counts = array("I")

    def keep(self, path: str, records: bytes, count: int) -> None:
        """Take some matches of a file."""
        self._add([os.fsencode(path)], [records], [count])

    def keep_told(self, paths: Sequence[str], said: Sequence[bytes], counts: Sequence[int]) -> None:
        """Take all matches of some files as ripgrep tells them, to be taken apart when they are shown."""
        names = [os.fsencode(path) for path in paths]
        context = b"\0%d\0" % self._context
        self._add(names, [bundle(name + context + each) for name, each in zip(names, said, strict=True)], counts)

    def _add(self, names: list[bytes], parts: list[bytes], counts: Sequence[int]) -> None:
        self._names += names
        self._counts.extend(counts)
        self._writer.add_parts(parts, counts)
        if self._writer.size > _MOST:
            raise ToolFailed(
                f"the matches take more than {_MOST // 1_000_000} MB",
                hint="use a longer pattern, a path or a file_pattern",
            )

    def finish(self) -> Collected:
        """All that was kept, in order."""
        snapshot = self._writer.finish(sorted(range(len(self._names)), key=self._names.__getitem__))
        # A file with many matches was kept in several parts.
        totals: dict[bytes, int] = {}
        for name, count in zip(self._names, self._counts, strict=True):
            totals[name] = totals.get(name, 0) + count
        top = nsmallest(RANKED, totals.items(), key=lambda each: (-each[1], each[0]))
        return Collected(snapshot, len(totals), tuple((os.fsdecode(name), count) for name, count in top))


class FileLines:
    """The lines of one file, in order but perhaps with gaps, of which only those proposed can match.

    Matches are given to `keep` as records, with their context.
    """

    def __init__(
        self, search: Callable[[str], Any], context: int, path: str, keep: Callable[[list[tuple[Any, ...]]], None]
    ) -> None:
        self._search = search
        self._context = context
        self._path = path
        self._keep = keep
        # Texts that follow each other up to the last line, waiting for a match after them.
        self._before: deque[str] = deque(maxlen=context)
        self._match = 0
        self._texts: list[str] = []
        self._first = 0
        self._last = 0
        self._records: list[tuple[Any, ...]] = []
        self._cuts: dict[int, tuple[int, int]] = {}

    def add(self, number: int, text: str, is_proposed: bool) -> None:
        """The next line."""
        if number != self._last + 1:
            self._before.clear()
        self._last = number
        found = self._search(text) if is_proposed else None
        if len(text) > LINE_CAP:
            line = cut_line(number, text, match_at=found.start() if found else 0)
            text = line.text
            self._cuts[number] = (line.length, line.start)
        if found:
            self._close()
            self._match = number
            self._first = number - len(self._before)
            self._texts = [*self._before, text]
            self._before.clear()
        elif self._match and number <= self._match + self._context:
            self._texts.append(text)
        elif self._context:
            self._before.append(text)

    def end(self) -> None:
        """There are no more lines."""
        self._close()
        self._flush()

    def _close(self) -> None:
        if not self._match:
            return
        end = self._first + len(self._texts)
        cuts = [
            (number - self._first, length, start)
            for number, (length, start) in self._cuts.items()
            if self._first <= number < end
        ]
        self._records.append((self._path, self._match, self._first, self._texts, cuts))
        self._match = 0
        if self._cuts:
            self._cuts = {number: cut for number, cut in self._cuts.items() if number >= end}
        if len(self._records) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._records:
            self._keep(self._records)
        self._records = []
