"""Commands of other rooms: named in one place, listed under their heading, loaded only when typed."""

import sys
from pathlib import Path

import pytest

from haversack.__main__ import DOORS
from haversack.cli import main
from haversack.cli.doors import Door

ROOM = '''
"""A room with one command."""
from haversack.argument_parser import plain_parser


def greet(typed):
    parser = plain_parser("greet", "Say hello.", "haversack greet Ada --loudly")
    parser.add_argument("name")
    parser.add_argument("--loudly", action="store_true")
    print("hello", parser.parse_args(typed).name)
    return 7
'''


@pytest.fixture
def doors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Door, ...]:
    (tmp_path / "greeting_room.py").write_text(ROOM)
    monkeypatch.syspath_prepend(tmp_path)
    return (*DOORS, Door("greet", "hosts and servers", "Say hello.", "greeting_room:greet"))


def test_a_door_is_opened_by_its_name_and_its_code_is_the_exit_code(
    doors: tuple[Door, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["greet", "Ada"], doors) == 7
    assert capsys.readouterr().out == "hello Ada\n"


def test_a_door_stands_in_the_help_under_its_heading_without_being_loaded(
    doors: tuple[Door, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    sys.modules.pop("greeting_room", None)
    assert main(["--help"], doors) == 0
    under = capsys.readouterr().out.split("Hosts and servers:")[1].split("\n\n")[0]
    assert "serve" in under and "greet" in under and "Say hello" in under
    assert "greeting_room" not in sys.modules


def test_a_mistyped_door_or_option_is_answered_with_the_right_one(
    doors: tuple[Door, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["great", "Ada"], doors) == 2
    assert "greet" in capsys.readouterr().err
    assert main(["greet", "Ada", "--loudy"], doors) == 2
    assert "did you mean --loudly?" in capsys.readouterr().err
    assert main(["search", "x", "--limt=3"], doors) == 2
    assert "did you mean --limit?" in capsys.readouterr().err
