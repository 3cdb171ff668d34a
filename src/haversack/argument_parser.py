"""The parser of every command: help as wide as the terminal, and errors that say what to type instead."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from haversack import terminal
from haversack.errors import WrongUsage


class _Wanted(BaseException):
    """Carries a parser to the code that asked for it; not an error, so that no command catches it."""

    def __init__(self, parser: "Parser") -> None:
        super().__init__()
        self.parser = parser


class Parser(argparse.ArgumentParser):
    """A parser whose errors name the nearest option and end with the exit code for wrong usage."""

    is_wanted = False
    """Whether the parser itself is asked for, by `parser_of`, and not what it reads."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """The parsed arguments; unknown ones are an error."""
        if Parser.is_wanted:
            raise _Wanted(self)
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._suggestions(unknown)}")
        return parsed

    def error(self, message: str) -> NoReturn:
        """End the command with an error about its usage."""
        raise WrongUsage(message, hint=f"see `{self.prog} --help`")

    def _suggestions(self, unknown: Sequence[str]) -> str:
        from difflib import get_close_matches

        near = [
            match
            for word in unknown
            if word.startswith("-")
            for match in get_close_matches(word.partition("=")[0], long_options(self), n=2, cutoff=0.65)
        ]
        return f" (did you mean {' or '.join(near)}?)" if near else ""


def parser_of(run: Callable[[list[str]], object]) -> Parser | None:
    """The parser that a command's function would read `--help` with, without running it; None if it has none."""
    Parser.is_wanted = True
    try:
        run(["--help"])
    except _Wanted as found:
        return found.parser
    finally:
        Parser.is_wanted = False
    return None


def long_options(parser: argparse.ArgumentParser) -> list[str]:
    """The options of a parser that begin with two dashes."""
    return [name for action in parser._actions for name in action.option_strings if name.startswith("--")]


def formatter(prog: str) -> argparse.HelpFormatter:
    """Help as wide as the terminal; argparse would load a whole module to find that out, for every option."""
    return argparse.RawDescriptionHelpFormatter(prog, width=max(terminal.width() - 2, 60))


def plain_parser(name: str, about: str, *examples: str, **settings: Any) -> Parser:
    """The parser of a command, without options yet; `name` is what is typed after `haversack`."""
    lines = "\n".join(f"  {line}" for line in examples)
    return Parser(
        prog=f"haversack {name}",
        description=about,
        epilog=f"examples:\n{lines}" if lines else None,
        formatter_class=formatter,
        allow_abbrev=False,
        **settings,
    )
