"""Folders without git: their files in order of path, `.gitignore` honoured, build folders left out."""

import os
from collections.abc import Iterator

from haversack.workspace.files.globs import IgnoreFile, read_ignore_file

BUILD_FOLDERS = {
    "node_modules", "bower_components", "__pycache__", "venv", ".venv", "dist", "build", "target", ".tox", ".nox",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".next", ".nuxt", ".cache", ".terraform", ".eggs",
    ".svn", ".hg",
}  # fmt: skip


class Walk:
    """A walk of a folder; once walked, it knows what was left out.

    `excluded` are the paths that rules and build folders left out, `skipped` those of them that are build
    folders; `unreadable` counts folders that could not be opened.
    """

    def __init__(self, root: str, start: str) -> None:
        self._root = root
        self._start = start
        self.excluded: list[str] = []
        self.skipped: list[str] = []
        self.unreadable = 0

    def files(self) -> Iterator[str]:
        """Each file and link under the start, by its path from the root, in order of path."""
        ignores = tuple(self._ignores_above())
        stack: list[Iterator[tuple[str, os.DirEntry[str], tuple[IgnoreFile, ...]]]]
        stack = [iter(self._entries(self._start, ignores))]
        while stack:
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
                continue
            path, entry, rules = following
            if entry.is_dir(follow_symlinks=False):
                stack.append(iter(self._entries(path, rules)))
                continue
            # Pipes, sockets and devices are no files; links are, wherever they lead.
            if entry.is_symlink() or entry.is_file(follow_symlinks=False):
                yield path

    def _ignores_above(self) -> Iterator[IgnoreFile]:
        """The rules of the folders above the start, outermost first; the start's own are read with its entries."""
        parts = self._start.split("/") if self._start else []
        for depth in range(len(parts)):
            folder = "/".join(parts[:depth])
            if rules := read_ignore_file(os.path.join(self._root, folder), folder):
                yield rules

    def _entries(
        self, folder: str, ignores: tuple[IgnoreFile, ...]
    ) -> list[tuple[str, os.DirEntry[str], tuple[IgnoreFile, ...]]]:
        """What a folder holds and no rule leaves out, in order of path."""
        absolute = os.path.join(self._root, folder) if folder else self._root
        if rules := read_ignore_file(absolute, folder):
            ignores = (*ignores, rules)
        prefix = f"{folder}/" if folder else ""
        kept = []
        try:
            with os.scandir(absolute) as entries:
                for entry in entries:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    path = prefix + entry.name
                    if entry.name == ".git":
                        continue
                    if self._left_out(path, entry.name, is_folder, ignores):
                        self.excluded.append(path + "/" if is_folder else path)
                        continue
                    # A folder sorts by its name and a slash, so that paths come out in the order of plain text.
                    kept.append((path + "/" if is_folder else path, path, entry, ignores))
        except OSError:
            self.unreadable += 1
        kept.sort(key=lambda each: os.fsencode(each[0]))
        return [each[1:] for each in kept]

    def _left_out(self, path: str, name: str, is_folder: bool, ignores: tuple[IgnoreFile, ...]) -> bool:
        if is_folder and name in BUILD_FOLDERS:
            self.skipped.append(path)
            return True
        for rules in reversed(ignores):
            verdict = rules.verdict(path, name, is_folder)
            if verdict is not None:
                return verdict
        return False
