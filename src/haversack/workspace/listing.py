"""`project_files`: the files of the project, with size and time, as a snapshot with exact totals."""

import os
import stat
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Literal

from haversack.values import record
from haversack.workspace.candidates import Candidates
from haversack.workspace.root import Workspace, locate
from haversack.workspace.secrecy import Withheld
from haversack.workspace.selecting import Selection
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

Order = Literal["path", "size", "mtime"]
_BATCH = 512
_KIND = 0o170000
_RANKED = 50
"""How many types and folders a listing names; the figures of each count all files."""


@record
class ProjectFile:
    """A file: its path from the root, its bytes, when it was last changed (seconds since 1970)."""

    path: str
    size: int
    modified: int
    is_link: bool = False


@record
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
    batches = _rows(candidates, selection, tally)
    writer = SnapshotWriter("files")
    for batch in batches if sort == "path" else _sorted(batches, sort):
        writer.extend(batch)
    return FileListing(
        path=place.relative,
        pattern=pattern,
        files=Snapshot(writer.finish(), ProjectFile),
        total_size=tally.size,
        types=_ranked(tally.types()),
        folders=_ranked(tally.folders()),
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
    """Figures of all files, kept while they stream by; it sees every file of the project, so each step is short."""

    def __init__(self, base: str) -> None:
        self._skip = len(base) + 1 if base else 0
        self.size = 0
        self._endings: Counter[str] = Counter()
        self._folders: Counter[str] = Counter()

    def add(self, rows: list[Row]) -> None:
        skip = self._skip
        paths = [row[0] for row in rows]
        self.size += sum([row[1] for row in rows])
        # The character before the last dot is kept: a name that only begins with a dot has no type.
        self._endings.update([path[path.rfind(".") - 1 :] for path in paths])
        self._folders.update([path[: path.find("/", skip) + 1] for path in paths])

    def types(self) -> Counter[str]:
        types: Counter[str] = Counter()
        for ending, count in self._endings.items():
            is_type = ending[1:2] == "." and "/" not in ending
            types[ending[1:].lower() if is_type else ""] += count
        return types

    def folders(self) -> Counter[str]:
        return Counter({folder: count for folder, count in self._folders.items() if folder})


def _rows(candidates: Candidates, selection: Selection, tally: _Tally) -> Iterator[list[Row]]:
    lstat = os.lstat
    for names in candidates:
        taken = selection.taken(names)
        folder = taken.folder
        rows: list[Row] = []
        for raw, path in zip(taken.raw, taken.shown, strict=True):
            try:
                facts = lstat(folder + raw)
            except OSError:
                continue  # tracked by git, but no longer there
            kind = facts[0] & _KIND
            if kind == stat.S_IFREG:
                rows.append((path, facts[6], int(facts[8])))
            elif kind == stat.S_IFLNK:
                rows.append((path, facts[6], int(facts[8]), True))
            elif kind == stat.S_IFDIR:
                candidates.nested.append(path + "/")
        tally.add(rows)
        yield rows


def _sorted(batches: Iterator[list[Row]], order: Order) -> Iterator[list[Row]]:
    """Rows by size or time, largest first, ties by path; held as one text and arrays, not as objects."""
    names = bytearray()
    ends, sizes, times, links = array("q", [0]), array("q"), array("q"), bytearray()
    for path, size, modified, *is_link in chain.from_iterable(batches):
        names += path.encode()
        ends.append(len(names))
        sizes.append(size)
        times.append(modified)
        links.append(bool(is_link))
    keys = sizes if order == "size" else times
    # The sort is stable and the rows arrive by path, so ties keep that order.
    numbers = iter(sorted(range(len(keys)), key=lambda each: -keys[each]))
    while batch := list(islice(numbers, _BATCH)):
        rows: list[Row] = []
        for number in batch:
            path = names[ends[number] : ends[number + 1]].decode()
            facts = (path, sizes[number], times[number])
            rows.append((*facts, True) if links[number] else facts)
        yield rows


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_RANKED])
