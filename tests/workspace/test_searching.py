import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haversack.cancellation import Cancellation, Cancelled, watching
from haversack.errors import InvalidArgument, OutsideRoot, SecretWithheld, ToolFailed
from haversack.values import replace
from haversack.workspace.files.encodings import LINE_CAP
from haversack.workspace.files.listing import project_files
from haversack.workspace.programs import Limits, find_program
from haversack.workspace.resuming import resume
from haversack.workspace.root import Workspace
from haversack.workspace.search.content_search import ContentMatches, search_content
from haversack.workspace.search.matches import Match
from haversack.workspace.search.patterns import ripgrep_pattern
from tests.workspace.git_repository import GitRepository


@pytest.fixture
def workspace(repository: GitRepository, search_engine: str) -> Workspace:
    return replace(repository.workspace, engine=search_engine)


def places(found: ContentMatches) -> list[tuple[str, int]]:
    return [(match.path, match.number) for match in found.matches.items()]


def lines(match: Match) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in match.lines]


def test_a_match_comes_with_the_lines_before_and_after_it(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("a.txt", "one\ntwo\nthree NEEDLE\nfour\nfive\nsix\n")
    found = search_content(workspace, "needle", context_lines=2)
    assert lines(found.matches.first(1)[0]) == [
        (1, "one"), (2, "two"), (3, "three NEEDLE"), (4, "four"), (5, "five"),
    ]  # fmt: skip
    assert found.engine == workspace.engine


def test_lines_between_near_matches_are_given_once(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("a.txt", "x1\nb\nx3\nx4\ne\nf\ng\nh\nx9\n")
    matches = list(search_content(workspace, "x", context_lines=2).matches.items())
    assert [lines(match) for match in matches] == [
        [(1, "x1"), (2, "b")],
        [(3, "x3")],
        [(4, "x4"), (5, "e"), (6, "f")],
        [(7, "g"), (8, "h"), (9, "x9")],
    ]
    assert [len(match.lines) for match in search_content(workspace, "x", context_lines=0).matches.items()] == [1] * 4


def test_totals_are_exact_and_files_come_in_order_of_path(repository: GitRepository, workspace: Workspace) -> None:
    for name in ("b/2.txt", "a.txt", "b-c.txt", "b/10.txt", "ä.txt"):
        repository.write(name, "hit\nmiss\nhit hit\n")
    found = search_content(workspace, "hit")
    order = ["a.txt", "b-c.txt", "b/10.txt", "b/2.txt", "ä.txt"]
    assert places(found) == [(name, number) for name in order for number in (1, 3)]
    assert (found.matches.total, found.files) == (10, 5)
    assert found.top == tuple((name, 2) for name in order)


def test_files_with_most_matches_come_first_and_ties_by_name(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("a.txt", "hit\n")
    repository.write("z.txt", "hit\nhit\n")
    repository.write("b.txt", "hit\n")
    assert search_content(workspace, "hit").top == (("z.txt", 2), ("a.txt", 1), ("b.txt", 1))


@pytest.mark.parametrize(
    ("pattern", "arguments", "expected"),
    [
        ("Alpha", {}, [1, 2, 6]),
        ("Alpha", {"case_sensitive": True}, [1]),
        ("Alpha", {"case_sensitive": False}, [1, 2, 6]),
        ("a.p", {}, []),
        ("a.p", {"is_regex": True}, [1, 2, 6]),
        ("a.p", {"is_regex": False}, []),
        (r"^alpha$", {"is_regex": True}, [2]),
        (r"\bbeta\b", {"is_regex": True}, [3]),
        (r"\d{3,}", {"is_regex": True}, [4]),
        (r"(be)ta|12", {"is_regex": True}, [3, 4, 5]),
        (r"(?<=1)2", {"is_regex": True}, [4]),
        (r"(.)\1$", {"is_regex": True}, [7]),
        (r"(?!.*a)^.+$", {"is_regex": True}, [4, 7]),
        (r"x*", {"is_regex": True}, [1, 2, 3, 4, 5, 6, 7]),
        (r"[^\W\d_]{5}", {"is_regex": True}, [1, 2, 5, 6]),
        (r"(?i:ALPHA)z", {"is_regex": True, "case_sensitive": True}, [6]),
        (r"-", {}, [7]),
    ],
)
def test_a_pattern_means_the_same_to_both_engines(
    pattern: str, arguments: dict[str, Any], expected: list[int], repository: GitRepository, workspace: Workspace
) -> None:
    repository.write("a.txt", "Alpha one\nalpha\na beta b\n12345\nbetamax\nalphaz\n--\n")
    assert [number for _, number in places(search_content(workspace, pattern, **arguments))] == expected


def test_a_pattern_is_never_taken_for_an_option(
    repository: GitRepository, workspace: Workspace, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    script.chmod(0o755)
    repository.write("a.txt", f"call --pre={script} here\n")
    for pattern in (f"--pre={script}", "--files", "-e", "--help"):
        for is_regex in (False, True):
            found = search_content(workspace, pattern, is_regex=is_regex, file_pattern="*.txt")
            assert places(found) == ([("a.txt", 1)] if "pre=" in pattern else [])
    search_content(workspace, "here", file_pattern=f"--pre={script}")
    assert not (tmp_path / "ran").exists()


def test_a_bad_expression_is_an_error_that_says_where(workspace: Workspace) -> None:
    with pytest.raises(InvalidArgument, match=r"unterminated character set at position 3"):
        search_content(workspace, "abc[", is_regex=True)
    with pytest.raises(InvalidArgument, match="position 0"):
        search_content(workspace, "*a", is_regex=True)


@pytest.mark.parametrize(
    "arguments",
    [{"pattern": ""}, {"pattern": "a\nb"}, {"pattern": "x" * 5_000}, {"pattern": "x", "context_lines": -1},
     {"pattern": "x", "context_lines": 51}, {"pattern": "x", "file_pattern": "[a"}],
)  # fmt: skip
def test_arguments_out_of_range_are_refused(arguments: dict[str, Any], workspace: Workspace) -> None:
    with pytest.raises(InvalidArgument):
        search_content(workspace, **arguments)


def test_every_usual_encoding_is_searched(repository: GitRepository, workspace: Workspace) -> None:
    text = "prélude\ncafé “crème”\n"
    repository.write("bom.txt", b"\xef\xbb\xbf" + text.encode())
    repository.write("cp1252.txt", text.encode("cp1252"))
    repository.write("utf16be.txt", b"\xfe\xff" + text.encode("utf-16-be"))
    repository.write("utf16le.txt", b"\xff\xfe" + text.encode("utf-16-le"))
    repository.write("utf8.txt", text.encode())
    names = ["bom.txt", "cp1252.txt", "utf16be.txt", "utf16le.txt", "utf8.txt"]
    for pattern, is_regex in (("CAFÉ", False), ("“crème”", False), (r"^caf. .cr", True), (r"\bcafé\b", True)):
        found = search_content(workspace, pattern, is_regex=is_regex)
        assert places(found) == [(name, 2) for name in names], pattern
        assert {lines(match)[-1][1] for match in found.matches.items()} == {"café “crème”"}
    starts = search_content(workspace, "^prélude$", is_regex=True)
    assert places(starts) == [(name, 1) for name in names]


def test_a_line_that_is_not_utf8_does_not_hide_the_others(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("mixed.txt", b"\xff\xfa broken \xe9\nna\xc3\xafve\nna\xefve\n")
    assert places(search_content(workspace, "naïve")) == [("mixed.txt", 2), ("mixed.txt", 3)]
    assert places(search_content(workspace, "broken")) == [("mixed.txt", 1)]


def test_binary_files_are_skipped(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("binary.dat", b"needle\n\0\1\2needle\n")
    repository.write("text.txt", b"needle\n")
    assert places(search_content(workspace, "needle")) == [("text.txt", 1)]


def test_line_ends_of_windows_are_no_part_of_the_line(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("crlf.txt", b"one\r\ntwo\r\nthree")
    found = search_content(workspace, "(one|two|three)$", is_regex=True, context_lines=0)
    assert [lines(match) for match in found.matches.items()] == [[(1, "one")], [(2, "two")], [(3, "three")]]


def test_a_very_long_line_is_cut_around_its_match_with_its_length_stated(
    repository: GitRepository, workspace: Workspace
) -> None:
    repository.write("long.js", "short\n" + "x" * 700_000 + "néedle" + "y" * 300_000 + "\nafter\n")
    for pattern, is_regex in (("NÉEDLE", False), ("n.edle", True)):
        match = search_content(workspace, pattern, is_regex=is_regex).matches.first(1)[0]
        assert [line.number for line in match.lines] == [1, 2, 3]
        line = match.lines[1]
        assert (line.length, len(line.text), line.is_cut) == (1_000_006, LINE_CAP, True)
        assert line.text.index("néedle") + line.start == 700_000


def test_long_context_lines_are_cut_too(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("long.js", "a" * 50_000 + "\nneedle\n" + "é" * 3_000 + "\n")
    match = search_content(workspace, "needle").matches.first(1)[0]
    assert [(line.text[0], len(line.text), line.length) for line in match.lines] == [
        ("a", LINE_CAP, 50_000), ("n", 6, 6), ("é", LINE_CAP, 3_000),
    ]  # fmt: skip


def test_context_reaches_across_the_blocks_a_large_file_is_read_in(
    repository: GitRepository, workspace: Workspace
) -> None:
    filler = "".join(f"line {number:07d} of a large file\n" for number in range(100_000))
    repository.write("large.txt", filler + "needle\n" + filler)
    match = search_content(workspace, "needle", context_lines=3).matches.first(1)[0]
    assert [line.number for line in match.lines] == list(range(99_998, 100_005))
    assert match.lines[2].text == "line 0099999 of a large file"


def test_context_reaches_back_over_lines_as_long_as_blocks(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("wide.txt", "".join(letter * 1_500_000 + "\n" for letter in "abcd") + "needle\n")
    match = search_content(workspace, "needle", context_lines=3).matches.first(1)[0]
    assert [(line.number, line.text[:1], line.length) for line in match.lines] == [
        (2, "b", 1_500_000), (3, "c", 1_500_000), (4, "d", 1_500_000), (5, "n", 6),
    ]  # fmt: skip


def test_only_the_files_a_listing_shows_are_searched(repository: GitRepository, workspace: Workspace) -> None:
    repository.write(".gitignore", "*.log\nbuild/\n/deep/[x]/\nsp ace.txt\n!sub/kept.log\n")
    for name in (
        "a.txt", "b.log", "build/c.txt", "deep/x/d.txt", "deep/y/e.txt", ".hidden/f.txt", "sub/kept.log", "sp ace.txt",
        "sub/.ignore", "tracked.log", "sub/.gitignore",
    ):  # fmt: skip
        repository.write(name, "needle\n")
    repository.write("sub/.ignore", "*\n")
    repository.write("sub/.gitignore", "# needle\nnested.txt\n")
    repository.write("sub/nested.txt", "needle\n")
    repository.git("add", "--force", "tracked.log")
    expected = ["a.txt", "deep/y/e.txt", "sub/kept.log", "tracked.log"]
    assert [path for path, _ in places(search_content(workspace, "needle"))] == expected
    hidden = [path for path, _ in places(search_content(workspace, "needle", include_hidden=True))]
    assert hidden == [".hidden/f.txt", "a.txt", "deep/y/e.txt", "sub/.gitignore", "sub/kept.log", "tracked.log"]


def test_without_git_the_same_files_are_searched_as_listed(folder: Path, search_engine: str) -> None:
    names = ("a.txt", "b.log", "node_modules/c.txt", "sub/d.txt", "sub/e.tmp", "[x]/f.txt", "[y]/g.txt", "build/h.txt")
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("needle\n")
    (folder / ".gitignore").write_text("*.log\n\\[x\\]/\n")
    (folder / "sub" / ".gitignore").write_text("*.tmp\n")
    workspace = Workspace(str(folder.resolve()), engine=search_engine)
    assert [path for path, _ in places(search_content(workspace, "needle"))] == ["[y]/g.txt", "a.txt", "sub/d.txt"]
    assert places(search_content(workspace, "needle", path="sub")) == [("sub/d.txt", 1)]


def test_path_and_file_pattern_narrow_the_search(repository: GitRepository, workspace: Workspace) -> None:
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.md", "src/e.pyx", "lib/f.py"):
        repository.write(name, "needle\n")

    def found(**arguments: Any) -> list[str]:
        return [path for path, _ in places(search_content(workspace, "needle", **arguments))]

    assert found(path="src") == ["src/b.py", "src/d.md", "src/deep/c.py", "src/e.pyx"]
    assert found(file_pattern="*.py") == ["a.py", "lib/f.py", "src/b.py", "src/deep/c.py"]
    assert found(path="src", file_pattern="*.{py,md}") == ["src/b.py", "src/d.md", "src/deep/c.py"]
    assert found(file_pattern="src/*.py") == ["src/b.py"]
    assert found(file_pattern="src/**/*.py") == ["src/b.py", "src/deep/c.py"]
    assert found(path="src/d.md") == ["src/d.md"]
    assert found(path="src/d.md", file_pattern="*.py") == []


def test_a_file_named_outright_is_searched_even_if_ignored_or_hidden(
    repository: GitRepository, workspace: Workspace
) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("out.log", "needle\n")
    repository.write(".config", "needle\n")
    assert places(search_content(workspace, "needle", path="out.log")) == [("out.log", 1)]
    assert places(search_content(workspace, "needle", path=".config")) == [(".config", 1)]


def test_an_ignored_folder_gives_nothing_and_says_why(repository: GitRepository, workspace: Workspace) -> None:
    repository.write(".gitignore", "build/\n")
    repository.write("build/sub/a.txt", "needle\n")
    for path in ("build", "build/sub"):
        found = search_content(workspace, "needle", path=path)
        assert (places(found), found.notes) == ([], (f"{path} is ignored by git.",))


def test_secrets_are_not_searched_whether_they_match_or_not(repository: GitRepository, workspace: Workspace) -> None:
    repository.write(".env", "TOKEN=needle\n")
    repository.write("deploy/server.key", "needle\n")
    repository.write("deploy/other.key", "nothing\n")
    repository.write("a.txt", "needle\n")
    repository.git("add", "deploy/server.key")
    found = search_content(workspace, "needle", include_hidden=True)
    assert places(found) == [("a.txt", 1)]
    assert found.withheld.names == (".env", "deploy/other.key", "deploy/server.key")
    assert found.withheld == search_content(workspace, "no such text", include_hidden=True).withheld
    with pytest.raises(SecretWithheld):
        search_content(workspace, "needle", path=".env")
    allowed = search_content(replace(workspace, allow_secrets=True), "needle", include_hidden=True)
    assert [path for path, _ in places(allowed)] == [".env", "a.txt", "deploy/server.key"]


def test_links_are_not_followed_and_special_files_never_opened(repository: GitRepository, workspace: Workspace) -> None:
    outside = repository.path.parent / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("needle\n")
    repository.write("a.txt", "needle\n")
    (repository.path / "away").symlink_to(outside)
    (repository.path / "away.txt").symlink_to(outside / "b.txt")
    (repository.path / "loop").symlink_to("loop")
    repository.write("was-a-file.txt", "needle\n")
    repository.commit()
    os.remove(repository.path / "was-a-file.txt")
    os.mkfifo(repository.path / "was-a-file.txt")
    os.mkfifo(repository.path / "pipe")
    assert places(search_content(workspace, "needle")) == [("a.txt", 1)]
    with pytest.raises(OutsideRoot):
        search_content(workspace, "needle", path="away")


def test_names_of_any_kind_are_found(repository: GitRepository, workspace: Workspace) -> None:
    names = ["-dash.txt", "a\\b.txt", "naïve.txt", "sp ace.txt", "two\nlines.txt", "日本/ファイル.txt"]
    for name in names:
        repository.write(name, "needle\nneedle\n")
    found = places(search_content(workspace, "needle"))
    assert sorted({path for path, _ in found}) == sorted(name.replace("\n", r"\x0a") for name in names)
    assert len(found) == 2 * len(names)


def test_nested_repositories_are_searched_by_their_own_path(repository: GitRepository, workspace: Workspace) -> None:
    inner = GitRepository.create(repository.path / "vendor" / "inner")
    inner.write("i.txt", "needle\n")
    inner.commit()
    repository.write("a.txt", "needle\n")
    assert places(search_content(workspace, "needle")) == [("a.txt", 1)]
    assert places(search_content(workspace, "needle", path="vendor/inner")) == [("vendor/inner/i.txt", 1)]
    repository.git("add", "vendor/inner")
    assert places(search_content(workspace, "needle")) == [("a.txt", 1)]


def test_an_expression_that_would_never_end_is_stopped(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("a.txt", "a" * 60 + "b\n")
    hasty = replace(workspace, limits=Limits(seconds=0.5))
    with pytest.raises(ToolFailed, match=r"within 0.5 seconds"):
        search_content(hasty, r"^(?=(a+)+$)(?!x)", is_regex=True)


def test_pages_add_up_to_the_whole_while_files_change(repository: GitRepository, workspace: Workspace) -> None:
    for number in range(60):
        repository.write(f"d{number % 3}/f{number}.txt", "".join(f"hit {line}\nno\n" for line in range(20)))
    found = search_content(workspace, "hit", context_lines=1)
    whole = list(found.matches.items())
    for number in range(60):
        repository.write(f"d{number % 3}/f{number}.txt", "all is new\nhit\n")
    resumed = resume(found.matches.data, repository.workspace)
    pages: list[Match] = []
    while len(pages) < resumed.total:
        pages += [match for match, _ in zip(resumed.items(len(pages)), range(97), strict=False)]
    assert len(whole) == 1_200
    assert pages == whole


TEXTS = st.lists(
    st.text(st.sampled_from("aAbßſKkiİıéÉσςΣ .-_x1²\u0300語\x1c\x85\u2028"), max_size=12), min_size=1, max_size=6
)
PATTERNS = st.sampled_from(
    [
        r"\w+",
        r"\bk",
        r"s",
        r"i\b",
        r"[a-z]{2}",
        r"[^a-z]",
        r"\s",
        r"\S\s\S",
        "é",
        "σ",
        "ß",
        r"\d",
        r"[\W_]",
        "k|1",
        "a.b",
    ]
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=TEXTS, pattern=PATTERNS, case_sensitive=st.booleans(), encoding=st.sampled_from(["utf-8", "cp1252", "utf-16"])
)
def test_both_engines_give_the_same_answers(
    texts: list[str], pattern: str, case_sensitive: bool, encoding: str, repository: GitRepository
) -> None:
    if not find_program("rg", outside=str(repository.path)):
        pytest.skip("ripgrep is not installed")
    repository.write("a.txt", "\n".join(texts).encode(encoding, "replace"))
    answers = [
        list(
            search_content(
                replace(repository.workspace, engine=search_engine),
                pattern,
                is_regex=True,
                case_sensitive=case_sensitive,
            ).matches.items()
        )
        for search_engine in ("rg", "python")
    ]
    assert answers[0] == answers[1]


PLAIN_TEXTS = st.lists(st.text(st.sampled_from("aAbkKisSx1 .-_:\r\t\x0b\x1c\x1f"), max_size=12), min_size=1, max_size=6)
EXACT_PATTERNS = [
    "^a", "a$", "x*$", r"\Ax", r"x\Z", "(?:ab?)+", "[^x]$", "(?i:a)b", "(?-i:A)b", ".", r"\s$", "a|b$", "", "k{2,3}?",
    r"[^\W\d]\s", "(?x) a b", "(?s)a.b", "(?m)^b", "1:", r"\.-",
]  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.lists(st.tuples(st.one_of(PLAIN_TEXTS, TEXTS), st.sampled_from(["utf-8", "cp1252"])), max_size=4),
    pattern=st.sampled_from([*(each for each in EXACT_PATTERNS if each), "k", "is"]),
    is_regex=st.booleans(),
    case_sensitive=st.booleans(),
    context=st.integers(0, 2),
)
def test_what_ripgrep_is_trusted_with_is_what_python_would_say(
    files: list[tuple[list[str], str]],
    pattern: str,
    is_regex: bool,
    case_sensitive: bool,
    context: int,
    repository: GitRepository,
) -> None:
    if not find_program("rg", outside=str(repository.path)):
        pytest.skip("ripgrep is not installed")
    for number in range(4):
        texts, encoding = files[number] if number < len(files) else ([], "utf-8")
        repository.write(f"{number}.txt", "\n".join(texts).encode(encoding, "replace"))
    answers = [
        list(
            search_content(
                replace(repository.workspace, engine=search_engine),
                pattern,
                is_regex=is_regex,
                case_sensitive=case_sensitive,
                context_lines=context,
            ).matches.items()
        )
        for search_engine in ("rg", "python")
    ]
    assert answers[0] == answers[1]


def test_where_ripgrep_sees_more_than_python_each_line_is_checked(
    repository: GitRepository, workspace: Workspace
) -> None:
    # To ripgrep a return is a character of the line, and the bytes of a letter beyond ASCII may be anything.
    repository.write("return.txt", "a\r\nb\r\n")
    repository.write("letter.txt", "é\n-\n")
    repository.write("western.txt", b"\xe9\n-\n")
    assert places(search_content(workspace, "[^a]$", is_regex=True, path="return.txt")) == [("return.txt", 2)]
    for name in ("letter.txt", "western.txt"):
        assert places(search_content(workspace, r"^\W$", is_regex=True, path=name)) == [(name, 2)]
    # In Windows-1252 these two bytes are no long s, as they are in UTF-8.
    repository.write("folded.txt", b"\xc5\xbf \xe9\n\xc5\xbf\n")
    assert places(search_content(workspace, "s", path="folded.txt")) == [("folded.txt", 2)]


@pytest.mark.parametrize("pattern", ["^a", "a$", "x*$", "(?:ab?)+", "[^x]$", ".", r"\s$", "a|b$", "k{2,3}", r"\.-"])
def test_expressions_that_both_engines_read_alike_are_given_to_ripgrep(pattern: str) -> None:
    assert ripgrep_pattern(pattern, is_regex=True, case_sensitive=False)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\1", "(?=a)b", "(?<!a)b", "(?P<x>a)", "é", "[a&&b]", "[[:alpha:]]", "[a--b]", r"\p{L}", r"\Aa", "(?x) a",
        r"[\b]", "a#b",
    ],
)  # fmt: skip
def test_expressions_that_might_be_read_differently_are_left_to_python(pattern: str) -> None:
    assert ripgrep_pattern(pattern, is_regex=True, case_sensitive=True) is None


def test_names_with_empty_lines_are_told_from_what_is_in_the_files(
    repository: GitRepository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haversack.workspace.programs.BLOCK", 7)
    for name in ("a\n\nb.txt", "a\n\n.d/b.txt", "z\n\n", "1.txt"):
        repository.write(name, "one hit\n\n\nanother hit\n")
    found = search_content(workspace, "hit", include_hidden=True)
    assert places(found) == [
        (path, line) for path in ("1.txt", r"a\x0a\x0a.d/b.txt", r"a\x0a\x0ab.txt", r"z\x0a\x0a") for line in (1, 4)
    ]


def test_too_many_matches_to_keep_are_an_error(
    repository: GitRepository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("a.txt", "".join(f"hit {number}\n" for number in range(10_000)))
    monkeypatch.setattr("haversack.workspace.search.content_search._MOST", 10_000)
    with pytest.raises(ToolFailed, match="the matches take more than"):
        search_content(workspace, "hit")


def test_the_same_matches_have_the_same_identity_whatever_came_first(
    repository: GitRepository, workspace: Workspace
) -> None:
    for number in range(300):
        repository.write(f"d{number % 7}/f{number}.txt", "hit\n" * 50)
    identities = {search_content(workspace, "hit").matches.identity for _ in range(5)}
    assert len(identities) == 1
    repository.write("d1/f1.txt", "hit\n" * 49 + "hit!\n")
    assert search_content(workspace, "hit").matches.identity not in identities


def test_an_expression_too_large_for_ripgrep_is_left_to_python(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("a.txt", "abc\nx\n")
    found = search_content(workspace, r"(?:\w{50000}y){90}|x", is_regex=True)
    assert (found.engine, places(found)) == ("python", [("a.txt", 2)])


def test_a_pattern_given_to_ripgrep_finds_what_stands_in_plain_files(repository: GitRepository) -> None:
    if not find_program("rg", outside=str(repository.path)):
        pytest.skip("ripgrep is not installed")
    repository.write("a.txt", "1 + 1 = [2] (a|b) {x} ^$ #tag a&b ~ - \\ %\n")
    for pattern in ("1 + 1", "[2]", "(a|b)", "{x}", "^$", "#tag", "a&b", "~ -", "\\ %", "KIS"):
        found = search_content(repository.workspace, pattern)
        assert (found.engine, found.matches.total) == ("rg", 0 if pattern == "KIS" else 1), pattern


def test_a_folder_swapped_for_a_link_is_not_searched(
    repository: GitRepository, search_engine: str, tmp_path: Path
) -> None:
    repository.write("inner/a.txt", "needle\n")
    repository.commit()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("needle of another\n" * 3)
    (repository.path / "inner").rename(repository.path / "kept")
    (repository.path / "inner").symlink_to(outside)
    workspace = replace(repository.workspace, engine=search_engine)
    assert places(search_content(workspace, "needle")) == [("kept/a.txt", 1)]
    listed = {file.path: file.size for file in project_files(workspace).files.items()}
    assert listed == {"inner": listed["inner"], "kept/a.txt": 7}


def test_a_file_too_large_to_search_is_left_out_and_said_so(repository: GitRepository, workspace: Workspace) -> None:
    repository.write("a.txt", "needle\n")
    repository.write("large.log", "needle\n" * 2_000)
    with open(repository.path / "large.log", "r+b") as file:
        file.truncate(8 << 30)
    found = search_content(workspace, "needle")
    assert (places(found), found.notes) == ([("a.txt", 1)], ("1 file over 64 MB not searched",))


@pytest.mark.parametrize("expression", ["(a+)+$", "(a|aa)+$", "a?" * 40 + "a" * 40])
def test_a_cancelled_search_ends_though_its_expression_does_not(
    expression: str, repository: GitRepository, workspace: Workspace
) -> None:
    repository.write("a.txt", "a" * 39 + "!\n")
    cancellation = Cancellation()
    clock = threading.Timer(0.5, cancellation.cancel)
    clock.start()
    with watching(cancellation):
        try:
            search_content(workspace, expression, is_regex=True)
        except Cancelled:
            return
        finally:
            clock.cancel()
