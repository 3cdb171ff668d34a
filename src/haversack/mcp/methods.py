"""The tools, prompts and resources of a server, and the answers to the methods about them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from haversack.app import Caller
from haversack.errors import HaversackError, InvalidArgument, NotFound, UnknownTool
from haversack.mcp.instructions import instructions
from haversack.mcp.requests import REVISIONS, Request
from haversack.mcp.tool_sets import SETS, asked_for, groups_of, is_selected, select_tools
from haversack.protocol.lines import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, Json, ProtocolError
from haversack.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from haversack.tools.road.fit import Reply

    Run = Callable[[Caller, str, Mapping[str, object]], Reply]

SERVER = {"name": "haversack", "title": "Haversack", "version": __version__}
FIT_KEY = "haversack/fit"
ERROR_KEY = "haversack/error"


class Offer:
    """The tools, prompts and resources of one server; `run` is what calls a tool, where that is not `call` itself."""

    def __init__(self, caller: Caller, names: Sequence[str], run: "Run | None" = None) -> None:
        self._caller = caller
        self._run = run
        self._asked = asked_for(names)
        self._groups = groups_of(self._asked)
        self._listed: list[Json] | None = None
        self._measured = False

    def _definitions(self) -> list[Json]:
        """The tool definitions, with the present hints where hints are on."""
        from haversack.mcp.definitions import definition

        if self._listed is not None and not self.changes:
            return self._listed
        selected = select_tools(self._asked)
        if not self.changes:
            return [definition(tool) for tool in selected]
        from haversack.tools.budget.account import described

        return [definition(tool) | {"description": described(self._caller, tool)} for tool in selected]

    @property
    def changes(self) -> bool:
        """Whether the tool definitions change as the budget is spent."""
        return self._caller.config.server.dynamic_hints

    def has_changed(self) -> bool:
        """Whether the tool definitions have changed since the client last read them."""
        with suppress(HaversackError):
            return self.changes and self._listed is not None and self._listed != self._definitions()
        return False

    def measure(self) -> None:
        """Debit the tool list and the instructions once, as part of the system prompt."""
        if self._measured or self._listed is None:
            return
        self._measured = True
        # The call itself has reported what is wrong with the store or the account.
        with suppress(HaversackError):
            if not self._caller.account:
                return
            from json import dumps

            told = dumps(self._listed, ensure_ascii=False, separators=(",", ":"))
            tokens = self._caller.profile.count(told) + self._caller.profile.count(self.instructions)
            self._caller.ledger.measure_system(self._caller.account, tokens)

    @property
    def instructions(self) -> str:
        return instructions(self._groups)

    @property
    def capabilities(self) -> Json:
        changing = {"listChanged": True} if self.changes else {}
        return {"tools": changing, "prompts": {}, "resources": {}, "completions": {}, "logging": {}}

    def handshake(self, revision: str) -> Json:
        """The answer to `initialize`."""
        return {
            "protocolVersion": revision,
            "capabilities": self.capabilities,
            "serverInfo": SERVER,
            "instructions": self.instructions,
        }

    def discovery(self, _: Request) -> Json:
        """The answer to `server/discover`."""
        return {
            "supportedVersions": list(REVISIONS),
            "capabilities": self.capabilities,
            "instructions": self.instructions,
        }

    def tool_list(self, request: Request) -> Json:
        _refuse_cursor(request)
        self._listed = self._definitions()
        return {"tools": self._listed}

    def prompt_list(self, request: Request) -> Json:
        from haversack.tools.prompts import prompts

        _refuse_cursor(request)
        listed = [
            {
                "name": each.name,
                "title": each.title,
                "description": each.about,
                "arguments": [
                    {"name": one.name, "description": one.about, "required": one.required} for one in each.arguments
                ],
            }
            for each in prompts().values()
            if each.group in self._groups
        ]
        return {"prompts": listed}

    def resource_list(self, request: Request) -> Json:
        """The answer to `resources/list`."""
        return {"resources": _resources(request, "uri", is_template=False)}

    def template_list(self, request: Request) -> Json:
        """The answer to `resources/templates/list`."""
        return {"resourceTemplates": _resources(request, "uriTemplate", is_template=True)}

    def tool_call(self, request: Request) -> Json:
        """A tool's reply, or its error as a result a model can act on."""
        from haversack.tools.road.call import call

        name, arguments = request.text("name"), request.object("arguments")
        self._check_offered(name)
        try:
            return _fitted((self._run or call)(self._caller, name, arguments))
        except HaversackError as error:
            return failed(error, as_json=arguments.get("format") == "json")

    def _check_offered(self, name: str) -> None:
        from haversack.tools.declaration import unknown_tool
        from haversack.tools.registry import find

        try:
            tool = find(name)
        except UnknownTool:
            offered = [tool.name for tool in select_tools(self._asked)]
            raise ProtocolError(INVALID_PARAMS, str(unknown_tool(name, offered))) from None
        if is_selected(tool, self._asked):
            return
        if tool.terminal_only:
            raise ProtocolError(INVALID_PARAMS, f"{name} is for the command line only")
        chosen = tool.group if tool.group in SETS else name
        raise ProtocolError(INVALID_PARAMS, f"{name} is not offered here. start the server with --tools {chosen}")

    def prompt_text(self, request: Request) -> Json:
        from haversack.tools.prompts import prompts, written

        name = request.text("name")
        if name in prompts() and prompts()[name].group not in self._groups:
            raise ProtocolError(
                INVALID_PARAMS, f"{name} is not offered here. start the server with --tools {prompts()[name].group}"
            )
        with _refusals():
            text = written(self._caller, name, request.object("arguments"))
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": prompts()[name].about, "messages": [message]}

    def resource_text(self, request: Request) -> Json:
        from haversack.tools.resources import read

        address = request.text("uri")
        with _refusals(not_found=INVALID_PARAMS if request.stateless else RESOURCE_NOT_FOUND, about={"uri": address}):
            reply = read(self._caller, address)
        content = {"uri": address, "mimeType": "text/plain", "text": reply.text}
        return {"contents": [content], "_meta": {FIT_KEY: _facts(reply)}}

    def completion(self, request: Request) -> Json:
        from haversack.tools.completions import complete

        argument = request.object("argument")
        name, typed = argument.get("name"), argument.get("value")
        if not isinstance(name, str) or not isinstance(typed, str):
            raise ProtocolError(INVALID_PARAMS, "argument needs name and value, both texts")
        with _refusals():
            values, total = complete(self._caller, name, typed)
        return {"completion": {"values": values, "total": total, "hasMore": total > len(values)}}


