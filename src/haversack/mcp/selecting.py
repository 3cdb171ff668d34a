"""Which tools a client is offered: sets by name, single tools by name."""

from collections.abc import Sequence

from haversack.errors import InvalidArgument
from haversack.tools.declaring import Tool
from haversack.tools.registry import tools

SETS = ("memory", "workspace", "sdd", "budget")
DEFAULT_SETS = ("memory", "budget")
"""What a coding agent needs daily: it reads and searches files by its own means, and not every project has a plan."""
ALWAYS = "core"
"""The group every set relies on: `more`, without which what was left out of a reply could not be fetched."""


def split(names: Sequence[str]) -> list[str]:
    """The names asked for, also where several came in one text (`memory,sdd`); the default sets for none."""
    asked = [part.strip() for name in names for part in name.split(",") if part.strip()]
    return asked or list(DEFAULT_SETS)


def groups_of(names: Sequence[str]) -> frozenset[str] | None:
    """The groups asked for, when only sets are; nothing when single tools are named and have to be looked up."""
    asked = split(names)
    if not set(asked) <= {*SETS, "all"}:
        return None
    return frozenset(SETS if "all" in asked else asked)


def select_tools(names: Sequence[str]) -> list[Tool]:
    """The tools of the sets and single names asked for, in the order they are declared."""
    available = tools()
    asked = split(names)
    for name in asked:
        if name not in available and name not in SETS and name != "all":
            raise InvalidArgument(
                f"no tool or tool set called {name[:80]!r}",
                hint=f"sets: {', '.join(SETS)}, all; tools: {', '.join(available)}",
            )
    return [tool for tool in available.values() if is_selected(tool, asked)]


def is_selected(tool: Tool, asked: Sequence[str]) -> bool:
    """Whether a tool is among those the sets and single names ask for."""
    wanted = SETS if "all" in asked else asked
    return tool.group == ALWAYS or tool.group in wanted or tool.name in asked
