"""The files at or below a place that are not ignored, from git's index or from a walk of the folder."""

import os
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import ExitStack
from functools import lru_cache
from itertools import chain, islice
from operator import itemgetter

from haversack.errors import HaversackError, OutsideRoot, ToolFailed
from haversack.files import Tree
from haversack.workspace.files.selection import Names
from haversack.workspace.files.walk import Walk
from haversack.workspace.git.command import Repository, failure, find_repository
from haversack.workspace.programs import Running, records, wholes
from haversack.workspace.root import PLAIN, Place, Workspace, shown

_BATCH = 1_024
_SUBMODULE = b"\0H 160000 "


class Candidates:
    """The files at or below a place, ignored ones left out, in order of path, some at a time.

    When all are read, it knows what was skipped: build folders, and `nested` repositories. `notes` say what the
    reader should know. `at_once` is for a caller that checks and sorts the files itself: it gets tracked files before
    untracked ones, and deleted ones too, as soon as git lists them.
    """

    def __init__(self, workspace: Workspace, tree: Tree, place: Place, *, at_once: bool = False) -> None:
        self._workspace = workspace
        self._tree = tree
        self._place = place
        self._at_once = at_once
        self.skipped: list[str] = []
        self.nested: list[str] = []
        self.notes: list[str] = []
        self.excluded: list[str] = []
        self._repository: Repository | None = None
        try:
            self._repository = find_repository(workspace, place)
        except OutsideRoot as refusal:
            self.notes += git_refusal(refusal)
        self.in_git = self._repository is not None

    def __iter__(self) -> Iterator[Names]:
        if self._repository is None:
            yield from self._walked()
            return
        batches = self._git_names(self._repository)
        try:
            first = next(batches, None)
        except ToolFailed as refusal:
            self.in_git = False
            self.notes += git_refusal(refusal)
            yield from self._walked()
            return
        if first is not None:
            yield first
            yield from batches
        elif is_ignored(self._repository, self._place):
            self.notes.append(f"{self._place.relative} is ignored by git.")

    def _walked(self) -> Iterator[Names]:
        walk = Walk(self._tree, self._place.raw, self._workspace.limits.seconds)
        paths = walk.files()
        while batch := list(islice(paths, _BATCH)):
            yield Names(batch, [shown(path) for path in batch])
        self.excluded += walk.excluded
        self.skipped += walk.skipped
        self.notes += walk.notes
        if walk.unreadable:
            self.notes.append(f"{walk.unreadable} folders could not be opened.")

    def _git_names(self, repository: Repository) -> Iterator[Names]:
        path = repository.path_of(self._place)
        with ExitStack() as stack:
            tracked = stack.enter_context(repository.start("ls-files", "-z", "-s", "-t", "--", path))
            untracked = stack.enter_context(repository.start("ls-files", "-z", "-o", "--exclude-standard", "--", path))
            batches: Iterator[list[bytes]]
            in_index = map(repository.from_root, _tracked(tracked.blocks()))
            if self._at_once:
                others = (part.removesuffix(b"\0").split(b"\0") for part in wholes(untracked.blocks()))
                batches = chain(_unique(in_index), map(repository.from_root, others))
            else:
                # Git names what is untracked when it has walked all folders; until then the tracked are looked for.
                presence = _Presence(self._tree)
                there = [names for names in map(presence.among, filter(None, in_index)) if names]
                batches = _merged(there, repository.from_root(list(records(untracked.blocks()))))
            for batch in batches:
                if names := self._named(batch):
                    yield names
            for running in (tracked, untracked):
                _check(repository, running)

    def _named(self, names: list[bytes]) -> Names | None:
        text = b"\0".join(names)
        if b"/\0" in text or text.endswith(b"/"):
            self.nested += [shown(os.fsdecode(raw)) for raw in names if raw.endswith(b"/")]
            names = [raw for raw in names if not raw.endswith(b"/")]
            text = b"\0".join(names)
        if not names:
            return None
        if not text.translate(None, PLAIN):
            # Nearly every name is shown as it is: all of them can be taken as they stand.
            plain = text.decode("ascii").split("\0")
            return Names(plain, plain)
        raw_names = [raw.decode("utf-8", "surrogateescape") for raw in names]
        return Names(raw_names, [shown(raw) for raw in raw_names])

    def left_out(self) -> list[str]:
        """Paths from the root that are ignored or belong to nested repositories, folders with a slash at the end.

        Known when all names have been read.
        """
        if not self.in_git or self._repository is None:
            return self.excluded
        path = self._repository.path_of(self._place)
        ignored = self._repository.records(
            "ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory", "--", path
        )
        return [*map(os.fsdecode, self._repository.from_root(list(ignored))), *self.nested]


