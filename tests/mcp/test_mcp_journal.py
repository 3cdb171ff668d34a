"""The server's log."""

import json
from io import BytesIO
from pathlib import Path

import pytest

from haversack.app import Caller
from haversack.mcp import journal
from haversack.mcp.journal import Journal
from haversack.stdio.server import serve
from tests.mcp.talking import Talk, called, hello


def test_nothing_is_logged_to_a_file_unless_asked(talk: Talk, tmp_path: Path) -> None:
    talk(hello(), called(1, "mem_stats"))
    assert not list(tmp_path.rglob("*.log*"))


def test_a_log_file_names_the_calls_and_never_what_was_said(caller: Caller, tmp_path: Path) -> None:
    lines = [hello(), called(1, "mem_save", title="Confidential", content="Do not tell")]
    source = BytesIO(b"".join(json.dumps(each).encode() + b"\n" for each in lines))
    serve(caller, stdin=source, stdout=BytesIO(), log_file=str(tmp_path / "serve.log"))
    logged = (tmp_path / "serve.log").read_text()
    assert "tools/call mem_save answered in" in logged
    assert "Confidential" not in logged
    assert "Do not tell" not in logged


def test_a_log_file_is_turned_over_and_old_ones_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_BYTES", 200)
    log = Journal(str(tmp_path / "serve.log"))
    for number in range(60):
        log.note(f"line {number}")
    kept = sorted(each.name for each in tmp_path.iterdir())
    assert kept == ["serve.log", "serve.log.1", "serve.log.2", "serve.log.3"]
    assert all(each.stat().st_size < 300 for each in tmp_path.iterdir())
    assert "line 59" in (tmp_path / "serve.log").read_text()


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Journal(str(tmp_path / "missing" / "serve.log")).warn("still said")
    assert "still said" in capsys.readouterr().err
