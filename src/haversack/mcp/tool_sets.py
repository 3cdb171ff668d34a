"""Which tools a client is offered: sets by name, single tools by name."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from haversack.errors import InvalidArgument, UnknownTool
from haversack.tools.declaration import Tool
from haversack.tools.registry import find, tools, tools_in

SETS = ("memory", "workspace", "sdd", "budget")
DEFAULT_SETS = ("memory", "budget")
"""What a coding agent needs daily: it reads and searches files by its own means, and not every project has a plan."""
ALWAYS = "core"
"""The group every set relies on: `more`, without which what was left out of a reply could not be fetched."""


def asked_for(names: Sequence[str]) -> list[str]:
    """The sets and tools named, also where several came in one text (`memory,sdd`); the default sets for none."""
    asked = [part.strip() for name in names for part in name.split(",") if part.strip()]
    for name in asked:
        if name not in (*SETS, "all") and not _is_tool(name):
            raise InvalidArgument(
                f"no tool or tool set called {name[:80]!r}",
                hint=f"sets: {', '.join(SETS)}, all; tools: {', '.join(_offerable())}",
            )
    return [*SETS, *asked] if "all" in asked else asked or list(DEFAULT_SETS)


def select_tools(names: Sequence[str]) -> list[Tool]:
    """The tools of the sets and single names asked for, in the order they are declared."""
    asked = asked_for(names)
    return [tool for tool in _candidates(asked) if is_selected(tool, asked)]


def is_selected(tool: Tool, asked: Sequence[str]) -> bool:
    """Whether a tool is among those asked for."""
    return tool.group == ALWAYS or tool.group in asked or tool.name in asked


def groups_of(asked: Sequence[str]) -> frozenset[str]:
    """The groups the sets and tools asked for belong to."""
    return frozenset(name if name in SETS else find(name).group for name in asked if name != "all")


def _is_tool(name: str) -> bool:
    with suppress(UnknownTool):
        if find(name).terminal_only:
            raise InvalidArgument(f"{name} is for the command line only", hint="leave it out: it names files freely")
        return True
    return False


def _offerable() -> list[str]:
    return [name for name, tool in tools().items() if not tool.terminal_only]


def _candidates(asked: Sequence[str]) -> Iterator[Tool]:
    """The tools in the folders of the sets asked for and of what every set relies on, then those asked for by name."""
    seen = set()
    for package in (*(name for name in SETS if name in asked), "road"):
        for tool in tools_in(package):
            seen.add(tool.name)
            yield tool
    yield from (find(name) for name in asked if name not in SETS and name != "all" and name not in seen)
