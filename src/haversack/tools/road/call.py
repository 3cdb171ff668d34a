"""The one road: find, validate and run a tool, then deliver its outcome. Every door calls tools here and only here."""

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

from haversack.app import Caller
from haversack.errors import Conflict, HaversackError, InvalidArgument, NotFound, StoreUnwritable
from haversack.store.engine import persistently
from haversack.tokens import parse_max_tokens
from haversack.tools.declaration import ALIASES, Tool
from haversack.tools.registry import find
from haversack.tools.road.deliver import Asked, Origin, Reply, admit, deliver, deliver_failure
from haversack.tools.road.validation import validate, with_whole_characters
from haversack.values import record, replace


@record
class Options:
    """What a door asks of the road beyond the arguments: text without footer lines, for pasting."""

    footer: bool = True


USUAL = Options()


def call(caller: Caller, name: str, arguments: Mapping[str, object], options: Options = USUAL) -> Reply:
    """Run a tool and give its reply, which is never over the budget; anything wrong is a HaversackError."""
    tool = find(name)
    _admit(caller, tool)
    origin = Origin(tool.name, default_tokens=tool.default_tokens)
    asked: Asked | None = None
    try:
        arguments = with_whole_characters(arguments)
        origin = Origin(tool.name, arguments, tool.default_tokens)
        values = validate(tool, arguments)
        asked = _asked(values, options, fenced=caller.config.recall.fence)
        if tool.writes and not tool.atomic and tool.group != "memory":
            return _done(caller, tool, origin, values, asked)
        return persistently(partial(_done, caller, tool, origin, values, asked))
    except HaversackError as error:
        deliver_failure(caller, origin, error, asked or _wanted(arguments))
        raise


def _done(caller: Caller, tool: Tool, origin: Origin, values: dict[str, Any], asked: Asked) -> Reply:
    with caller.database.write() if tool.atomic else nullcontext():
        outcome = tool.run(caller, asked.level, values)
        return deliver(caller, origin, outcome, asked)


def _admit(caller: Caller, tool: Tool) -> None:
    try:
        admit(caller)
    except StoreUnwritable:
        return
    except (NotFound, Conflict):
        # The tools of the budget are the way to mend an account that is closed or unknown.
        if tool.group != "budget":
            raise


def _wanted(arguments: Mapping[str, object]) -> Asked:
    """The options of a reply from unchecked arguments, for the error they may end in."""
    asked = Asked(format="json" if arguments.get("format") == "json" else "text")
    for name in ("max_tokens", *(other for other, meant in ALIASES.items() if meant == "max_tokens")):
        with suppress(InvalidArgument):
            return replace(asked, max_tokens=parse_max_tokens(arguments.get(name)))
    return asked


def _asked(values: dict[str, Any], options: Options, *, fenced: bool) -> Asked:
    """The options of the reply, removed from a call's values; the remaining values are for the tool's function."""
    return Asked(
        max_tokens=values.pop("max_tokens"),
        level=values.pop("detail_level", "") or "standard",
        format=values.pop("format"),
        footer=options.footer,
        fenced=fenced,
    )


__all__ = ["Options", "Reply", "call"]
