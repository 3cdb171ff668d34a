"""Errors and advice in the words of the command line: commands for tools, options for parameters.

An error is written once, with the names of tools and parameters. A client of the server knows those; a person at a
terminal knows commands and options.
"""

import re
from contextlib import suppress

from haversack.cli.options import option_names
from haversack.errors import HaversackError, UnknownTool
from haversack.patterns import pattern
from haversack.tools.declaration import Command, Tool
from haversack.tools.registry import find

# Quoted values of the caller stay unchanged.
_QUOTED = pattern(r"""((?<![\w])'[^']*'(?!\w)|"[^"]*"|`[^`]*`)""")
_IDENTIFIER = pattern(r"\b[a-z]+(?:_[a-z]+)+\b")
_CALL = pattern(r"\b([a-z]+_[a-z_]+)\(((?:\w+=[\w.]+(?:, )?)+)\)")
_BEFORE = r"(?:(?<= needs )|(?<=^Use )|(?<=^Increase ))"
_FAULT = r"(?= is | holds | has | $)"
_ADVISED = r"(?:(?<=^give )|(?<=^leave )|(?<=, )(?=\w+ or both$))"
_MORE = pattern(r"\bmore\(\"?(\w+)\"?\)")


def reworded(error: HaversackError, command: Command | None = None, tool: Tool | None = None) -> HaversackError:
    """The same error, with its message and hint in the words of the command line."""
    error.message = worded(error.message, command, tool)
    error.hint = worded(error.hint, command, tool)
    return error


def printed(error: HaversackError, *, as_json: bool) -> str:
    """The error as the command line prints it."""
    if as_json:
        return error.written(as_json=True)
    return f"haversack: {error.message}" + (f"\n  {error.hint}" if error.hint else "")


def worded(text: str, command: Command | None = None, tool: Tool | None = None) -> str:
    """A sentence in the words of the command line; quoted values stay unchanged."""
    text = _CALL.sub(lambda found: _as_line(found.group(), found.group(1), found.group(2)), text)
    text = _MORE.sub(r"`haversack more \1`", text)
    parts = _QUOTED.split(text)
    for at in range(0, len(parts), 2):
        if command and tool:
            parts[at] = _with_options(parts[at], command, tool)
        parts[at] = _IDENTIFIER.sub(lambda found: _as_command(found.group()), parts[at])
    return "".join(parts)


def _as_line(call: str, name: str, given: str) -> str:
    """A call as it would be typed: by the command that stands for its fixed arguments, the others in order."""
    try:
        tool = find(name)
    except UnknownTool:
        return call
    arguments = dict(each.split("=") for each in given.split(", "))
    fits = [
        command
        for command in tool.commands
        if all(arguments.get(key) == str(value).lower() for key, value in (command.fixed or {}).items())
    ]
    if not fits:
        return call
    command = max(fits, key=lambda each: len(each.fixed or ()))
    typed = [value for key, value in arguments.items() if key not in (command.fixed or ())]
    return f"`haversack {' '.join([command.name, *typed])}`"


def _as_command(name: str) -> str:
    with suppress(UnknownTool):
        return f"`haversack {find(name).commands[0].name}`"
    return name


def _with_options(text: str, command: Command, tool: Tool) -> str:
    """The text with the tool's parameters as they are typed.

    A name of one word is also an English word: it is replaced only where the sentence uses it as a parameter.
    """
    is_choice = text.startswith("give either ")
    for parameter in tool.parameters:
        if not command.takes(parameter):
            continue
        is_positional = parameter.name in command.positionals
        typed = parameter.name.upper() if is_positional else option_names(parameter, command, tool)[0]
        name = re.escape(parameter.name)
        if parameter.kind == "boolean":
            text = re.sub(rf"\b{name}=true\b", typed, text)
        text = re.sub(rf"\b{name}=(\S+?)(?=[\s,;.]|$)", rf"{typed} \1", text)
        is_telling = "_" in parameter.name or is_choice
        where = (
            rf"\b{name}\b" if is_telling else rf"^{name}{_FAULT}|{_BEFORE}{name}\b|{_ADVISED}{name}(?=,| or | out\b|$)"
        )
        text = re.sub(where, typed, text)
    return text
