"""docs/architecture.md is true: its diagram is the import contract, and every file it names exists."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tools.architecture import SOURCE, layers, written

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_diagram_and_the_table_are_those_of_the_import_contract() -> None:
    assert written() in PAGE, "run `make docs`"


def test_every_file_the_journeys_name_exists() -> None:
    named = re.findall(r"src/haversack/[\w/.]+", PAGE)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name.rstrip(".")).exists()] == []


def test_every_room_of_the_package_is_a_layer() -> None:
    rooms = {room for layer in layers() for room in layer}
    present = {each.stem for each in SOURCE.glob("*.py")} | {each.parent.name for each in SOURCE.glob("*/__init__.py")}
    assert present - {"__init__"} == rooms


@pytest.mark.parametrize("room", sorted(each.parent.name for each in SOURCE.glob("*/__init__.py")))
def test_no_module_name_stands_twice_in_one_room(room: str) -> None:
    names = Counter(each.stem for each in (SOURCE / room).rglob("*.py") if each.stem != "__init__")
    assert [name for name, count in names.items() if count > 1 and (room, name) not in TWO_ENGINES] == []


TWO_ENGINES = {
    ("store", name)
    for name in ("engine", "schema", "words", "health", "incoming", "postings", "connection", "migrations")
}
"""What each of the store's engines has under the same name, as the protocol has it."""
