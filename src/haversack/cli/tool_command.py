"""Running the command of a tool: parse it, call the tool, and print the reply or write it to a file."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from haversack import private_files, terminal
from haversack.app import open_caller
from haversack.cli.console import CommandConsole
from haversack.cli.options import arguments_from, parser_for
from haversack.config import load
from haversack.errors import HaversackError
from haversack.tools.declaration import Command, Tool
from haversack.tools.road.call import Options, call
from haversack.values import replace

if TYPE_CHECKING:
    from argparse import Namespace

    from haversack.app import Caller
    from haversack.tools.road.fit import Reply

WATCH_SECONDS = 2
PICTURE_TOKENS = 10**9
"""A picture is written whole."""


def run(command: Command, tool: Tool, typed: list[str]) -> int:
    """Call the tool with the typed arguments, print its reply and return the exit code."""
    parsed = None
    try:
        parsed = parser_for(command, tool).parse_args(typed)
        return _run(command, tool, parsed)
    except HaversackError as error:
        from haversack.cli.wording import reworded

        reworded(error, command, tool)
        if parsed is not None:
            _shorten(error, parsed)
        raise error from None


def _shorten(error: HaversackError, parsed: "Namespace") -> None:
    """Cut the error to the budget given with --max-tokens."""
    from haversack.cli.wording import printed
    from haversack.tokens import Budget, profile_named
    from haversack.tokens.budget import parse_max_tokens
    from haversack.tools.road.failures import shorten

    with suppress(HaversackError):  # a budget or a profile that is wrong is the error itself
        tokens = parse_max_tokens(getattr(parsed, "max_tokens", None))
        profile = profile_named(getattr(parsed, "profile", None) or load().tokens.profile)
        shorten(error, Budget(tokens, profile), lambda each: printed(each, as_json=parsed.json))


def _run(command: Command, tool: Tool, parsed: "Namespace") -> int:
    config = load()
    if getattr(parsed, "profile", None):
        config = replace(config, tokens=replace(config.tokens, profile=parsed.profile))
    arguments = arguments_from(command, tool, parsed)
    as_table = command.table and terminal.is_for_people() and not parsed.json
    if as_table:
        arguments["format"] = "json"
    if command.draws and getattr(parsed, "svg", None):
        return _draw_picture(open_caller(config), tool, arguments, parsed.svg)
    if command.draws and not parsed.json and (parsed.draw or (terminal.is_for_people() and not parsed.output)):
        arguments["drawing"] = "text"
    caller = open_caller(config)
    console = caller.console = CommandConsole(command, tool)
    try:
        reply = call(caller, tool.name, arguments, Options(footer=not command.paste))
        while getattr(parsed, "watch", False):
            terminal.show_afresh(reply.text)
            time.sleep(WATCH_SECONDS)
            reply = call(caller, tool.name, arguments)
    finally:
        console.close()
        caller.app.close()
    if console.wrote:
        terminal.say(reply.text)
    elif as_table:
        _show_table(reply.text, command)
    elif getattr(parsed, "output", None):
        private_files.write(parsed.output, [reply.text if reply.text.endswith("\n") else reply.text + "\n"])
    else:
        terminal.show(reply.text)
    if command.paste and not parsed.json:
        terminal.say(tally(reply, "memories"))
    return console.exit_code


def _draw_picture(caller: "Caller", tool: Tool, arguments: dict[str, Any], path: str) -> int:
    """Write the picture to a file; it is complete whatever the budget, which limits only the printed reply."""
    arguments = {**arguments, "drawing": "svg", "format": "text", "max_tokens": PICTURE_TOKENS}
    try:
        reply = call(caller, tool.name, arguments, Options(footer=False))
    finally:
        caller.app.close()
    private_files.write(path, [reply.text.rstrip("\n") + "\n"])
    terminal.say(f"drew {path}")
    return 0


def _show_table(text: str, command: Command) -> None:
    import json

    facts = json.loads(text)
    rows = next((value for value in facts.values() if isinstance(value, list)), [])
    if not rows:
        terminal.show(facts.get("reason", "Nothing."))
        return
    terminal.show(terminal.table(rows, command.table, terminal.width()))
    if more := facts.get("more"):
        terminal.show(f"Showing {facts['shown']:,} of {facts['total']:,}. The rest: haversack more {more['key']}")


def tally(reply: "Reply", noun: str) -> str:
    """A line with the counts of a reply and what it left out, for replies printed without their footer."""
    said = f"{reply.shown:,} of {reply.total:,} {noun}, ~{reply.tokens:,} tokens"
    if reply.left is None:
        return said
    way = f"haversack more {reply.left.key}" if reply.left.key else "not kept, as the store cannot be written"
    return f"{said}; {reply.left.items:,} left out, ~{reply.left.price:,} tokens: {way}"
