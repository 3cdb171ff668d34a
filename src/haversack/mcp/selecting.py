"""Which tools a client is offered: sets by name, single tools by name."""

from collections.abc import Sequence

from haversack.errors import InvalidArgument
from haversack.tools.declaring import Tool
from haversack.tools.registry import tools

SETS = ("memory", "workspace", "sdd", "budget")
DEFAULT_SETS = ("memory", "budget")
"""What a coding agent needs daily. It has its own ways to read and search files, and a plan is not in every project."""
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
    groups = {*(SETS if "all" in asked else asked), ALWAYS}
    return [tool for tool in available.values() if tool.group in groups or tool.name in asked]
