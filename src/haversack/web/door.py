"""The HTTP door itself: every request passes the same checks in the same order, and then reaches its route."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import quote

from haversack.app import App
from haversack.errors import HaversackError
from haversack.mcp.journal import Journal
from haversack.tools.declaration import Tool, unknown_tool
from haversack.web import mcp_route, openapi, static_files, tool_routes
from haversack.web.calls import Calls
from haversack.web.exchange import (
    PLAIN,
    Answer,
    Exchange,
    Gone,
    Receive,
    Refused,
    Scope,
    Send,
    Streamed,
    as_json,
    error_body,
    status_of,
)
from haversack.web.guards import METADATA_PATH, Guards, Place, check_host, check_origin, check_size_and_type
from haversack.web.identity import Identity
from haversack.web.rights import scope_for
from haversack.web.sign_in import COOKIE_SECONDS, SignIn
from haversack.web.signed_tokens import SCOPE_PREFIX

API = "/api/v1/"
TOOLS = f"{API}tools"
BUDGET_HEADER, PROFILE_HEADER, FOOTER_HEADER = "haversack-budget", "haversack-profile", "haversack-footer"
UNLIMITED_METHODS = ("prompts/get", "resources/read", "completion/complete")
"""Methods that do not take a project, and so are not for a token that is limited to one."""

Route = Callable[[Exchange], Awaitable[Answer | Streamed]]


class Door:
    """An ASGI application for one store; `place` is set once the port is known."""

    def __init__(self, app: App, place: Place, tool_names: Sequence[str] = (), log_file: str = "") -> None:
        self._app = app
        self._calls = Calls(app, tool_names)
        self._journal = Journal(log_file)
        self._place = place
        self.sign_in = SignIn()
        self._guards = Guards(app.config, place, self.sign_in)
        self._mcp = mcp_route.McpRoute(self._calls, self._journal)
        self._routes: Mapping[str, Mapping[str, Route]] = {
            "/mcp": {"POST": self._message},
            METADATA_PATH: {"GET": self._metadata},
            f"{METADATA_PATH}/mcp": {"GET": self._metadata},
            TOOLS: {"GET": self._tool_list},
            f"{API}openapi.json": {"GET": self._openapi},
            "/session": {"POST": self._sign_in, "DELETE": self._sign_out},
            "/healthz": {"GET": self._health},
            "/metrics": {"GET": self._metrics},
            "/": {"GET": self._page},
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, receive, send)
        began = time.perf_counter()
        status = 499
        try:
            answer = await self._answer(exchange)
            status = 200 if isinstance(answer, Streamed) else answer.status
            await exchange.send(answer)
        except Gone:
            pass
        finally:
            took = (time.perf_counter() - began) * 1000
            self._calls.metrics.sent(status)
            if self._journal.is_kept:
                self._journal.note(f"{_shown(exchange)} {status} {exchange.who} {took:.1f} ms")

    async def _answer(self, exchange: Exchange) -> Answer | Streamed:
        try:
            check_host(exchange, self._place)
            check_origin(exchange, self._place)
            return await self._route(exchange)(exchange)
        except Refused as refused:
            return refused.answer
        except HaversackError as error:
            return Answer(status_of(error), error_body(error.code, error.message, error.hint))
        except Gone:
            raise
        except Exception:  # noqa: BLE001 - the one boundary of this door
            self._journal.unexpected(_shown(exchange))
            return Answer(500, error_body("internal_error", "a fault of the server; its log says more"))

    def _route(self, exchange: Exchange) -> Route:
        path = exchange.path
        if path.startswith(f"{TOOLS}/"):
            tool = self._calls.tool(path[len(TOOLS) + 1 :])
            return self._allowed(exchange, self._tool_routes(tool)) if tool else self._no_such_tool
        if path.startswith("/static/") and path[8:] in static_files.files():
            return self._allowed(exchange, {"GET": self._static})
        routes = self._routes.get(path)
        if routes is None:
            raise Refused(404, "not_found", "there is nothing at this address", hint=f"see {API}openapi.json")
        return self._allowed(exchange, routes)

    def _allowed(self, exchange: Exchange, routes: Mapping[str, Route]) -> Route:
        method = "GET" if exchange.method == "HEAD" else exchange.method
        if method not in routes:
            raise Refused(
                405, "method_not_allowed", f"{method[:20]} is not taken here", headers=(("allow", ", ".join(routes)),)
            )
        return routes[method]

    async def _no_such_tool(self, exchange: Exchange) -> Answer:
        """The answer for an unknown tool; only an identified caller is told the nearest names."""
        try:
            await self._guards.identity(exchange)
        except Refused:
            raise Refused(404, "unknown_tool", "there is no such tool", hint=f"{TOOLS} lists them") from None
        known = await self._calls.in_thread(exchange, self._calls.tools)
        raise unknown_tool(exchange.path[len(TOOLS) + 1 :], list(known))

    def _tool_routes(self, tool: Tool) -> Mapping[str, Route]:
        async def get(exchange: Exchange) -> Answer:
            check_size_and_type(exchange, needs_json=False)
            return await self._run(exchange, tool, tool_routes.from_query(exchange, tool))

        async def post(exchange: Exchange) -> Answer:
            check_size_and_type(exchange, needs_json=True)
            return await self._run(exchange, tool, None)

        return {"POST": post} if tool.writes else {"GET": get, "POST": post}

    async def _run(self, exchange: Exchange, tool: Tool, arguments: Mapping[str, object] | None) -> Answer:
        who = await self._guards.identity(exchange)
        self._guards.check_scope(who, scope_for(tool, {}))
        if arguments is None:
            arguments = tool_routes.from_body(await exchange.body())
        self._guards.check_scope(who, scope_for(tool, arguments))
        self._guards.check_rate(who, writes=tool.writes)
        caller = self._calls.caller(who, *self._named(exchange))
        given = arguments
        footer = _header(exchange, FOOTER_HEADER)
        if footer not in ("", "on", "off"):
            raise Refused(400, "invalid_argument", f"{FOOTER_HEADER} is {footer!r}", hint="send on or off")
        return await self._calls.in_thread(
            exchange, lambda: tool_routes.run(self._calls, who, caller, tool, given, footer=footer != "off")
        )

    def _named(self, exchange: Exchange) -> tuple[str, str]:
        """The account and the profile a request names."""
        return _header(exchange, BUDGET_HEADER), _header(exchange, PROFILE_HEADER)

    async def _reader(self, exchange: Exchange, scope: str = "read") -> Identity:
        check_size_and_type(exchange, needs_json=False)
        who = await self._guards.identity(exchange)
        self._guards.check_scope(who, scope)
        self._guards.check_rate(who, writes=False)
        return who

    async def _message(self, exchange: Exchange) -> Answer | Streamed:
        check_size_and_type(exchange, needs_json=True)
        mcp_route.check_accept(exchange)
        who = await self._guards.identity(exchange)
        message = mcp_route.read(exchange, await exchange.body())
        if message is None:
            return Answer(202, b"")
        writes = self._check_message(who, message)
        self._guards.check_rate(who, writes=writes)
        return await self._mcp.answer(exchange, message, self._calls.offer(who, *self._named(exchange)))

    def _check_message(self, who: Identity, message: mcp_route.Message) -> bool:
        """Whether the message writes; refused where the caller may not."""
        if who.is_limited and message.method in UNLIMITED_METHODS:
            raise Refused(403, "forbidden", f"{message.method} is not for a token with a limit", hint="call tools")
        name, arguments = message.params.get("name"), message.params.get("arguments")
        if message.method != "tools/call" or not isinstance(name, str):
            return False
        tool = self._calls.tool(name)
        if tool is None:
            return False  # the answer says so
        self._guards.check_scope(who, scope_for(tool, arguments if isinstance(arguments, dict) else {}))
        return tool.writes

    async def _metadata(self, exchange: Exchange) -> Answer:
        settings = self._app.config.http
        if not settings.issuers:
            raise Refused(404, "not_found", "no authorization server is configured", hint="see http.issuers")
        return as_json(
            {
                "resource": settings.resource,
                "authorization_servers": list(settings.issuers),
                "scopes_supported": [f"{SCOPE_PREFIX}read"],
                "bearer_methods_supported": ["header"],
                "resource_name": "Haversack",
            }
        )

    async def _tool_list(self, exchange: Exchange) -> Answer:
        await self._reader(exchange)
        return await self._calls.in_thread(exchange, lambda: tool_routes.listed(self._calls))

    async def _openapi(self, exchange: Exchange) -> Answer:
        await self._reader(exchange)
        return await self._calls.in_thread(
            exchange, lambda: as_json(openapi.document(list(self._calls.tools().values()), self._place.public_url))
        )

    async def _sign_in(self, exchange: Exchange) -> Answer:
        """Answer with a cookie for a sign-in code, or for a token in the Authorization header."""
        check_size_and_type(exchange, needs_json=True)
        given = tool_routes.from_body(await exchange.body())
        code = given.get("code")
        if isinstance(code, str) and code:
            cookie = self.sign_in.redeem(code)
            if cookie is None:
                raise self._guards.unrecognized(exchange, tried=True)
        else:
            cookie = self.sign_in.cookie(await self._guards.identity(exchange))
        return self._cookie(cookie, COOKIE_SECONDS)

    async def _sign_out(self, exchange: Exchange) -> Answer:
        await self._guards.identity(exchange)
        self.sign_in.end(exchange.cookie(self._place.cookie_name))
        return self._cookie("", 0)

    def _cookie(self, value: str, seconds: int) -> Answer:
        text = f"{self._place.cookie_name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}"
        if self._place.is_encrypted:
            text += "; Secure"
        return Answer(204, b"", headers=(("set-cookie", text),))

    async def _health(self, exchange: Exchange) -> Answer:
        return Answer(200, b"ok", PLAIN)

    async def _metrics(self, exchange: Exchange) -> Answer:
        await self._reader(exchange, "admin")
        return Answer(200, self._calls.metrics.text(self._calls.waiting).encode(), "text/plain; version=0.0.4")

    async def _page(self, exchange: Exchange) -> Answer:
        return static_files.sent(exchange, "index.html")

    async def _static(self, exchange: Exchange) -> Answer:
        return static_files.sent(exchange, exchange.path[8:])

    def end_streams(self) -> None:
        """End the open streams."""
        self._mcp.close()

    def close(self) -> bool:
        """Wait for the running calls; True when all of them ended."""
        return self._calls.finish()


def _header(exchange: Exchange, name: str) -> str:
    value = exchange.headers.get(name, "")
    if len(value) > 80:
        raise Refused(400, "invalid_argument", f"{name} has {len(value)} characters", hint="none is longer than 80")
    return value


def _shown(exchange: Exchange) -> str:
    """A request as the journal names it: one line, whatever is in the address."""
    return f"{exchange.method[:10]} {quote(exchange.path, safe='/')[:200]}"
