import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from haversack.cancellation import Cancellation, Cancelled, watching
from haversack.errors import InvalidArgument, NotFound, OutsideRoot, SecretWithheld, TooLarge, ToolFailed
from haversack.workspace.files.encodings import LINE_CAP
from haversack.workspace.files.file_info import file_info
from haversack.workspace.files.line_scan import KEPT
from haversack.workspace.files.reader import FileText, read_file
from haversack.workspace.programs import Limits
from haversack.workspace.root import Workspace


def texts(read: FileText) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in read.lines()]


@pytest.fixture
def ten(folder: Path) -> str:
    (folder / "ten.txt").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    return "ten.txt"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, range(1, 11)),
        ({"start_line": 8}, range(8, 11)),
        ({"end_line": 2}, range(1, 3)),
        ({"start_line": 3, "end_line": 5}, range(3, 6)),
        ({"start_line": 4, "end_line": 4}, range(4, 5)),
        ({"start_line": 9, "end_line": 400}, range(9, 11)),
    ],
)
def test_either_end_of_a_range_may_be_left_out(
    arguments: dict[str, int], expected: range, ten: str, plain_workspace: Workspace
) -> None:
    read = read_file(plain_workspace, ten, **arguments)
    assert texts(read) == [(number, f"line {number}") for number in expected]
    assert (read.total_lines, read.size) == (10, 71)
    assert (read.first_line, read.last_line, read.is_whole) == (expected[0], expected[-1], True)


@pytest.mark.parametrize(
    "arguments",
    [{"start_line": 0}, {"end_line": 0}, {"start_line": -2}, {"start_line": 5, "end_line": 4}, {"start_line": 11},
     {"start_column": 0}],
)  # fmt: skip
def test_a_range_that_is_not_there_is_refused(arguments: dict[str, Any], ten: str, plain_workspace: Workspace) -> None:
    with pytest.raises(InvalidArgument):
        read_file(plain_workspace, ten, **arguments)


@pytest.mark.parametrize(
    ("content", "lines", "total"),
    [(b"", [], 0), (b"\n", [""], 1), (b"a", ["a"], 1), (b"a\n\nb", ["a", "", "b"], 3), (b"a\r\nb\r\n", ["a", "b"], 2)],
)
def test_lines_are_counted_with_or_without_a_last_line_end(
    content: bytes, lines: list[str], total: int, folder: Path, plain_workspace: Workspace
) -> None:
    (folder / "f").write_bytes(content)
    read = read_file(plain_workspace, "f")
    assert [text for _, text in texts(read)] == lines
    assert read.total_lines == total


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        ("héllo\nwörld\n".encode(), "utf-8"),
        (b"\xef\xbb\xbf" + "héllo\nwörld\n".encode(), "utf-8 with byte order mark"),
        (b"\xff\xfe" + "héllo\nwörld\n".encode("utf-16-le"), "utf-16-le with byte order mark"),
        (b"\xfe\xff" + "héllo\nwörld\n".encode("utf-16-be"), "utf-16-be with byte order mark"),
        ("héllo\nwörld\n".encode("latin-1"), "windows-1252"),
    ],
)
def test_the_encoding_is_detected_and_said(raw: bytes, encoding: str, folder: Path, plain_workspace: Workspace) -> None:
    (folder / "f.txt").write_bytes(raw)
    read = read_file(plain_workspace, "f.txt")
    assert texts(read) == [(1, "héllo"), (2, "wörld")]
    assert read.encoding == encoding


def test_a_character_on_the_border_of_two_blocks_is_read_whole(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "f.txt").write_bytes(b"x" * ((1 << 20) - 1) + "é\nafter\n".encode())
    read = read_file(plain_workspace, "f.txt", start_line=1, end_line=1)
    assert read.text.endswith("xé")
    assert read.encoding == "utf-8"


def test_a_binary_file_gives_facts_and_no_content(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "f.png").write_bytes(b"\x89PNG\0\0secret words")
    read = read_file(plain_workspace, "f.png")
    assert (read.kind, read.size, read.text, list(read.lines())) == ("binary", 18, "", [])


