"""`haversack tokens`: what files cost under each way of counting."""

import io
import json
import re
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
        counts = next(each for each in found["files"] if each["file"] == path)
        assert counts == {"file": path} | {name: count_tokens(text, name) for name in PROFILES}
    assert found["in_all"]["o200k"] == sum(counts["o200k"] for counts in found["files"])
    assert found["estimates"] == [name for name in PROFILES if not profile_named(name).exact]
    assert "bytes4" in found["estimates"] and "o200k" not in found["estimates"]


def test_estimates_are_marked_and_the_sums_stand_first(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokens", *files, "--profile", "o200k", "--profile", "claude"]) == 0
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    assert re.fullmatch(r"in all: o200k \d+, claude \d+~", lines[0])
    assert lines[1] == "~ is an estimate"
    assert [line.partition(": ")[0] for line in lines[2:4]] == files


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one two three")))
    assert main(["tokens", "-", "--json", "--profile", "o200k"]) == 0
    assert json.loads(capsys.readouterr().out)["in_all"] == {"o200k": 3}


def test_a_file_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tokens", "nowhere.txt"]) == 1
    assert "nowhere.txt cannot be read" in capsys.readouterr().err
    assert main(["tokens", "nowhere.txt", "--profile", "gpt9"]) == 1
    assert "o200k" in capsys.readouterr().err
