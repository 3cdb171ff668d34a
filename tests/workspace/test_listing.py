import os
import socket
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from haversack.errors import InvalidArgument, NotFound, OutsideRoot
from haversack.workspace.files.listing import FileListing, ProjectFile, project_files
from haversack.workspace.resuming import resume
from haversack.workspace.root import Workspace
from tests.workspace.git_repository import GitRepository


def paths(listing: FileListing) -> list[str]:
    return [file.path for file in listing.files.items()]


def test_tracked_and_untracked_files_are_listed_and_ignored_ones_are_not(repository: GitRepository) -> None:
    repository.write(".gitignore", "*.log\nbuild/\n")
    repository.write("tracked.py")
    repository.commit()
    repository.write("new.py")
    repository.write("noise.log")
    repository.write("build/out.js")
    listing = project_files(repository.workspace)
    assert paths(listing) == ["new.py", "tracked.py"]
    assert listing.hidden == 1
    assert listing.in_git


def test_a_tracked_file_that_is_ignored_is_listed_and_a_deleted_one_is_not(repository: GitRepository) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("kept.log")
    repository.write("gone.py")
    repository.commit()
    os.remove(repository.path / "gone.py")
    listing = project_files(repository.workspace)
    assert paths(listing) == ["kept.log"]
    assert listing.files.total == 1


def test_names_of_any_script_come_back_as_they_are(repository: GitRepository) -> None:
    names = ["naïve.txt", "日本語/ファイル.md", "with space.txt", 'quo"te.txt', "emoji🙂.txt", "-dash.txt", "a\\b.txt"]
    for name in names:
        repository.write(name)
    assert paths(project_files(repository.workspace)) == sorted(names)
    repository.commit()
    assert paths(project_files(repository.workspace)) == sorted(names)


def test_a_name_with_a_line_end_is_one_file(repository: GitRepository) -> None:
    repository.write("two\nlines.txt")
    assert paths(project_files(repository.workspace)) == [r"two\x0alines.txt"]


def test_sizes_and_times_are_those_of_the_files(repository: GitRepository) -> None:
    repository.write("a.txt", b"12345")
    os.utime(repository.path / "a.txt", (1_700_000_000, 1_700_000_000))
    listing = project_files(repository.workspace)
    assert listing.files.first(5) == [ProjectFile("a.txt", 5, 1_700_000_000)]
    assert listing.total_size is None
    assert project_files(repository.workspace, sort="size").total_size == 5


