"""`haversack tokens`: what files cost under each way of counting."""

import io
import json
import sys
from pathlib import Path

import pytest

from haversack.cli import main
from haversack.tokens import PROFILES, count_tokens, profile_named

TEXTS = {"prose.md": "The gateway listens on 8080.\n", "日本.txt": "トークンを数える\n" * 20}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [str(tmp_path / name) for name in TEXTS]


def test_every_profile_counts_each_file_and_all_together(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokens", *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for path, text in zip(files, TEXTS.values(), strict=True):
        assert found["files"][path] == {name: count_tokens(text, name) for name in PROFILES}
    assert found["total"]["o200k"] == sum(counts["o200k"] for counts in found["files"].values())
    assert found["estimates"] == [name for name in PROFILES if not profile_named(name).exact]
    assert "bytes4" in found["estimates"] and "o200k" not in found["estimates"]


def test_the_table_marks_estimates_and_ends_with_the_total(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tokens", *files, "--profile", "o200k", "--profile", "claude"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.rstrip("\n").split("\n")
    assert lines[0].split() == ["O200K", "CLAUDE", "FILE"]
    assert lines[-1].split()[-1] == "total" and lines[-1].split()[1].endswith("~")
    assert not lines[-1].split()[0].endswith("~")
    assert "estimate" in printed.err


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one two three")))
    assert main(["tokens", "-", "--json", "--profile", "o200k"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == {"o200k": 3}


def test_a_file_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokens", "nowhere.txt"]) == 1
    assert "nowhere.txt cannot be read" in capsys.readouterr().err
    assert main(["tokens", "nowhere.txt", "--profile", "gpt9"]) == 1
    assert "o200k" in capsys.readouterr().err
