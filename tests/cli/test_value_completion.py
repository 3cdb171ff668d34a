"""What the Tab key offers: projects, kinds, tags and ids with titles, asked of a real store by real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from haversack.__main__ import DOORS
from haversack.cli import main
from haversack.cli.completion import script
from haversack.cli.doors import OWN
from haversack.cli.stored_values import continuations


def save(title: str, project: str, kind: str, tag: str) -> None:
    assert main(["save", title, "--project", project, "--kind", kind, "--tag", tag]) == 0


@pytest.fixture
def stored(capsys: pytest.CaptureFixture[str]) -> None:
    """Three observations in two projects, one of whose names has a space."""
    save("Tokens rotate hourly", "thesis", "decision", "auth")
    save("Größe of the 日本 index", "thesis", "haiku", "höhe")
    save("Prune in spring", "my orchard", "pattern", "trees")
    capsys.readouterr()


@pytest.mark.usefixtures("stored")
def test_values_continue_what_was_typed() -> None:
    assert continuations("project", "THE") == ["thesis"]
    assert continuations("project", "") == ["thesis", "my orchard"]
    assert continuations("kind", "hai") == ["haiku"]
    assert "discovery" in continuations("kind", "disc"), "a usual kind, though nothing has it yet"
    assert continuations("tag", "hö") == ["höhe"]
    assert continuations("id", "2") == ["2\tGröße of the 日本 index"]
    assert [line.partition("\t")[0] for line in continuations("id", "")] == ["3", "2", "1"]
    assert continuations("id", "rotate") == ["1\tTokens rotate hourly"]


@pytest.mark.usefixtures("stored")
def test_what_is_deleted_is_offered_to_restore_alone() -> None:
    assert main(["rm", "1"]) == 0
    assert continuations("id", "1") == []
    assert continuations("deleted", "") == ["1\tTokens rotate hourly"]


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    "typed", [[], ["nothing"], ["id", "%"], ["project", "\x00\ud800"], ["tag", "'\"$(rm)"], ["id"] * 9]
)
def test_a_strange_word_is_no_error(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["complete-values", *typed]) == 0
    assert capsys.readouterr().err == ""


def test_no_store_is_made_by_asking_for_values(capsys: pytest.CaptureFixture[str]) -> None:
    before = set(Path(os.environ["HAVERSACK_HOME"]).rglob("*"))
    assert main(["complete-values", "project", ""]) == 0
    assert capsys.readouterr() == ("", "")
    assert set(Path(os.environ["HAVERSACK_HOME"]).rglob("*")) == before


@pytest.mark.sqlite_only("a damaged file")
@pytest.mark.usefixtures("stored")
def test_a_damaged_store_offers_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for path in Path(os.environ["HAVERSACK_HOME"]).rglob("haversack.db*"):
        path.write_bytes(b"no database" * 999)
    assert main(["complete-values", "project", ""]) == 0
    assert capsys.readouterr() == ("", "")


def test_people_are_not_shown_the_command_of_the_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "complete-values" not in capsys.readouterr().out


@pytest.fixture
def path_with_haversack(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH begins with a `haversack` that is this one."""
    program = tmp_path / "bin" / "haversack"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m haversack "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}


def offered(words: str, at: int, environment: dict[str, str]) -> list[str]:
    asked = f"{script('bash', (*OWN, *DOORS))}\nCOMP_WORDS=({words}); COMP_CWORD={at}; _haversack; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash"], input=asked, capture_output=True, text=True, encoding="utf-8", check=True, env=environment
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.usefixtures("stored")
def test_bash_offers_what_is_stored(path_with_haversack: dict[str, str]) -> None:
    environment = path_with_haversack
    assert offered("haversack search --project the", 3, environment) == ["thesis"]
    assert offered("haversack search --project = my", 4, environment) == [r"my\ orchard"]
    assert offered("haversack ls --tag h", 3, environment) == ["höhe"]
    assert offered("haversack save words --kind hai", 4, environment) == ["haiku"]
    assert offered("haversack get 2", 2, environment) == ["2"]
    assert offered("haversack show ''", 2, environment) == [
        "3  Prune in spring", "2  Größe of the 日本 index", "1  Tokens rotate hourly",
    ]  # fmt: skip
    assert offered("haversack list --status arch", 3, environment) == ["archived"]
    assert offered("haversack get --js", 2, environment) == ["--json"]


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_commands_of_other_rooms_are_offered_with_their_options(path_with_haversack: dict[str, str]) -> None:
    assert offered("haversack inst", 1, path_with_haversack) == ["install"]
    assert "--http" in offered("haversack serve --", 2, path_with_haversack)
    assert offered("haversack token rev", 2, path_with_haversack) == ["revoke"]
    assert offered("haversack wrap --view str", 3, path_with_haversack) == ["structured"]


def test_the_program_prints_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"], doors=DOORS) == 0
    assert "-a 'revoke'" in (printed := capsys.readouterr().out) or "-a revoke" in printed
    assert main(["install", "--help"], doors=DOORS) == 0, "asking for parsers leaves the commands as they were"
    assert "--dry-run" in capsys.readouterr().out


@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
@pytest.mark.usefixtures("stored")
def test_fish_offers_what_is_stored(path_with_haversack: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "haversack.fish").write_text(script("fish"), encoding="utf-8")
    asked = (
        f"source {tmp_path}/haversack.fish; complete -C 'haversack search --project the'; complete -C 'haversack get 2'"
    )
    done = subprocess.run(
        ["fish", "-N", "-c", asked], capture_output=True, text=True, encoding="utf-8", check=True,
        env={**path_with_haversack, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["thesis", "2\tGröße of the 日本 index"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
def test_zsh_reads_its_script() -> None:
    subprocess.run(["zsh", "-n"], input=script("zsh"), text=True, check=True)


@pytest.mark.parametrize(
    ("shell", "lines"),
    [
        ("zsh", ['"ls --project"', ") _haversack_values project; return ;;", '"show"', ") _haversack_values id ;;"]),
        ("fish", ["-l project -x -a '(__haversack_values project)'", "-l status -x -a 'active pending",
                  "__fish_seen_subcommand_from restore' -a '(__haversack_values deleted)'"]),
    ],
)  # fmt: skip
def test_the_other_scripts_ask_for_the_same_values(shell: str, lines: list[str]) -> None:
    assert [line for line in lines if line not in script(shell)] == []
    assert "complete-values" in script(shell)
