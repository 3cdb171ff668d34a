"""Every command: its help, its errors, its JSON, its exit code."""

import io
import json
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from haversack.__main__ import DOORS
from haversack.app import Caller, open_caller
from haversack.cli import main
from haversack.cli.doors import HELP_GROUPS, OWN
from haversack.cli.options import option_names, parser_for
from haversack.cli.overview import commands, heading
from haversack.tokens import count_tokens
from haversack.tools.declaration import Command, Parameter, Tool
from haversack.tools.registry import find_command
from haversack.tools.road.call import call
from haversack.version import __version__
from tests.memory.tiny_model import make_tiny_model

COMMANDS = commands()
EVERY_COMMAND = pytest.mark.parametrize(("command", "tool"), COMMANDS, ids=[command.name for command, _ in COMMANDS])
EVERY_DOOR = pytest.mark.parametrize("name", [door.name for door in (*OWN, *DOORS) if door.listed])
TYPED = {
    "migrate": "--to copied.db",
    "budget declare": "--tokens 120 --account ACCOUNT",
    "edit": "1 --title other",
    "delete": "2",
    "restore": "3",
    "relate": "1 4 fixes",
    "more": "KEY",
    "session-end": "s0",
    "compact": "--older-than-days 0",
    "topic-key": "'Auth model'",
    "budget reset": "ACCOUNT",
    "log": "ACCOUNT",
    "project rename": "PROJECT renamed",
    "project merge": "PROJECT p",
    "project forget": "p",
    "project undo": "",
    "ws read": "notes.txt",
    "ws info": "notes.txt",
    "ws blame": "notes.txt",
    "tokens": "notes.txt",
    "export": "-o out.jsonl",
    "import": "EXPORT",
    "pack diff": "PACK PACK",
    "backup": "copy.db",
    "restore-backup": "BACKUP --force",
    "model get": "MODEL",
    "model use": "off",
}
"""What works on the store below where it is not what the parameters suggest; plans have tests of their own."""
SUGGESTED = {"integer": "1", "integers": "1", "number": "0.5", "string": "note", "strings": "note", "object": "{}"}


@pytest.fixture
def seeded(caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    for number in range(30):
        call(caller, "mem_save", {"title": f"note {number}", "content": f"text {number} " * 20})
    call(caller, "mem_relate", {"from_id": 5, "to_id": 6, "relation_type": "fixes"})
    call(caller, "mem_update", {"id": 1, "content": "a new text"})
    call(caller, "mem_delete", {"id": 3})
    call(caller, "mem_session_start", {"id": "s0"})
    call(caller, "mem_save", {"title": "elsewhere", "content": "c", "project": "p"})
    call(caller, "mem_save", {"title": "elsewhere", "content": "c", "project": "q"})
    call(caller, "project_rename", {"old": "q", "new": "r"})
    (tmp_path / "notes.txt").write_text("some text\n")
    monkeypatch.chdir(tmp_path)
    return caller


def words(caller: Caller, command: Command, tool: Tool) -> list[str]:
    """What to type: the parameters the command needs, or its line above with a key and an account that exist."""
    if command.name.startswith("store "):
        pytest.skip("needs a server: tests/postgres types these")
    typed = TYPED.get(command.name)
    if typed is None:
        needed = [each for each in tool.parameters if each.required and command.takes(each)]
        values = {each.name: each.choices[0] if each.choices else SUGGESTED[each.kind] for each in needed}
        options = [
            f"--{name.replace('_', '-')} {value}" for name, value in values.items() if name not in command.positionals
        ]
        typed = " ".join([*(values[name] for name in command.positionals if name in values), *options])
    if "KEY" in typed:
        # By the real time, which the commands go by too.
        now = open_caller(caller.config, directory=caller.directory)
        left = call(now, "mem_search", {"query": "note", "max_tokens": 100}).left
        now.app.close()
        assert left is not None
        typed = typed.replace("KEY", left.key)
    typed = typed.replace("PROJECT", caller.memory.project())
    if "PACK" in typed:
        made = json.loads(call(caller, "context_pack", {"format": "json"}).text)["pack_id"]
        typed = typed.replace("PACK", made)
    if "BACKUP" in typed:
        call(caller, "backup_store", {"file": "kept.db", "force": True})
        typed = typed.replace("BACKUP", "kept.db")
        caller.app.close()
    if "MODEL" in typed:
        libraries = [pytest.importorskip(name) for name in ("numpy", "onnx", "tokenizers")]
        pytest.importorskip("onnxruntime")
        make_tiny_model(Path.cwd() / "tiny", *libraries)
        typed = typed.replace("MODEL", "tiny")
    if "EXPORT" in typed:
        call(caller, "export_memories", {"file": "kept.jsonl"})
        typed = typed.replace("EXPORT", "kept.jsonl")
    if "ACCOUNT" in typed:
        account = json.loads(call(caller, "budget_open", {"format": "json"}).text)["account"]["handle"]
        typed = typed.replace("ACCOUNT", account)
    return shlex.split(typed)


def in_a_repository(tool: Tool, folder: Path) -> None:
    if tool.name.startswith("vcs_"):
        import subprocess

        name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "add", "notes.txt"], check=True)
        subprocess.run(["git", "-C", str(folder), *name, "commit", "-q", "-m", "first"], check=True)


