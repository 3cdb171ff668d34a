from pathlib import Path
from typing import Any

import pytest

from haversack.errors import InvalidArgument, NotFound, SecretWithheld
from haversack.workspace.files.encodings import LINE_CAP
from haversack.workspace.git.blame import LONGEST_RUN, vcs_blame
from haversack.workspace.root import Workspace
from tests.workspace.git_repository import GitRepository


@pytest.fixture
def written(repository: GitRepository) -> GitRepository:
    repository.write("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")
    repository.commit("by Ada", day=1, author="Ada")
    repository.write("a.txt", "one\ntwo\nTHREE\nfour\nfive\nsix\n")
    repository.commit("by Bob", day=2, author="Bob")
    return repository


def test_every_run_has_its_author_and_date(written: GitRepository) -> None:
    blame = vcs_blame(written.workspace, "a.txt")
    assert [(run.first_line, run.last_line, run.author, run.date, run.subject) for run in blame.runs.items()] == [
        (1, 2, "Ada", "2026-01-01T12:00:00+02:00", "by Ada"),
        (3, 3, "Bob", "2026-01-02T12:00:00+02:00", "by Bob"),
        (4, 6, "Ada", "2026-01-01T12:00:00+02:00", "by Ada"),
    ]
    assert [line.text for run in blame.runs.items() for line in run.lines] == [
        "one", "two", "THREE", "four", "five", "six",
    ]  # fmt: skip
    assert (blame.authors, blame.commits) == ((("Ada", 5), ("Bob", 1)), 2)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"start_line": 3}, (3, 6)),
        ({"end_line": 2}, (1, 2)),
        ({"start_line": 2, "end_line": 3}, (2, 3)),
        ({"start_line": 6, "end_line": 900}, (6, 6)),
    ],
)
def test_either_end_of_a_range_may_be_left_out(
    arguments: dict[str, Any], expected: tuple[int, int], written: GitRepository
) -> None:
    blame = vcs_blame(written.workspace, "a.txt", **arguments)
    runs = list(blame.runs.items())
    assert (blame.first_line, blame.last_line) == (runs[0].first_line, runs[-1].last_line) == expected
    assert all(run.author and run.date for run in runs)


@pytest.mark.parametrize("arguments", [{"start_line": 7}, {"start_line": 0}, {"start_line": 3, "end_line": 2}])
def test_a_range_that_is_not_there_is_refused(arguments: dict[str, Any], written: GitRepository) -> None:
    with pytest.raises(InvalidArgument):
        vcs_blame(written.workspace, "a.txt", **arguments)


def test_changes_not_committed_are_told_apart_and_dated_by_nothing(written: GitRepository) -> None:
    written.write("a.txt", "one\ntwo\nTHREE\nfour\nfive\nnew\n")
    last = list(vcs_blame(written.workspace, "a.txt").runs.items())[-1]
    assert (last.first_line, last.commit, last.author, last.date) == (6, "", "not committed yet", "")


def test_a_long_stretch_is_several_runs_each_with_its_author(repository: GitRepository) -> None:
    repository.write("a.txt", "line\n" * (LONGEST_RUN + 5) + "x" * 3_000 + "\n")
    repository.commit("all", author="Zoë")
    runs = list(vcs_blame(repository.workspace, "a.txt").runs.items())
    assert [(run.first_line, run.last_line, run.author) for run in runs] == [
        (1, LONGEST_RUN, "Zoë"), (LONGEST_RUN + 1, LONGEST_RUN + 6, "Zoë"),
    ]  # fmt: skip
    assert (len(runs[-1].lines[-1].text), runs[-1].lines[-1].length) == (LINE_CAP, 3_000)


def test_files_git_does_not_know_and_secrets_are_refused(written: GitRepository) -> None:
    written.write("new.txt")
    with pytest.raises(NotFound, match="not tracked"):
        vcs_blame(written.workspace, "new.txt")
    written.write(".env", "TOKEN=1\n")
    written.commit()
    with pytest.raises(SecretWithheld):
        vcs_blame(written.workspace, ".env")
    with pytest.raises(InvalidArgument, match="a folder"):
        vcs_blame(written.workspace, "")


def test_before_the_first_commit_there_is_nobody_to_blame(repository: GitRepository) -> None:
    repository.write("a.txt")
    repository.git("add", "a.txt")
    with pytest.raises(NotFound, match="no commits yet"):
        vcs_blame(repository.workspace, "a.txt")


def test_an_empty_file_has_no_runs(repository: GitRepository) -> None:
    repository.write("a.txt", "")
    repository.commit()
    assert vcs_blame(repository.workspace, "a.txt").runs.total == 0


def test_names_like_options_are_names(repository: GitRepository) -> None:
    repository.write("-L1,2", "one\ntwo\nthree\n")
    repository.commit()
    assert vcs_blame(repository.workspace, "-L1,2").last_line == 3


def test_without_git_there_is_no_blame(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "a.txt").write_text("x\n")
    with pytest.raises(NotFound, match="not in a git repository"):
        vcs_blame(plain_workspace, "a.txt")
