"""`project_files`: the files of the project as a snapshot with exact totals.

A listing by path is made from names alone; size and time of a file are read when it is shown. Calling
`stat` on a hundred thousand files takes longer than listing them.
"""

import os
import stat
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, islice
from operator import itemgetter
from typing import Literal

from haversack.files import Tree
from haversack.values import record
from haversack.workspace.files.secret_names import Withheld
from haversack.workspace.files.selection import Names, Selection
from haversack.workspace.files.unignored import Candidates
from haversack.workspace.root import Workspace, locate
from haversack.workspace.snapshots import Snapshot, SnapshotWriter, bundle

Order = Literal["path", "size", "mtime"]
_BATCH = 512
_RANKED = 50
"""How many types and folders a listing names; the figures of each count all files."""


@record
class ProjectFile:
    """A file: its path from the root, its bytes, when it was last changed (seconds since 1970).

    `is_gone` when it no longer was a file at that time: others may write while a listing is read.
    """

    path: str
    size: int
    modified: int
    is_link: bool = False
    is_gone: bool = False


@record
class FileListing:
    """The files of a listing; `types` and `folders` count all of them, most first, ties by name.

    `total_size` is known when the sort order needed the size of each. `skipped` are build folders left out
    where there is no git, `nested` repositories inside this one, whose files are listed by giving their path.
    `deeper` counts files that the pattern would match if it crossed folders.
    """

    path: str
    pattern: str
    files: Snapshot[ProjectFile]
    total_size: int | None
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
    tally = _Tally(place.relative)
    writer = SnapshotWriter("files")
    total_size = None
    with Tree(workspace.root) as tree:
        candidates = Candidates(workspace, tree, place, at_once=sort != "path")
        taken = (selection.taken(names) for names in candidates)
        if sort == "path":
            for names in taken:
                # Names come in order, and plain ones are shown in that order.
                tally.add(names.shown, is_sorted=names.are_plain)
                _write_names(writer, names)
        else:
            looked = _Looked(tree, taken, tally)
            looked.write(writer, sort)
            total_size = sum(looked.sizes)
    return FileListing(
        path=place.relative,
        pattern=pattern,
        files=Snapshot(writer.finish(), decoder(workspace), rows_in),
        total_size=total_size,
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


Row = tuple[str] | tuple[str, str] | tuple[str, str, int, int, bool]
"""A file in a snapshot: how it is shown, how the file system has it if that differs, what is known of it."""


def rows_in(told: str) -> list[Row]:
    """The rows of the files in one bundled text: their paths, with size and time where they are known."""
    paths, *columns = told.split("\n")
    if not columns:
        return [(path,) for path in paths.split("\0")]
    sizes, times, links = ([int(each) for each in column.split()] for column in columns)
    return [
        (path, "", size, modified, number in links)
        for number, (path, size, modified) in enumerate(zip(paths.split("\0"), sizes, times, strict=True))
    ]


def decoder(workspace: Workspace) -> Callable[..., ProjectFile]:
    """Reads a snapshot's rows, and looks up what they do not say."""
    return partial(_file, Tree(workspace.root))


def _file(
    tree: Tree, path: str, raw: str = "", size: int | None = None, modified: int = 0, is_link: bool = False
) -> ProjectFile:
    if size is not None:
        return ProjectFile(path, size, modified, is_link)
    if facts := _look(tree, raw or path):
        return ProjectFile(path, facts.st_size, int(facts.st_mtime), stat.S_ISLNK(facts.st_mode))
    return ProjectFile(path, 0, 0, is_gone=True)


def _look(tree: Tree, path: str) -> os.stat_result | None:
    """The present `stat` of a file or link; None when it is gone or no longer a file."""
    try:
        facts = tree.facts(path)
    except OSError:
        return None
    return facts if stat.S_ISLNK(facts.st_mode) or stat.S_ISREG(facts.st_mode) else None


def _write_names(writer: SnapshotWriter, names: Names) -> None:
    if not names.shown:
        return
    # How many names come at once depends on how git's output was cut into blocks; the key must not.
    writer.identify("".join([f"{path}\0" for path in names.shown]).encode())
    if names.are_plain:
        writer.add_parts([bundle("\0".join(names.shown).encode())], [len(names.shown)])
    else:
        writer.extend(list(zip(names.shown, names.raw, strict=True)))


class _Tally:
    """Running totals over all files of a listing; each step is short, since it sees every file of the project."""

    def __init__(self, base: str) -> None:
        self._skip = len(base) + 1 if base else 0
        self._endings: Counter[str] = Counter()
        self._folders: Counter[str] = Counter()

    def add(self, paths: list[str], *, is_sorted: bool) -> None:
        # The character before the last dot is kept: a name that only begins with a dot has no type.
        self._endings.update([path[path.rfind(".") - 1 :] for path in paths])
        at = 0
        while at < len(paths):
            folder = paths[at][: paths[at].find("/", self._skip) + 1]
            # The files of a folder follow each other, up to what would sort behind its slash.
            end = bisect_left(paths, folder[:-1] + "0", at) if folder and is_sorted else at + 1
            self._folders[folder] += end - at
            at = end

    def types(self) -> Counter[str]:
        types: Counter[str] = Counter()
        for ending, count in self._endings.items():
            is_type = ending[1:2] == "." and "/" not in ending
            types[ending[1:].lower() if is_type else ""] += count
        return types

    def folders(self) -> Counter[str]:
        return Counter({folder: count for folder, count in self._folders.items() if folder})


class _Looked:
    """All files with their size and time, stored as one text and arrays, not as objects."""

    def __init__(self, tree: Tree, batches: Iterator[Names], tally: _Tally) -> None:
        self._names = bytearray()
        self._ends, self.sizes, self._times, self._links = array("q", [0]), array("q"), array("q"), bytearray()
        self._is_sorted = True
        last = ""
        for names in batches:
            paths, facts = _looked_at(tree, names)
            if not paths:
                continue
            self._is_sorted = self._is_sorted and last < paths[0] and names.are_plain
            last = paths[-1]
            tally.add(paths, is_sorted=names.are_plain)
            encoded = [path.encode() for path in paths]
            self._ends.extend(islice(accumulate(map(len, encoded), initial=len(self._names)), 1, None))
            self._names += b"".join(encoded)
            self.sizes.extend(map(itemgetter(stat.ST_SIZE), facts))
            self._times.extend(map(itemgetter(stat.ST_MTIME), facts))
            self._links += bytes(map(stat.S_ISLNK, map(itemgetter(stat.ST_MODE), facts)))

    def write(self, writer: SnapshotWriter, order: Order) -> None:
        """Write the files down by size or time, largest first, ties by path."""
        keys = self.sizes if order == "size" else self._times
        names = bytes(self._names)
        by_path: Sequence[int] = range(len(keys))
        if not self._is_sorted:
            by_path = sorted(by_path, key=lambda at: names[self._ends[at] : self._ends[at + 1]])
        # The sort is stable, so ties keep the order of their paths.
        numbers = iter(sorted(by_path, key=keys.__getitem__, reverse=True))
        while batch := list(islice(numbers, _BATCH)):
            paths = b"\0".join([names[self._ends[at] : self._ends[at + 1]] for at in batch])
            columns = [" ".join(map(str, map(column.__getitem__, batch))) for column in (self.sizes, self._times)]
            links = " ".join([str(number) for number, at in enumerate(batch) if self._links[at]])
            told = b"\n".join([paths, "\n".join([*columns, links]).encode()])
            writer.add_parts([bundle(told)], [len(batch)])


def _looked_at(tree: Tree, names: Names) -> tuple[list[str], list[os.stat_result]]:
    """The given paths that are still there, with the facts of each."""
    try:
        facts = list(map(tree.facts, names.raw))
        if all(stat.S_ISREG(mode) for mode in set(map(itemgetter(stat.ST_MODE), facts))):
            return names.shown, facts
    except OSError:
        pass  # one of them is gone: find out which, one by one
    looked = [(path, _look(tree, raw)) for path, raw in zip(names.shown, names.raw, strict=True)]
    there = [(path, each) for path, each in looked if each]
    return [path for path, _ in there], [each for _, each in there]


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_RANKED])
