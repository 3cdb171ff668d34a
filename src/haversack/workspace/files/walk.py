"""Folders without git: their files in order of path, `.gitignore` honoured, build folders left out."""

import os
import time
from collections.abc import Iterator

from haversack.cancellation import check
from haversack.errors import ToolFailed
from haversack.files import Kind, Tree
from haversack.values import record
from haversack.workspace.files.globs import MOST_RULES, IgnoreFile, read_ignore_file

BUILD_FOLDERS = {
    "node_modules", "bower_components", "__pycache__", "venv", ".venv", "dist", "build", "target", ".tox", ".nox",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".next", ".nuxt", ".cache", ".terraform", ".eggs",
    ".svn", ".hg",
}  # fmt: skip


@record
class _Entry:
    """Something in a folder that no rule leaves out, and the rules that hold below it."""

    path: str
    kind: Kind
    rules: tuple[IgnoreFile, ...]


class Walk:
    """A walk of a folder; afterwards it knows what was left out.

    `excluded` are the paths that rules and build folders left out, `skipped` those of them that are build
    folders; `unreadable` counts folders that could not be opened. A walk of more than `seconds` is an error.
    """

    def __init__(self, tree: Tree, start: str, seconds: float) -> None:
        self._tree = tree
        self._start = start
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self.excluded: list[str] = []
        self.skipped: list[str] = []
        self.notes: list[str] = []
        self.unreadable = 0

    def files(self) -> Iterator[str]:
        """Each file and link under the start, by its path from the root, in order of path."""
        stack = [iter(self._entries(self._start, tuple(self._rules_above())))]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
            elif entry.kind == "folder":
                stack.append(iter(self._entries(entry.path, entry.rules)))
            elif entry.kind != "special":
                # Links are listed, wherever they lead; pipes, sockets and devices are not.
                yield entry.path

    def _rules_above(self) -> Iterator[IgnoreFile]:
        """The rules of the folders above the start, outermost first; the start's own are read with its entries."""
        parts = self._start.split("/") if self._start else []
        for depth in range(len(parts)):
            if rules := self._rules_of("/".join(parts[:depth])):
                yield rules

    def _rules_of(self, folder: str) -> IgnoreFile | None:
        rules = read_ignore_file(self._tree, folder)
        if rules and rules.is_cut:
            name = f"{folder}/.gitignore" if folder else ".gitignore"
            self.notes.append(f"{name} has more than {MOST_RULES:,} lines; the others were not read.")
        return rules

    def _entries(self, folder: str, rules: tuple[IgnoreFile, ...]) -> list[_Entry]:
        """What a folder holds and no rule leaves out, in order of path."""
        prefix = f"{folder}/" if folder else ""
        kept: list[tuple[bytes, _Entry]] = []
        try:
            entries = self._tree.entries(folder)
        except OSError:
            self.unreadable += 1
            return []
        if own := self._rules_of(folder):
            rules = (*rules, own)
        for name, kind in entries:
            self._check_time()
            path = prefix + name
            if name == ".git":
                continue
            # A folder sorts by its name and a slash, so that paths come out in the order of plain text.
            sorted_as = f"{path}/" if kind == "folder" else path
            if self._is_left_out(path, name, kind == "folder", rules):
                self.excluded.append(sorted_as)
                continue
            kept.append((os.fsencode(sorted_as), _Entry(path, kind, rules)))
        kept.sort(key=lambda each: each[0])
        return [entry for _, entry in kept]

    def _check_time(self) -> None:
        check()
        if time.monotonic() > self._deadline:
            raise ToolFailed(
                f"the folder could not be listed within {self._seconds:g} seconds",
                hint="give a path further down, or raise workspace.timeout_seconds",
            )

    def _is_left_out(self, path: str, name: str, is_folder: bool, ignores: tuple[IgnoreFile, ...]) -> bool:
        if is_folder and name in BUILD_FOLDERS:
            self.skipped.append(path)
            return True
        for rules in reversed(ignores):
            verdict = rules.verdict(path, name, is_folder)
            if verdict is not None:
                return verdict
        return False
