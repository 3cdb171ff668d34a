"""The planning commands: the same tools from a terminal, and the doctor for a damaged plan."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from haversack.cli import main
from haversack.cli.completion import script
from haversack.cli.overview import commands
from haversack.tools.registry import tools


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: the top of a repository without a plan."""
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    monkeypatch.chdir(work)
    return work


def run(*typed: str) -> int:
    return main(["sdd", *typed])


def test_every_planning_tool_has_a_command() -> None:
    named = {tool.name for command, tool in commands() if command.name.startswith("sdd ")}
    assert named == {tool.name for tool in tools().values() if tool.group == "sdd"} | {"plan_doctor"}


def test_a_project_is_started_and_shown(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run("init", "Shop", "A book shop", "--mode", "expert") == 0
    assert run("context") == 0
    assert "Project Shop (expert): 1 of 8 stages done. `haversack sdd propose` is next" in capsys.readouterr().out
    assert (folder / "sdd" / "sdd.json").is_file()


def test_a_text_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    run("change", "fix", "small", "Broken shelf")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Größe stimmt nicht.\n".encode())))
    assert run("advance", "-") == 0
    assert "Größe stimmt nicht." in (folder / "sdd/changes/broken-shelf/describe.md").read_text(encoding="utf-8")


def test_a_change_is_cancelled_with_nothing_but_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    run("change", "feature", "small", "Sell maps")
    assert run("cancel", "nobody asks") == 0
    capsys.readouterr()
    assert run("status", "--json") == 0
    shown = json.loads(capsys.readouterr().out)["items"][0]
    assert (shown["slug"], shown["status"], shown["reason"]) == ("sell-maps", "cancelled", "nobody asks")


def test_a_wrong_step_ends_with_the_code_for_errors_and_the_right_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("tasks", "--tasks", "- x", "--estimated-effort", "y") == 1
    assert "`haversack sdd init` starts a project" in capsys.readouterr().err


def test_the_commands_are_listed_by_the_first_word_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sdd", "--help"]) == 0
    listed = capsys.readouterr().out
    for name in ("sdd init", "sdd check", "sdd cancel", "sdd doctor"):
        assert name in listed
    assert run("nonsense") == 2
    assert "no command 'sdd nonsense'" in capsys.readouterr().err
    assert main(["help", "sdd", "init"]) == 0
    assert "usage: haversack sdd init" in capsys.readouterr().out


def test_the_doctor_finds_and_mends_a_damaged_plan(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    run("init", "Shop", "A book shop")
    (folder / "sdd" / "sdd.json").write_text('{"name": "Shop", "mode": "expert", ')
    capsys.readouterr()
    assert run("context") == 1
    assert "haversack sdd doctor --mend" in capsys.readouterr().err
    assert run("doctor") == 1
    assert "BAD  sdd/sdd.json" in capsys.readouterr().out
    assert main(["doctor"]) == 1
    assert "run `haversack sdd doctor --mend`" in capsys.readouterr().out
    assert run("doctor", "--mend", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert [(each["file"], each["mended"]) for each in facts["findings"]] == [("sdd/sdd.json", True)]
    assert (folder / facts["findings"][0]["kept"]).read_text().startswith('{"name": "Shop"')
    assert run("context") == 0
    assert "Project Shop (expert)" in capsys.readouterr().out


def test_the_doctor_is_content_without_a_plan_and_does_not_make_one(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert run("doctor", "--mend") == 0
    assert "no plan is kept" in capsys.readouterr().out
    assert main(["doctor"]) == 0
    assert "plan" not in capsys.readouterr().out
    assert not (folder / "sdd").exists()


@pytest.mark.parametrize(
    ("shell", "case"),
    [
        ("bash", '"sdd adr") words="--alternatives-rejected'),
        ("zsh", '"sdd adr") compadd -- --alternatives-rejected'),
        ("fish", "__fish_seen_subcommand_from sdd; and __fish_seen_subcommand_from adr' -l alternatives-rejected"),
    ],
)
def test_completion_knows_commands_of_two_words(shell: str, case: str) -> None:
    assert case in script(shell)


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes_the_second_word_and_its_options(tmp_path: Path) -> None:
    asked = """
source /dev/stdin
COMP_WORDS=(haversack sdd a); COMP_CWORD=2; _haversack; echo "${COMPREPLY[@]}"
COMP_WORDS=(haversack sdd init --mo); COMP_CWORD=3; _haversack; echo "${COMPREPLY[@]}"
COMP_WORDS=(haversack s); COMP_CWORD=1; _haversack; echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", asked], input=script("bash"), capture_output=True, text=True, check=True)
    second, options, first = done.stdout.splitlines()
    assert set(second.split()) == {"adr", "advance", "archive"}
    assert options == "--mode"
    assert "sdd" in first.split()


def test_what_is_next_is_something_that_can_be_typed(capsys: pytest.CaptureFixture[str]) -> None:
    steps = [
        ("explore", "Search for books", "--goals", "find a book"),
        ("init", "Shop", "A book shop"),
        ("context",),
        ("check", "Rotate keys (FR-001)"),
        ("change", "feature", "medium", "Search for books"),
        ("status",),
        ("advance", "What we want"),
    ]
    for typed in steps:
        assert run(*typed) == 0
        said = capsys.readouterr().out
        assert "`haversack sdd " in said, said
        assert not re.search(r"\b(sdd|mem)_[a-z]", said), said
