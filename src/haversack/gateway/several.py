"""`haversack gateway`: several servers behind one door."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any

from haversack.errors import HaversackError, InvalidArgument, ToolFailed
from haversack.gateway.desk import Desk
from haversack.gateway.greetings import greeting, unspoken
from haversack.gateway.listing import lists
from haversack.gateway.listing.catalogue import FRONT, Catalogue
from haversack.gateway.listing.last_lists import LastLists
from haversack.gateway.listing.names import door_names, prefixed
from haversack.gateway.messages import Json, Pending, as_bytes, asked_tokens, encoded, parsed
from haversack.gateway.own_tools import FIND_IN, MORE, failed, text_result
from haversack.gateway.requests import key_of
from haversack.gateway.routes import Routes, task_span
from haversack.gateway.settings import Server
from haversack.gateway.upstream.lane import Lane
from haversack.gateway.upstream.spool import Spool, ends_of
from haversack.gateway.upstream.watchdog import Watchdog
from haversack.gateway.wrap import LONGEST_PARSED, End
from haversack.protocol.lines import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from haversack.protocol.raw_lines import LongLine, RawLines
from haversack.protocol.spans import members, spliced
from haversack.text.clipping import word_end
from haversack.values import replace

LIST_SECONDS = 10.0
"""How long a list waits for servers that were never seen before."""
LONGEST_INSTRUCTIONS = 2_048
_TO_ALL = frozenset(("notifications/roots/list_changed", "notifications/progress"))


class Gateway:
    """One client and several servers; ids, names and resources are routed between them."""

    def __init__(self, desk: Desk, servers: list[Server], watchdog: Watchdog, source: int, last: LastLists) -> None:
        self._desk = desk
        self._source = source
        self._last = last
        self._catalogue = Catalogue(desk)
        self.lanes = {server.name: Lane(server, watchdog, self) for server in servers}
        self._routes = Routes(self.lanes)
        self._tools: dict[str, tuple[Lane, str]] = {}
        self._asked: dict[str, tuple[Lane, Any]] = {}
        self._began = time.monotonic()
        self._served = ""
        self._naming = threading.Lock()
        self._pending: dict[Any, Pending] = {}
        self.stopped: SimpleQueue[End] = SimpleQueue()
        self._methods: Mapping[str, Callable[[Json, Json, Pending], None]] = {
            "tools/call": self._call,
            "tools/list": self._in_thread(self._list),
            "prompts/list": self._in_thread(self._prompts),
            "resources/list": self._in_thread(self._resources),
            "resources/templates/list": self._in_thread(self._templates),
            "logging/setLevel": self._to_all,
        }

    def start(self) -> None:
        """Start the servers, then read what the client sends. Called from the thread that lives longest."""
        for lane in self.lanes.values():
            lane.tools = self._last.tools(lane.server)
            lane.start()
        threading.Thread(target=self._pump, daemon=True).start()

    def stop(self) -> None:
        """End all servers, side by side."""
        threads = [threading.Thread(target=lane.stop) for lane in self.lanes.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _pump(self) -> None:
        for line in RawLines(self._source, LONGEST_PARSED):
            if isinstance(line, LongLine):
                # Only its ends are looked at, for the id of whoever waits for an answer.
                identifier = ends_of(line.chunks()).request_id()
                self._desk.refuse(identifier, INVALID_PARAMS, f"a line over {LONGEST_PARSED:,} bytes cannot be routed")
                continue
            try:
                message = parsed(line)
            except (ValueError, RecursionError):
                self._desk.refuse(None, -32700, "not JSON")
                continue
            messages = [each for each in message if isinstance(each, dict)] if isinstance(message, list) else []
            if asked := [each["id"] for each in messages if "id" in each and "method" in each]:
                self._desk.gather(asked)
            for each in messages or [message]:
                if isinstance(each, dict):
                    self._receive(each)
        self.stopped.put(End("client left"))

    def _receive(self, message: Json) -> None:
        method = message.get("method")
        given = message.get("params")
        params: Json = given if isinstance(given, dict) else {}
        if not isinstance(method, str):
            self._answer_server(message)
        elif "id" not in message:
            self._notified(method, params, message)
        else:
            pending = Pending(message["id"], method, Server(()))
            try:
                self._request(method, message, params, pending)
            except HaversackError as error:
                self._refuse(pending, error)

    def _request(self, method: str, message: Json, params: Json, pending: Pending) -> None:
        if method == "initialize":
            self._initialize(params, pending)
        elif (versions := unspoken(params)) is not None:
            told = f"protocol version {versions['requested']!r} is not spoken here; begin with initialize"
            self._desk.refuse(pending.identifier, UNSUPPORTED_VERSION, told, versions)
        elif method == "ping":
            self._desk.answer(pending.identifier, {})
        elif method in self._methods:
            self._methods[method](message, params, pending)
        elif (route := self._routes.of(method, params)) is not None:
            lane, changed = route
            pending = self._routes.task(method, params, pending) or replace(pending, server=lane.server)
            self._send(lane, {**message, "params": changed}, pending)
        else:
            self._desk.refuse(pending.identifier, METHOD_NOT_FOUND, f"no method {method[:80]!r}")

    def _refuse(self, pending: Pending, error: HaversackError) -> None:
        if pending.method == "tools/call":
            self._desk.answer(pending.identifier, failed(f"{error.code}: {error}"))
        else:
            self._desk.refuse(pending.identifier, INTERNAL_ERROR, str(error))

    def _in_thread(self, answer: Callable[[Json], Json]) -> Callable[[Json, Json, Pending], None]:
        """An answer that may wait for servers, so that the client is read meanwhile."""

        def begin(message: Json, params: Json, pending: Pending) -> None:
            def work() -> None:
                try:
                    self._desk.answer(pending.identifier, answer(params))
                except HaversackError as error:
                    self._refuse(pending, error)

            threading.Thread(target=work, daemon=True).start()

        return begin

    # The handshake, and messages for all servers.

    def _initialize(self, params: Json, pending: Pending) -> None:
        self._desk.meet(params)
        result = greeting(params, self._instructions())
        self._desk.answer(pending.identifier, result)
        for lane in self.lanes.values():
            lane.greet(params)

    def _instructions(self) -> str:
        """A paragraph for each server that had instructions when it was last seen."""
        paragraphs = [
            f"{name}: {told}" for name, lane in self.lanes.items() if (told := self._last.instructions(lane.server))
        ]
        whole = "\n\n".join(paragraphs)
        if len(whole.encode()) <= LONGEST_INSTRUCTIONS:
            return whole
        from haversack.worklog.stash import as_document

        key = self._desk.delivery.keep(as_document(whole, "instructions"), "instructions")
        note = f'\n[the rest: {MORE}("{key}")]'
        shown = whole.encode()[: LONGEST_INSTRUCTIONS - len(note.encode())].decode("utf-8", "ignore")
        return shown[: word_end(shown)].rstrip() + note

    def _to_all(self, message: Json, params: Json, pending: Pending) -> None:
        for lane in self.lanes.values():
            if "logging" in lane.capabilities:
                threading.Thread(target=_quietly, args=(lane, message["method"], params), daemon=True).start()
        self._desk.answer(pending.identifier, {})

    def _notified(self, method: str, params: Json, message: Json) -> None:
        if method == "notifications/cancelled":
            pending = self._pending.pop(key_of(params.get("requestId")), None)
            if pending is not None:
                self._desk.withdraw(pending.identifier)
                any(lane.cancel(pending, params) for lane in self.lanes.values())
        elif method in _TO_ALL:
            for lane in self.lanes.values():
                lane.send(encoded(message))

    # Tools.

    def _list(self, params: Json) -> Json:
        until = self._began + LIST_SECONDS
        for lane in self.lanes.values():
            if not lane.tools:
                lane.is_listed.wait(max(0.0, until - time.monotonic()))
        with self._naming:
            self._name_tools()
            self._catalogue.decide()
            result = self._catalogue.listing({}, self._desk.most_tokens(Server(())))
            self._served = self._fingerprint()
        delivery, told = self._desk.delivery, json.dumps(result, ensure_ascii=False) + self._instructions()
        self._desk.submit(lambda: delivery.measure_system(delivery.profile.count(told)))
        return result

    def _name_tools(self) -> None:
        """Give every tool its name at this door."""
        found = [
            (lane, tool)
            for lane in self.lanes.values()
            for tool in lane.tools
            if isinstance(tool.get("name"), str) and lane.server.allows(tool["name"])
        ]
        names = door_names([(lane.name, tool["name"]) for lane, tool in found], (MORE, FIND_IN, *FRONT))
        self._tools = {name: (lane, tool["name"]) for name, (lane, tool) in zip(names, found, strict=True)}
        self._catalogue.begin()
        for name, (lane, tool) in zip(names, found, strict=True):
            self._catalogue.learn([{**tool, "name": name}], Server((), trust=lane.server.trust))
            if name in self._desk.ui_tools:
                self._desk.ui_tools.add(f"{lane.server.title}/{tool['name']}")
        self._catalogue.is_known = True

    def _fingerprint(self) -> str:
        return json.dumps([[lane.name, lane.tools] for lane in self.lanes.values()], sort_keys=True)

    def _call(self, message: Json, params: Json, pending: Pending) -> None:
        if not self._catalogue.is_known:
            with self._naming:
                self._name_tools()
        name, arguments = params.get("name"), params.get("arguments")
        if own := self._catalogue.own_tool(name, arguments):
            self._pending[key_of(pending.identifier)] = pending
            self._desk.submit(lambda: self._answer_own(pending, own, arguments))
        elif self._catalogue.is_front(name):
            self._front_call(message, params, pending)
        else:
            self._call_lane(message, params, pending)

    def _answer_own(self, pending: Pending, own: str, arguments: Any) -> None:
        result = self._desk.own_answer(own, arguments, None)
        if self._pending.pop(key_of(pending.identifier), None) is not None:
            self._desk.answer(pending.identifier, result)

    def _call_lane(self, message: Json, params: Json, pending: Pending) -> None:
        name = params.get("name")
        found = self._tools.get(name) if isinstance(name, str) else None
        if found is None:
            # Known perhaps to a server that has not listed its tools yet.
            down = "".join(
                f"; {each.name} does not run: {each.failure}" for each in self.lanes.values() if each.failure
            )
            hint = f"tools: {', '.join(self._tools) or 'none'}"[:1_000]
            raise InvalidArgument(f"no tool {str(name)[:80]!r}", hint=hint + down[:1_000])
        lane, own_name = found
        arguments = params.get("arguments")
        pending = replace(
            pending,
            server=lane.server,
            tool=own_name,
            arguments=arguments if isinstance(arguments, dict) else {},
            tokens=asked_tokens(params),
        )
        self._send(lane, {**message, "params": {**params, "name": own_name}}, pending)

    def _front_call(self, message: Json, params: Json, pending: Pending) -> None:
        name, given = params["name"], params.get("arguments")
        arguments: Json = given if isinstance(given, dict) else {}
        if name in (lists.CALL_READ, lists.CALL_TOOL):
            tool, inner = self._catalogue.inner_call(name, arguments)
            self._call_lane(message, {**params, "name": tool, "arguments": inner}, pending)
            return
        text = self._catalogue.described(name, arguments)
        self._desk.submit(lambda: self._desk.answer(pending.identifier, self._desk.fitted_text(name, text)))

    def _send(self, lane: Lane, message: Json, pending: Pending) -> None:
        """Send a request on; a server that ended is started again by this thread, which outlives it."""
        lane.revive()
        self._pending[key_of(pending.identifier)] = pending

        def send() -> None:
            try:
                lane.request(message, pending)
            except ToolFailed as error:
                self._refuse(pending, error)

        if lane.is_ready:
            send()
        else:
            threading.Thread(target=send, daemon=True).start()

    # Lists that are put together.

    def _prompts(self, params: Json) -> Json:
        listed = self._routes.gather("prompts", "prompts/list", "prompts")
        return {"prompts": [{**each, "name": prefixed(lane.name, str(each.get("name")))} for lane, each in listed]}

    def _resources(self, params: Json) -> Json:
        return {"resources": [each for _, each in self._routes.resources()]}

    def _templates(self, params: Json) -> Json:
        return {"resourceTemplates": [each for _, each in self._routes.templates()]}

    # Messages from the servers.

    def respond(self, lane: Lane, line: bytes, message: Json, pending: Pending) -> None:
        """Send a server's answer on under the client's own id."""
        if self._pending.pop(key_of(pending.identifier), None) is None:
            return
        text = line.decode("utf-8", "replace")
        result = message.get("result")
        changes = [(members(text)["id"].value, json.dumps(pending.identifier))]
        if isinstance(result, dict) and (found := task_span(text, result)) is not None:
            task = prefixed(lane.name, str((result.get("task") or result)["taskId"]))
            if pending.method == "tools/call":
                self._routes.tasks[task] = pending
            changes.append((found, json.dumps(task)))
        own = as_bytes(spliced(text, changes))
        held = result if isinstance(result, dict) else {}
        is_result = held and len(changes) == 1 and pending.method in ("tools/call", "tasks/result")
        is_finished = pending.method == "tasks/get" and isinstance(held.get("result"), dict)
        if pending.tool and (is_result or is_finished):
            self._desk.submit(lambda: self._desk.deliver(own, pending, inner=is_finished))
        elif held and pending.method in ("resources/read", "prompts/get"):
            self._desk.pass_resource(own, pending)
        else:
            self._desk.write_answer(pending.identifier, own)

    def respond_spool(self, spool: Spool, pending: Pending) -> None:
        """Answer with where a line is kept that is too long for memory."""
        if self._pending.pop(key_of(pending.identifier), None) is None:
            return
        if pending.method != "tools/call":
            self._desk.refuse(pending.identifier, INTERNAL_ERROR, f"the answer has {spool.size:,} bytes")
            return
        notice = spool.notice(self._desk.spools.add(spool))
        self._desk.answer(pending.identifier, text_result(notice))
        self._desk.note(pending, notice.encode())

    def ask_client(self, lane: Lane, message: Json) -> None:
        """Pass on what a server asks the client, under an id of the gateway's and in the server's name."""
        identifier = f"{lane.name}/{len(self._asked) + 1}"
        self._asked[identifier] = (lane, message["id"])
        params = message.get("params")
        given: Json = params if isinstance(params, dict) else {}
        if message.get("method") == "elicitation/create":
            given = {**given, "message": f"[{lane.name}] {given.get('message', '')}"}
        elif message.get("method") == "sampling/createMessage":
            given = {**given, "_meta": {**(given.get("_meta") or {}), "haversack/server": lane.name}}
        changed = {**message, "id": identifier}
        self._desk.write(encoded({**changed, "params": given} if given else changed))

    def _answer_server(self, message: Json) -> None:
        found = self._asked.pop(str(message.get("id")), None)
        if found is not None:
            lane, identifier = found
            lane.send(encoded({**message, "id": identifier}))

    def notify(self, lane: Lane, message: Json, line: bytes) -> None:
        """Pass on a server's notification; a changed list is read again first."""
        if message.get("method") == "notifications/tools/list_changed":
            threading.Thread(target=_reread, args=(lane,), daemon=True).start()
        else:
            self._desk.write(line)

    def listed(self, lane: Lane) -> None:
        """Keep a server's list for the next start, and tell the client if it was given another."""
        self._last.keep(lane.server, lane.tools, lane.instructions)
        with self._naming:
            if self._served and self._served != self._fingerprint():
                self._name_tools()
                self._served = self._fingerprint()
                self._desk.write(encoded({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))

    def ended(self, lane: Lane, waiting: list[Pending], message: str) -> None:
        """Answer the requests that wait for a server that has ended; the others go on."""
        for pending in waiting:
            if self._pending.pop(key_of(pending.identifier), None) is not None:
                self._refuse(pending, ToolFailed(message, hint="the server is started again by the next call"))


def _quietly(lane: Lane, method: str, params: Json) -> None:
    try:
        lane.requests.ask(method, params)
    except HaversackError:
        return


def _reread(lane: Lane) -> None:
    try:
        lane.read_tools()
    except HaversackError:
        return