def test_order_is_by_path_largest_or_newest_with_ties_by_path(repository: GitRepository) -> None:
    for number, (name, size) in enumerate([("c", 2), ("a", 3), ("b", 2), ("d/e", 9)]):
        repository.write(name, b"x" * size)
        os.utime(repository.path / name, (1_000 + number // 2, 1_000 + number // 2))
    assert paths(project_files(repository.workspace)) == ["a", "b", "c", "d/e"]
    assert paths(project_files(repository.workspace, sort="size")) == ["d/e", "a", "b", "c"]
    assert paths(project_files(repository.workspace, sort="mtime")) == ["b", "d/e", "a", "c"]


def test_path_pattern_and_depth_narrow_the_listing(repository: GitRepository) -> None:
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/deep/d.md", "srcs/e.py"):
        repository.write(name)
    workspace = repository.workspace
    assert paths(project_files(workspace, path="src")) == ["src/b.py", "src/deep/c.py", "src/deep/d.md"]
    assert paths(project_files(workspace, path="src", pattern="*.py")) == ["src/b.py"]
    assert paths(project_files(workspace, pattern="**/*.py", max_depth=2)) == ["a.py", "src/b.py", "srcs/e.py"]
    assert paths(project_files(workspace, path="src/b.py")) == ["src/b.py"]


def test_a_pattern_that_stays_in_the_folder_says_how_many_it_would_match_below(repository: GitRepository) -> None:
    for name in ("a.py", "src/b.py", "src/deep/c.py"):
        repository.write(name)
    listing = project_files(repository.workspace, pattern="*.py")
    assert paths(listing) == ["a.py"]
    assert listing.deeper == 2


def test_hidden_files_are_left_out_unless_asked_for(repository: GitRepository) -> None:
    for name in (".editorconfig", ".github/workflows/ci.yml", "a.py"):
        repository.write(name)
    assert paths(project_files(repository.workspace)) == ["a.py"]
    assert paths(project_files(repository.workspace, include_hidden=False)) == ["a.py"]
    hidden = project_files(repository.workspace, include_hidden=True)
    assert paths(hidden) == [".editorconfig", ".github/workflows/ci.yml", "a.py"]
    assert paths(project_files(repository.workspace, path=".github")) == [".github/workflows/ci.yml"]


@pytest.mark.parametrize("in_git", [True, False])
def test_secrets_are_withheld_and_named(in_git: bool, repository: GitRepository, folder: Path) -> None:
    place = repository.path if in_git else folder
    for name in (".env", "deploy/server.key", "a.py"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("x")
    listing = project_files(Workspace(str(place.resolve())), include_hidden=True)
    assert paths(listing) == ["a.py"]
    assert (listing.withheld.count, listing.withheld.names) == (2, (".env", "deploy/server.key"))
    allowed = project_files(Workspace(str(place.resolve()), allow_secrets=True), include_hidden=True)
    assert paths(allowed) == [".env", "a.py", "deploy/server.key"]


def test_types_and_folders_count_all_files_and_break_ties_by_name(repository: GitRepository) -> None:
    for name in ("b/1.md", "b/2.py", "a/3.PY", "a/4.md", "c/Makefile", "c.d/noext", ".x.py"):
        repository.write(name)
    listing = project_files(repository.workspace)
    assert listing.types == (("", 2), (".md", 2), (".py", 2))
    assert listing.folders == (("a/", 2), ("b/", 2), ("c.d/", 1), ("c/", 1))


def test_without_git_rules_are_honoured_and_build_folders_skipped(folder: Path, plain_workspace: Workspace) -> None:
    for name in (
        "a.py",
        "node_modules/x/i.js",
        "out.log",
        "sub/keep.log",
        "sub/b.py",
        "sub/tmp/x",
        "__pycache__/a.pyc",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / ".gitignore").write_text("*.log\n")
    (folder / "sub" / ".gitignore").write_text("!keep.log\n/tmp\n")
    listing = project_files(plain_workspace)
    assert paths(listing) == ["a.py", "sub/b.py", "sub/keep.log"]
    assert sorted(listing.skipped) == ["__pycache__", "node_modules"]
    assert not listing.in_git
    assert paths(project_files(plain_workspace, path="sub")) == ["sub/b.py", "sub/keep.log"]
    assert paths(project_files(plain_workspace, path="node_modules/x")) == ["node_modules/x/i.js"]


def test_links_are_listed_and_not_followed_and_special_files_are_left_out(
    folder: Path, plain_workspace: Workspace
) -> None:
    (folder / "real").mkdir()
    (folder / "real" / "a.txt").write_text("x")
    (folder / "loop").symlink_to(".")
    (folder / "away").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(folder / "socket"))
        listing = project_files(plain_workspace)
    assert [(file.path, file.is_link) for file in listing.files.items()] == [
        ("away", True), ("loop", True), ("real/a.txt", False),
    ]  # fmt: skip


def test_what_is_no_longer_a_file_is_said_to_be_gone_and_never_opened(repository: GitRepository) -> None:
    repository.write("a.txt")
    repository.write("b.txt")
    repository.commit()
    os.remove(repository.path / "a.txt")
    os.mkfifo(repository.path / "a.txt")
    assert [(file.path, file.is_gone) for file in project_files(repository.workspace).files.items()] == [
        ("a.txt", True), ("b.txt", False),
    ]  # fmt: skip
    assert paths(project_files(repository.workspace, sort="size")) == ["b.txt"]


@pytest.mark.parametrize("arguments", [{"path": ".."}, {"path": "/etc"}])
def test_a_listing_never_leaves_the_root(arguments: dict[str, Any], repository: GitRepository) -> None:
    with pytest.raises(OutsideRoot):
        project_files(repository.workspace, **arguments)


@pytest.mark.parametrize("arguments", [{"max_depth": 0}, {"max_depth": -1}, {"pattern": "[a"}])
def test_arguments_out_of_range_are_refused(arguments: dict[str, Any], repository: GitRepository) -> None:
    with pytest.raises(InvalidArgument):
        project_files(repository.workspace, **arguments)


def test_a_folder_that_is_not_there_is_not_found(repository: GitRepository) -> None:
    with pytest.raises(NotFound):
        project_files(repository.workspace, path="nowhere")


def test_an_ignored_folder_is_empty_and_the_listing_says_why(repository: GitRepository) -> None:
    repository.write(".gitignore", "build/\n")
    repository.write("build/a.js")
    listing = project_files(repository.workspace, path="build")
    assert listing.files.total == 0
    assert listing.notes == ("build is ignored by git.",)


@pytest.mark.parametrize("sort", ["path", "size", "mtime"])
def test_pages_of_a_snapshot_add_up_to_the_whole_while_files_change(sort: Any, repository: GitRepository) -> None:
    for number in range(1_500):
        repository.write(f"d{number % 7}/f{number:04d}.txt", b"x" * (number % 13))
    listing = project_files(repository.workspace, sort=sort)
    whole = list(listing.files.items())
    stored = listing.files.data
    for number in range(0, 1_500, 3):
        repository.write(f"d{number % 7}/f{number:04d}.txt", b"changed")
        repository.write(f"new{number}.txt")
    os.remove(repository.path / "d1" / "f0001.txt")
    resumed = resume(stored, repository.workspace)
    assert (resumed.total, len(whole)) == (1_500, 1_500)
    pages: list[ProjectFile] = []
    while len(pages) < resumed.total:
        pages += [file for file, _ in zip(resumed.items(len(pages)), range(271), strict=False)]
    if sort == "path":
        assert [file.path for file in pages] == [file.path for file in whole]
        assert [file.path for file in pages if file.is_gone] == ["d1/f0001.txt"]
        assert pages[0].size == len(b"changed")
    else:
        assert pages == whole


def test_a_long_listing_is_not_held_as_objects(repository: GitRepository) -> None:
    for number in range(3_000):
        repository.write(f"folder/file-with-a-rather-long-name-{number:05d}.txt", b"")
    listing = project_files(repository.workspace)
    assert listing.files.total == 3_000
    assert len(listing.files.data) < 3_000 * 20


@pytest.mark.parametrize("block", [50, 1 << 18])
@pytest.mark.parametrize("seed", range(4))
def test_a_listing_is_what_a_walk_of_the_folder_finds(
    seed: int, block: int, repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haversack.workspace.programs.BLOCK", block)
    chance = Random(seed)
    repository.write(".gitignore", "*.log\nskip/\n")
    folders = ["", "a/", "a/b/", "a.b/", "a-/", "ab/", "b/c/d/", "skip/", "Ä/", "a/skip/"]
    endings = [".py", ".PY", ".md", "", ".log", ".tar.gz", "."]
    names = [
        f"{folder}{chance.choice('xyzÖ')}{number}{chance.choice(endings)}" for folder in folders for number in "1234567"
    ]
    tracked = {name for name in names if chance.random() < 0.7}
    for name in tracked:
        repository.write(name, "x" * chance.randrange(5))
    repository.commit()
    for name in chance.sample(sorted(tracked), 8):
        os.remove(repository.path / name)
    for name in names:
        if name not in tracked:
            repository.write(name, "x" * chance.randrange(5))
    there = [name for name in names if (repository.path / name).exists()]
    ignored = {name for name in there if name not in tracked and (name.endswith(".log") or "skip/" in name)}
    expected = sorted(set(there) - ignored)
    listing = project_files(repository.workspace)
    assert paths(listing) == expected
    counted = Counter(name[: name.find("/") + 1] for name in expected if "/" in name)
    assert dict(listing.folders) == counted
    types = Counter(os.path.splitext(name)[1].lower() for name in expected if not name.endswith("."))
    types += Counter("." for name in expected if name.endswith("."))
    assert dict(listing.types) == types
    by_size = project_files(repository.workspace, sort="size")
    sizes = {name: os.path.getsize(repository.path / name) for name in expected}
    assert paths(by_size) == sorted(expected, key=lambda name: (-sizes[name], name))
    assert by_size.total_size == sum(sizes.values())
    assert (dict(by_size.types), dict(by_size.folders)) == (types, counted)


@pytest.mark.parametrize("block", [30, 1 << 18])
@pytest.mark.parametrize("sort", ["path", "size"])
def test_a_file_in_conflict_is_listed_once(
    sort: Any, block: int, repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haversack.workspace.programs.BLOCK", block)
    for name in ("a.txt", "b.txt", "c.txt"):
        repository.write(name, "base\n")
    repository.commit()
    repository.git("checkout", "--quiet", "-b", "side")
    repository.write("b.txt", "side\n")
    repository.commit()
    repository.git("checkout", "--quiet", "-")
    repository.write("b.txt", "main\n")
    repository.commit()
    repository.git("merge", "side", check=False)
    assert "b.txt" in repository.git("ls-files", "--unmerged")
    found = project_files(repository.workspace, sort=sort)
    assert sorted(paths(found)) == ["a.txt", "b.txt", "c.txt"]
    assert found.files.total == 3


def test_the_same_files_have_the_same_identity_however_git_names_them(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        repository.write(f"d{number % 3}/f{number}{'é' if number % 7 else ''}.txt")
    repository.commit()
    repository.write("new.txt")
    identities = set()
    for block in (7, 100, 1_000, 1 << 18):
        monkeypatch.setattr("haversack.workspace.programs.BLOCK", block)
        identities.add(project_files(repository.workspace).files.identity)
    assert len(identities) == 1
