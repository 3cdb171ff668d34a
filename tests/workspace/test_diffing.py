import os
from typing import Any

import pytest

from haversack.errors import InvalidArgument, NotFound, OutsideRoot, SecretWithheld
from haversack.workspace.files.encodings import LINE_CAP
from haversack.workspace.git.diff import LONGEST_HUNK, FileDiff, VcsDiff, vcs_diff
from haversack.workspace.resuming import resume
from haversack.workspace.root import Workspace
from tests.workspace.git_repository import GitRepository


def files(diff: VcsDiff) -> list[FileDiff]:
    return list(dict.fromkeys(part.file for part in diff.parts.items()))


def lines(diff: VcsDiff) -> list[str]:
    return [line for part in diff.parts.items() if part.hunk for line in part.hunk.lines]


@pytest.fixture
def changed(repository: GitRepository) -> GitRepository:
    repository.write("a.py", "".join(f"{number}\n" for number in range(1, 31)))
    repository.write("b.py", "b\n")
    repository.commit("first")
    repository.write("a.py", "".join(f"{'x' if number in (3, 25) else number}\n" for number in range(1, 31)))
    return repository


def test_a_diff_has_counts_then_hunks(changed: GitRepository) -> None:
    diff = vcs_diff(changed.workspace)
    assert (diff.files, diff.added, diff.removed, diff.names) == (1, 2, 2, ("a.py",))
    first, second = diff.parts.items()
    assert first.file == second.file == FileDiff("a.py", "", "modified", 2, 2, False, False)
    assert first.hunk is not None and second.hunk is not None
    assert (first.hunk.old_start, first.hunk.old_lines, first.hunk.new_start, first.hunk.new_lines) == (1, 6, 1, 6)
    assert first.hunk.lines == (" 1", " 2", "-3", "+x", " 4", " 5", " 6")
    assert second.hunk.lines[3:5] == ("-25", "+x")
    assert diff.between == "work tree"


def test_context_is_as_wide_as_asked(changed: GitRepository) -> None:
    assert lines(vcs_diff(changed.workspace, context_lines=0)) == ["-3", "+x", "-25", "+x"]
    assert len(lines(vcs_diff(changed.workspace, context_lines=1))) == 8
    for wrong in (-1, 101):
        with pytest.raises(InvalidArgument):
            vcs_diff(changed.workspace, context_lines=wrong)


def test_staged_false_is_false(changed: GitRepository) -> None:
    assert vcs_diff(changed.workspace, staged=True).files == 0
    changed.git("add", "a.py")
    assert vcs_diff(changed.workspace, staged=False).files == 0
    staged = vcs_diff(changed.workspace, staged=True)
    assert (staged.files, staged.between) == (1, "staged")
    changed.write("b.py", "c\n")
    assert [file.path for file in files(vcs_diff(changed.workspace))] == ["b.py"]


def test_statistics_are_true_with_a_path(changed: GitRepository) -> None:
    changed.write("sub/c.py", "one\ntwo\n")
    changed.git("add", "--intent-to-add", "sub/c.py")
    changed.write("b.py", "c\nd\n")
    diff = vcs_diff(changed.workspace, path="sub", stat_only=True)
    assert (diff.files, diff.added, diff.removed) == (1, 2, 0)
    one = vcs_diff(changed.workspace, path="b.py", stat_only=True)
    assert files(one) == [FileDiff("b.py", "", "modified", 2, 1, False, False)]
    assert lines(one) == []
    assert vcs_diff(changed.workspace, stat_only=False, path="b.py").parts.first(1)[0].hunk is not None


def test_renames_binaries_additions_and_deletions_are_told_apart(repository: GitRepository) -> None:
    repository.write("old.py", "".join(f"{number}\n" for number in range(20)))
    repository.write("same.py", "".join(f"s{number}\n" for number in range(20)))
    repository.write("image.png", b"\0\1\2")
    repository.write("gone.py", "x\n")
    repository.write("run.sh", "x\n")
    repository.commit()
    repository.git("mv", "old.py", "new ünïcode\tname.py")
    repository.git("mv", "same.py", "moved.py")
    repository.write("new ünïcode\tname.py", "".join(f"{number}\n" for number in range(20)) + "more\n")
    repository.write("image.png", b"\0\3")
    os.remove(repository.path / "gone.py")
    repository.write("added.py", "y")
    (repository.path / "run.sh").chmod(0o755)
    repository.git("add", "--all")
    diff = vcs_diff(repository.workspace, staged=True)
    assert files(diff) == [
        FileDiff("added.py", "", "added", 1, 0, False, False),
        FileDiff("gone.py", "", "deleted", 0, 1, False, False),
        FileDiff("image.png", "", "modified", 0, 0, True, False),
        FileDiff("moved.py", "same.py", "renamed", 0, 0, False, False),
        FileDiff(r"new ünïcode\x09name.py", "old.py", "renamed", 1, 0, False, False),
        FileDiff("run.sh", "", "modified", 0, 0, False, False),
    ]
    assert "\\ No newline at end of file" in lines(diff)
    assert diff.files == 6


