import os

import pytest

from haversack.errors import NotFound
from haversack.workspace.git.status import Counts, StatusEntry, vcs_status
from haversack.workspace.root import Workspace
from tests.workspace.git_repository import GitRepository


def test_each_path_is_in_its_group_and_counted(repository: GitRepository) -> None:
    for name in ("staged.py", "both.py", "modified.py", "gone.py", "old name.py", "ignored.log"):
        repository.write(name, "".join(f"{name} {line}\n" for line in range(9)))
    repository.write(".gitignore", "*.log\n")
    repository.commit()
    repository.write("staged.py", "new\n")
    repository.write("both.py", "new\n")
    repository.write("added é.py")
    repository.git("mv", "old name.py", "new name.py")
    repository.git("add", "staged.py", "both.py", "added é.py")
    repository.write("both.py", "newer\n")
    repository.write("modified.py", "new\n")
    os.remove(repository.path / "gone.py")
    repository.write("sub/untracked.py")
    status = vcs_status(repository.workspace)
    assert list(status.entries.items()) == [
        StatusEntry("staged", "added é.py", "added"),
        StatusEntry("staged", "both.py", "modified"),
        StatusEntry("staged", "new name.py", "renamed", "old name.py"),
        StatusEntry("staged", "staged.py", "modified"),
        StatusEntry("modified", "both.py", "modified"),
        StatusEntry("modified", "gone.py", "deleted"),
        StatusEntry("modified", "modified.py", "modified"),
        StatusEntry("untracked", "sub/untracked.py", "untracked"),
    ]
    assert status.counts == Counts(conflicted=0, staged=4, modified=3, untracked=1)


def test_a_clean_tree_is_clean(repository: GitRepository) -> None:
    repository.write("a")
    commit = repository.commit()
    status = vcs_status(repository.workspace)
    assert (status.branch, status.commit, status.upstream) == ("main", commit, "")
    assert (status.ahead, status.behind, status.under_way) == (None, None, ())
    assert status.counts.is_clean


def test_a_merge_conflict_is_never_clean(repository: GitRepository) -> None:
    repository.write("a", "one\n")
    repository.write("b", "one\n")
    repository.commit()
    repository.git("checkout", "--quiet", "-b", "other")
    repository.write("a", "two\n")
    os.remove(repository.path / "b")
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.write("a", "three\n")
    repository.write("b", "three\n")
    repository.commit()
    repository.git("merge", "other", check=False)
    status = vcs_status(repository.workspace)
    assert not status.counts.is_clean
    assert status.counts.conflicted == 2
    assert status.under_way == ("merge",)
    assert status.entries.first(2) == [
        StatusEntry("conflicted", "a", "modified by both"),
        StatusEntry("conflicted", "b", "deleted by them"),
    ]


@pytest.mark.parametrize("branch", ["release.1.2", "feature/with.dots...", "ünïcode", "v1.0-rc.1"])
def test_any_branch_name_comes_back_whole(branch: str, repository: GitRepository) -> None:
    repository.commit()
    branch = branch.rstrip(".")
    repository.git("checkout", "--quiet", "-b", branch)
    assert vcs_status(repository.workspace).branch == branch


def test_ahead_and_behind_are_counted_against_the_upstream(repository: GitRepository) -> None:
    repository.commit("base")
    repository.git("branch", "up.stream")
    repository.git("checkout", "--quiet", "-b", "work.1")
    repository.git("branch", "--quiet", "--set-upstream-to=up.stream")
    repository.commit("mine")
    repository.commit("mine too")
    repository.git("checkout", "--quiet", "up.stream")
    repository.commit("theirs")
    repository.git("checkout", "--quiet", "work.1")
    status = vcs_status(repository.workspace)
    assert (status.branch, status.upstream, status.ahead, status.behind) == ("work.1", "up.stream", 2, 1)


def test_before_the_first_commit_there_is_a_branch_and_no_commit(repository: GitRepository) -> None:
    repository.write("a")
    status = vcs_status(repository.workspace)
    assert (status.branch, status.commit, status.counts.untracked) == ("main", "", 1)


def test_a_detached_head_has_a_commit_and_no_branch(repository: GitRepository) -> None:
    commit = repository.commit()
    repository.git("checkout", "--quiet", "--detach")
    status = vcs_status(repository.workspace)
    assert (status.branch, status.commit) == ("", commit)


def conflicting(repository: GitRepository) -> None:
    repository.write("a", "base\n")
    repository.commit("base")
    repository.git("checkout", "--quiet", "-b", "other")
    repository.write("a", "other\n")
    repository.commit("other")
    repository.git("checkout", "--quiet", "main")
    repository.write("a", "main\n")
    repository.commit("main")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["rebase", "other"], ("rebase (1/1)",)),
        (["cherry-pick", "other"], ("cherry-pick",)),
        (["revert", "--no-edit", "main~1"], ("revert",)),
        (["bisect", "start"], ("bisect",)),
    ],
)
def test_what_is_under_way_is_named(command: list[str], expected: tuple[str, ...], repository: GitRepository) -> None:
    conflicting(repository)
    repository.git(*command, check=False)
    assert vcs_status(repository.workspace).under_way == expected


def test_a_linked_worktree_has_a_state_of_its_own(repository: GitRepository) -> None:
    conflicting(repository)
    repository.git("worktree", "add", "--quiet", "../linked", "-b", "linked.branch")
    linked = GitRepository(repository.path.parent / "linked")
    linked.git("merge", "other", check=False)
    status = vcs_status(linked.workspace)
    assert (status.branch, status.counts.conflicted, status.under_way) == ("linked.branch", 1, ("merge",))
    assert vcs_status(repository.workspace).under_way == ()


def test_a_root_inside_a_repository_sees_only_what_is_below_it(repository: GitRepository) -> None:
    repository.write("outside.txt")
    repository.write("sub/inside.txt")
    workspace = Workspace(os.path.join(repository.workspace.root, "sub"))
    assert [entry.path for entry in vcs_status(workspace).entries.items()] == ["inside.txt"]


def test_without_git_there_is_no_status(plain_workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="not in a git repository"):
        vcs_status(plain_workspace)


def test_status_never_writes_to_the_repository(repository: GitRepository) -> None:
    repository.write("a", "one\n")
    repository.commit()
    repository.write("a", "two\n")
    os.utime(repository.path / "a", (1, 1))
    before = (repository.path / ".git" / "index").read_bytes()
    vcs_status(repository.workspace)
    assert (repository.path / ".git" / "index").read_bytes() == before
