"""Which files a question is about: below a path, of a pattern, no deeper than asked, neither hidden nor secret."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from heapq import merge

from haversack.errors import InvalidArgument, ToolFailed
from haversack.workspace.git import Repository, failure, find_repository
from haversack.workspace.globs import compile_glob
from haversack.workspace.programs import Running, records
from haversack.workspace.root import Place, Workspace, shown
from haversack.workspace.secrecy import WithheldCount, looks_secret
from haversack.workspace.walking import Walk


class Selection:
    """Takes or leaves paths, and counts what it left and why.

    `deeper` counts the files a pattern without a folder part would take if it crossed folders.
    """

    def __init__(
        self,
        base: str,
        *,
        pattern: str = "",
        by_name: bool = False,
        max_depth: int | None = None,
        include_hidden: bool = False,
        allow_secrets: bool = False,
    ) -> None:
        if max_depth is not None and max_depth < 1:
            raise InvalidArgument(f"max_depth is {max_depth}", hint="1 lists the files of the folder itself")
        self._skip = len(base) + 1 if base else 0
        self._glob = compile_glob(pattern, anywhere=by_name) if pattern else None
        self._deep_glob: re.Pattern[str] | None = None
        if pattern and not by_name and "/" not in pattern and "**" not in pattern:
            self._deep_glob = compile_glob(pattern, anywhere=True)
        self._max_depth = max_depth
        self._include_hidden = include_hidden
        self._allow_secrets = allow_secrets
        self.hidden = 0
        self.deeper = 0
        self.withheld = WithheldCount()

    def takes(self, path: str) -> bool:
        """Whether the question is about a file."""
        # The base may be the file itself, which is then judged by its name.
        below = path[self._skip :] or path.rpartition("/")[2]
        if self._max_depth is not None and below.count("/") >= self._max_depth:
            return False
        if self._glob is not None and not self._glob.fullmatch(below):
            self.deeper += bool(self._deep_glob and self._deep_glob.fullmatch(below))
            return False
        if not self._allow_secrets and looks_secret(path):
            self.withheld.add(path)
            return False
        if not self._include_hidden and (below[0] == "." or "/." in below) and self._skip <= len(path):
            self.hidden += 1
            return False
        return True


class Candidates:
    """The files at or below a place, ignored ones left out, each as a path to open and a path to show.

    In order of path. Once all are given, it knows what was skipped; `notes` say what the reader should know.
    """

    def __init__(self, workspace: Workspace, place: Place) -> None:
        self._workspace = workspace
        self._place = place
        self._repository = find_repository(workspace, place)
        self.in_git = self._repository is not None
        self.skipped: list[str] = []
        self.nested: list[str] = []
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, str]]:
        if self._repository is None:
            yield from self._walked()
            return
        names = self._git_names(self._repository)
        try:
            first = next(names, None)
        except ToolFailed as refusal:
            self.in_git = False
            self.notes += git_refusal(refusal)
            yield from self._walked()
            return
        if first is not None:
            yield first
            yield from names

    def _walked(self) -> Iterator[tuple[str, str]]:
        walk = Walk(self._workspace.root, raw_start(self._workspace, self._place))
        root = f"{self._workspace.root.rstrip('/')}/"
        for path, _ in walk.files():
            yield root + path, shown(path)
        self.skipped += walk.skipped
        if walk.unreadable:
            self.notes.append(f"{walk.unreadable} folders could not be opened.")

    def _git_names(self, repository: Repository) -> Iterator[tuple[str, str]]:
        name: Callable[[bytes], str | None] = repository.namer()
        top = f"{repository.top.rstrip('/')}/"
        path = repository.path_of(self._place)
        with ExitStack() as stack:
            tracked = stack.enter_context(repository.start("ls-files", "-z", "-c", "--", path))
            untracked = stack.enter_context(repository.start("ls-files", "-z", "-o", "--exclude-standard", "--", path))
            previous = b""
            for raw in merge(records(tracked.blocks()), records(untracked.blocks())):
                # A file in conflict is in the index once for each side.
                if raw == previous:
                    continue
                previous = raw
                shown_path = name(raw)
                if shown_path is None:
                    continue
                if raw.endswith(b"/"):
                    self.nested.append(shown_path)
                    continue
                yield top + raw.decode("utf-8", "surrogateescape"), shown_path
            for running in (tracked, untracked):
                _check(repository, running)


def raw_start(workspace: Workspace, place: Place) -> str:
    """The path of a place from the root as the file system has it, with forward slashes."""
    return place.absolute[len(workspace.root) :].replace(os.sep, "/").strip("/")


def git_refusal(refusal: ToolFailed) -> tuple[str, ...]:
    """What to say when git would not read a repository and it was walked like any folder."""
    return (f"{refusal.message}. Its files were found without git.", *([refusal.hint] if refusal.hint else []))


def _check(repository: Repository, running: Running) -> None:
    ended = running.ended()
    if ended.code != 0:
        raise failure(repository.top, "ls-files", ended.errors)
