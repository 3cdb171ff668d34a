"""Upkeep goes down the same road as every tool, and what it writes is its owner's alone."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from haversack import terminal
from haversack.app import Caller
from haversack.cli import main
from haversack.console import Console
from haversack.errors import InvalidArgument, NotFound
from haversack.mcp.tool_sets import select_tools
from haversack.store.sqlite import health
from haversack.terminal import duration, progress_line
from haversack.tools.registry import tools
from haversack.tools.road.call import call

UPKEEP = [tool for tool in tools().values() if tool.group == "upkeep"]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="permission bits")


@pytest.fixture
def seeded(caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    for number in range(3):
        call(caller, "mem_save", {"title": f"note {number}", "content": f"text {number}", "project": "p"})
    call(caller, "mem_relate", {"from_id": 1, "to_id": 2, "relation_type": "fixes"})
    call(caller, "mem_delete", {"id": 2})
    monkeypatch.chdir(tmp_path)
    return caller


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@POSIX
@pytest.mark.parametrize(
    "typed",
    [
        "export -o {}",
        "context-pack --tokens 300 -o {}",
        "search note -o {} --json",
        pytest.param("backup {}", marks=pytest.mark.sqlite_only("backups of a file")),
    ],
)
def test_what_is_written_and_the_folders_above_it_are_the_owners_alone(
    seeded: Caller, tmp_path: Path, open_umask: None, typed: str
) -> None:
    target = tmp_path / "new" / "folder" / "file"
    assert main([word.format(target) for word in typed.split()]) == 0
    assert target.stat().st_size
    assert mode(target) == 0o600
    assert mode(target.parent) == mode(target.parent.parent) == 0o700


@POSIX
def test_a_file_that_others_could_read_is_private_once_it_is_written_again(seeded: Caller, tmp_path: Path) -> None:
    target = tmp_path / "pack.md"
    target.write_text("old")
    target.chmod(0o644)
    assert main(["context-pack", "-o", str(target)]) == 0
    assert mode(target) == 0o600 and "note" in target.read_text()


def test_a_link_is_followed_and_a_device_is_written_to(seeded: Caller, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "pack.md")
    assert main(["context-pack", "-o", str(tmp_path / "link")]) == 0
    assert "note" in (tmp_path / "elsewhere" / "pack.md").read_text()
    assert main(["context-pack", "-o", os.devnull]) == 0


def test_deleted_memories_are_exported_only_when_asked_for(seeded: Caller, tmp_path: Path) -> None:
    def exported(*more: str) -> list[dict[str, object]]:
        assert main(["export", "-o", "out.jsonl", *more]) == 0
        return [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]

    plain, everything = exported(), exported("--include-deleted")
    assert [row["title"] for row in plain if row["type"] == "observation"] == ["note 0", "note 2"]
    assert not [row for row in plain if row["type"] == "relation"]
    assert len([row for row in everything if row["type"] == "observation"]) == 3
    assert [row for row in everything if row["type"] == "relation"]


def test_an_export_to_standard_output_keeps_its_report_out_of_it(
    seeded: Caller, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export"]) == 0
    printed = capsys.readouterr()
    assert all(json.loads(line) for line in printed.out.splitlines())
    assert "records written" in printed.err


@pytest.mark.parametrize("tool", [tool for tool in UPKEEP if tool.terminal_only], ids=lambda tool: str(tool.name))
def test_a_tool_that_names_files_freely_is_never_offered_to_a_model(tool: object) -> None:
    with pytest.raises(InvalidArgument, match="command line only"):
        select_tools([getattr(tool, "name", "")])


def test_a_safe_one_is_offered_when_it_is_named() -> None:
    assert "doctor" in {tool.name for tool in select_tools(["memory", "doctor"])}
    assert not {tool.name for tool in UPKEEP} & {tool.name for tool in select_tools(["all"])}


def test_a_caller_without_a_terminal_has_no_standard_streams(seeded: Caller) -> None:
    with pytest.raises(InvalidArgument, match="name a file") as raised:
        call(seeded, "export_memories", {})
    assert raised.value.hint == "name a file"
    with pytest.raises(NotFound):
        call(seeded, "import_memories", {"file": "nowhere"})


def test_progress_says_how_fast_it_goes_and_how_long_it_takes() -> None:
    assert progress_line("lines", 500, None, 2.0) == "500 lines, 250/s"
    assert progress_line("lines", 500, 2_000, 2.0) == "500 of 2,000 lines (25%), 250/s, 6 s left"
    assert progress_line("lines", 2_000, 2_000, 2.0) == "2,000 of 2,000 lines (100%), 1,000/s"
    assert (duration(0.2), duration(600), duration(9_000)) == ("1 s", "10 min", "2 h")


def test_a_note_can_be_saved_as_it_comes(seeded: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["save", "Tokens", "rotate hourly", "--kind", "decision", "--json"]) == 0
    saved = json.loads(capsys.readouterr().out)["id"]
    found = json.loads(call(seeded, "mem_get_observation", {"id": saved, "format": "json"}).text)
    assert (found["title"], found["content"], found["kind"]) == ("Tokens rotate hourly",) * 2 + ("decision",)
    long = "word " * 60
    assert main(["save", long]) == 0
    capsys.readouterr()
    assert main(["ls", "--json", "--limit", "1"]) == 0
    title = json.loads(capsys.readouterr().out)["observations"][0]["title"]
    assert title.endswith("word…") and len(title) <= 81


class Watched(Console):
    """A console that keeps what it was told of progress."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, int, int | None]] = []

    def progress(self, noun: str, done: int, total: int | None = None) -> None:
        self.told.append((noun, done, total))


def test_export_and_import_know_how_much_is_left(seeded: Caller, tmp_path: Path) -> None:
    console = seeded.console = Watched()
    file = str(tmp_path / "memory.jsonl")
    call(seeded, "export_memories", {"file": file})
    lines = len(Path(file).read_text(encoding="utf-8").splitlines())
    noun, done, total = console.told[-1]
    assert (noun, done) == ("records", lines)
    assert total == lines + 1, "the relation of a deleted observation is expected and not written"
    assert [done for _, done, _ in console.told] == list(range(1, lines + 1))
    console.told.clear()
    call(seeded, "import_memories", {"file": file})
    assert console.told[-1] == ("lines", lines, lines)


@pytest.mark.sqlite_only("backups of a file")
def test_a_backup_tells_how_far_it_is(seeded: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "LOOK", 100)
    console = seeded.console = Watched()
    call(seeded, "backup_store", {"file": str(tmp_path / "copy.db")})
    copied = [(done, total) for noun, done, total in console.told if noun == "KB copied"]
    assert copied and all(total is not None and done <= total for done, total in copied)
    assert any(noun == "pages checked" for noun, _, _ in console.told)


def test_progress_is_one_line_for_people_and_nothing_into_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "QUIET_SECONDS", 0)
    monkeypatch.setattr(terminal, "REFRESH_SECONDS", 0)
    terminal.ProgressLine().show("lines", 1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    line = terminal.ProgressLine()
    line.show("lines", 1, 2)
    line.show("lines", 2, 2)
    line.close()
    shown = capsys.readouterr().err
    assert "1 of 2 lines (50%)" in shown and "2 of 2 lines (100%)" in shown
    assert "\n" not in shown and shown.endswith("\r\x1b[K")
