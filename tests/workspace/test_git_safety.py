"""Nothing a repository configures is run by looking at it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from haversack.workspace.files.listing import project_files
from haversack.workspace.git.blame import vcs_blame
from haversack.workspace.git.diff import vcs_diff
from haversack.workspace.git.log import vcs_log
from haversack.workspace.git.status import vcs_status
from haversack.workspace.root import Workspace
from haversack.workspace.search.content_search import search_content
from tests.workspace.git_repository import GitRepository

TRAPS = {
    "fsmonitor": {"core.fsmonitor": "{trap}"},
    "fsmonitor hook version 1": {"core.fsmonitor": "{trap}", "core.fsmonitorHookVersion": "1"},
    "external diff": {"diff.external": "{trap}"},
    "diff driver": {"diff.trap.command": "{trap}"},
    "textconv": {"diff.trap.textconv": "{trap}", "diff.trap.cachetextconv": "false"},
    "clean filter": {"filter.trap.clean": "{trap}", "filter.trap.smudge": "{trap}", "filter.trap.required": "true"},
    "filter process": {"filter.trap.process": "{trap}", "filter.trap.required": "true"},
    "filter with a dotted name": {"filter.a.b=c.clean": "{trap}"},
    "hooks": {"core.hooksPath": "{hooks}"},
    "pager": {"core.pager": "{trap}", "pager.log": "{trap}", "pager.diff": "{trap}", "pager.status": "{trap}"},
    "signatures": {"log.showSignature": "true", "gpg.program": "{trap}"},
    "aliases": {"alias.status": "!{trap}", "alias.ls-files": "!{trap}", "alias.log": "!{trap}"},
    "editor and ssh": {"core.editor": "{trap}", "core.sshCommand": "{trap}", "core.askPass": "{trap}"},
    "promisor": {
        "extensions.partialClone": "origin", "remote.origin.url": "ext::{trap}", "remote.origin.promisor": "true",
        "protocol.ext.allow": "always", "remote.origin.uploadpack": "{trap}",
    },
}  # fmt: skip


@pytest.fixture(params=TRAPS)
def trapped(request: pytest.FixtureRequest, repository: GitRepository, tmp_path: Path) -> GitRepository:
    """A repository whose every configured program would leave a mark."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\ncat 2>/dev/null\n")
    trap.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "pre-auto-gc", "post-checkout", "reference-transaction"):
        (hooks / name).write_text(trap.read_text())
        (hooks / name).chmod(0o755)
    repository.write(".gitattributes", "*.txt diff=trap filter=trap\n*.md filter=a.b=c\n")
    repository.write("a.txt", "one\ntwo\n")
    repository.write("b.md", "one\n")
    repository.commit("first")
    repository.write("a.txt", "one\nthree\n")
    repository.commit("second")
    for key, value in TRAPS[request.param].items():
        repository.git("config", key, value.format(trap=trap, hooks=hooks))
    repository.write("a.txt", "one\nfour\n")
    repository.write("b.md", "two\n")
    return repository


QUESTIONS: dict[str, Callable[[Workspace], object]] = {
    "project_files": project_files,
    "search_content": lambda workspace: search_content(workspace, "one"),
    "vcs_status": vcs_status,
    "vcs_diff": vcs_diff,
    "vcs_diff staged": lambda workspace: vcs_diff(workspace, staged=True),
    "vcs_diff commit": lambda workspace: vcs_diff(workspace, commit="HEAD~1"),
    "vcs_diff range": lambda workspace: vcs_diff(workspace, commit="HEAD~1..HEAD"),
    "vcs_log": lambda workspace: vcs_log(workspace, path="a.txt"),
    "vcs_blame": lambda workspace: vcs_blame(workspace, "a.txt"),
}


def test_nothing_configured_in_the_repository_is_run(trapped: GitRepository, tmp_path: Path) -> None:
    for question, ask in QUESTIONS.items():
        ask(trapped.workspace)
        assert not (tmp_path / "sprung").exists(), question


def test_answers_are_right_in_spite_of_the_traps(trapped: GitRepository) -> None:
    diff = vcs_diff(trapped.workspace)
    assert (diff.names, diff.added, diff.removed) == (("a.txt", "b.md"), 2, 2)
    assert vcs_status(trapped.workspace).counts.modified == 2
    assert [run.commit == "" for run in vcs_blame(trapped.workspace, "a.txt").runs.items()] == [False, True]


@pytest.mark.parametrize(
    "trapped",
    ["fsmonitor", "external diff", "diff driver", "textconv", "clean filter", "filter process"],
    indirect=True,
)
def test_the_traps_would_spring_if_git_were_asked_carelessly(trapped: GitRepository, tmp_path: Path) -> None:
    for command in ("status", "diff", "blame a.txt"):
        trapped.git(*command.split(), check=False)
    assert (tmp_path / "sprung").exists()


def test_a_filter_of_a_submodule_is_not_run(repository: GitRepository, tmp_path: Path) -> None:
    inner = GitRepository.create(tmp_path / "inner")
    inner.write("i.txt", "one\n")
    inner.write(".gitattributes", "*.txt filter=trap\n")
    inner.commit()
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub")
    repository.commit()
    submodule = GitRepository(repository.path / "sub")
    submodule.git("config", "filter.trap.clean", f"touch '{tmp_path}/sprung'; cat")
    submodule.git("config", "core.fsmonitor", f"touch '{tmp_path}/sprung'; false")
    submodule.write("i.txt", "two\n")
    for question in ("project_files", "search_content", "vcs_status", "vcs_diff", "vcs_diff staged"):
        QUESTIONS[question](repository.workspace)
    assert not (tmp_path / "sprung").exists()


def test_the_repositorys_idea_of_its_work_tree_cannot_move_the_root(repository: GitRepository, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "private.txt").write_text("private\n")
    repository.write("a.txt", "one\n")
    repository.commit()
    repository.git("config", "core.worktree", str(elsewhere))
    assert [file.path for file in project_files(repository.workspace).files.items()] == ["a.txt"]
    assert vcs_status(repository.workspace).counts.is_clean
    assert search_content(repository.workspace, "private").matches.total == 0


def test_variables_of_the_caller_do_not_reach_git(
    repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = GitRepository.create(tmp_path / "other")
    other.write("other.txt")
    other.commit("other")
    repository.write("a.txt", "one\n")
    repository.commit("mine")
    repository.write("a.txt", "two\n")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\n")
    trap.chmod(0o755)
    for name, value in {
        "GIT_DIR": str(other.path / ".git"), "GIT_WORK_TREE": str(other.path), "GIT_EXTERNAL_DIFF": str(trap),
        "GIT_PAGER": str(trap), "GIT_TRACE": str(tmp_path / "sprung"), "GIT_SSH_COMMAND": str(trap),
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "diff.external", "GIT_CONFIG_VALUE_0": str(trap),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert vcs_log(repository.workspace).commits.first(1)[0].subject == "mine"
    assert vcs_diff(repository.workspace).names == ("a.txt",)
    assert not (tmp_path / "sprung").exists()


def test_filters_the_user_has_set_for_all_repositories_still_work(repository: GitRepository) -> None:
    repository.git("config", "--global", "filter.upper.clean", "tr a-z A-Z")
    repository.write(".gitattributes", "*.txt filter=upper\n")
    repository.write("a.txt", "one\n")
    repository.commit()
    (repository.path / "a.txt").write_text("One\n")
    assert vcs_diff(repository.workspace).files == 0
