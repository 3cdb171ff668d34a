import os

import pytest
from inline_snapshot import snapshot

from haversack.workspace import log_lines
from haversack.workspace.files.file_info import file_info
from haversack.workspace.files.listing import project_files
from haversack.workspace.files.reader import read_file
from haversack.workspace.git.blame import vcs_blame
from haversack.workspace.git.diff import vcs_diff
from haversack.workspace.git.log import vcs_log
from haversack.workspace.git.status import vcs_status
from haversack.workspace.search.content_search import search_content
from tests.workspace.git_repository import GitRepository


def test_a_listing_is_told_by_its_types_and_folders(repository: GitRepository) -> None:
    for number in range(1_200):
        repository.write(f"src/m{number}.py" if number % 3 else f"docs/p{number}.md", "")
    repository.write("Makefile")
    listing = project_files(repository.workspace)
    assert log_lines.brief_files(listing) == snapshot(
        "1,201 files. Types: .py (800), .md (400), no type (1). Key: src/, docs/"
    )
    narrowed = project_files(repository.workspace, path="src", pattern="m1*.py")
    assert log_lines.brief_files(narrowed) == snapshot("209 files (in src m1*.py). Types: .py (209).")
    assert log_lines.brief_files(project_files(repository.workspace, pattern="*.c")) == snapshot("0 files (*.c).")


def test_a_search_is_told_by_its_files_with_most_matches(repository: GitRepository) -> None:
    repository.write("tests/a.py", "pattern\n" * 23)
    for number in range(40):
        repository.write(f"a/rather/deep/folder/for/a/file{number:02d}.py", "pattern\n" * (4 if number == 7 else 1))
    line = log_lines.brief_matches(search_content(repository.workspace, "pattern"))
    assert line.startswith(
        "66 matches for 'pattern' in 41 files: tests/a.py (23), a/rather/deep/folder/for/a/file07.py (4), "
        "a/rather/deep/folder/for/a/file00.py (1), "
    )
    assert line.endswith(", ... (+30 more)")
    assert len(line) <= 500
    assert log_lines.brief_matches(search_content(repository.workspace, "none")) == snapshot("0 matches for 'none'")
    assert log_lines.brief_matches(search_content(repository.workspace, "pattern", path="tests")) == snapshot(
        "23 matches for 'pattern' under tests in 1 file: tests/a.py (23)"
    )


def test_a_reading_is_told_by_its_lines_and_headings(repository: GitRepository) -> None:
    repository.write("uv.lock", "x" * 142 + "\n" + ("y" * 142 + "\n") * 2_947)
    repository.write("a.md", "# One\n\n## Two\n")
    repository.write("b.bin", b"\0" * 2_048)
    repository.write("empty", "")
    workspace = repository.workspace
    assert log_lines.brief_text(read_file(workspace, "uv.lock", end_line=477)) == snapshot(
        "Read uv.lock (2,948 lines, 411.7 KB), lines 1-477"
    )
    assert log_lines.brief_text(read_file(workspace, "a.md")) == snapshot(
        "Read a.md (3 lines, 14 bytes), lines 1-3: # One, ## Two"
    )
    assert log_lines.brief_text(read_file(workspace, "b.bin")) == snapshot("Read b.bin (binary, 2.0 KB), no content")
    assert log_lines.brief_text(read_file(workspace, "empty")) == snapshot("Read empty (0 lines, 0 bytes)")


def test_facts_are_told_of_the_first_paths(repository: GitRepository) -> None:
    repository.write("a.txt", "one\n")
    repository.write("sub/b", "")
    assert log_lines.brief_info(file_info(repository.workspace, ["a.txt", "sub", "none"])) == snapshot(
        "3 paths: a.txt (1 line, 4 bytes), sub (folder, 1 entries), none (missing)"
    )


