"""A new tool is one decorated function: every door and the reference find it without another line."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Annotated, Literal

import pytest

from haversack.app import Caller
from haversack.cli import main
from haversack.cli.overview import commands
from haversack.mcp.definitions import definition
from haversack.mcp.tool_sets import select_tools
from haversack.tools import declaration, registry
from haversack.tools.declaration import Command, Tool, tool
from haversack.tools.reference import reference
from haversack.tools.road.call import call
from haversack.tools.road.outcomes import Document, Outcome
from tests.contract.arguments import arguments_for
from tests.contract.worlds import world


@pytest.fixture(autouse=True)
def only_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test declares is gone afterwards."""
    registry.tools()
    monkeypatch.setattr(declaration, "_TOOLS", dict(declaration._TOOLS))
    yield


def declare() -> Tool:
    @tool(group="memory", level="standard")
    def mem_count_words(
        caller: Caller, *, text: Annotated[str, "What to count"], unit: Literal["words", "letters"] = "words"
    ) -> Outcome:
        """Count the words of a text."""
        count = len(text.split()) if unit == "words" else len(text)
        return Document(f"{count} {unit}", name="count", facts={"count": count})

    return registry.find("mem_count_words")


def test_the_registry_and_the_list_of_a_server_hold_it() -> None:
    added = declare()
    assert registry.tools()["mem_count_words"] is added
    listed = {each["name"]: each for each in map(definition, select_tools(["mem_count_words"]))}
    assert listed["mem_count_words"]["description"] == "Count the words of a text."


def test_it_goes_down_the_road(caller: Caller) -> None:
    declare()
    assert json.loads(call(caller, "mem_count_words", {"text": "a b c", "format": "json"}).text)["count"] == 3


def test_the_command_line_has_it_under_a_name_made_from_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    declare()
    assert main(["count-words", "one two", "--unit", "words"]) == 0
    assert "2 words" in capsys.readouterr().out
    assert main(["--help"]) == 0
    assert "count-words" in capsys.readouterr().out
    assert main(["count-words", "--help"]) == 0
    assert "haversack count-words words" in capsys.readouterr().out


def test_the_reference_describes_it() -> None:
    declare()
    section = reference().split("### `mem_count_words`")[1].split("###")[0]
    assert "Count the words" in section and "`unit`" in section


def test_the_contract_test_makes_arguments_for_it(caller: Caller) -> None:
    from hypothesis import given

    made: list[object] = []

    @given(arguments_for(declare(), world("empty")))
    def collect(arguments: dict[str, object]) -> None:
        made.append(arguments)
        assert call(caller, "mem_count_words", arguments).text

    collect()
    assert any("unit" in arguments for arguments in made if isinstance(arguments, dict))


def test_it_may_declare_how_it_is_typed(capsys: pytest.CaptureFixture[str]) -> None:
    @tool(Command("tally", ("text",), aliases=("wc",), heading="upkeep"), group="memory")
    def mem_tally(caller: Caller, *, text: str) -> Outcome:
        """Count something."""
        return Document(str(len(text)))

    for name in ("tally", "wc"):
        assert main([name, "four"]) == 0
        assert capsys.readouterr().out.startswith("4")


@pytest.mark.parametrize(
    ("how", "module"),
    [
        ("find('mem_search')", "memory.recall"),
        ("find_command('ws read')", "workspace.file_tools"),
        ("find_command('rm')", "memory.observations"),
        ("find_command('budget')", "budget.account"),
    ],
)
def test_finding_one_tool_loads_only_its_module(how: str, module: str) -> None:
    code = (
        f"import sys; from haversack.tools.registry import *; found = {how};"
        "from haversack.tools.declaration import declared;"
        "print(*{tool.function.__module__ for tool in declared().values()})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"haversack.tools.{module}"]


def test_every_command_is_found_without_loading_the_tools_of_another_room() -> None:
    """The search for a name reads sources; nothing but a name that is nowhere may cost the loading of everything."""
    names = [name for command, _ in commands() for name in (command.name, *command.aliases)]
    code = f"""
from haversack.tools.registry import find_command
from haversack.tools.declaration import _TOOLS, Tool
import sys
for name in {names!r}:
    for module in [each for each in sys.modules if each.startswith("haversack.tools.") and each.count(".") > 2]:
        if not module.startswith("haversack.tools.road"):
            del sys.modules[module]
    _TOOLS.clear()
    found = find_command(name)
    assert found, name
    rooms = {{tool.function.__module__.split(".")[2] for tool in _TOOLS.values()}} - {{"road", "budget"}}  # others rely on these
    assert rooms <= {{found[1].function.__module__.split(".")[2]}}, (name, rooms)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
