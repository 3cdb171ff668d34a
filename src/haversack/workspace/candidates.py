"""The files at or below a place that are not ignored: as git knows them, or as a walk of the folder finds them."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import lru_cache
from itertools import islice

from haversack.errors import ToolFailed
from haversack.workspace.git import Repository, failure, find_repository
from haversack.workspace.programs import Running, records, wholes
from haversack.workspace.root import Place, Workspace, shown
from haversack.workspace.selecting import Names
from haversack.workspace.walking import Walk

_BATCH = 1_024
_SUBMODULE = b"\0H 160000 "


class Candidates:
    """The files at or below a place, ignored ones left out, in order of path, some at a time.

    Once all are given, it knows what was skipped: build folders, and `nested` repositories. `notes` say what the
    reader should know.
    """

    def __init__(self, workspace: Workspace, place: Place) -> None:
        self._workspace = workspace
        self._place = place
        self._repository = find_repository(workspace, place)
        self.in_git = self._repository is not None
        self.skipped: list[str] = []
        self.nested: list[str] = []
        self.notes: list[str] = []

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
        walk = Walk(self._workspace.root, raw_start(self._workspace, self._place))
        paths = walk.files()
        root = os.path.join(self._workspace.root, "")
        while batch := list(islice(paths, _BATCH)):
            yield Names(root, batch, [shown(path) for path in batch])
        self.skipped += walk.skipped
        if walk.unreadable:
            self.notes.append(f"{walk.unreadable} folders could not be opened.")

    def _git_names(self, repository: Repository) -> Iterator[Names]:
        top = os.path.join(repository.top, "")
        path = repository.path_of(self._place)
        to_shown = repository.namer()
        with ExitStack() as stack:
            tracked = stack.enter_context(repository.start("ls-files", "-z", "-s", "-t", "--", path))
            untracked = stack.enter_context(repository.start("ls-files", "-z", "-o", "--exclude-standard", "--", path))
            for batch in _merged(_tracked(os.fsencode(top), tracked.blocks()), records(untracked.blocks())):
                if names := self._named(top, batch, to_shown):
                    yield names
            for running in (tracked, untracked):
                _check(repository, running)

    def _named(self, top: str, batch: list[bytes], to_shown: Callable[[bytes], str | None]) -> Names | None:
        joined = b"\0".join(batch)
        if b"/\0" in joined or joined.endswith(b"/"):
            self.nested += [name for raw in batch if raw.endswith(b"/") and (name := to_shown(raw))]
            batch = [raw for raw in batch if not raw.endswith(b"/")]
        text = joined.decode("utf-8", "surrogateescape")
        if self._workspace.root + os.sep == top and text.isascii() and text.replace("\0", "").isprintable():
            # Nearly every name is shown as it is: the whole batch can be taken as it stands.
            raw_names = b"\0".join(batch).decode("ascii").split("\0")
            return Names(top, raw_names, raw_names) if batch else None
        pairs = [(raw.decode("utf-8", "surrogateescape"), to_shown(raw)) for raw in batch]
        kept = [(raw, name) for raw, name in pairs if name is not None]
        return Names(top, [raw for raw, _ in kept], [name for _, name in kept]) if kept else None


def _tracked(top: bytes, blocks: Iterator[bytes]) -> Iterator[list[bytes]]:
    """The names in an index as `ls-files -s -t` tells it that are there, those of one block at a time.

    Another repository that is kept as a commit of its own gets a slash behind its name, as among the untracked.
    """
    presence = _Presence(top)
    for part in wholes(blocks):
        entries = part.removesuffix(b"\0").split(b"\0")
        # Tag, mode, hash and stage take as many characters in every entry of one repository.
        start = entries[0].index(b"\t") + 1
        names = [entry[start:] for entry in entries]
        if _SUBMODULE in part or part.startswith(_SUBMODULE[1:]):
            names = [
                name + b"/" if entry.startswith(_SUBMODULE[1:]) else name
                for name, entry in zip(names, entries, strict=True)
            ]
        yield presence.among(names)


class _Presence:
    """Tells whether what is tracked is still there: a folder is read at once, which is far less than a look at each."""

    def __init__(self, top: bytes) -> None:
        self._top = top
        self._held = lru_cache(maxsize=64)(self._names_in)

    def among(self, names: list[bytes]) -> list[bytes]:
        """Those of the names, which come folder by folder, that are there."""
        there = []
        folder, held = None, frozenset[bytes]()
        for name in names:
            at = name.rfind(b"/") + 1
            if name[:at] != folder:
                folder = name[:at]
                held = self._held(folder)
            # A file system may spell a name otherwise than git does, and a submodule ends in a slash.
            if name[at:] in held or os.path.lexists(self._top + name):
                there.append(name)
        return there

    def _names_in(self, folder: bytes) -> frozenset[bytes]:
        try:
            return frozenset(os.listdir(self._top + folder))
        except OSError:
            return frozenset()


def _merged(batches: Iterator[list[bytes]], others: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Two streams in order as one, each name once: a file in conflict is in the index once for each side."""
    previous = b""
    waiting = next(others, None)
    for batch in batches:
        if not batch:
            continue
        joined = batch
        if waiting is not None and waiting < batch[-1]:
            joined = list(batch)
            while waiting is not None and waiting < batch[-1]:
                joined.append(waiting)
                waiting = next(others, None)
            joined.sort()
        unique = list(dict.fromkeys(joined))
        if unique[0] == previous:
            del unique[0]
        if unique:
            previous = unique[-1]
            yield unique
    rest = iter([] if waiting is None else [waiting])
    while batch := [*rest, *islice(others, _BATCH)]:
        yield batch


def _check(repository: Repository, running: Running) -> None:
    ended = running.ended()
    if ended.code != 0:
        raise failure(repository.top, "ls-files", ended.errors)


def is_ignored(repository: Repository, place: Place) -> bool:
    """Whether git ignores a place and all below it."""
    path = repository.path_of(place)
    ignored = repository.records("ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard", "--", path)
    return any(f"{path}/".startswith(os.fsdecode(name)) for name in ignored)


def raw_start(workspace: Workspace, place: Place) -> str:
    """The path of a place from the root as the file system has it, with forward slashes."""
    return place.absolute[len(workspace.root) :].replace(os.sep, "/").strip("/")


def git_refusal(refusal: ToolFailed) -> tuple[str, ...]:
    """What to say when git would not read a repository and it was walked like any folder."""
    return (f"{refusal.message}. Its files were found without git.", *([refusal.hint] if refusal.hint else []))
