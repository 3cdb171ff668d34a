"""docs/architecture.md is true: its diagram is the import contract, and every file it names exists."""

import ast
import re
from collections import Counter
from functools import cache
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


Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def modules() -> dict[str, tuple[str, ast.Module]]:
    """The source and the tree of every module of the package, by its path."""
    sources = {path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    return {path: (source, ast.parse(source)) for path, source in sorted(sources.items())}


@cache
def definitions() -> list[tuple[str, Documented]]:
    """Every module, class and function of the package, with its path and name."""
    return [
        (f"{path} {getattr(node, 'name', '')}", node)
        for path, (_, module) in modules().items()
        for node in ast.walk(module)
        if isinstance(node, Documented)
    ]


def listed_in_contributing(beginning: str) -> list[str]:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith(f"- {beginning}: "))
    return line.partition(": ")[2].rstrip(".").split(", ")


def test_every_module_and_public_class_and_function_has_a_docstring() -> None:
    missing = []
    for path, (_, module) in modules().items():
        for node in (module, *module.body):
            name = getattr(node, "name", "")
            if isinstance(node, Documented) and not name.startswith("_") and not ast.get_docstring(node):
                missing.append(f"{path} {name}")
    assert missing == []


def test_docstrings_are_sentences() -> None:
    wrong = []
    for place, node in definitions():
        first = (ast.get_docstring(node) or "A.").split("\n\n")[0].strip()
        is_name = re.match(r"(haversack|uvicorn|opencode|claude-mem)\b", first)
        if not (first[0].isupper() or not first[0].isalpha() or is_name) or first[-1] not in ".?:":
            wrong.append(f"{place}: {first}")
    assert wrong == []


def test_names_avoid_the_words_that_contributing_rules_out() -> None:
    ruled_out = set(listed_in_contributing("Not in names of functions and classes"))
    assert len(ruled_out) > 5
    wrong = []
    for place, node in definitions():
        if not isinstance(node, ast.Module):
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name).lower().split("_")
            wrong += [place for word in words if word in ruled_out]
    assert wrong == []


def test_sources_avoid_the_phrases_that_contributing_rules_out() -> None:
    phrases = listed_in_contributing("Not in docstrings, comments and messages")
    assert len(phrases) > 5
    expression = re.compile(rf"\b(?:{'|'.join(map(re.escape, phrases))})\b", re.IGNORECASE)
    wrong = []
    for path, (source, _) in modules().items():
        if found := expression.search(" ".join(re.sub(r"\n *#", " ", source).split())):
            wrong.append(f"{path}: {found[0]}")
    assert wrong == []