def test_a_file_that_became_a_link_is_one_change(repository: GitRepository) -> None:
    repository.write("a", "text\n")
    repository.write("z", "text\n")
    repository.commit()
    os.remove(repository.path / "a")
    (repository.path / "a").symlink_to("z")
    repository.write("z", "other\n")
    diff = vcs_diff(repository.workspace)
    assert [(file.path, file.change) for file in files(diff)] == [("a", "type changed"), ("z", "modified")]
    assert lines(diff) == ["-text", "+z", "\\ No newline at end of file", "-text", "+other"]


def test_lines_that_look_like_headers_are_lines(repository: GitRepository) -> None:
    tricky = "- a/x\n-- b/y\ndiff --git a/a b/a\n@@ -1 +1 @@\n\\ slash\n"
    repository.write("a", tricky)
    repository.write("b", "x\n")
    repository.commit()
    repository.write("a", "++ new\n" + tricky.replace("slash", "other"))
    repository.write("b", "y\n")
    diff = vcs_diff(repository.workspace)
    assert [(file.path, file.added, file.removed) for file in files(diff)] == [("a", 2, 1), ("b", 1, 1)]
    assert lines(diff) == [
        "+++ new", " - a/x", " -- b/y", " diff --git a/a b/a", " @@ -1 +1 @@", "-\\ slash", "+\\ other", "-x", "+y",
    ]  # fmt: skip


def test_a_conflict_is_shown_against_our_side_and_marked(repository: GitRepository) -> None:
    repository.write("a", "base\n")
    repository.commit()
    repository.git("checkout", "--quiet", "-b", "other")
    repository.write("a", "theirs\n")
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    repository.write("a", "ours\n")
    repository.commit()
    repository.git("merge", "other", check=False)
    diff = vcs_diff(repository.workspace)
    (file,) = files(diff)
    assert (file.path, file.is_conflicted, file.added) == ("a", True, 4)
    assert "+theirs" in lines(diff)
    (staged,) = files(vcs_diff(repository.workspace, staged=True))
    assert (staged.path, staged.is_conflicted) == ("a", True)


def test_commits_and_ranges_are_compared(changed: GitRepository) -> None:
    changed.commit("second")
    changed.git("tag", "v1.0.1")
    changed.git("checkout", "--quiet", "-b", "side.branch", "HEAD~1")
    changed.write("c.py", "c\n")
    changed.commit("third")
    workspace = changed.workspace
    assert vcs_diff(workspace, commit="main~1..main").names == ("a.py",)
    assert vcs_diff(workspace, commit="main~1..v1.0.1").added == 2
    assert vcs_diff(workspace, commit="main...side.branch").names == ("c.py",)
    assert vcs_diff(workspace, commit="main..").names == ("a.py", "c.py")
    against = vcs_diff(workspace, commit="main")
    assert (against.names, against.between) == (("a.py", "c.py"), "work tree against main")
    assert vcs_diff(workspace, commit="HEAD~1", staged=True).names == ("c.py",)


@pytest.mark.parametrize(
    "commit",
    ["--output=pwned", "-p", "--no-index", "main..--output=pwned", "a b", "main\nHEAD", "x\0y", "\ud800", "--ext-diff"],
)
def test_a_ref_is_never_taken_for_an_option(commit: str, changed: GitRepository) -> None:
    with pytest.raises(InvalidArgument):
        vcs_diff(changed.workspace, commit=commit)
    assert not (changed.path / "pwned").exists()


def test_an_unknown_commit_and_a_staged_range_are_refused(changed: GitRepository) -> None:
    with pytest.raises(NotFound, match="'nowhere'"):
        vcs_diff(changed.workspace, commit="nowhere")
    with pytest.raises(InvalidArgument, match="staged"):
        vcs_diff(changed.workspace, commit="HEAD..HEAD", staged=True)


@pytest.mark.parametrize("path", ["--output=pwned", ":(top)a.py", "*.py"])
def test_a_path_is_never_taken_for_an_option_or_a_pattern(path: str, changed: GitRepository) -> None:
    with pytest.raises(NotFound, match="no file or folder"):
        vcs_diff(changed.workspace, path=path)
    assert not (changed.path / "pwned").exists()


def test_a_diff_never_leaves_the_root(changed: GitRepository) -> None:
    with pytest.raises(OutsideRoot):
        vcs_diff(changed.workspace, path="../other")
    changed.write("sub/d.py", "d\n")
    changed.git("add", "sub")
    below = Workspace(os.path.join(changed.workspace.root, "sub"))
    assert [file.path for file in files(vcs_diff(below, staged=True))] == ["d.py"]
    assert vcs_diff(below).files == 0


