"""Matches with the lines around them, gathered file by file and put in order of path."""

import io
import os
import re
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from heapq import nsmallest
from itertools import groupby
from typing import IO, Any

from haversack.errors import ToolFailed
from haversack.patterns import pattern
from haversack.values import record
from haversack.workspace.snapshots import SnapshotWriter, bundle
from haversack.workspace.text import LINE_CAP, Line, cut_line

_IN_MEMORY = 8_000_000
_MOST = 256_000_000
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
    """The records of the matches in what `said_of` wrote."""
    path, context, said = told.split("\0", 2)
    rows: list[tuple[Any, ...]] = []
    # No line that ripgrep gives is so long that it has to be cut around the match.
    lines = FileLines(lambda _: True, int(context), path, rows.extend)
    for line in said.split("\n")[:-1]:
        number, mark, text = _SAID.match(line).groups()  # type: ignore[union-attr]
        lines.add(int(number), text.removesuffix("\r"), mark == ":")
    lines.end()
    return rows


def said_of(path: str, context: int, said: str) -> bytes:
    """The matches of a file as ripgrep tells them, line by line, to be taken apart when they are shown."""
    return bundle(f"{path}\0{context}\0{said}")


@record
class Collected:
    """All matches as a snapshot, how many files have any, and those with most (most first, ties by path)."""

    snapshot: bytes
    files: int
    top: tuple[tuple[str, int], ...]


Keep = Callable[[str, bytes, int], None]
"""Takes some matches of a file: its path, their records, and how many they are."""


class Collector:
    """Gathers matches and puts them in order of path; the matches of a file come in order, files in any.

    Matches wait in a temporary file, so memory holds the name of each file with matches and three numbers, whatever
    the number of its matches.
    """

    def __init__(self) -> None:
        self._spool: IO[bytes] = io.BytesIO()
        self._size = 0
        self._names: list[bytes] = []
        self._starts, self._lengths, self._counts = array("Q"), array("Q"), array("Q")

    def keep(self, path: str, records: bytes, count: int) -> None:
        """Take some matches of a file."""
        length = self._spool.write(records)
        self._names.append(os.fsencode(path))
        self._starts.append(self._size)
        self._lengths.append(length)
        self._counts.append(count)
        self._size += length
        if self._size > _MOST:
            raise ToolFailed(
                f"the matches take more than {_MOST // 1_000_000} MB",
                hint="use a longer pattern, a path or a file_pattern",
            )
        if self._size > _IN_MEMORY and isinstance(self._spool, io.BytesIO):
            self._spool = _moved_to_disk(self._spool)

    def finish(self) -> Collected:
        """All that was kept, in order."""
        order = sorted(range(len(self._names)), key=self._names.__getitem__)
        writer = SnapshotWriter("matches")
        with self._spool:
            for at in order:
                self._spool.seek(self._starts[at])
                writer.add_encoded(self._spool.read(self._lengths[at]), self._counts[at])
        top = nsmallest(RANKED, self._totals(order), key=lambda each: (-each[1], each[0]))
        files = sum(1 for _ in self._totals(order))
        return Collected(writer.finish(), files, tuple((os.fsdecode(name), count) for name, count in top))

    def _totals(self, order: list[int]) -> Iterator[tuple[bytes, int]]:
        """Each file with its number of matches; one with many was kept in several parts."""
        for name, parts in groupby(order, key=self._names.__getitem__):
            yield name, sum(self._counts[at] for at in parts)


def _moved_to_disk(held: io.BytesIO) -> IO[bytes]:
    import tempfile  # few searches find so much

    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(held.getvalue())
    return file


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
