import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haversack.errors import InvalidArgument
from haversack.workspace.files.globs import compile_glob
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
    walked = list(Walk(str(repository.path), "").files())
    assert walked == sorted(listed.split("\0")[:-1])
