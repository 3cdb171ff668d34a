"""Repositories that are not as usual: each has a sensible answer."""

import os
from pathlib import Path

import pytest

from haversack.errors import ToolFailed
from haversack.workspace.files.listing import project_files
from haversack.workspace.files.reader import read_file
from haversack.workspace.git.blame import vcs_blame
from haversack.workspace.git.diff import vcs_diff
from haversack.workspace.git.log import vcs_log
from haversack.workspace.git.status import vcs_status
from haversack.workspace.root import Workspace
from haversack.workspace.search.content_search import search_content
from tests.workspace.git_repository import GitRepository


def listed(workspace: Workspace, path: str = "") -> list[str]:
    return [file.path for file in project_files(workspace, path=path).files.items()]


@pytest.fixture
def with_submodule(repository: GitRepository, tmp_path: Path) -> GitRepository:
    inner = GitRepository.create(tmp_path / "inner")
    inner.write("i.txt", "needle\n")
    inner.commit("inside", author="Bob")
    repository.write("a.txt", "needle\n")
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "libs/sub")
    repository.commit("outside")
    return repository


def test_a_submodule_is_not_entered_but_named_and_can_be_asked_about(with_submodule: GitRepository) -> None:
    workspace = with_submodule.workspace
    listing = project_files(workspace)
    assert ([file.path for file in listing.files.items()], listing.nested) == (["a.txt"], ("libs/sub/",))
    assert listed(workspace, "libs/sub") == ["libs/sub/i.txt"]
    assert read_file(workspace, "libs/sub/i.txt").text == "needle"
    log = vcs_log(workspace, path="libs/sub/i.txt")
    assert [commit.subject for commit in log.commits.items()] == ["inside"]
    assert vcs_blame(workspace, "libs/sub/i.txt").authors == (("Bob", 1),)
    (with_submodule.path / "libs/sub/i.txt").write_text("changed\n")
    assert vcs_status(workspace).counts.is_clean
    assert vcs_diff(workspace, path="libs/sub").names == ("libs/sub/i.txt",)


def test_a_submodule_moved_to_another_commit_is_a_change(with_submodule: GitRepository) -> None:
    submodule = GitRepository(with_submodule.path / "libs" / "sub")
    submodule.write("i.txt", "more\n")
    submodule.commit("again")
    assert [entry.path for entry in vcs_status(with_submodule.workspace).entries.items()] == ["libs/sub"]
    diff = vcs_diff(with_submodule.workspace)
    assert (diff.names, diff.added, diff.removed) == (("libs/sub",), 1, 1)


def test_a_linked_worktree_is_a_repository_like_any(repository: GitRepository) -> None:
    repository.write("a.txt", "needle\n")
    repository.commit("first")
    repository.git("worktree", "add", "--quiet", "../linked")
    workspace = GitRepository(repository.path.parent / "linked").workspace
    assert listed(workspace) == ["a.txt"]
    assert search_content(workspace, "needle").matches.total == 1
    assert vcs_log(workspace).total == 1


def test_a_worktree_kept_inside_the_repository_is_not_searched_twice(repository: GitRepository) -> None:
    repository.write("a.txt", "needle\n")
    repository.commit()
    repository.git("worktree", "add", "--quiet", "trees/one")
    assert listed(repository.workspace) == ["a.txt"]
    assert search_content(repository.workspace, "needle").matches.total == 1


def test_a_git_folder_that_is_no_repository_is_passed_over(folder: Path, plain_workspace: Workspace) -> None:
    (folder / ".git").mkdir()
    (folder / "a.txt").write_text("needle\n")
    assert listed(plain_workspace) == ["a.txt"]
    assert search_content(plain_workspace, "needle").matches.total == 1


def test_a_broken_repository_is_listed_without_git_and_says_so(folder: Path, plain_workspace: Workspace) -> None:
    (folder / ".git").write_text("gitdir: /nowhere/at/all\n")
    (folder / "a.txt").write_text("needle\n")
    listing = project_files(plain_workspace)
    assert [file.path for file in listing.files.items()] == ["a.txt"]
    assert not listing.in_git
    assert "found without git" in listing.notes[0]
    found = search_content(plain_workspace, "needle")
    assert (found.matches.total, found.notes) == (1, listing.notes)
    with pytest.raises(ToolFailed, match="not a git repository"):
        vcs_status(plain_workspace)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_explained_and_still_listed(repository: GitRepository) -> None:
    repository.write("a.txt", "needle\n")
    repository.commit()
    for folder, _, files in os.walk(repository.path):
        for name in (".", *files):
            os.lchown(os.path.join(folder, name), 12_345, 12_345)
    with pytest.raises(ToolFailed, match="belongs to another user") as refused:
        vcs_status(repository.workspace)
    assert "safe.directory" in refused.value.hint
    listing = project_files(repository.workspace)
    assert [file.path for file in listing.files.items()] == ["a.txt"]
    assert "belongs to another user" in listing.notes[0]
    assert search_content(repository.workspace, "needle").matches.total == 1
    repository.git("config", "--global", "--add", "safe.directory", repository.workspace.root)
    assert vcs_status(repository.workspace).counts.is_clean


def test_without_a_git_program_files_are_still_listed_and_searched(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("a.txt", "needle\n")
    repository.write("b.log", "needle\n")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "empty" / "python"))
    assert listed(repository.workspace) == ["a.txt"]
    assert search_content(repository.workspace, "needle").matches.total == 1
    with pytest.raises(ToolFailed, match="git is not installed"):
        vcs_status(repository.workspace)


def test_an_empty_repository_and_an_empty_folder_have_no_files(
    repository: GitRepository, plain_workspace: Workspace
) -> None:
    for workspace in (repository.workspace, plain_workspace):
        listing = project_files(workspace)
        assert (listing.files.total, listing.types, list(listing.files.items())) == (0, (), [])
        assert search_content(workspace, "x").matches.total == 0


def test_a_root_inside_a_repository_lists_only_what_is_below_it(repository: GitRepository) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("outside.txt", "needle\n")
    repository.write("sub/inside.txt", "needle\n")
    repository.write("sub/deep/é.txt", "needle\n")
    repository.write("sub/noise.log", "needle\n")
    workspace = Workspace(os.path.join(repository.workspace.root, "sub"))
    assert listed(workspace) == ["deep/é.txt", "inside.txt"]
    found = search_content(workspace, "needle")
    assert [match.path for match in found.matches.items()] == ["deep/é.txt", "inside.txt"]
    assert [match.path for match in search_content(workspace, "needle", path="deep").matches.items()] == ["deep/é.txt"]


def test_a_sparse_checkout_lists_the_files_that_are_there(repository: GitRepository) -> None:
    for name in ("a/1.txt", "b/2.txt"):
        repository.write(name)
    repository.commit()
    repository.git("sparse-checkout", "set", "a")
    assert listed(repository.workspace) == ["a/1.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every folder")
def test_folders_that_cannot_be_opened_are_counted(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "closed").mkdir()
    (folder / "closed").chmod(0)
    assert project_files(plain_workspace).notes == ("1 folders could not be opened.",)
