"""The tools as a JSON interface: the body of a reply is exactly the reply's text, its facts are headers."""

import json
from collections.abc import Mapping

from haversack.app import Caller
from haversack.errors import HaversackError, InvalidArgument
from haversack.tokens import parse_max_tokens
from haversack.tools.declaration import Tool
from haversack.tools.road.call import Options
from haversack.tools.road.fit import Reply
from haversack.web.calls import Calls
from haversack.web.exchange import JSON, MARKDOWN, Answer, Exchange, Headers, Refused, as_json, error_body, status_of
from haversack.web.identity import Identity
from haversack.web.openapi import parameters_schema
from haversack.web.rights import scope_for


def listed(calls: Calls) -> Answer:
    """Every tool with its parameters, and whether it writes."""
    described = [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.about,
            "group": tool.group,
            "writes": tool.writes,
            "scope": scope_for(tool, {}),
            "parameters": parameters_schema(tool),
        }
        for tool in calls.tools().values()
    ]
    return as_json({"tools": described})


def from_query(exchange: Exchange, tool: Tool) -> Mapping[str, object]:
    """The arguments in the address; only lists may be given by repeating a name."""
    lists = {parameter.name for parameter in tool.parameters if parameter.kind in ("strings", "integers")}
    found: dict[str, object] = {}
    for name, value in exchange.query():
        held = found.get(name)
        if held is None:
            found[name] = value
        elif name not in lists:
            raise Refused(400, "invalid_argument", f"{name[:80]} is given twice", hint="give it once")
        elif isinstance(held, list):
            held.append(value)
        else:
            found[name] = [held, value]
    return found


def from_body(content: bytes) -> Mapping[str, object]:
    """The arguments in a JSON body; an empty one is no arguments."""
    if not content.strip():
        return {}
    try:
        arguments = json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "invalid_json", f"the body is not JSON: {str(error)[:200]}") from None
    if not isinstance(arguments, dict):
        raise Refused(400, "invalid_json", "the body is not a JSON object", hint="send the arguments by name")
    return arguments


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:80]!r} is given twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def run(
    calls: Calls, who: Identity, caller: Caller, tool: Tool, arguments: Mapping[str, object], *, footer: bool
) -> Answer:
    """A tool's reply, or its error with the status it has; this blocks."""
    try:
        reply = calls.run(who, caller, tool, arguments, Options(footer=footer))
    except HaversackError as error:
        return failure(caller, error, arguments)
    is_json = str(arguments.get("format", "")).strip() == "json"
    return Answer(200, reply.text.encode(), JSON if is_json else MARKDOWN, _facts(reply))


def failure(caller: Caller, error: HaversackError, arguments: Mapping[str, object]) -> Answer:
    """An error within the budget of the call, if it has one: first its hint is left out, then words."""
    headers: Headers = (("retry-after", "1"),) if error.code == "store_busy" else ()
    body = error_body(error.code, error.message, error.hint)
    asked = next((arguments[name] for name in ("max_tokens", "token_budget", "tokens") if name in arguments), None)
    try:
        budget = parse_max_tokens(asked)
    except InvalidArgument:
        budget = None
    if budget and caller.profile.count(body.decode()) > budget:
        body = _shortened(caller, error, budget)
    return Answer(status_of(error), body, headers=headers)


def _shortened(caller: Caller, error: HaversackError, budget: int) -> bytes:
    body = error_body(error.code, error.message)
    most = len(error.message)
    while caller.profile.count(body.decode()) > budget and most:
        most = most * 2 // 3
        body = error_body(error.code, f"{error.message[:most].rstrip()}…")
    return body


def _facts(reply: Reply) -> Headers:
    """The facts of a reply as headers, for programs that do not read its footer."""
    facts = [("haversack-tokens", str(reply.tokens))]
    if reply.total:
        facts += [("haversack-shown", str(reply.shown)), ("haversack-total", str(reply.total))]
    if reply.left:
        facts += [
            ("haversack-more", reply.left.key),
            ("haversack-left", str(reply.left.items)),
            ("haversack-left-tokens", str(reply.left.price)),
        ]
    ids = [name[1:] for name in reply.names if name.startswith("#") and name[1:].isdigit()]
    if ids and len(ids) <= 500:
        facts.append(("haversack-ids", ",".join(ids)))
    return tuple(facts)
