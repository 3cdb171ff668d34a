"""`project_files`: the files of the project, with size and time, as a snapshot with exact totals."""

import os
import stat
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from haversack.workspace.root import Workspace, locate
from haversack.workspace.secrecy import Withheld
from haversack.workspace.selecting import Candidates, Selection
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

Order = Literal["path", "size", "mtime"]
_BATCH = 512
_RANKED = 50
"""How many types and folders a listing names; the figures of each count all files."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file: its path from the root, its bytes, when it was last changed (seconds since 1970)."""

    path: str
    size: int
    modified: int
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files a question is about; `types` and `folders` count all of them, most first, ties by name.

    `skipped` are build folders left out where there is no git, `nested` repositories inside this one, whose files are
    listed by giving their path. `deeper` counts files that the pattern would match if it crossed folders.
    """

    path: str
    pattern: str
    files: Snapshot[ProjectFile]
    total_size: int
    types: tuple[tuple[str, int], ...]
    folders: tuple[tuple[str, int], ...]
    hidden: int
    deeper: int
    withheld: Withheld
    skipped: tuple[str, ...]
    nested: tuple[str, ...]
    notes: tuple[str, ...]
    in_git: bool


def project_files(
    workspace: Workspace,
    *,
    path: str = "",
    pattern: str = "",
    max_depth: int | None = None,
    include_hidden: bool = False,
    sort: Order = "path",
) -> FileListing:
    """The files below `path` whose path from there matches the glob `pattern`: by path, largest or newest first."""
    place = locate(workspace, path)
    selection = Selection(
        place.relative,
        pattern=pattern,
        max_depth=max_depth,
        include_hidden=include_hidden,
        allow_secrets=workspace.allow_secrets,
    )
    candidates = Candidates(workspace, place)
    tally = _Tally(place.relative)
    rows = _rows(candidates, selection, tally)
    writer = SnapshotWriter("files")
    for batch in _batches(rows if sort == "path" else _sorted(rows, sort)):
        writer.extend(batch)
    return FileListing(
        path=place.relative,
        pattern=pattern,
        files=Snapshot(writer.finish(), ProjectFile),
        total_size=tally.size,
        types=_ranked(tally.types),
        folders=_ranked(tally.folders),
        hidden=selection.hidden,
        deeper=selection.deeper,
        withheld=selection.withheld.total(),
        skipped=tuple(candidates.skipped),
        nested=tuple(sorted(set(candidates.nested))),
        notes=tuple(candidates.notes),
        in_git=candidates.in_git,
    )


Row = tuple[str, int, int] | tuple[str, int, int, bool]


class _Tally:
    """Figures of all files, kept while they stream by."""

    def __init__(self, base: str) -> None:
        self._skip = len(base) + 1 if base else 0
        self.size = 0
        self.types: Counter[str] = Counter()
        self.folders: Counter[str] = Counter()

    def add(self, path: str, size: int) -> None:
        self.size += size
        dot = path.rfind(".")
        # A name that only begins with a dot has no type, nor has one whose last dot belongs to a folder.
        typed = dot > 0 and path[dot - 1] != "/" and path.find("/", dot) < 0
        self.types[path[dot:].lower() if typed else ""] += 1
        slash = path.find("/", self._skip)
        if slash >= 0:
            self.folders[path[: slash + 1]] += 1


def _rows(candidates: Candidates, selection: Selection, tally: _Tally) -> Iterator[Row]:
    lstat, regular, link = os.lstat, stat.S_IFREG, stat.S_IFLNK
    for absolute, path in candidates:
        if not selection.takes(path):
            continue
        try:
            facts = lstat(absolute)
        except OSError:
            continue  # tracked by git, but no longer there
        kind = stat.S_IFMT(facts.st_mode)
        if kind == regular:
            tally.add(path, facts.st_size)
            yield path, facts.st_size, int(facts.st_mtime)
        elif kind == link:
            tally.add(path, facts.st_size)
            yield path, facts.st_size, int(facts.st_mtime), True
        elif kind == stat.S_IFDIR:
            candidates.nested.append(path + "/")


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    yield batch


def _sorted(rows: Iterator[Row], order: Order) -> Iterator[Row]:
    """Rows by size or time, largest first, ties by path; held as one text and arrays, not as objects."""
    names = bytearray()
    ends, sizes, times, links = array("q", [0]), array("q"), array("q"), bytearray()
    for path, size, modified, *is_link in rows:
        names += path.encode()
        ends.append(len(names))
        sizes.append(size)
        times.append(modified)
        links.append(bool(is_link))
    keys = sizes if order == "size" else times
    # The sort is stable and the rows arrive by path, so ties keep that order.
    for number in sorted(range(len(keys)), key=lambda each: -keys[each]):
        path = names[ends[number] : ends[number + 1]].decode()
        if links[number]:
            yield path, sizes[number], times[number], True
        else:
            yield path, sizes[number], times[number]


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_RANKED])
