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


def parser_for(command: Command, tool: Tool) -> Parser:
    """The parser of one command."""
    parser = plain_parser(command.name, command.about or tool.about, *command.examples)
    for parameter in tool.parameters:
        if not command.takes(parameter):
            continue
        if parameter.name in command.positionals:
            _add_positional(parser, parameter)
        else:
            _add_option(parser, parameter)
    parser.add_argument("--json", action="store_true", help="reply as JSON, within the same budget")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the reply to a file")
    parser.add_argument("--profile", help="how tokens are counted: o200k, bytes4, claude, ...")
    if command.watch:
        parser.add_argument("--watch", action="store_true", help="show it again every two seconds, until Ctrl-C")
    return parser


def arguments_from(command: Command, tool: Tool, parsed: argparse.Namespace) -> dict[str, Any]:
    """What was typed, as arguments of the tool."""
    given: dict[str, Any] = dict(command.fixed or {})
    for parameter in tool.parameters:
        found = getattr(parsed, parameter.name, None)
        if found is None or parameter.name == "format":
            continue
        if parameter.kind == "string" and found == "-":
            found = _standard_input(parameter.name)
        given[parameter.name] = found
    if parsed.json:
        given["format"] = "json"
    return given


def _add_positional(parser: Parser, parameter: Parameter) -> None:
    words = "*" if parameter.name == "query" else None if parameter.required else "?"
    parser.add_argument(
        parameter.name, metavar=parameter.name.upper(), nargs=words, help=_help(parameter), action=_JoinedWords
    )


class _JoinedWords(argparse.Action):
    """Several words typed without quotes are one query."""

    def __call__(self, parser: object, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if isinstance(values, list):
            values = " ".join(values) if values else None
        setattr(namespace, self.dest, values)


def _add_option(parser: Parser, parameter: Parameter) -> None:
    plain = "--" + parameter.name.replace("_", "-")
    names = _OPTION_NAMES.get(parameter.name, (plain,))
    settings: dict[str, Any] = {"dest": parameter.name, "help": _help(parameter), "default": None}
    if parameter.kind == "boolean":
        settings["action"] = argparse.BooleanOptionalAction if parameter.default is None else "store_true"
    elif parameter.kind in ("strings", "integers"):
        settings |= {"action": _Collected, "metavar": parameter.name.upper()}
    else:
        settings["metavar"] = "N" if parameter.kind in ("integer", "number") else parameter.name.upper()
    parser.add_argument(*names, required=parameter.required, **settings)


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