OF_A_FILE = ("backup", "restore-backup")
"""Commands that a store on a server refuses, since a server backs it up itself."""


@EVERY_COMMAND
def test_every_command_replies_in_json_within_its_budget(
    seeded: Caller, tmp_path: Path, command: Command, tool: Tool, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if command.name.startswith("sdd ") or (engine == "postgres" and command.name in OF_A_FILE):
        return
    if command.name == "reembed" and find_spec("wordllama") is None:
        pytest.skip("needs a model of meaning")
    in_a_repository(tool, tmp_path)
    typed = [*command.name.split(), *words(seeded, command, tool), "--json"]
    assert main([*typed, "--token-budget", "400"]) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    assert isinstance(json.loads(printed), dict)
    assert count_tokens(printed.removesuffix("\n")) <= 400


@EVERY_COMMAND
def test_every_command_replies_in_text(
    seeded: Caller, tmp_path: Path, command: Command, tool: Tool, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if command.name.startswith("sdd "):
        return
    if engine == "postgres" and command.name in OF_A_FILE:
        assert main([command.name, "copy.db"]) == 1
        assert "pg_dump" in capsys.readouterr().err
        return
    if command.name == "reembed" and find_spec("wordllama") is None:
        pytest.skip("needs a model of meaning")
    in_a_repository(tool, tmp_path)
    assert main([*command.name.split(), *words(seeded, command, tool)]) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    assert printed.strip() and "\x1b" not in printed


@EVERY_COMMAND
def test_every_command_has_help_with_an_example_that_can_be_typed(
    command: Command, tool: Tool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.name.split(), "--help"]) == 0
    text = capsys.readouterr().out
    assert f"usage: haversack {command.name}" in " ".join(text.split())
    assert "examples:" in text and command.examples
    for example in command.examples:
        assert example in text
        typed = re.split(r"\s<\s", example.split("| ")[-1])[0]
        parts = shlex.split(re.sub(r"^[A-Z_]+=\S+ ", "", typed))
        assert parts[0] == "haversack"
        assert parts[1 : 1 + len(command.name.split())] == command.name.split()
        parser_for(command, tool).parse_args(parts[1 + len(command.name.split()) :])


OPTION_NAMES = {"max_tokens": "token-budget", "detail_level": "detail"}


def typed_with(command: Command, tool: Tool, wrong: Parameter) -> list[str]:
    """The command with everything it needs, and something one parameter cannot be."""
    needed = {
        each.name: each.choices[0] if each.choices else "1"
        for each in tool.parameters
        if each.required and command.takes(each)
    }
    values = needed | {wrong.name: "no such thing"}
    typed = command.name.split() + [values[name] for name in command.positionals if name in values]
    for name, value in values.items():
        if name not in command.positionals:
            typed += [f"--{OPTION_NAMES.get(name, name.replace('_', '-'))}", value]
    return typed


@EVERY_COMMAND
def test_wrong_values_are_errors_that_name_them(
    seeded: Caller, command: Command, tool: Tool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every number and every closed choice of a command, given something that it cannot be."""
    for parameter in tool.parameters:
        has_wrong_values = parameter.kind in ("integer", "number", "integers") or parameter.choices
        if not has_wrong_values or not command.takes(parameter):
            continue
        assert main(typed_with(command, tool, parameter)) == 1, capsys.readouterr()
        complaint = capsys.readouterr().err
        spelled = option_names(parameter, command, tool)[0]
        spelled = parameter.name.upper() if parameter.name in command.positionals else spelled
        assert complaint.startswith("haversack: ") and spelled in complaint
        assert "no such thing" in complaint and "Traceback" not in complaint


@EVERY_DOOR
def test_every_piece_of_housekeeping_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*name.split(), "--help"], DOORS) == 0
    assert f"usage: haversack {name}" in capsys.readouterr().out
    assert main([*name.split(), "--nonsense"], DOORS) == 2
    assert "--help" in capsys.readouterr().err


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"], DOORS) == 0
    text = capsys.readouterr().out
    for name in [command.name for command, _ in COMMANDS] + [door.name for door in (*OWN, *DOORS) if door.listed]:
        assert re.search(rf"^  {re.escape(name)}[ ,]", text, re.MULTILINE), name


def test_without_a_command_the_overview_is_shown_as_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: haversack" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"haversack {__version__}\n"


def test_a_mistyped_command_suggests_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serach", "x"]) == 2
    assert "search" in capsys.readouterr().err


def test_an_error_ends_with_one_and_says_what_to_do(caller: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", "404"]) == 1
    assert capsys.readouterr().err == "haversack: no observation #404\n  `haversack search` finds ids by content\n"


def test_the_unexpected_ends_with_three_and_keeps_its_details(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("haversack.cli.tool_command.call", fail)
    assert main(["stats"]) == 3
    complaint = capsys.readouterr().err
    assert "boom" in complaint and "Traceback" not in complaint
    log = tmp_path / "home" / "logs" / "haversack-error.log"
    assert str(log) in complaint
    assert "Traceback" in log.read_text(encoding="utf-8")


def test_an_interruption_ends_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("haversack.cli.tool_command.call", interrupt)
    assert main(["stats"]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("budget", ["63", "0", "-5", "1.5", "many", "nan"])
def test_what_is_no_budget_is_refused_with_the_floor(
    seeded: Caller, budget: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("--token-budget", "--tokens", "--max-tokens"):
        assert main(["search", "note", f"{name}={budget}"]) == 1
        assert "64" in capsys.readouterr().err


def test_words_without_quotes_are_one_query(seeded: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "note", "text", "--limit", "1"]) == 0
    one = capsys.readouterr().out
    assert main(["search", "note text", "--limit", "1"]) == 0
    assert capsys.readouterr().out == one


def test_tags_are_given_one_by_one_or_with_commas(caller: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["save", "--title", "t", "--content", "c", "--tag", "a", "--tag", "b, with a comma"]) == 0
    assert main(["save", "--title", "u", "--content", "c", "--tags", "a, b"]) == 0
    capsys.readouterr()
    found = [
        json.loads(call(caller, "mem_get_observation", {"id": number, "format": "json"}).text)["tags"]
        for number in (1, 2)
    ]
    assert found == [["a", "b, with a comma"], ["a", "b"]]


def test_a_profile_can_be_chosen_for_one_command(seeded: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    for profile in ("bytes4", "claude"):
        assert main(["search", "note", "--tokens", "300", "--profile", profile]) == 0
        printed = capsys.readouterr().out.removesuffix("\n")
        assert f"~{count_tokens(printed, profile)} tokens" in printed.splitlines()[-1]
    assert main(["search", "note", "--profile", "gpt9"]) == 1
    assert "o200k" in capsys.readouterr().err


def test_a_pack_for_pasting_has_its_tally_on_standard_error(seeded: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context-pack", "--tokens", "400"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("# Project Context: ") and "📏" not in printed.out
    assert count_tokens(printed.out) <= 400
    key = re.search(r"haversack more (\w+)", printed.err)
    assert key is not None
    assert main(["more", key[1]]) == 0


@pytest.mark.parametrize("json_", [[], ["--json"]])
def test_a_reply_can_be_written_to_a_file(
    seeded: Caller, tmp_path: Path, json_: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.txt"
    assert main(["context-pack", "--tokens", "300", "-o", str(target), *json_]) == 0
    assert capsys.readouterr().out == ""
    assert count_tokens(target.read_text(encoding="utf-8").removesuffix("\n")) <= 300
    assert main(["context-pack", "-o", str(tmp_path / "out.txt" / "below-a-file")]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_an_empty_pack_is_written_too(caller: Caller, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "empty.json"
    assert main(["context-pack", "--project", "none", "--json", "-o", str(target)]) == 0
    found = json.loads(target.read_text(encoding="utf-8"))
    assert (found["memories"], bool(found["reason"])) == ([], True)


def test_a_dash_reads_standard_input(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Grüße\nvon innen".encode())))
    assert main(["save", "--title", "Recent work", "--content", "-"]) == 0
    capsys.readouterr()
    assert "Grüße\nvon innen" in call(caller, "mem_get_observation", {"id": 1}).text


@pytest.mark.sqlite_only("the integrity check of a file")
def test_doctor_finds_a_sound_store_well(seeded: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "BAD" not in text and "integrity" in text
    assert main(["doctor", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["well"] and all(each["well"] for each in facts["checks"])


@pytest.mark.sqlite_only("the rows of FTS5")
def test_doctor_finds_and_mends_an_index_that_disagrees(seeded: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    with seeded.database.write() as tx:
        tx.run("DELETE FROM search_index WHERE rowid = 4")
    assert main(["doctor"]) == 1
    assert "--mend" in capsys.readouterr().out
    assert main(["doctor", "--mend"]) == 0
    assert main(["doctor"]) == 0
    assert call(seeded, "mem_search", {"query": "text", "limit": 50}).total == 29


def test_doctor_says_how_to_mend_a_wrong_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("[memory]\ncolour = 'red'\n")
    for command in ("doctor", "stats"):
        assert main([command]) == 1
        assert "memory.colour" in capsys.readouterr().err


@pytest.mark.sqlite_only("the mode of a file")
def test_doctor_finds_a_store_that_others_can_read(seeded: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    Path(seeded.config.store_path).chmod(0o644)
    assert main(["doctor"]) == 1
    assert "chmod 600" in capsys.readouterr().out


@pytest.mark.sqlite_only("a file that is not there yet")
def test_before_the_first_save_doctor_has_nothing_to_complain_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert "first save makes it" in capsys.readouterr().out


def test_no_two_commands_share_a_name_or_an_alias() -> None:
    names = [name for command, _ in COMMANDS for name in (command.name, *command.aliases)]
    names += [door.name for door in (*OWN, *DOORS) if door.listed]
    assert len(set(names)) == len(names)


@EVERY_COMMAND
def test_every_command_is_found_by_its_name_and_its_aliases(command: Command, tool: Tool) -> None:
    for name in (command.name, *command.aliases):
        assert find_command(name) == (command, tool)


@EVERY_COMMAND
def test_every_command_stands_under_a_heading_of_the_help(command: Command, tool: Tool) -> None:
    assert heading(command, tool) in HELP_GROUPS