def test_a_long_line_is_cut_with_its_length_and_reachable_by_asking_for_it_alone(
    folder: Path, plain_workspace: Workspace
) -> None:
    long = "".join(f"é{number:07d}" for number in range(600))
    (folder / "f.txt").write_text(f"short\n{long}\r\nlast\n", newline="")
    read = read_file(plain_workspace, "f.txt")
    lines = list(read.lines())
    assert [(line.number, line.length, line.is_cut) for line in lines] == [
        (1, 5, False),
        (2, 4_800, True),
        (3, 4, False),
    ]
    assert lines[1].text == long[:LINE_CAP]
    alone = list(read_file(plain_workspace, "f.txt", start_line=2, end_line=2).lines())
    assert [line.start for line in alone] == [0, 1_000, 2_000, 3_000, 4_000]
    assert "".join(line.text for line in alone) == long
    rest = read_file(plain_workspace, "f.txt", start_line=2, end_line=2, start_column=4_001)
    assert ([line.start for line in rest.lines()], rest.text) == ([4_000], long[4_000:])


def test_a_range_of_a_huge_file_is_read_without_holding_the_file(folder: Path, plain_workspace: Workspace) -> None:
    with open(folder / "huge.log", "w") as file:
        for start in range(0, 900_000, 1_000):
            file.write("".join(f"{number:08d} some words of a log file\n" for number in range(start, start + 1_000)))
    tracemalloc.start()
    try:
        read = read_file(plain_workspace, "huge.log", start_line=899_999)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert texts(read)[0] == (899_999, "00899998 some words of a log file")
    assert read.total_lines == 900_000
    assert peak < 8_000_000 < read.size


def test_a_reading_that_grows_too_long_stops_and_says_where(folder: Path, plain_workspace: Workspace) -> None:
    line = "x" * 999
    (folder / "f.txt").write_text(f"{line}\n" * 6_000)
    first = read_file(plain_workspace, "f.txt")
    assert not first.is_whole
    assert len(first.text) <= KEPT
    rest = read_file(plain_workspace, "f.txt", start_line=first.last_line + 1)
    assert rest.is_whole
    assert len(list(first.lines())) + len(list(rest.lines())) == 6_000


def test_headings_or_definitions_of_the_lines_read_are_outlined(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "a.md").write_text("# Title\n\ntext\n## Part\n```\n# no heading\n```\n### Sub part\n")
    (folder / "a.py").write_text("import os\n\ndef first(a):\n    def inner(): ...\n\nclass Second(Base):\n    x = 1\n")
    (folder / "a.rs").write_text("pub fn run() {}\nstruct Point { x: i32 }\n")
    assert read_file(plain_workspace, "a.md").outline == ("# Title", "## Part", "### Sub part")
    assert read_file(plain_workspace, "a.md", start_line=4).outline == ("## Part", "### Sub part")
    assert read_file(plain_workspace, "a.py").outline == ("def first", "class Second")
    assert read_file(plain_workspace, "a.rs").outline == ("pub fn run", "struct Point")


def test_what_is_no_file_is_never_opened(folder: Path, plain_workspace: Workspace) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "sub").mkdir()
    (folder / "null").symlink_to("/dev/null")
    for path, error, words in (
        ("pipe", InvalidArgument, "a pipe"),
        ("sub", InvalidArgument, "a folder"),
        ("null", OutsideRoot, "outside"),
        ("missing", NotFound, "no file"),
    ):
        with pytest.raises(error, match=words):
            read_file(plain_workspace, path)


def test_secrets_and_gits_own_files_are_withheld(folder: Path, plain_workspace: Workspace) -> None:
    (folder / ".env.local").write_text("TOKEN=1")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("url = https://user:password@host")
    for path in (".env.local", ".git/config"):
        with pytest.raises(SecretWithheld):
            read_file(plain_workspace, path)
    assert read_file(Workspace(plain_workspace.root, allow_secrets=True), ".env.local").text == "TOKEN=1"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_an_error(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "closed").write_text("x")
    (folder / "closed").chmod(0)
    with pytest.raises(NotFound, match="may not be read"):
        read_file(plain_workspace, "closed")
    assert file_info(plain_workspace, ["closed"])[0].kind == "unreadable"


