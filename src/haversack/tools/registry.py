"""Where the tools are: each group's declarations, loaded when a tool of it is first asked for."""

from collections.abc import Mapping
from importlib import import_module

from haversack.tools.declaring import Tool, declared

MODULES = ("memory_tools", "session_tools", "upkeep_tools", "pack_tools", "paging")

_loaded: list[str] = []


def tools() -> Mapping[str, Tool]:
    """Every tool of the program, by name, in the order they are declared."""
    if not _loaded:
        for module in MODULES:
            import_module(f"haversack.tools.{module}")
        _loaded.extend(MODULES)
    return declared()
