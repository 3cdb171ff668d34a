"""Whether a repository keeps its own files where the workspace may read them.

A folder from somebody else can hold a `.git` that points at another repository of the machine, whose history git would
then show. Files outside the root are accepted when that repository itself names this folder as its worktree or
submodule, which only its owner can write.
"""

import os
import re
from collections.abc import Iterator

from haversack.patterns import pattern
from haversack.repositories import common_directory, git_text, is_git_directory, pointed_to
from haversack.workspace.root import inside

_WORK_TREE = pattern(r"^[ \t]*worktree[ \t]*=[ \t]*(.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_LISTED = ("", "objects", "objects/info", "objects/pack", "refs")
"""Folders of a git directory whose entries are looked at: links in them could bring in another repository."""
_DEEPEST = 5
"""How many repositories git follows from one list of alternates to the next."""


def outside_reason(root: str, top: str) -> str:
    """The reason why the repository at `top` reaches outside the workspace; empty when it does not."""
    area = root if inside(root, top) else top
    marker = os.path.join(top, ".git")
    directory = os.path.realpath(marker)
    if os.path.isfile(directory):
        directory = os.path.realpath(pointed_to(marker) or marker)
        if not inside(area, directory):
            # A folder that is no repository reveals nothing, and git reports it itself.
            is_own = not is_git_directory(directory) or _names_back(directory, top)
            return "" if is_own else f".git points to {directory}"
    if not inside(area, directory):
        return f".git is a link to {directory}"
    common = os.path.realpath(common_directory(directory))
    if not inside(area, common):
        return f"commondir points to {common}"
    for each in {directory, common}:
        if link := next(_links_out(each, area), ""):
            return f"{link} is a link that leaves the root"
    objects = os.path.join(common, "objects")
    return next((f"alternates name {found}" for found in _alternates_out(objects, area, _DEEPEST)), "")


def _names_back(directory: str, top: str) -> bool:
    """Whether a repository names `top` as one of its worktrees or submodules."""
    named = git_text(os.path.join(directory, "gitdir")).strip()
    if named and os.path.realpath(os.path.join(directory, named)) == os.path.join(top, ".git"):
        return True
    configured = _WORK_TREE.findall(git_text(os.path.join(directory, "config")))
    return any(os.path.realpath(os.path.join(directory, path.strip('"'))) == top for path in configured)


def _links_out(directory: str, area: str) -> Iterator[str]:
    for folder in _LISTED:
        path = os.path.join(directory, folder)
        try:
            with os.scandir(path) as entries:
                links = [entry.path for entry in entries if entry.is_symlink()]
        except OSError:
            continue
        yield from (link for link in links if not inside(area, os.path.realpath(link)))


def _alternates_out(objects: str, area: str, depth: int) -> Iterator[str]:
    for line in git_text(os.path.join(objects, "info", "alternates")).splitlines():
        if not line or line.startswith("#"):
            continue
        # Git reads a quoted line as an escaped string; whatever it says, it is not a plain path inside.
        other = os.path.realpath(os.path.join(objects, line))
        if line.startswith('"') or not inside(area, other):
            yield line
        elif depth:
            yield from _alternates_out(other, area, depth - 1)
