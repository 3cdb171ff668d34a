"""One of several upstream servers: its process, its handshake, its lists, and what it has not answered yet."""

import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

from haversack.errors import HaversackError, ToolFailed
from haversack.gateway.messages import Json, Pending, encoded, parsed, say
from haversack.gateway.requests import Requests
from haversack.gateway.settings import Server
from haversack.gateway.upstream.child import Child
from haversack.gateway.upstream.spool import Spool
from haversack.gateway.upstream.watchdog import Watchdog
from haversack.gateway.wrap import LONGEST_PARSED
from haversack.protocol.raw_lines import LongLine, RawLines

HANDSHAKE_SECONDS = 60.0
RESTARTS, RESTART_SECONDS = 3, 300.0
_numbers = itertools.count(1)


class Hub(Protocol):
    """The callbacks of a lane about its server."""

    def respond(self, lane: "Lane", line: bytes, message: Json, pending: Pending) -> None: ...
    def respond_spool(self, spool: Spool, pending: Pending) -> None: ...
    def ask_client(self, lane: "Lane", message: Json) -> None: ...
    def notify(self, lane: "Lane", message: Json, line: bytes) -> None: ...
    def listed(self, lane: "Lane") -> None: ...
    def ended(self, lane: "Lane", waiting: list[Pending], message: str) -> None: ...


