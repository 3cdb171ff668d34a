"""Running tools for HTTP callers, in threads, within their rights."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from haversack.app import App, Caller
from haversack.errors import HaversackError
from haversack.mcp.methods import Offer
from haversack.mcp.pool import Pool
from haversack.mcp.tool_sets import asked_for, is_selected
from haversack.tools.declaration import Tool
from haversack.tools.registry import find, look_up, tools
from haversack.tools.road.call import USUAL, Options, call
from haversack.tools.road.fit import Reply
from haversack.web.exchange import Exchange, Gone, Refused
from haversack.web.identity import Identity
from haversack.web.metrics import Metrics
from haversack.web.rights import Limits
from haversack.worklog.guesses import OwnKeys

T = TypeVar("T")

QUEUE = 64
PATIENCE_SECONDS = 60.0
PAGE_TOOLS = ("list_observations", "observation_history", "list_sessions", "pack_candidates", "memory_figures")
"""Tools the page needs beside those a client is offered."""
MOST_OFFERS = 256
MOST_IDENTITIES = 1_000


class Calls:
    """The threads that run tools, and the tools there are."""

    def __init__(self, app: App, names: Sequence[str]) -> None:
        self._app = app
        self._asked = asked_for(names)
        self._pool = Pool(app.config.server.workers, QUEUE)
        self._limits = Limits()
        self._tools: Mapping[str, Tool] | None = None
        self._offers: OrderedDict[tuple[str, ...], Offer] = OrderedDict()
        self._keys: OrderedDict[str, OwnKeys] = OrderedDict()
        self._lock = threading.Lock()
        self.metrics = Metrics()
        self.waiting = 0

    def tools(self) -> Mapping[str, Tool]:
        """The tools that can be called over HTTP: those asked for at the start, and those the page needs."""
        if self._tools is None:
            self._tools = {name: tool for name, tool in tools().items() if self._is_offered(tool)}
        return self._tools

    def tool(self, name: str) -> Tool | None:
        """One of them by name; the others need not be loaded to find it."""
        if self._tools is not None:
            return self._tools.get(name)
        found = look_up(name)
        if found is None:
            self._pool.offer(self._load)  # cached, so that the next unknown name costs nothing
        return found if found and self._is_offered(found) else None

    def _load(self) -> None:
        self.tools()

    def _is_offered(self, tool: Tool) -> bool:
        return is_selected(tool, self._asked) or tool.name in PAGE_TOOLS

    def caller(self, who: Identity, account: str, profile: str) -> Caller:
        """A caller with the account and profile its request names; without an account nothing is debited."""
        keys = self._keys.setdefault(who.id, OwnKeys())
        if len(self._keys) > MOST_IDENTITIES:
            self._keys.popitem(last=False)
        return self._app.caller(
            account=account, profile=profile, namespace=who.namespace, keys=keys, member=who.member, owner=who.id
        )

    def offer(self, who: Identity, account: str, profile: str) -> Offer:
        """The tools an MCP client is offered, cached while the client is active."""
        key = (who.id, who.scope, who.project, repr(who.namespace), who.member, account, profile)
        with self._lock:
            if key not in self._offers:

                def run(caller: Caller, name: str, arguments: Mapping[str, object]) -> Reply:
                    return self.run(who, caller, find(name), arguments)

                self._offers[key] = Offer(self.caller(who, account, profile), self._asked, run)
                if len(self._offers) > MOST_OFFERS:
                    self._offers.popitem(last=False)
            self._offers.move_to_end(key)
            return self._offers[key]

    def run(
        self, who: Identity, caller: Caller, tool: Tool, arguments: Mapping[str, object], options: Options = USUAL
    ) -> Reply:
        """A tool's reply, within the caller's rights; this blocks."""
        began = time.perf_counter()
        try:
            allowed = self._limits.applied(who, caller, tool, arguments)
            reply = self._limits.checked(who, caller, call(caller, tool.name, allowed, options))
        except HaversackError:
            self.metrics.failed(tool.name, time.perf_counter() - began)
            raise
        took = time.perf_counter() - began
        self.metrics.answered(tool.name, took, tokens=reply.tokens, left=reply.left.price if reply.left else None)
        return reply

    async def in_thread(self, exchange: Exchange, work: Callable[[], T]) -> T:
        """The result of `work`, run in one of the threads; it is not started for a client that has disconnected."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self.begin(lambda: _finish(loop, done, work))
        gone = asyncio.ensure_future(_departure(exchange))
        self.waiting += 1
        try:
            await asyncio.wait((done, gone), return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                done.cancel()
                raise Gone
            return done.result()
        finally:
            self.waiting -= 1
            gone.cancel()

    def begin(self, work: Callable[[], None]) -> None:
        """Hand work to the threads; a full queue is refused."""
        if not self._pool.offer(work):
            raise Refused(
                503, "busy", f"{QUEUE} calls are waiting already", hint="try again in a second",
                headers=(("retry-after", "1"),),
            )  # fmt: skip

    def finish(self) -> bool:
        """Wait for the running calls; True when all of them ended."""
        self._pool.drop()
        return self._pool.finish(PATIENCE_SECONDS)


def _finish(loop: asyncio.AbstractEventLoop, done: "asyncio.Future[T]", work: Callable[[], T]) -> None:
    if done.cancelled():
        return
    result: T | None = None
    failure: Exception | None = None
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 - passed on to the request that waits for it
        failure = error

    def tell() -> None:
        if done.done():
            return
        if failure is not None:
            done.set_exception(failure)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    try:
        loop.call_soon_threadsafe(tell)
    except RuntimeError:
        return  # the loop has ended, so nobody waits for the result


async def _departure(exchange: Exchange) -> None:
    """Wait until the client disconnects."""
    while (await exchange.receive())["type"] != "http.disconnect":
        pass
