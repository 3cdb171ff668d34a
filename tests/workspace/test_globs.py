import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haversack.errors import InvalidArgument, ToolFailed
from haversack.files import Tree
from haversack.workspace.files.globs import compile_glob, parse_rule
from haversack.workspace.files.walk import Walk
from tests.workspace.git_repository import GitRepository


@pytest.mark.parametrize(
    ("glob", "matches", "misses"),
    [
        ("*.py", ["a.py", ".py"], ["src/a.py", "a.pyc"]),
        ("src/*.py", ["src/a.py"], ["src/deep/a.py", "a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py", "other/a.py"]),
        ("**/*.py", ["a.py", "src/a.py", "x/y/z.py"], ["a.js"]),
        ("src/**", ["src/a", "src/x/y"], ["src", "other/a"]),
        ("**", ["a", "x/y"], []),
        ("*.{ts,tsx}", ["a.ts", "a.tsx"], ["a.js"]),
        ("{src,lib}/*.{c,h}", ["src/a.c", "lib/b.h"], ["src/a.o", "bin/a.c"]),
        ("file?.txt", ["file1.txt", "fileé.txt"], ["file10.txt", "file/.txt"]),
        ("[a-c]*", ["apple", "c"], ["dog"]),
        ("[!a-c]*", ["dog"], ["apple", "/x"]),
        ("./a.txt", ["a.txt"], ["b.txt"]),
        ("src/**.py", ["src/a.py", "src/x/y/a.py"], ["a.py", "srcx/a.py"]),
        ("a**b", ["ab", "axb", "a/b", "ax/y/zb"], ["b", "ba"]),
        ("src**", ["src", "srcx", "src/a", "srcx/a/b"], ["a/src"]),
        ("**/test/**/*_a*.py", ["test/x_a.py", "a/test/b/c/x_a1.py"], ["x_a.py", "test/x.py"]),
        ("**/a/**/b/**/c", ["a/b/c", "x/a/y/b/z/c", "a/a/b/b/c"], ["a/c", "b/a/c"]),
        ("*a*b*c", ["abc", "xaybzc", "aabbcc"], ["acb", "ab/c"]),
        ("/src/*.py", ["src/a.py"], ["a.py"]),
        ("a+b(c).txt", ["a+b(c).txt"], ["aab(c).txt"]),
    ],
)
def test_a_star_stays_in_a_folder_and_two_cross_folders(glob: str, matches: list[str], misses: list[str]) -> None:
    expression = compile_glob(glob)
    assert [name for name in matches if not expression.fullmatch(name)] == []
    assert [name for name in misses if expression.fullmatch(name)] == []


def test_a_glob_of_names_is_matched_in_every_folder_when_asked() -> None:
    expression = compile_glob("*.py", anywhere=True)
    assert expression.fullmatch("a.py") and expression.fullmatch("x/y/a.py")
    assert not compile_glob("src/*.py", anywhere=True).fullmatch("x/src/a.py")


@pytest.mark.parametrize("glob", ["[abc", ""])
def test_a_glob_that_cannot_be_read_is_refused(glob: str) -> None:
    with pytest.raises(InvalidArgument):
        compile_glob(glob)


BOMBS = [
    "*a*a*a*a*a*a*a*a*a*b", "*a" * 200 + "b", "**/a/" * 100 + "b", "?*" * 200 + "b", "[a]*" * 100 + "b",
    "{a,aa}" * 7 + "*b", "*" * 500 + "b", "a**" * 5 + "b",
]  # fmt: skip


@pytest.mark.parametrize("glob", BOMBS)
@pytest.mark.parametrize("text", ["a" * 4_000, "a/" * 2_000 + "a", "ab" * 2_000 + "a"])
def test_no_glob_takes_long_to_miss(glob: str, text: str) -> None:
    # With backtracking, one of these takes longer than the test-suite is given.
    assert not compile_glob(glob).fullmatch(text)
    if rule := parse_rule(glob):
        assert not rule.expression.fullmatch(text)


@pytest.mark.parametrize("glob", ["a" * 1_001, "{a,b}" * 20, "a**" * 40])
def test_a_glob_with_too_much_in_it_is_refused(glob: str) -> None:
    with pytest.raises(InvalidArgument):
        compile_glob(glob)


def test_a_giant_ignore_file_is_read_in_part_and_named(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n" + "x\n" * 6_000)
    (tmp_path / "a.log").write_text("")
    (tmp_path / "b.txt").write_text("")
    with Tree(str(tmp_path)) as tree:
        walk = Walk(tree, "", 60)
        assert list(walk.files()) == [".gitignore", "b.txt"]
    assert "more than 5,000 lines" in walk.notes[0]


def test_a_walk_that_takes_too_long_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    with Tree(str(tmp_path)) as tree, pytest.raises(ToolFailed, match="within -1 seconds"):
        list(Walk(tree, "", -1).files())


NAMES = ["a", "b", "ab", "a.o", "b.txt", "foo", "foo bar", "#x", "!y", "[z]"]
FILES = [*NAMES, *(f"{folder}/{name}" for folder in ("a.d", "sub", "sub/sub", "foo.d") for name in NAMES)]
TOUCHING_STARS = re.compile(r"[^/!]\*\*|\*\*[^/]")
PIECES = st.sampled_from([
    "a", "b", "foo", "sub", "*", "?", "**", "/", "/**/", "**/", "/**", ".o", ".d", "[ab]", "[!a]", "\\#", "\\!", " ",
    "!", "#", "[z", "\\[z\\]", "x", "y", "[[:alpha:]]", "[a-",
])  # fmt: skip
# Releases of git differ on two stars that touch anything but a slash.
RULE = st.lists(PIECES, min_size=1, max_size=4).map("".join).filter(lambda rule: not TOUCHING_STARS.search(rule))
RULES = st.lists(RULE, min_size=1, max_size=5)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules=RULES, inner=RULES)
def test_ignore_rules_leave_out_just_what_git_leaves_out(rules: list[str], inner: list[str], tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "ignoring")
    if not repository.path.exists():
        repository = GitRepository.create(repository.path)
        for name in FILES:
            repository.write(name)
    repository.write(".gitignore", "\n".join(rules) + "\n")
    repository.write("sub/.gitignore", "\r\n".join(inner) + "\r\n")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-o", "--exclude-standard"],
        cwd=repository.path, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    with Tree(str(repository.path)) as tree:
        walked = list(Walk(tree, "", 60).files())
    assert walked == sorted(listed.split("\0")[:-1])