def _tracked(blocks: Iterator[bytes]) -> Iterator[list[bytes]]:
    """The names in the index from the output of `ls-files -s -t`, one block at a time.

    Another repository that is kept as a commit of its own gets a slash behind its name, as among the untracked.
    """
    for part in wholes(blocks):
        entries = part.removesuffix(b"\0").split(b"\0")
        # Tag, mode, hash and stage take as many characters in every entry of one repository.
        start = entries[0].index(b"\t") + 1
        names = list(map(itemgetter(slice(start, None)), entries))
        if _SUBMODULE in part or part.startswith(_SUBMODULE[1:]):
            names = [
                name + b"/" if entry.startswith(_SUBMODULE[1:]) else name
                for name, entry in zip(names, entries, strict=True)
            ]
        yield names


def _unique(batches: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    """Names in order, each once: a file in conflict is in the index once for each side."""
    previous = b""
    for names in filter(None, batches):
        kept = dict.fromkeys(names)
        kept.pop(previous, None)
        previous = names[-1]
        yield list(kept)


class _Presence:
    """Checks whether tracked files still exist: reading each folder once is far faster than a `stat` per file."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._held = lru_cache(maxsize=64)(self._names_in)
        self._previous = b""

    def among(self, names: list[bytes]) -> list[bytes]:
        """The sorted names that still exist, each once: a file in conflict is listed several times."""
        there: list[bytes] = []
        at = 0
        while at < len(names) and names[at] == self._previous:
            at += 1
        self._previous = names[-1]
        while at < len(names):
            folder = names[at][: names[at].rfind(b"/") + 1]
            held = self._held(folder)
            begin = bisect_left(held, names[at])
            end = at + len(held) - begin
            if end > at and names[at:end] == held[begin:]:
                # All of the folder's rest is tracked, as in most folders, and was compared at once.
                there += names[at:end]
                at = end
                continue
            while at < len(names) and names[at].startswith(folder) and b"/" not in names[at][len(folder) : -1]:
                name = names[at]
                begin = bisect_left(held, name, begin)
                # A file system may spell a name otherwise than git does, and a submodule ends in a slash.
                if (held[begin : begin + 1] == [name] or self._exists(name)) and there[-1:] != [name]:
                    there.append(name)
                at += 1
        return there

    def _names_in(self, folder: bytes) -> list[bytes]:
        try:
            names = self._tree.names(os.fsdecode(folder.removesuffix(b"/")))
        except OSError:
            return []
        return sorted([folder + os.fsencode(name) for name in names])

    def _exists(self, name: bytes) -> bool:
        return self._tree.exists(os.fsdecode(name.removesuffix(b"/")))


def _merged(batches: list[list[bytes]], others: list[bytes]) -> Iterator[list[bytes]]:
    """Two sorted streams of names merged into one, some at a time."""
    at = 0
    for names in batches:
        until = bisect_left(others, names[-1], at)
        yield sorted([*names, *others[at:until]]) if until > at else names
        at = until
    for start in range(at, len(others), _BATCH):
        yield others[start : start + _BATCH]


def _check(repository: Repository, running: Running) -> None:
    ended = running.ended()
    if ended.code != 0:
        raise failure(repository.top, "ls-files", ended.errors)


def is_ignored(repository: Repository, place: Place) -> bool:
    """Whether git ignores a place and all below it."""
    path = repository.path_of(place)
    ignored = repository.records("ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard", "--", path)
    return any(f"{path}/".startswith(os.fsdecode(name)) for name in ignored)


def git_refusal(refusal: HaversackError) -> tuple[str, ...]:
    """The note for a repository that git refused to read and that was walked like any folder."""
    return (f"{refusal.message}. Its files were found without git.", *([refusal.hint] if refusal.hint else []))