def test_a_file_replaced_while_it_is_read_gives_the_old_or_the_new(folder: Path, plain_workspace: Workspace) -> None:
    target = folder / "f.txt"
    target.write_text("old\n" * 1_000)
    (folder / "g.txt").write_text("new\n" * 10)
    before = read_file(plain_workspace, "f.txt")
    os.replace(folder / "g.txt", target)
    after = read_file(plain_workspace, "f.txt")
    assert (before.total_lines, after.total_lines) == (1_000, 10)


def test_info_tells_kind_size_lines_and_first_line(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "a.txt").write_bytes("first é\nsecond\n".encode())
    os.utime(folder / "a.txt", (1_700_000_000, 1_700_000_000))
    (folder / "b.bin").write_bytes(b"\0\1")
    (folder / "sub").mkdir()
    (folder / "sub" / "x").write_text("")
    (folder / "link").symlink_to("a.txt")
    (folder / ".env").write_text("TOKEN=1")
    os.mkfifo(folder / "pipe")
    paths = ["a.txt", "b.bin", "sub", "link", ".env", "pipe", "missing", "sub/x"]
    text, binary, sub, link, secret, pipe, missing, empty = file_info(plain_workspace, paths)
    assert (text.kind, text.size, text.lines, text.modified, text.encoding) == ("text", 16, 2, 1_700_000_000, "utf-8")
    assert text.first_line is not None and text.first_line.text == "first é"
    assert (binary.kind, binary.size, binary.first_line) == ("binary", 2, None)
    assert (sub.kind, sub.entries) == ("folder", 1)
    assert (link.path, link.kind, link.target) == ("link", "text", "a.txt")
    assert (secret.kind, secret.size, secret.first_line, secret.lines) == ("withheld", 7, None, 0)
    assert (pipe.kind, pipe.detail) == ("special", "a pipe")
    assert missing.kind == "missing"
    assert (empty.kind, empty.lines, empty.first_line) == ("text", 0, None)


def test_info_is_for_one_to_a_hundred_paths_inside_the_root(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "a").write_text("")
    assert len(file_info(plain_workspace, ["a"] * 100)) == 100
    for paths in ([], ["a"] * 101):
        with pytest.raises(InvalidArgument):
            file_info(plain_workspace, paths)
    with pytest.raises(OutsideRoot):
        file_info(plain_workspace, ["a", "../b"])


def test_a_file_too_large_to_be_looked_through_is_refused_at_once(folder: Path, plain_workspace: Workspace) -> None:
    with open(folder / "sparse.log", "wb") as file:
        file.write(b"text\n" * 2_000)
        file.truncate(100 << 30)
    with pytest.raises(TooLarge, match=r"107,374,182,400 bytes"):
        read_file(plain_workspace, "sparse.log")
    (info,) = file_info(plain_workspace, ["sparse.log"])
    assert (info.kind, info.size, info.lines) == ("text", 100 << 30, 0)


def test_a_file_that_takes_too_long_is_an_error(folder: Path) -> None:
    with open(folder / "large.log", "wb") as file:
        file.write(b"text\n" * 2_000)
        file.truncate(1 << 30)
    hurried = Workspace(os.path.realpath(folder), limits=Limits(seconds=0.0))
    with pytest.raises(ToolFailed, match="within 0 seconds"):
        read_file(hurried, "large.log")


def test_reading_stops_when_the_call_is_cancelled(folder: Path, plain_workspace: Workspace) -> None:
    (folder / "a.txt").write_text("text\n")
    cancellation = Cancellation()
    cancellation.cancel()
    with watching(cancellation), pytest.raises(Cancelled):
        read_file(plain_workspace, "a.txt")
