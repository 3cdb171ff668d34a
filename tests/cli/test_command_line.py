"""The command line as people type it: the usual lines, bad input, exit codes, and what a start may load."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from haversack.__main__ import DOORS
from haversack.cli import main
from haversack.cli.doors import OWN
from haversack.cli.overview import commands
from haversack.tokens import count_tokens

COMMANDS = [command.name for command, _ in commands()]
ENVIRONMENT = {name: held for name, held in os.environ.items() if not name.startswith("HAVERSACK")}


def run(*typed: str, home: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "haversack", *typed],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=home,
        env=ENVIRONMENT | {"HAVERSACK_HOME": str(home / "store")},
    )


def test_the_usual_lines_work_as_they_are_written(tmp_path: Path) -> None:
    save = ("save", "--title", "Tokens rotate hourly", "--content", "We chose JWT with RS256...", "--kind", "decision")
    assert "saved #1 in project thesis" in run(*save, "--project", "thesis", "--tag", "auth", home=tmp_path).stdout
    for number in range(2, 13):
        run(
            "save",
            "--title",
            f"Note {number}",
            "--content",
            f"auth note {number}",
            "--project",
            "thesis",
            home=tmp_path,
        )
    found = run("search", "how did we do the jwt auth", "--token-budget", "300", home=tmp_path)
    assert "Tokens rotate hourly" in found.stdout
    assert count_tokens(found.stdout.rstrip("\n")) <= 300
    pack = run("context-pack", "--project", "thesis", "--tokens", "400", "--json", "-o", "context.json", home=tmp_path)
    assert pack.returncode == 0
    facts = json.loads((tmp_path / "context.json").read_text(encoding="utf-8"))
    assert facts["budget"] == 400 and facts["total_tokens"] <= 400 and facts["memories"]
    timeline = run("timeline", "12", "--before", "3", "--after", "0", home=tmp_path)
    assert [f"#{number} " in timeline.stdout for number in (8, 9, 10, 11, 12)] == [False, True, True, True, True]
    assert "auth note 12" in run("get", "12", home=tmp_path).stdout
    key = re.search(r"`haversack more (\w+)`", found.stdout)
    assert key and "📏" in run("more", key[1], home=tmp_path).stdout
    piped = run("save", "--title", "Recent work", "--content", "-", home=tmp_path, stdin="commit 1\ncommit 2\n")
    assert "saved #13" in piped.stdout
    assert "commit 2" in run("get", "13", home=tmp_path).stdout


def test_the_exit_code_says_what_happened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["stats"]) == 0
    assert main(["get", "99"]) == 1
    assert main(["search", "--no-such-option"]) == 2
    assert main(["no-such-command"]) == 2
    monkeypatch.setattr("haversack.tools.road.call.validate", lambda *_: 1 // 0)
    assert main(["stats"]) == 3

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("haversack.tools.road.call.validate", interrupt)
    assert main(["stats"]) == 130


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_input_to_any_command_is_a_clear_error(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([*name.split(), "--surely-no-option"])
    said = capsys.readouterr().err
    assert code == 2
    assert "--surely-no-option" in said or "required" in said
    assert "--help" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", [*COMMANDS, *(door.name for door in (*OWN, *DOORS))])
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([*name.split(), "--help"], doors=DOORS)
    said = capsys.readouterr().out
    assert code == 0
    assert f"usage: haversack {name}" in said
    assert "haversack" in said.split("examples:")[-1] or name in ("demo", "fitcheck")


@pytest.mark.parametrize(
    "typed",
    ["search x --limit 0", "search x --token-budget 63", "search x --token-budget lots", "timeline 1 --before -1"],
)
def test_a_value_out_of_range_is_an_error_not_a_clamp(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(typed.split()) == 1
    assert re.search(r"--(limit|token-budget|before) is", capsys.readouterr().err)


@pytest.mark.parametrize("typed", ["stats", "list", "sessions", "search nothing", "context", "context-pack", "doctor"])
def test_json_is_json(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["save", "--title", "One", "--content", "two", "--project", "p"]) == 0
    capsys.readouterr()
    assert main([*typed.split(), "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_nothing_is_coloured_into_a_pipe(tmp_path: Path) -> None:
    run("save", "--title", "One", "--content", "two", home=tmp_path)
    assert "\x1b" not in run("search", "two", home=tmp_path).stdout + run("list", home=tmp_path).stdout


def test_a_cold_search_loads_nothing_heavy(tmp_path: Path) -> None:
    run("save", "--title", "One", "--content", "two", home=tmp_path)
    code = (
        "import sys; from haversack.cli import main; main(['search', 'two']);"
        "heavy = {'mcp', 'rich', 'pydantic', 'asyncio', 'inspect', 'dataclasses', 'numpy', 'subprocess'};"
        "print('loaded:', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        env=ENVIRONMENT | {"HAVERSACK_HOME": str(tmp_path / "store")},
    )
    assert "#1 One: two" in done.stdout
    assert "loaded: []" in done.stdout


def test_what_is_exported_can_be_imported_and_twice_adds_nothing(tmp_path: Path) -> None:
    run("save", "--title", "Größe 日本", "--content", "emoji 🎉", "--tag", "a", home=tmp_path)
    run("export", "-o", "all.jsonl", home=tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    first = run("import", "../all.jsonl", "--json", home=other)
    again = run("import", "../all.jsonl", "--json", home=other)
    assert json.loads(first.stdout)["added"] == 2
    assert json.loads(again.stdout)["added"] == 0
    assert "emoji 🎉" in run("search", "Größe", home=other).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name.split()[0] in script for name in COMMANDS)
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_the_demo_shows_a_search_and_a_pack_at_two_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("$ haversack search") == 2 and shown.count("# Project Context: orchard") == 2
    assert "haversack more" in shown and "claude mcp add" in shown


def test_the_doctor_finds_a_damaged_store(tmp_path: Path) -> None:
    run("save", "--title", "One", "--content", "two", home=tmp_path)
    assert run("doctor", home=tmp_path).returncode == 0
    for name in (tmp_path / "store").glob("haversack.db*"):
        name.write_bytes(b"not a database at all" * 500)
    done = run("doctor", home=tmp_path)
    assert done.returncode == 1
    assert "BAD" in done.stdout
