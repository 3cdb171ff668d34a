"""Where git repositories are, read from git's own files: starting git would slow every start."""

import os
from collections.abc import Iterator

from haversack.files import read_small


def folders_above(folder: str) -> Iterator[str]:
    """A folder and the folders above it, nearest first."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent in (folder, ""):
            return
        folder = parent


def git_top(folder: str) -> str | None:
    """The nearest folder at or above `folder` that is the top of a git work tree."""
    return next((each for each in folders_above(folder) if is_work_tree(each)), None)


def is_work_tree(folder: str) -> bool:
    """Whether a folder is the top of a git work tree: it has a `.git` folder with a HEAD, or a `.git` file."""
    marker = os.path.join(folder, ".git")
    return os.path.isfile(marker) or is_git_directory(marker)


def is_git_directory(path: str) -> bool:
    """Whether a folder holds a repository's own files; a HEAD that is no regular file does not count."""
    return os.path.isfile(os.path.join(path, "HEAD"))


def git_directory(top: str) -> str:
    """The folder with the repository's own files for a work tree; empty when its `.git` file leads nowhere."""
    marker = os.path.join(top, ".git")
    if is_git_directory(marker):
        return marker
    pointed = pointed_to(marker)
    return pointed if pointed and is_git_directory(pointed) else ""


def pointed_to(marker: str) -> str:
    """Where a `.git` file, as worktrees and submodules have, says the git directory is; empty when it does not say."""
    name, colon, path = git_text(marker).partition("\n")[0].partition(":")
    if not colon or name.strip() != "gitdir" or not path.strip():
        return ""
    return os.path.normpath(os.path.join(os.path.dirname(marker), path.strip()))


def common_directory(git_directory: str) -> str:
    """The folder that a worktree's repository shares with the others; the git directory itself without one."""
    shared = git_text(os.path.join(git_directory, "commondir")).strip()
    return os.path.normpath(os.path.join(git_directory, shared)) if shared else git_directory


def git_text(path: str) -> str:
    """The text of one of git's own small files; empty when it is no regular file or cannot be read."""
    return read_small(path).decode("utf-8-sig", "replace")
