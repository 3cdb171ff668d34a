"""The manual page: every command is in it, it is the one in the package, and the formatter takes it."""

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from haversack.__main__ import DOORS
from haversack.cli.doors import OWN
from haversack.cli.manual import escaped, manual
from haversack.cli.overview import commands

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "packaging" / "haversack.1"


def test_every_command_is_in_the_manual_once() -> None:
    headings = [line for line in manual(DOORS).splitlines() if line.startswith(".SS ")]
    names = [command.name for command, _ in commands()] + [door.name for door in (*OWN, *DOORS) if door.listed]
    assert sorted(headings) == sorted(f".SS haversack {escaped(name)}" for name in names)


def test_the_manual_in_the_package_is_that_of_the_commands() -> None:
    assert PAGE.read_text(encoding="utf-8") == manual(DOORS), "run `make docs`"


def test_no_text_is_taken_for_a_request() -> None:
    assert escaped(".SH x") == r"\&.SH x"
    assert escaped("'a\\b --c\nd") == r"\(aqa\eb \-\-c d"


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_the_formatter_takes_the_manual_without_a_warning() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-cbou", str(PAGE)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""
    assert "haversack context-pack" in done.stdout and "--token-budget, --tokens" in done.stdout


def test_the_wheel_carries_the_manual(tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("share/man/man1/haversack.1")]
        assert archive.read(name) == PAGE.read_bytes()