def failed(error: HaversackError, *, as_json: bool = False) -> Json:
    """An error as a tool's result: the code, what is wrong, what to do."""
    return {
        "content": [{"type": "text", "text": error.written(as_json=as_json)}],
        "isError": True,
        "_meta": {ERROR_KEY: {"code": error.code, "hint": error.hint}},
    }


@contextmanager
def _refusals(*, not_found: int = INVALID_PARAMS, about: Json | None = None) -> Iterator[None]:
    """Errors of a prompt or a resource as protocol errors; `about` names what is missing."""
    try:
        yield
    except NotFound as error:
        raise ProtocolError(not_found, str(error), about) from None
    except InvalidArgument as error:
        raise ProtocolError(INVALID_PARAMS, str(error)) from None
    except HaversackError as error:
        raise ProtocolError(INTERNAL_ERROR, str(error), {"code": error.code}) from None


def _resources(request: Request, address_name: str, *, is_template: bool) -> list[Json]:
    """The resources with a fixed address, or those with a variable in it, as they are listed."""
    from haversack.tools.resources import resources

    _refuse_cursor(request)
    return [
        {address_name: each.address, "name": each.name, "description": each.about, "mimeType": "text/plain"}
        for each in resources()
        if bool(each.variable) is is_template
    ]


def _refuse_cursor(request: Request) -> None:
    # Lists are short enough for one page, so no cursor was ever given out.
    if request.params.get("cursor") is not None:
        raise ProtocolError(INVALID_PARAMS, "unknown cursor: the list has one page")


def _fitted(reply: "Reply") -> Json:
    return {"content": [{"type": "text", "text": reply.text}], "_meta": {FIT_KEY: _facts(reply)}}


def _facts(reply: "Reply") -> Json:
    facts: Json = {"tokens": reply.tokens}
    if reply.total:
        facts |= {"shown": reply.shown, "total": reply.total}
    if reply.left:
        facts |= {"more": reply.left.key or None, "left": reply.left.items, "left_tokens": reply.left.price}
    return facts
