"""Finding tools: the sources of this room are searched for a name, and only modules that mention it are imported.

A tool is declared by its decorator and nowhere else. Reading the sources of the room takes about a millisecond,
importing all of it a hundred times that.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from haversack.tools.declaration import Command, Tool, declared, unknown_tool

PACKAGES = ("memory", "road", "budget", "workspace", "sdd", "upkeep")
"""The folders of tools in the order in which their tools are listed; a folder not named here comes after these."""

_HERE = os.path.dirname(__file__)


def find(name: str) -> Tool:
    """The tool called `name`; an unknown name is an error that suggests the nearest ones."""
    if tool := look_up(name):
        return tool
    raise unknown_tool(name, list(tools()))


def look_up(name: str) -> Tool | None:
    """The tool called `name`, or nothing: for callers that need no suggestions, which take every tool to find."""
    if name not in declared() and name.isidentifier():
        load_mentioning(f"def {name}(", until=lambda: name in declared())
    return declared().get(name)


def find_command(name: str) -> tuple[Command, Tool] | None:
    """The command typed as `name` with its tool; None when no tool has it."""
    spelled = name.replace("-", "_")
    found: list[tuple[Command, Tool]] = []

    def look() -> bool:
        found[:] = [(command, tool) for tool in declared().values() for command in named(tool, name)]
        return bool(found)

    if look():
        return found[0]
    # Declared as a name; or as an alias, or derived from the name of the function.
    surely = (f'Command("{name}"', f'Command(\n        "{name}"')
    perhaps = (f'"{name}"', f"def {spelled}(", f"_{spelled.rpartition(' ')[2]}(")
    others: list[tuple[int, str]] = []
    for package in _packages():
        for module, source in _sources(package, "@tool("):
            if any(mention in source for mention in surely):
                import_module(module)
                if look():
                    return found[0]
            others += [(rank, module) for rank, mention in enumerate(perhaps) if mention in source]
    for _, module in sorted(others, key=lambda other: other[0]):
        import_module(module)
        if look():
            return found[0]
    return None


def named(tool: Tool, name: str) -> list[Command]:
    """The tool's commands with this name or alias."""
    return [command for command in tool.commands if name == command.name or name in command.aliases]


def tools() -> Mapping[str, Tool]:
    """Every tool, by name, in the order in which clients see them."""
    for package in _packages():
        load_package(package)
    return {tool.name: tool for tool in sorted(declared().values(), key=_place)}


def tools_in(package: str) -> list[Tool]:
    """The tools declared in one folder of this room, in order."""
    load_package(package)
    prefix = f"haversack.tools.{package}."
    return sorted((tool for tool in declared().values() if tool.function.__module__.startswith(prefix)), key=_place)


def load_package(package: str) -> None:
    """Import every module of a folder that declares a tool."""
    for module, _ in _sources(package, "@tool("):
        import_module(module)


def load_mentioning(mention: str, *, until: Callable[[], bool], mark: str = "@tool(") -> None:
    """Import the modules whose source holds both texts, one by one, until there is what was looked for."""
    for package in _packages():
        for module, source in _sources(package, mark):
            if mention in source:
                import_module(module)
                if until():
                    return


def modules_with(mark: str) -> list[str]:
    """The modules of this room whose source holds a mark, such as the beginning of a decorator."""
    return [module for package in _packages() for module, _ in _sources(package, mark)]


def _packages() -> list[str]:
    found = [entry.name for entry in os.scandir(_HERE) if entry.is_dir() and not entry.name.startswith("_")]
    order = {name: position for position, name in enumerate(PACKAGES)}
    return sorted(found, key=lambda name: (order.get(name, len(order)), name))


def _sources(package: str, mark: str) -> Iterator[tuple[str, str]]:
    folder = os.path.join(_HERE, package)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                source = file.read()
            if mark in source:
                yield f"haversack.tools.{package}.{name.removesuffix('.py')}", source


def _place(tool: Tool) -> tuple[int, str, int]:
    module = tool.function.__module__.removeprefix("haversack.tools.")
    package = module.partition(".")[0]
    position = PACKAGES.index(package) if package in PACKAGES else len(PACKAGES)
    return position, module, tool.function.__code__.co_firstlineno
