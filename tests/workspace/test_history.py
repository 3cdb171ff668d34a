import os
import time
from typing import Any

import pytest

from haversack.errors import InvalidArgument, NotFound, OutsideRoot
from haversack.workspace.git.log import VcsLog, vcs_log
from haversack.workspace.root import Workspace
from tests.workspace.git_repository import GitRepository


def subjects(log: VcsLog) -> list[str]:
    return [commit.subject for commit in log.commits.items()]


@pytest.fixture
def told(repository: GitRepository) -> GitRepository:
    for day in range(1, 21):
        repository.write("odd.txt" if day % 2 else "sub/even.txt", f"{day}\n")
        repository.commit(f"day {day}\n\nbody {day}", day=day, author="Bob Õ" if day % 5 == 0 else "Ada")
    return repository


def test_the_newest_commits_come_first_with_the_true_total(told: GitRepository) -> None:
    log = vcs_log(told.workspace, count=3)
    assert subjects(log) == ["day 20", "day 19", "day 18"]
    assert (log.total, log.commits.total) == (20, 3)
    newest = log.commits.first(1)[0]
    assert newest.hash == told.git("rev-parse", "HEAD").strip()
    assert newest.hash.startswith(newest.short)
    assert (newest.author, newest.date) == ("Bob Õ", "2026-01-20T12:00:00+02:00")


@pytest.mark.parametrize(
    ("filters", "total"),
    [
        ({"path": "sub"}, 10),
        ({"path": "odd.txt"}, 10),
        ({"since": "2026-01-16"}, 5),
        ({"until": "2026-01-05T13:00:00+02:00"}, 5),
        ({"until": "2026-01-05"}, 5),
        ({"since": "2026-1-16", "until": "2026-01-16"}, 1),
        ({"since": "2026-01-06 00:00", "until": "2026-01-10 23:00"}, 5),
        ({"author": "bob õ"}, 4),
        ({"author": "ADA <"}, 16),
        ({"author": "A.a"}, 0),
        ({"grep": "BODY 1"}, 11),
        ({"grep": "body 1", "author": "Bob"}, 2),
        ({"path": "sub", "author": "Bob"}, 2),
    ],
)
def test_the_total_is_under_the_same_filters(filters: dict[str, Any], total: int, told: GitRepository) -> None:
    log = vcs_log(told.workspace, count=2, **filters)
    assert log.total == total
    assert log.commits.total == min(2, total)
    assert vcs_log(told.workspace, count=100, **filters).commits.total == total


@pytest.mark.parametrize(
    "arguments",
    [{"count": 0}, {"count": -1}, {"count": 100_000}, {"since": "gibberish"}, {"until": "--output=pwned"},
     {"since": "2026-01-01 --all"}, {"author": "a\nb"}, {"grep": "\0"}],
)  # fmt: skip
def test_arguments_that_mean_nothing_are_refused(arguments: dict[str, Any], told: GitRepository) -> None:
    with pytest.raises(InvalidArgument):
        vcs_log(told.workspace, **arguments)


def test_today_is_the_whole_day(repository: GitRepository) -> None:
    midnight = time.strftime("%Y-%m-%dT00:00:01")
    repository.git("commit", "--allow-empty", "-m", "early", GIT_COMMITTER_DATE=midnight, GIT_AUTHOR_DATE=midnight)
    today = vcs_log(repository.workspace, since="today", until="today").total
    # The day may change between the two.
    assert today or vcs_log(repository.workspace, since="yesterday", until="yesterday").total


@pytest.mark.parametrize(
    "since", ["3 days ago", "yesterday", "1 week ago", "2.weeks", "2020-1-1", "2026-01-01T00:00:00Z"]
)
def test_usual_ways_to_write_a_date_are_understood(since: str, told: GitRepository) -> None:
    assert vcs_log(told.workspace, since=since).total in (0, 20)


def test_texts_are_never_taken_for_options(told: GitRepository) -> None:
    for text in ("--output=pwned", "--all", "-n1"):
        assert vcs_log(told.workspace, author=text).total == 0
        assert vcs_log(told.workspace, grep=text).total == 0
    assert not (told.path / "pwned").exists()


def test_a_file_is_followed_through_its_renames_and_after_its_end(repository: GitRepository) -> None:
    repository.write("old.txt", "".join(f"{number}\n" for number in range(20)))
    repository.commit("made", day=1)
    repository.git("mv", "old.txt", "new.txt")
    repository.commit("moved", day=2)
    repository.write("new.txt", "".join(f"{number}\n" for number in range(21)))
    repository.commit("grown", day=3)
    log = vcs_log(repository.workspace, path="new.txt", count=2)
    assert (subjects(log), log.total) == (["grown", "moved"], 3)
    os.remove(repository.path / "new.txt")
    repository.commit("removed", day=4)
    assert vcs_log(repository.workspace, path="new.txt").total == 4
    with pytest.raises(NotFound):
        vcs_log(repository.workspace, path="never.txt")


def test_before_the_first_commit_the_log_is_empty(repository: GitRepository) -> None:
    log = vcs_log(repository.workspace)
    assert (log.total, log.commits.total, log.has_commits) == (0, 0, False)


def test_a_root_inside_a_repository_sees_only_its_own_commits(told: GitRepository) -> None:
    below = Workspace(os.path.join(told.workspace.root, "sub"))
    assert vcs_log(below).total == 10
    with pytest.raises(OutsideRoot):
        vcs_log(below, path="../odd.txt")


def test_a_subject_with_odd_characters_stays_one_line(repository: GitRepository) -> None:
    repository.commit("first | second\x1fthird ; 日本語")
    assert subjects(vcs_log(repository.workspace)) == ["first | second\x1fthird ; 日本語"]


def test_without_git_there_is_no_log(plain_workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        vcs_log(plain_workspace)


def test_the_log_starts_where_head_is_however_that_is_written(repository: GitRepository) -> None:
    first, second = repository.commit("first", day=1), repository.commit("second", day=2)
    for branch in ("plain", "with/slashes/and.dots", "mit-ü"):
        repository.git("checkout", "--quiet", "-b", branch)
        assert vcs_log(repository.workspace).head == second
        repository.git("pack-refs", "--all")
        assert vcs_log(repository.workspace).head == second
    repository.git("checkout", "--quiet", "--detach", first)
    assert (vcs_log(repository.workspace).head, vcs_log(repository.workspace).total) == (first, 1)
    repository.git("worktree", "add", "--quiet", "tree", second)
    assert vcs_log(Workspace(os.path.join(repository.workspace.root, "tree"))).head == second
    repository.git("symbolic-ref", "refs/heads/alias", "refs/heads/plain")
    repository.git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert vcs_log(repository.workspace).head == second


def test_a_date_that_depends_on_now_is_fixed_so_that_the_log_goes_on_from_the_same_moment(told: GitRepository) -> None:
    before = int(time.time())
    log = vcs_log(told.workspace, since="3 hours ago", until="2026-01-31")
    meant = int(log.since.removeprefix("@"))
    assert before - 3 * 3_600 <= meant <= time.time() - 3 * 3_600
    assert log.until == "2026-01-31"
    assert vcs_log(told.workspace, since=log.since).since == log.since
    repeated = vcs_log(told.workspace, since="2 years ago")
    assert vcs_log(told.workspace, since=repeated.since).total == repeated.total
