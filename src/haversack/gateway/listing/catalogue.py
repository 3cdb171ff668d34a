"""The tools that are known, and which of them the client is shown."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from haversack.errors import InvalidArgument
from haversack.gateway.desk import Desk
from haversack.gateway.listing import lists
from haversack.gateway.own_tools import MORE, definitions, own_names
from haversack.gateway.settings import Mode, Server

Json = dict[str, Any]
FRONT = (lists.CALL_READ, lists.CALL_TOOL, lists.TOOL_SCHEMA, lists.SEARCH_TOOLS)


class Catalogue:
    """Every tool by its name at this door, and the listing mode, which is decided once."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.mode: Mode = desk.settings.tools
        self.tools: dict[str, Json] = {}
        self.readable: set[str] = set()
        self._own = {name: name for name in own_names(())}
        self.is_known = False
        """Whether the whole list has been seen once."""

    def begin(self) -> None:
        """Forget the tools, because the list is read from its beginning."""
        self.tools, self.readable = {}, set()

    def learn(self, tools: Iterable[Any], server: Server) -> None:
        """Remember tools that a page of a server's list names."""
        for tool in tools:
            name = tool.get("name") if isinstance(tool, dict) else None
            if not isinstance(name, str) or not server.allows(name):
                continue
            self.tools[name] = tool
            meta, hints = tool.get("_meta"), tool.get("annotations")
            if isinstance(meta, dict) and ("ui" in meta or "ui/resourceUri" in meta):
                self._desk.ui_tools.add(name)
            # A hint of the server may only help where the user trusts the server.
            if server.trust and isinstance(hints, dict) and hints.get("readOnlyHint") is True:
                self.readable.add(name)
        names = own_names(self.tools)
        self._own = {listed: own for own, listed in names.items()}
        self._desk.more_name = names[MORE]

    @property
    def may_shrink(self) -> bool:
        """Whether the list is, or may turn out to be, a few tools in front of all others."""
        return self.mode in ("auto", "index", "search")

    def own_tool(self, name: Any, arguments: Any) -> str:
        """The own tool a call means; empty where the server has a tool of that name."""
        found = self._own.get(name, "") if isinstance(name, str) else ""
        if found and not self.is_known and not self._desk.own.knows(arguments):
            # The list has not been seen, so the name may be the server's own.
            return ""
        return found

    def is_front(self, name: Any) -> bool:
        """Whether a call means one of the tools in front."""
        return self.may_shrink and name in FRONT and name not in self.tools

    def own_definitions(self) -> list[Json]:
        """The own tools as they are listed; none beside a server without tools."""
        return definitions(self.tools, self._desk.delivery.caller.config.stash.hours) if self.tools else []

    def decide(self) -> None:
        """Settle what `auto` means, once."""
        desk = self._desk
        self.mode = lists.decided(
            self.mode,
            list(self.tools.values()),
            desk.delivery.profile,
            defers_tools=desk.client.defers_tools,
            total=desk.delivery.caller.config.budget.total,
            reads=self.readable,
        )

    def listing(self, rest: Mapping[str, Any], tokens: int) -> Json:
        """The whole list as one page, in the mode in force; `rest` are other members of the page."""
        tools = list(self.tools.values())
        own = self.own_definitions()
        if self.mode in ("index", "search"):
            front = lists.front(self.mode, tools, self.readable) if tools else []
            return {"tools": [*front, *own], **rest}
        text = json.dumps({"tools": tools, **rest}, ensure_ascii=False)
        edited = lists.edited_page(
            text, structured=self._desk.settings.structured, slim=self.mode == "slim", tokens=tokens, own=own
        )
        listed: Json = json.loads(edited)
        return listed

    def described(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The answer of `tool_schema` or `search_tools`."""
        if name == lists.TOOL_SCHEMA:
            wanted = str(arguments.get("name") or "")
            if wanted not in self.tools:
                raise InvalidArgument(f"no tool {wanted[:80]!r}", hint=f"tools: {', '.join(self.tools)}")
            tool = self.tools[wanted]
            shown = {key: tool[key] for key in ("name", "description", "inputSchema") if key in tool}
            return json.dumps(shown, ensure_ascii=False)
        query = str(arguments.get("query") or "")
        found = lists.found_tools(list(self.tools.values()), query)
        if not found:
            return f"No tool matches {query[:80]!r}. All names: {', '.join(self.tools)}"
        return "\n".join(map(lists.line, found))

    def inner_call(self, front: str, arguments: Mapping[str, Any]) -> tuple[str, Json]:
        """The tool that a call of `call_tool` or `call_read` names, and the arguments for it."""
        name, given = arguments.get("name"), arguments.get("arguments", {})
        if not isinstance(name, str) or not name:
            raise InvalidArgument("name is missing: which tool to call", hint='{"name": "...", "arguments": {...}}')
        if isinstance(given, str):
            try:
                given = json.loads(given or "{}")
            except ValueError as error:
                raise InvalidArgument(f"arguments is not JSON: {error}", hint="give an object") from None
        if not isinstance(given, dict):
            raise InvalidArgument("arguments is not an object", hint='{"name": "...", "arguments": {...}}')
        if front == lists.CALL_READ and name not in self.readable:
            raise InvalidArgument(f"{name[:80]!r} is not known to only read", hint=f"use {lists.CALL_TOOL}")
        return name, given
