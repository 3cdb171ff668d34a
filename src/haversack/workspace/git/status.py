"""`vcs_status`: the branch, the staged, modified, untracked and conflicting paths, and unfinished operations."""

import os
from collections.abc import Iterator
from typing import Literal

from haversack.repositories import git_directory, git_text
from haversack.values import record
from haversack.workspace.git.command import Repository, require_repository
from haversack.workspace.root import Workspace, locate
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

Group = Literal["conflicted", "staged", "modified", "untracked"]
GROUPS: tuple[Group, ...] = ("conflicted", "staged", "modified", "untracked")

_CHANGES = {"M": "modified", "T": "type changed", "A": "added", "D": "deleted", "R": "renamed", "C": "copied"}
_CONFLICTS = {
    "DD": "deleted by both", "AU": "added by us", "UD": "deleted by them", "UA": "added by them",
    "DU": "deleted by us", "AA": "added by both", "UU": "modified by both",
}  # fmt: skip
_BATCH = 256


@record
class StatusEntry:
    """A changed path: the kind of change, and its old name when it was renamed or copied."""

    group: Group
    path: str
    change: str
    old_path: str = ""


@record
class Counts:
    """How many paths are in each group; one that is both staged and modified is in two."""

    conflicted: int = 0
    staged: int = 0
    modified: int = 0
    untracked: int = 0

    @property
    def is_clean(self) -> bool:
        return not (self.conflicted or self.staged or self.modified or self.untracked)


@record
class VcsStatus:
    """The state of a work tree.

    `branch` is empty when the head is detached, `commit` before the first commit. `under_way` names a merge,
    rebase, cherry-pick, revert, bisect or patch series that is not finished. `ahead` and `behind` are None without an
    upstream, or when the upstream's branch is gone.
    """

    branch: str
    commit: str
    upstream: str
    ahead: int | None
    behind: int | None
    counts: Counts
    entries: Snapshot[StatusEntry]
    under_way: tuple[str, ...]


def vcs_status(workspace: Workspace) -> VcsStatus:
    """The state of the repository at the root: paths in conflict first, then staged, modified, untracked, by path."""
    repository = require_repository(workspace, locate(workspace, ""))
    scope = repository.path_of(locate(workspace, ""))
    headers: dict[str, str] = {}
    writers = {group: SnapshotWriter("status") for group in GROUPS}
    for entry in _entries(repository, scope, headers):
        writers[entry.group].extend([_record(entry)])
    merged = SnapshotWriter("status")
    for group in GROUPS:
        batch = []
        for entry in Snapshot(writers[group].finish(), StatusEntry).items():
            batch.append(_record(entry))
            if len(batch) == _BATCH:
                merged.extend(batch)
                batch = []
        merged.extend(batch)
    branch = headers.get("branch.head", "")
    commit = headers.get("branch.oid", "")
    ahead, _, behind = headers.get("branch.ab", "").partition(" ")
    return VcsStatus(
        branch="" if branch == "(detached)" else branch,
        commit="" if commit == "(initial)" else commit,
        upstream=headers.get("branch.upstream", ""),
        ahead=int(ahead) if ahead else None,
        behind=-int(behind) if behind else None,
        counts=Counts(**{group: writers[group].total for group in GROUPS}),
        entries=Snapshot(merged.finish(), StatusEntry),
        under_way=tuple(_under_way(git_directory(repository.top))),
    )


def _record(entry: StatusEntry) -> tuple[str, ...]:
    return (entry.group, entry.path, entry.change, entry.old_path)


def _entries(repository: Repository, scope: str, headers: dict[str, str]) -> Iterator[StatusEntry]:
    name = repository.shown
    said = repository.records(
        "status", "--porcelain=v2", "--branch", "--ahead-behind", "-z", "--untracked-files=all", "--find-renames",
        "--ignore-submodules=dirty", "--", scope,
        unfiltered=True,
    )  # fmt: skip
    for told in said:
        kind = told[:1]
        if kind == b"#":
            key, _, value = told[2:].decode("utf-8", "replace").partition(" ")
            headers[key] = value
        elif kind == b"?":
            if path := name(told[2:]):
                yield StatusEntry("untracked", path, "untracked")
        elif kind == b"u":
            fields = told.split(b" ", 10)
            if path := name(fields[10]):
                yield StatusEntry("conflicted", path, _CONFLICTS.get(fields[1].decode(), "in conflict"))
        elif kind in (b"1", b"2"):
            fields = told.split(b" ", 9 if kind == b"2" else 8)
            old = (name(next(said, b"")) or "") if kind == b"2" else ""
            if path := name(fields[-1]):
                yield from _changes(fields[1].decode(), path, old)


def _changes(marks: str, path: str, old_path: str) -> Iterator[StatusEntry]:
    staged, modified = marks[0], marks[1]
    if staged != ".":
        yield StatusEntry("staged", path, _CHANGES.get(staged, staged), old_path if staged in "RC" else "")
    if modified != ".":
        yield StatusEntry("modified", path, _CHANGES.get(modified, modified), old_path if modified in "RC" else "")


def _under_way(folder: str) -> Iterator[str]:
    """The unfinished git operation, from git's own state files."""

    def has(name: str) -> bool:
        return os.path.exists(os.path.join(folder, name))

    if has("MERGE_HEAD"):
        yield "merge"
    if has("rebase-merge"):
        yield "rebase" + _steps(folder, "rebase-merge/msgnum", "rebase-merge/end")
    elif has("rebase-apply"):
        kind = "patch series" if has("rebase-apply/applying") else "rebase"
        yield kind + _steps(folder, "rebase-apply/next", "rebase-apply/last")
    if has("CHERRY_PICK_HEAD"):
        yield "cherry-pick"
    if has("REVERT_HEAD"):
        yield "revert"
    if has("BISECT_LOG"):
        yield "bisect"


def _steps(folder: str, *names: str) -> str:
    numbers = []
    for name in names:
        try:
            numbers.append(int(git_text(os.path.join(folder, name))[:20]))
        except ValueError:
            return ""
    return f" ({numbers[0]}/{numbers[1]})"