def test_a_status_is_told_by_its_groups(repository: GitRepository) -> None:
    workspace = repository.workspace
    assert log_lines.brief_status(vcs_status(workspace)) == snapshot("main: clean (no commits yet)")
    for name in ("a", "b", "c", "d"):
        repository.write(name, "base\n")
    repository.commit()
    assert log_lines.brief_status(vcs_status(workspace)) == snapshot("main: clean")
    repository.git("branch", "up")
    repository.git("checkout", "--quiet", "-b", "other")
    repository.write("d", "theirs\n")
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.git("branch", "--quiet", "--set-upstream-to=up")
    repository.write("d", "ours\n")
    repository.commit()
    repository.git("merge", "other", check=False)
    repository.write("a", "new\n")
    repository.write("b", "new\n")
    repository.git("add", "a", "b")
    repository.write("c", "new\n")
    assert log_lines.brief_status(vcs_status(workspace)) == snapshot(
        "main: 2 staged, 1 modified, 1 conflicted [ahead 1] (merge under way)"
    )
    repository.git("reset", "--quiet", "--hard")
    commit = repository.git("rev-parse", "HEAD").strip()
    repository.git("checkout", "--quiet", "--detach")
    assert log_lines.brief_status(vcs_status(workspace)) == f"detached at {commit[:7]}: clean"


def test_a_diff_is_told_by_its_figures_and_files(repository: GitRepository) -> None:
    for number in range(60):
        repository.write(f"some/folder/file{number:02d}.py", "old\n")
    repository.commit()
    for number in range(60):
        repository.write(f"some/folder/file{number:02d}.py", "new\nmore\n")
    line = log_lines.brief_diff(vcs_diff(repository.workspace))
    assert line.startswith("60 files, +120/-60 lines (work tree). some/folder/file00.py, some/folder/file01.py, ")
    assert line.endswith(", ...")
    assert len(line) <= 500
    repository.git("add", "some/folder/file07.py")
    assert log_lines.brief_diff(vcs_diff(repository.workspace, staged=True)) == snapshot(
        "1 file, +2/-1 lines (staged). some/folder/file07.py"
    )
    repository.write("some/same.py")
    assert log_lines.brief_diff(vcs_diff(repository.workspace, path="some/same.py")) == snapshot(
        "0 files, +0/-0 lines (work tree) in some/same.py"
    )


def test_a_log_is_told_by_its_number_and_newest(repository: GitRepository) -> None:
    for day in range(1, 31):
        repository.commit(f"Apply the request of day {day} to every place that has been waiting for it", day=day)
    log = vcs_log(repository.workspace, count=2)
    shorts = [commit.short for commit in log.commits.items()]
    assert log_lines.brief_log(log) == (
        f"30 commits. Recent: {shorts[0]} Apply the request of day 30 to every place that has been wa…, "
        f"{shorts[1]} Apply the request of day 29 to every place that has been wa…, ..."
    )
    assert len(log_lines.brief_log(vcs_log(repository.workspace, count=30))) <= 500
    assert log_lines.brief_log(vcs_log(repository.workspace, author="nobody")) == snapshot("0 commits.")


def test_a_blame_is_told_by_its_authors(repository: GitRepository) -> None:
    repository.write("a.txt", "one\ntwo\nthree\n")
    repository.commit(author="Bob")
    repository.write("a.txt", "one\nTWO\nthree\n")
    repository.commit(author="Ada")
    assert log_lines.brief_blame(vcs_blame(repository.workspace, "a.txt")) == snapshot(
        "Blame of a.txt lines 1-3: 2 commits. Lines by: Bob (2), Ada (1)"
    )


@pytest.mark.parametrize("length", [60, 120])
def test_no_line_is_longer_than_it_may_be_whatever_the_names(length: int, repository: GitRepository) -> None:
    long = "n" * length
    for number in range(30):
        repository.write(f"{long}{number}/{long}.{long}{number}", f"# {long}\n{long}\n" * 20)
    repository.commit(long * 5, author=long * 3)
    repository.git("checkout", "--quiet", "-b", long)
    workspace = repository.workspace
    path = f"{long}1/{long}.{long}1"
    os.rename(repository.path / path, repository.path / f"{long}1/renamed.md")
    repository.write(path, "changed\n" * 9)
    lines = [
        log_lines.brief_files(project_files(workspace)),
        log_lines.brief_files(project_files(workspace, path=f"{long}1", pattern="*" * 300)),
        log_lines.brief_matches(search_content(workspace, long)),
        log_lines.brief_text(read_file(workspace, f"{long}1/renamed.md")),
        log_lines.brief_info(file_info(workspace, [path] * 30)),
        log_lines.brief_status(vcs_status(workspace)),
        log_lines.brief_diff(vcs_diff(workspace)),
        log_lines.brief_log(vcs_log(workspace)),
        log_lines.brief_blame(vcs_blame(workspace, path)),
    ]
    assert [len(line) for line in lines if len(line) > log_lines.LONGEST or "\n" in line] == []
