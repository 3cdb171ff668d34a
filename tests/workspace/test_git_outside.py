"""A repository that reaches outside the root gives nothing of another repository away."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from haversack.errors import HaversackError, OutsideRoot
from haversack.values import replace
from haversack.workspace.files.listing import project_files
from haversack.workspace.git.diff import vcs_diff
from haversack.workspace.git.log import vcs_log
from haversack.workspace.git.status import vcs_status
from haversack.workspace.root import Workspace
from tests.workspace.git_repository import GitRepository


@pytest.fixture
def private(tmp_path: Path) -> GitRepository:
    """Somebody's other repository."""
    other = GitRepository.create(tmp_path / "private")
    other.write("private.txt", "private\n")
    other.commit("a private subject")
    return other


def _git_file(project: Path, private: Path) -> None:
    (project / ".git").write_text(f"gitdir: {private}/.git\n")


def _git_link(project: Path, private: Path) -> None:
    (project / ".git").symlink_to(private / ".git")


def _common_directory(project: Path, private: Path) -> None:
    directory = project / ".git"
    directory.mkdir()
    (directory / "HEAD").write_text("ref: refs/heads/main\n")
    (directory / "commondir").write_text(f"{private}/.git\n")


def _nested_common_directory(project: Path, private: Path) -> None:
    (project / ".git").write_text("gitdir: fake\n")
    (project / "fake").mkdir()
    (project / "fake" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / "fake" / "commondir").write_text(f"{private}/.git\n")


def _alternates(project: Path, private: Path) -> None:
    own = GitRepository.create(project)
    (project / ".git" / "objects" / "info" / "alternates").write_text(f"{private}/.git/objects\n")
    head = GitRepository(private).git("rev-parse", "HEAD")
    (project / ".git" / "refs" / "heads" / "main").write_text(head)
    own.git("status", check=False)


def _alternates_of_alternates(project: Path, private: Path) -> None:
    _alternates(project, private)
    (project / "store" / "info").mkdir(parents=True)
    (project / "store" / "info" / "alternates").write_text(f"{private}/.git/objects\n")
    (project / ".git" / "objects" / "info" / "alternates").write_text("../../store\n")


def _linked_objects(project: Path, private: Path) -> None:
    _alternates(project, private)
    (project / ".git" / "objects" / "info" / "alternates").unlink()
    (project / ".git" / "objects").rename(project / ".git" / "unused")
    (project / ".git" / "objects").symlink_to(private / ".git" / "objects")


TRICKS: dict[str, Callable[[Path, Path], None]] = {
    trick.__name__: trick
    for trick in (
        _git_file, _git_link, _common_directory, _nested_common_directory, _alternates, _alternates_of_alternates,
        _linked_objects,
    )
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_the_history_of_another_repository_is_not_shown(trick: str, private: GitRepository, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    TRICKS[trick](project, private.path)
    workspace = Workspace(os.path.realpath(project))
    for ask in (vcs_log, vcs_status, lambda each: vcs_diff(each, commit="HEAD")):
        with pytest.raises(OutsideRoot, match="allow_outside_git"):
            ask(workspace)
    listing = project_files(workspace)
    assert "private.txt" not in [file.path for file in listing.files.items()]
    assert "allow_outside_git" in " ".join(listing.notes)


@pytest.mark.parametrize("trick", ["_git_file", "_alternates"])
def test_the_user_can_allow_a_repository_that_reaches_outside(
    trick: str, private: GitRepository, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    TRICKS[trick](project, private.path)
    workspace = replace(Workspace(os.path.realpath(project)), allow_outside_git=True)
    assert vcs_log(workspace).commits.first(1)[0].subject == "a private subject"


def test_a_worktree_is_used_since_its_repository_names_it(private: GitRepository, tmp_path: Path) -> None:
    private.git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    workspace = Workspace(os.path.realpath(tmp_path / "tree"))
    assert vcs_log(workspace).commits.first(1)[0].subject == "a private subject"


def test_a_submodule_is_used_as_a_root_of_its_own(private: GitRepository, tmp_path: Path) -> None:
    outer = GitRepository.create(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(private.path), "sub")
    workspace = Workspace(os.path.realpath(tmp_path / "outer" / "sub"))
    assert vcs_log(workspace).commits.first(1)[0].subject == "a private subject"


def test_a_head_that_is_a_pipe_is_never_waited_for(tmp_path: Path) -> None:
    project = GitRepository.create(tmp_path / "project")
    project.write("a.txt")
    project.commit()
    (project.path / ".git" / "HEAD").unlink()
    os.mkfifo(project.path / ".git" / "HEAD")
    assert [file.path for file in project_files(project.workspace).files.items()] == ["a.txt"]
    with pytest.raises(HaversackError):
        vcs_log(project.workspace)