class Lane:
    """A server behind the gateway, started again when it is needed after it ended."""

    def __init__(self, server: Server, watchdog: Watchdog, hub: Hub) -> None:
        self.server = server
        self._watchdog = watchdog
        self._hub = hub
        self._child: Child | None = None
        self._starts: deque[float] = deque(maxlen=RESTARTS + 1)
        self._waiting: dict[str, Pending] = {}
        self._lock = threading.Lock()
        self._greeting: Json = {}
        self.requests = Requests(self.send)
        self.capabilities: Json = {}
        self.instructions = ""
        self.tools: list[Json] = []
        self.is_listed = threading.Event()
        """Set when the tools of the server are known, or it is known that it has none to give."""
        self._ready = threading.Event()
        self._failure = ""

    @property
    def is_ready(self) -> bool:
        """Whether the handshake is over."""
        return self._ready.is_set()

    @property
    def failure(self) -> str:
        """Why the server does not run; empty where it does."""
        return self._failure if self._child is None else ""

    @property
    def name(self) -> str:
        return self.server.name

    def start(self) -> None:
        """Start the process. The thread that calls this must live as long as the gateway does."""
        self._starts.append(time.monotonic())
        environment = {**os.environ, **self.server.environment}
        self._ready.clear()
        self._failure = ""
        try:
            child = Child(
                self.server.command, self._watchdog, environment=environment, folder=self.server.folder or None
            )
        except ToolFailed as error:
            self._failure = str(error)
            say(f"{self.name}: {error}")
            self._ready.set()
            self.is_listed.set()
            return
        self._child = child
        threading.Thread(target=self._pump, args=(child,), daemon=True).start()
        if self._greeting:
            self.greet(self._greeting)

    def greet(self, params: Json) -> None:
        """Shake hands as the client did, and read the tools, without waiting for either."""
        self._greeting = params
        if self._child is not None:
            threading.Thread(target=self._shake_hands, args=(self._child,), daemon=True).start()

    def _shake_hands(self, child: Child) -> None:
        try:
            told = self.requests.ask("initialize", self._greeting, seconds=HANDSHAKE_SECONDS)
            self.capabilities = told.get("capabilities") or {}
            self.instructions = str(told.get("instructions") or "")
            self.send(encoded({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            self._ready.set()
            self.read_tools()
        except HaversackError as error:
            say(f"{self.name}: {error}")
            # The server may have ended meanwhile, and the next one begun: its handshake is not this one.
            if self._child is child:
                self._failure = self._failure or str(error)
        finally:
            if self._child is child:
                self._ready.set()
                self.is_listed.set()

    def read_tools(self) -> None:
        """Read the server's list of tools anew."""
        if "tools" in self.capabilities:
            self.tools = self.read_all("tools/list", "tools")
        self.is_listed.set()
        self._hub.listed(self)

    def read_all(self, method: str, member: str) -> list[Json]:
        """Every item of a list, whichever page it is on."""
        found: list[Json] = []
        params: Json = {}
        while True:
            page = self.requests.ask(method, params)
            held = page.get(member)
            found += [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []
            if not page.get("nextCursor"):
                return found
            params = {"cursor": page["nextCursor"]}

    def revive(self) -> None:
        """Start the server again if it ended; too many ends in a short time are an error."""
        if self._child is not None:
            return
        recent = [start for start in self._starts if time.monotonic() - start < RESTART_SECONDS]
        if len(recent) > RESTARTS:
            raise ToolFailed(
                f"the server {self.name} ended {len(recent)} times within five minutes", hint="see its standard error"
            )
        self.start()

    def request(self, message: Json, pending: Pending) -> None:
        """Send a request of the client under an id of the gateway's; waits for the handshake."""
        identifier = f"g{next(_numbers)}"
        with self._lock:
            self._waiting[identifier] = pending
        if not self._ready.wait(HANDSHAKE_SECONDS) or self._failure:
            with self._lock:
                self._waiting.pop(identifier, None)
            raise ToolFailed(f"the server {self.name} did not start: {self._failure or 'no handshake'}")
        if not self.send(encoded({**message, "id": identifier})) and self._take(identifier):
            raise ToolFailed(f"the server {self.name} has ended", hint="call again to start it anew")

    def cancel(self, pending: Pending, params: Mapping[str, Any]) -> bool:
        """Tell the server that a request of the client is cancelled; False when it is not here."""
        with self._lock:
            found = next((own for own, held in self._waiting.items() if held.identifier == pending.identifier), None)
            if found is None:
                return False
            del self._waiting[found]
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {**params, "requestId": found}}
        self.send(encoded(note))
        return True

    def send(self, line: bytes) -> bool:
        """Write a line to the server; False when it does not run."""
        child = self._child
        return child is not None and child.send(line)

    def stop(self) -> None:
        """End the server."""
        child = self._child
        if child is not None:
            child.stop()

    def _take(self, identifier: Any) -> Pending | None:
        with self._lock:
            return self._waiting.pop(identifier, None) if isinstance(identifier, str) else None

    def _pump(self, child: Child) -> None:
        for line in RawLines(child.output, LONGEST_PARSED):
            if isinstance(line, LongLine):
                self._spool(Spool(line.chunks()))
            else:
                self._receive(line)
        self._child = None
        code = child.stop()
        last = child.last_words()
        self._failure = f"it ended with exit code {code}" + (f". Its last lines:\n{last}" if last else "")
        self._ready.set()
        self.is_listed.set()
        self.requests.abandon()
        with self._lock:
            waiting = list(self._waiting.values())
            self._waiting.clear()
        self._hub.ended(self, waiting, f"the server {self.name} ended with exit code {code}. {last}".strip())

    def _spool(self, spool: Spool) -> None:
        if not spool.is_complete:
            # The server ended in the middle of it: the request still waits, and is answered with that.
            return
        pending = self._take(spool.request_id())
        if pending is None:
            with self._lock:
                calls = [own for own, held in self._waiting.items() if held.method == "tools/call"]
            pending = self._take(calls[0]) if len(calls) == 1 else None
        if pending is None:
            say(f"{self.name}: a line of {spool.size:,} bytes answers no request and was dropped")
        else:
            self._hub.respond_spool(spool, pending)

    def _receive(self, line: bytes) -> None:
        try:
            message = parsed(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            if line.strip():
                shown = line[:200].decode("utf-8", "replace").strip()
                say(f"{self.name}: not JSON on its standard output, dropped: {shown}")
            return
        line = line if line.endswith(b"\n") else line + b"\n"
        if "method" in message:
            if "id" in message:
                self._hub.ask_client(self, message)
            else:
                self._hub.notify(self, message, line)
        elif not self.requests.take_own(message) and (pending := self._take(message.get("id"))):
            self._hub.respond(self, line, message, pending)
