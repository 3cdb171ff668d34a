"""`project_files`: the files of the project as a snapshot with exact totals.

A listing by path is made from names alone; how large and how old a file is, is looked up when it is shown. To look
at each of a hundred thousand files takes longer than to name them.
"""

import os
import stat
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Literal

from haversack.values import record
from haversack.workspace.candidates import Candidates
from haversack.workspace.root import Workspace, locate
from haversack.workspace.secrecy import Withheld
from haversack.workspace.selecting import Names, Selection
from haversack.workspace.snapshots import Snapshot, SnapshotWriter, bundle

Order = Literal["path", "size", "mtime"]
_BATCH = 512
_RANKED = 50
"""How many types and folders a listing names; the figures of each count all files."""


@record
class ProjectFile:
    """A file: its path from the root, its bytes, when it was last changed (seconds since 1970).

    `is_gone` when it was no file any more when it was looked at: others may write while a listing is read.
    """

    path: str
    size: int
    modified: int
    is_link: bool = False
    is_gone: bool = False


@record
class FileListing:
    """The files a question is about; `types` and `folders` count all of them, most first, ties by name.

    `total_size` is known when the order made it necessary to look at each. `skipped` are build folders left out
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
    candidates = Candidates(workspace, place)
    tally = _Tally(place.relative)
    taken = (selection.taken(names) for names in candidates)
    writer = SnapshotWriter("files")
    total_size = None
    if sort == "path":
        for names in taken:
            tally.add(names.shown)
            _write_names(writer, workspace, names)
    else:
        looked = _Looked(workspace, taken, tally)
        for batch in looked.sorted_by(sort):
            writer.extend(batch)
        total_size = sum(looked.sizes)
    return FileListing(
        path=place.relative,
        pattern=pattern,
        files=Snapshot(writer.finish(), decoder(workspace), names_in),
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


def names_in(told: str) -> list[tuple[str]]:
    """The rows of files of which only the names are known, written down as one text."""
    return [(name,) for name in told.split("\0")]


def decoder(workspace: Workspace) -> Callable[..., ProjectFile]:
    """Reads a snapshot's rows, and looks up what they do not say."""
    return partial(_file, os.path.join(workspace.root, ""))


def _file(
    root: str, path: str, raw: str = "", size: int | None = None, modified: int = 0, is_link: bool = False
) -> ProjectFile:
    if size is not None:
        return ProjectFile(path, size, modified, is_link)
    return _look(root + (raw or path), path) or ProjectFile(path, 0, 0, is_gone=True)


def _look(absolute: str, path: str) -> ProjectFile | None:
    """The file as it is now; None when there is none, or something else in its place."""
    try:
        facts = os.lstat(absolute)
    except OSError:
        return None
    is_link = stat.S_ISLNK(facts.st_mode)
    if not is_link and not stat.S_ISREG(facts.st_mode):
        return None
    return ProjectFile(path, facts.st_size, int(facts.st_mtime), is_link)


def _write_names(writer: SnapshotWriter, workspace: Workspace, names: Names) -> None:
    if names.raw is names.shown:
        if names.shown:
            writer.add_parts([bundle("\0".join(names.shown).encode())], [len(names.shown)])
        return
    skip = len(os.path.join(workspace.root, ""))
    writer.extend([(path, (names.folder + raw)[skip:]) for path, raw in zip(names.shown, names.raw, strict=True)])


class _Tally:
    """Figures of all files, kept while they stream by; it sees every file of the project, so each step is short."""

    def __init__(self, base: str) -> None:
        self._skip = len(base) + 1 if base else 0
        self._endings: Counter[str] = Counter()
        self._folders: Counter[str] = Counter()

    def add(self, paths: list[str]) -> None:
        skip = self._skip
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


class _Looked:
    """All files with what a look at each has shown, held as one text and arrays, not as objects."""

    def __init__(self, workspace: Workspace, batches: Iterator[Names], tally: _Tally) -> None:
        self._names = bytearray()
        self._ends, self.sizes, self._times, self._links = array("q", [0]), array("q"), array("q"), bytearray()
        for names in batches:
            found = [_look(names.folder + raw, path) for raw, path in zip(names.raw, names.shown, strict=True)]
            files = [each for each in found if each]
            tally.add([each.path for each in files])
            for each in files:
                self._names += each.path.encode()
                self._ends.append(len(self._names))
                self.sizes.append(each.size)
                self._times.append(each.modified)
                self._links.append(each.is_link)

    def sorted_by(self, order: Order) -> Iterator[list[Row]]:
        """Rows by size or time, largest first, ties by path."""
        keys = self.sizes if order == "size" else self._times
        # The sort is stable and the rows arrived by path, so ties keep that order.
        numbers = iter(sorted(range(len(keys)), key=lambda each: -keys[each]))
        while batch := list(islice(numbers, _BATCH)):
            yield [self._row(number) for number in batch]

    def _row(self, number: int) -> Row:
        path = self._names[self._ends[number] : self._ends[number + 1]].decode()
        return path, "", self.sizes[number], self._times[number], bool(self._links[number])


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_RANKED])