def test_the_diff_of_a_deleted_file_can_be_asked_for(changed: GitRepository) -> None:
    os.remove(changed.path / "b.py")
    assert files(vcs_diff(changed.workspace, path="b.py")) == [FileDiff("b.py", "", "deleted", 0, 1, False, False)]


def test_secrets_are_withheld_from_diffs_under_either_name(repository: GitRepository) -> None:
    body = "".join(f"KEY{number}=value\n" for number in range(20))
    for name in (".env", "prod.env", "a.txt"):
        repository.write(name, body)
    repository.commit()
    repository.git("mv", "prod.env", "config.txt")
    repository.write(".env", body + "TOKEN=abc\n")
    repository.write("a.txt", body + "more\n")
    repository.git("add", "--all")
    diff = vcs_diff(repository.workspace, staged=True)
    assert (diff.files, diff.names, lines(diff)[-1]) == (1, ("a.txt",), "+more")
    assert (diff.withheld.count, diff.withheld.names) == (2, (".env", "config.txt"))
    with pytest.raises(SecretWithheld):
        vcs_diff(repository.workspace, path=".env", staged=True)


def test_before_the_first_commit_staged_changes_are_shown(repository: GitRepository) -> None:
    repository.write("a", "x\n")
    repository.git("add", "a")
    assert vcs_diff(repository.workspace, staged=True).names == ("a",)
    assert vcs_diff(repository.workspace).files == 0
    with pytest.raises(NotFound, match="no commits yet"):
        vcs_diff(repository.workspace, commit="HEAD")


def test_a_long_hunk_is_several_that_follow_each_other(repository: GitRepository) -> None:
    repository.write("a", "".join(f"{number}\n" for number in range(500)))
    repository.git("add", "a")
    hunks = [part.hunk for part in vcs_diff(repository.workspace, staged=True).parts.items()]
    assert [(hunk.new_start, hunk.new_lines) for hunk in hunks if hunk] == [
        (1, LONGEST_HUNK), (1 + LONGEST_HUNK, LONGEST_HUNK), (1 + 2 * LONGEST_HUNK, LONGEST_HUNK),
        (1 + 3 * LONGEST_HUNK, LONGEST_HUNK), (1 + 4 * LONGEST_HUNK, 500 - 4 * LONGEST_HUNK),
    ]  # fmt: skip
    assert [line for hunk in hunks if hunk for line in hunk.lines] == [f"+{number}" for number in range(500)]


def test_a_long_line_is_cut_with_its_length_stated(repository: GitRepository) -> None:
    repository.write("a.js", "x" * 50_000 + "\n")
    repository.git("add", "a.js")
    hunk = vcs_diff(repository.workspace, staged=True).parts.first(1)[0].hunk
    assert hunk is not None
    assert (len(hunk.lines[0]), hunk.cuts) == (LINE_CAP, ((0, 50_001),))


def test_a_diff_resumed_is_the_diff_that_was_taken(changed: GitRepository) -> None:
    diff = vcs_diff(changed.workspace)
    whole: list[Any] = list(diff.parts.items())
    changed.write("a.py", "all new\n")
    resumed = resume(diff.parts.data, changed.workspace)
    assert [*resumed.first(1), *resumed.items(1)] == whole


def test_commits_given_as_the_path_are_understood(repository: GitRepository) -> None:
    for number in range(3):
        repository.write("a.txt", f"{number}\n")
        repository.commit(f"commit {number}")
    assert vcs_diff(repository.workspace, path="HEAD~2..HEAD").between == "HEAD~2..HEAD"
    assert vcs_diff(repository.workspace, path="HEAD~2..HEAD").names == ("a.txt",)
    assert vcs_diff(repository.workspace, path="HEAD~1").between == "work tree against HEAD~1"
    with pytest.raises(NotFound, match=r"commit or A\.\.B"):
        vcs_diff(repository.workspace, path="HEAD~9..HEAD")


def test_a_path_that_never_was_is_an_error_and_one_that_was_is_not(repository: GitRepository) -> None:
    repository.write("gone.txt")
    repository.write("main")
    repository.commit()
    (repository.path / "gone.txt").unlink()
    (repository.path / "main").unlink()
    assert vcs_diff(repository.workspace, path="gone.txt").names == ("gone.txt",)
    assert vcs_diff(repository.workspace, path="main").names == ("main",)
    repository.commit()
    assert vcs_diff(repository.workspace, path="gone.txt").files == 0
    with pytest.raises(NotFound, match=r"never\.txt"):
        vcs_diff(repository.workspace, path="never.txt")
