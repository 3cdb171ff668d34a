"""A command line parser made from a tool's declaration."""

import argparse
import sys
from typing import Any

from haversack.argument_parser import Parser, plain_parser
from haversack.errors import InvalidArgument
from haversack.tools.declaration import Command, Parameter, Tool

# The names people type first; the parameter's own name always works too.
_OPTION_NAMES = {
    "max_tokens": ("--token-budget", "--tokens", "--max-tokens"),
    "detail_level": ("--detail", "--detail-level"),
    "tags": ("--tag", "--tags"),
}
_JOINED = ("query", "content")
"""Parameters whose words need no quotes."""


def parser_for(command: Command, tool: Tool) -> Parser:
    """The parser of one command."""
    parser = plain_parser(command.name, command.about or tool.about, *command.examples)
    named = {parameter: names for parameter, *names in command.options}
    for parameter in tool.parameters:
        if not command.takes(parameter):
            continue
        if parameter.name in command.positionals:
            _add_positional(parser, parameter, is_needed=parameter.required and parameter.name not in named)
        if parameter.name not in command.positionals or parameter.name in named:
            is_needed = parameter.required and parameter.name not in (*command.positionals, *command.optional)
            _add_option(parser, parameter, option_names(parameter, command, tool), is_needed=is_needed)
    parser.add_argument("--json", action="store_true", help="reply as JSON, within the same budget")
    taken = {name for names in named.values() for name in names}
    if "-o" not in taken:
        parser.add_argument("-o", "--output", metavar="FILE", help="write the reply to a file, for you alone")
    if "--profile" not in taken:
        parser.add_argument("--profile", help="how tokens are counted: o200k, bytes4, claude, ...")
    if command.watch:
        parser.add_argument("--watch", action="store_true", help="show it again every two seconds, until Ctrl-C")
    if command.draws:
        parser.add_argument("--draw", action="store_true", help="draw the figures, as on a terminal")
        parser.add_argument("--svg", metavar="FILE", help="draw a picture into a file")
    return parser


def arguments_from(command: Command, tool: Tool, parsed: argparse.Namespace) -> dict[str, Any]:
    """The arguments of the tool from the parsed command line."""
    given: dict[str, Any] = dict(command.fixed or {})
    for parameter in tool.parameters:
        found = getattr(parsed, parameter.name, None)
        if found is None and parameter.name in command.optional:
            found = ""
        if found is None or parameter.name == "format":
            continue
        # A tool for the terminal alone takes `-` for a file and reads it through the console.
        if parameter.kind == "string" and found == "-" and not tool.terminal_only:
            found = _standard_input(parameter.name)
        given[parameter.name] = found
    if parsed.json:
        given["format"] = "json"
    return given


def _add_positional(parser: Parser, parameter: Parameter, *, is_needed: bool) -> None:
    several = parameter.kind in ("strings", "integers")
    joined = parameter.name in _JOINED
    words = "+" if several and is_needed else "*" if several or joined else None if is_needed else "?"
    parser.add_argument(
        parameter.name,
        metavar=parameter.name.upper(),
        nargs=words,
        help=_help(parameter),
        action=_Words if several or joined else "store",
    )


class _Words(argparse.Action):
    """Several words typed without quotes: one text, or one list; a single word may hold a list with commas."""

    def __call__(self, parser: object, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if not values:
            return  # a value from an option is not overwritten
        is_text = self.dest in _JOINED
        setattr(namespace, self.dest, " ".join(values) if is_text else values[0] if len(values) == 1 else values)


def option_names(parameter: Parameter, command: Command, tool: Tool) -> tuple[str, ...]:
    """The options a parameter is typed as; another parameter's own name is left to it."""
    for name, *options in command.options:
        if name == parameter.name:
            return tuple(options)
    plain = "--" + parameter.name.replace("_", "-")
    others = {"--" + each.name.replace("_", "-") for each in tool.parameters} - {plain}
    return tuple(name for name in _OPTION_NAMES.get(parameter.name, (plain,)) if name not in others)


def _add_option(parser: Parser, parameter: Parameter, names: tuple[str, ...], *, is_needed: bool) -> None:
    settings: dict[str, Any] = {"dest": parameter.name, "help": _help(parameter), "default": None}
    if parameter.kind == "boolean":
        settings["action"] = argparse.BooleanOptionalAction if parameter.default is None else "store_true"
    elif parameter.kind in ("strings", "integers"):
        settings |= {"action": _Collected, "metavar": parameter.name.upper()}
    else:
        settings["metavar"] = "N" if parameter.kind in ("integer", "number") else parameter.name.upper()
    parser.add_argument(*names, required=is_needed, **settings)


class _Collected(argparse.Action):
    """A list option: given several times, or once with commas."""

    def __call__(self, parser: object, namespace: Any, values: Any, option_string: str | None = None) -> None:
        held = getattr(namespace, self.dest) or []
        items = [values] if option_string == "--tag" else [part.strip() for part in values.split(",")]
        setattr(namespace, self.dest, [*held, *(item for item in items if item)])


def _help(parameter: Parameter) -> str:
    parts = [parameter.about] if parameter.about else []
    if parameter.choices:
        parts.append(f"one of: {', '.join(parameter.choices)}")
    if parameter.range and parameter.name != "max_tokens":
        parts.append(f"{parameter.range.least:g} to {parameter.range.most:g}")
    if parameter.default not in (None, "", [], False):
        parts.append(f"default {parameter.default}")
    # argparse takes a percent sign for a format.
    return "; ".join(parts).replace("%", "%%")


def _standard_input(name: str) -> str:
    """All of standard input, for an argument given as `-`."""
    content = sys.stdin.buffer.read()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{name} from standard input is not UTF-8 (byte {error.start})", hint="convert it first, e.g. with iconv"
        ) from None
