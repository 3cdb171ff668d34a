"""The workspace tools through the road every call takes, on a real repository."""

import json
from pathlib import Path

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.errors import InvalidArgument, OutsideRoot
from haversack.tokens import count_tokens
from haversack.tools.road.call import call
from tests.workspace.git_repository import GitRepository


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository.create(tmp_path / "work")
    for number in range(150):
        repository.write(f"src/module_{number:03d}.py", f"def handle_{number}():\n    return 'needle'\n")
    repository.write(".env", "KEY=needle")
    repository.commit("first")
    return repository


@pytest.fixture
def caller(repository: GitRepository, tmp_path: Path) -> Caller:
    return open_caller(Config(home=str(tmp_path / "home")), directory=str(repository.path))


def every_page(caller: Caller, tool: str, arguments: dict[str, object], items: str) -> list[object]:
    reply = call(caller, tool, {**arguments, "format": "json"})
    found = json.loads(reply.text)[items]
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 700, "format": "json"})
        found += json.loads(reply.text)[items]
    return list(found)


def test_the_pages_of_a_listing_are_the_listing_while_files_come_and_go(
    caller: Caller, repository: GitRepository
) -> None:
    whole = json.loads(call(caller, "project_files", {"max_tokens": 100_000, "format": "json"}).text)["files"]
    first = call(caller, "project_files", {"max_tokens": 300, "format": "json"})
    repository.write("src/aaa_new.py")
    (repository.path / "src/module_149.py").unlink()
    found = json.loads(first.text)["files"]
    reply = first
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 500, "format": "json"})
        found += json.loads(reply.text)["files"]
    assert sorted(file["path"] for file in found) == [file["path"] for file in whole]
    assert [file["path"] for file in found if file.get("gone")] == ["src/module_149.py"]
    assert len(found) == 150


def test_a_search_pages_through_every_match_once(caller: Caller) -> None:
    found = every_page(caller, "search_content", {"pattern": "needle", "max_tokens": 400}, "matches")
    assert len(found) == 150
    assert len({json.dumps(each) for each in found}) == 150


def test_a_listing_says_what_was_withheld_and_never_shows_it(caller: Caller) -> None:
    reply = call(caller, "project_files", {"include_hidden": True, "max_tokens": 2000})
    assert "1 withheld as likely secrets (.env)" in reply.text
    assert "KEY=needle" not in call(caller, "search_content", {"pattern": "KEY=", "max_tokens": 2000}).text


def test_a_large_budget_is_filled_beyond_the_first_items(caller: Caller) -> None:
    reply = call(caller, "project_files", {"max_tokens": 30_000})
    assert reply.left is None
    assert reply.shown == 150


def test_a_file_is_read_in_pages_that_fit(caller: Caller, repository: GitRepository) -> None:
    repository.write("long.md", "".join(f"line {number} of the document\n" for number in range(400)))
    reply = call(caller, "read_file", {"path": "long.md", "max_tokens": 300})
    seen = [reply.text]
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 600})
        seen.append(reply.text)
    assert all(count_tokens(text) <= 600 for text in seen)
    lines = [line for text in seen for line in text.split("\n") if line.split("\t")[0].isdigit()]
    assert lines == [f"{number + 1}\tline {number} of the document" for number in range(400)]


def test_false_is_false(caller: Caller, repository: GitRepository) -> None:
    repository.write("src/module_000.py", "changed\n")
    assert "module_000" in call(caller, "vcs_diff", {"staged": "false"}).text
    assert "Nothing differs" in call(caller, "vcs_diff", {"staged": True}).text


def test_nothing_a_reader_sends_is_an_option_or_leaves_the_root(caller: Caller, tmp_path: Path) -> None:
    target = tmp_path / "written"
    with pytest.raises(InvalidArgument):
        call(caller, "vcs_diff", {"commit": f"--output={target}"})
    assert not target.exists()
    with pytest.raises(OutsideRoot):
        call(caller, "read_file", {"path": "../../etc/passwd"})
    assert "Nothing matches" in call(caller, "search_content", {"pattern": "--pre=touch"}).text


def test_a_bad_expression_is_an_error_with_its_position(caller: Caller) -> None:
    with pytest.raises(InvalidArgument, match="position 0"):
        call(caller, "search_content", {"pattern": "(", "is_regex": True})


@pytest.mark.parametrize(("count", "path"), [(1, ""), (10, ""), (150, ""), (3, "notes.txt"), (3, "src")])
def test_the_keys_of_a_log_lead_to_the_first_commit_whatever_is_committed_meanwhile(
    caller: Caller, repository: GitRepository, count: int, path: str
) -> None:
    for number in range(30):
        repository.write("notes.txt" if number % 2 else "src/module_001.py", f"{number}\n")
        repository.commit(f"change {number}")
    for number in range(200):
        repository.git("commit", "--quiet", "--allow-empty", "-m", f"empty {number}")
    reply = call(caller, "vcs_log", {"count": count, "path": path, "format": "json", "max_tokens": 30_000})
    first = json.loads(reply.text)
    assert len(first["commits"]) == min(count, reply.total)
    expected = repository.git("log", "--format=%H", *(["--", path] if path else [])).split()
    assert first["total"] == reply.total == len(expected)
    repository.write("notes.txt", "later\n")
    repository.commit("later")
    found = [each["commit"] for each in first["commits"]]
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "format": "json", "max_tokens": 700})
        found += [each["commit"] for each in json.loads(reply.text)["commits"]]
    assert sorted(found) == sorted(expected)
