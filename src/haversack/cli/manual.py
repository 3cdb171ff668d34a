"""The manual page, written from the same declarations as the commands."""

import argparse
from collections.abc import Iterable, Sequence

from haversack.cli import EXIT_DONE, EXIT_ERROR, EXIT_INTERRUPTED, EXIT_UNEXPECTED, EXIT_USAGE
from haversack.cli.doors import HELP_GROUPS, OWN, Door
from haversack.cli.options import parser_for
from haversack.cli.overview import commands, heading
from haversack.tools.declaration import Command, Tool
from haversack.version import __version__

_SHARED = ("--help", "--json", "--output", "--profile", "--token-budget", "--detail")
"""Options that mean the same everywhere: they are described once."""
_OPENING = r"""Haversack keeps what agents learn and gives back what fits a token budget. Every command that reads takes
.BR \-\-token\-budget :
the whole reply, its footer included, costs at most as many tokens, and says what was left out and how to get it."""
_CODES = {
    EXIT_DONE: "Done.",
    EXIT_ERROR: "An error, with a message that says what to do.",
    EXIT_USAGE: "Wrong usage.",
    EXIT_UNEXPECTED: "Unexpected; the message names a file with the details.",
    EXIT_INTERRUPTED: "Interrupted.",
}
_FILES = {
    "~/.local/share/haversack": "The store and the settings on Linux; `haversack doctor` names the place on any"
    " system, and HAVERSACK_HOME another one.",
}
_ESCAPES = {"\\": r"\e", "-": r"\-", "~": r"\(ti", "^": r"\(ha", "'": r"\(aq", "`": r"\(ga", '"': r"\(dq"}
"""Letters that roff would print as others, as no shell takes those."""


def manual(doors: Sequence[Door]) -> str:
    """The page haversack(1) in roff."""
    lines = [
        f'.TH HAVERSACK 1 "" "haversack {__version__}" "User Commands"',
        ".SH NAME",
        r"haversack \- memory and context for AI agents that always fits the token budget",
        ".SH SYNOPSIS",
        ".B haversack",
        r".I COMMAND",
        "[options]",
        ".SH DESCRIPTION",
        _OPENING,
        ".SH OPTIONS",
        *_shared_options(),
    ]
    tooled = commands()
    for group, title in HELP_GROUPS.items():
        lines.append(f'.SH "{title.upper()}"')
        for command, tool in tooled:
            if heading(command, tool) == group:
                lines += _command(command, tool)
        for door in (*OWN, *doors):
            if door.group == group and door.listed:
                lines += [f".SS haversack {escaped(door.name)}", escaped(door.about), _see_help(door.name)]
    lines += [".SH EXIT STATUS", *_tagged((str(code), meaning) for code, meaning in _CODES.items())]
    lines += [".SH FILES", *_tagged(_FILES.items())]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text escaped for roff: on one line, with copyable hyphens, and never read as a request."""
    plain = "".join(_ESCAPES.get(letter, letter) for letter in " ".join(text.split()))
    return rf"\&{plain}" if plain.startswith(".") else plain


def _shared_options() -> Iterable[str]:
    first = next(parser_for(command, tool) for command, tool in commands() if tool.level)
    found = [action for action in first._actions if set(action.option_strings) & set(_SHARED)]
    # The level a command begins with is its own.
    return _tagged((_typed(action), _help(action).partition("; default")[0]) for action in found)


def _command(command: Command, tool: Tool) -> list[str]:
    parser = parser_for(command, tool)
    own = [action for action in parser._actions if not set(action.option_strings) & set(_SHARED)]
    lines = [f".SS haversack {escaped(command.name)}", escaped(command.about or tool.about)]
    if command.aliases:
        lines += [".PP", f"Also: {escaped(', '.join(command.aliases))}."]
    lines += _tagged((_typed(action), _help(action)) for action in own)
    if command.examples:
        lines += [".PP", ".nf", *(rf"\&    {escaped(example)}" for example in command.examples), ".fi"]
    return lines


def _typed(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings)
    value = str(action.metavar or action.dest.upper()) if action.nargs != 0 else ""
    return f"{names} {value}".strip()


def _help(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


def _tagged(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Each name in bold, and what it means below it; one without a meaning stands alone."""
    return [line for name, meaning in pairs for line in (".TP", f'.B "{escaped(name)}"', escaped(meaning) or r"\&")]


def _see_help(name: str) -> str:
    return f"Its options: haversack {escaped(name)} {escaped('--help')}."
