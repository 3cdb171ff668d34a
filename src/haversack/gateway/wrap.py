"""`haversack wrap`: two pumps of lines between one client and one server; most lines pass unchanged."""

import json
import threading
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any

from haversack.errors import HaversackError, InvalidArgument
from haversack.gateway.answers import Answers
from haversack.gateway.desk import Desk
from haversack.gateway.listing import lists
from haversack.gateway.listing.catalogue import Catalogue
from haversack.gateway.messages import Json, Pending, asked_tokens, encoded, parsed
from haversack.gateway.own_tools import failed
from haversack.gateway.requests import Batch, Requests, key_of
from haversack.gateway.settings import Server
from haversack.gateway.unread import surely_passes
from haversack.gateway.upstream.child import Child
from haversack.protocol.lines import INTERNAL_ERROR
from haversack.protocol.raw_lines import LongLine, RawLines
from haversack.protocol.spans import items
from haversack.values import record, replace

LONGEST_PARSED = 64_000_000


@record
class End:
    """Why the pumps stopped: the client left, the server ended, or a signal came."""

    reason: str
    signal: int = 0


class Wrap:
    """The client's side of one conversation: what it sends goes to the server, or is answered here."""

    def __init__(self, desk: Desk, server: Server, child: Child, source: int) -> None:
        self._desk = desk
        self._server = server
        self._child = child
        self._source = source
        self._requests = Requests(child.send)
        self._catalogue = Catalogue(desk)
        self._answers = Answers(desk, server, self._requests, self._catalogue)
        # Where tools are neither hidden nor excluded, only calls of the own tools are not for the server.
        self._may_be_unread = not (self._catalogue.may_shrink or server.only or server.deny)
        self._unread = desk.unread
        self._unread.begin(self._passes, self._answers.note)
        self.ended: SimpleQueue[End] = SimpleQueue()

    def start(self) -> None:
        """Start both pumps."""
        for pump in (self._pump_client, self._pump_server):
            threading.Thread(target=pump, daemon=True).start()

    def finish(self, code: int | None) -> None:
        """Answer the requests that still wait after the server ended with an exit code (None: the client left)."""
        self._unread.read()
        waiting = self._requests.abandon()
        if code is None:
            return
        message = f"the server {self._server.command[0]!r} ended with exit code {code} before it answered"
        if last := self._child.last_words():
            message += f". Last lines of its standard error:\n{last}"
        for pending in waiting:
            if pending.method == "tools/call":
                self._desk.answer(pending.identifier, failed(message))
            else:
                self._desk.refuse(pending.identifier, INTERNAL_ERROR, message)

    def _pump_server(self) -> None:
        for line in RawLines(self._child.output, LONGEST_PARSED):
            if isinstance(line, LongLine):
                self._unread.read()
                self._answers.spool(line)
            else:
                self._answers.receive(line)
        self.ended.put(End("server ended"))

    def _pump_client(self) -> None:
        for line in RawLines(self._source, LONGEST_PARSED):
            if isinstance(line, LongLine):
                self._child.send_all(line.chunks())
            else:
                self._receive(line)
        self.ended.put(End("client left"))

    def _receive(self, line: bytes) -> None:
        if self._may_be_unread and surely_passes(line) and not self._unread.is_full:
            self._unread.add_call(line)
            self._child.send(line)
            return
        self._unread.read()
        try:
            message = parsed(line)
        except (ValueError, RecursionError):
            # Whatever it is, the server is the one to say so.
            self._child.send(line)
            return
        if isinstance(message, list):
            self._receive_batch(line, message)
        elif not isinstance(message, dict) or self._passes(message):
            self._child.send(line)

    def _passes(self, message: Json) -> bool:
        """Whether a message goes on to the server as it is; what does not has been answered or rewritten."""
        method = message.get("method")
        if not isinstance(method, str):
            return True
        params = message.get("params")
        given: Json = params if isinstance(params, dict) else {}
        if "id" not in message:
            if method == "notifications/cancelled":
                self._requests.forget(given.get("requestId"))
            return True
        pending = Pending(message["id"], method, self._server)
        if method == "tools/call":
            return self._call(message, given, pending)
        if method == "tools/list" and self._catalogue.may_shrink:
            self._requests.expect(pending)
            threading.Thread(target=self._list, args=(pending, given.get("_meta")), daemon=True).start()
            return False
        self._expect(method, given, pending)
        return True

    def _expect(self, method: str, given: Json, pending: Pending) -> None:
        if method == "initialize":
            self._desk.meet(given)
        elif isinstance(meta := given.get("_meta"), dict):
            self._desk.meet_stateless(meta)
        if method == "tools/list" and not given.get("cursor"):
            self._answers.begin_list()
        if method in ("tasks/result", "tasks/get") and (task := self._answers.task(given.get("taskId"))):
            pending = replace(task, identifier=pending.identifier, method=method)
        self._requests.expect(pending)

    def _call(self, message: Json, params: Json, pending: Pending) -> bool:
        name, arguments = params.get("name"), params.get("arguments")
        if isinstance(meta := params.get("_meta"), dict):
            self._desk.meet_stateless(meta)
        if own := self._catalogue.own_tool(name, arguments):
            self._requests.expect(replace(pending, method="own"))
            ceiling = self._server.ceiling(own)
            self._desk.submit(lambda: self._answer(pending, self._desk.own_answer(own, arguments, ceiling)))
            return False
        if self._catalogue.is_front(name):
            return self._front_call(message, params, pending)
        given = arguments if isinstance(arguments, dict) else {}
        try:
            tokens = asked_tokens(params)
            if isinstance(name, str) and not self._server.allows(name):
                raise InvalidArgument(f"{name!r} is not offered", hint="the gateway's settings exclude it")
        except InvalidArgument as error:
            self._answer_now(pending, failed(f"{error.code}: {error}"))
            return False
        tool = name if isinstance(name, str) else ""
        self._requests.expect(Pending(pending.identifier, pending.method, self._server, tool, given, tokens))
        return True

    def _answer(self, pending: Pending, result: Mapping[str, Any]) -> None:
        """Answer a request from here, unless it was cancelled meanwhile."""
        if self._requests.answered(pending.identifier) is not None:
            self._answer_now(pending, result)

    def _answer_now(self, pending: Pending, result: Mapping[str, Any]) -> None:
        if not self._answers.take(pending.identifier, result):
            self._desk.answer(pending.identifier, result)

    def _receive_batch(self, line: bytes, messages: list[Any]) -> None:
        """Each member by its own rule; what is answered here waits for the server's array, to go back in one line."""
        text = line.decode("utf-8", "replace")
        spans = items(text)
        batch = Batch({key_of(each["id"]) for each in messages if _is_request(each)})
        self._answers.begin(batch)
        passed = []
        for span, message in zip(spans, messages, strict=True):
            if not isinstance(message, dict) or self._passes(message):
                passed.append((text[span.start : span.end], _is_request(message)))
            else:
                batch.local += 1
        if not batch.local:
            self._answers.drop(batch)
            self._child.send(line)
            return
        batch.expects_server = any(is_request for _, is_request in passed)
        if passed:
            self._child.send(f"[{','.join(part for part, _ in passed)}]\n".encode())
        self._answers.close(batch)

    def _list(self, pending: Pending, meta: Any) -> None:
        """Answer `tools/list` with the few tools in front of all others, or with everything where that is short."""
        try:
            rest = self._read_list(meta)
        except HaversackError as error:
            if self._requests.answered(pending.identifier):
                self._desk.refuse(pending.identifier, INTERNAL_ERROR, str(error))
            return
        self._catalogue.decide()
        result = self._catalogue.listing(rest, self._desk.most_tokens(self._server))
        self._answer(pending, result)
        self._answers.measure(json.dumps(result, ensure_ascii=False))

    def _read_list(self, meta: Any = None) -> Json:
        """Read every page of the server's list, and give the other members of the last one."""
        params: Json = {} if meta is None else {"_meta": meta}
        self._catalogue.begin()
        while True:
            page = self._requests.ask("tools/list", params)
            tools = page.get("tools")
            self._catalogue.learn(tools if isinstance(tools, list) else [], self._server)
            if not page.get("nextCursor"):
                break
            params = {**params, "cursor": page["nextCursor"]}
        self._catalogue.is_known = True
        return {name: value for name, value in page.items() if name not in ("tools", "nextCursor")}

    def _front_call(self, message: Json, params: Json, pending: Pending) -> bool:
        """Answer a call of one of the tools in front, or send it on as a call of the tool it names."""
        name, given = params["name"], params.get("arguments")
        arguments: Json = given if isinstance(given, dict) else {}
        if name not in (lists.CALL_READ, lists.CALL_TOOL):
            self._requests.expect(replace(pending, method="own"))
            threading.Thread(target=self._describe, args=(name, arguments, pending), daemon=True).start()
            return False
        try:
            tool, inner = self._catalogue.inner_call(name, arguments)
        except InvalidArgument as error:
            self._answer_now(pending, failed(f"{error.code}: {error}"))
            return False
        call = {**params, "name": tool, "arguments": inner}
        if self._call({**message, "params": call}, call, pending):
            self._child.send(encoded({**message, "params": call}))
        return False

    def _describe(self, name: str, arguments: Json, pending: Pending) -> None:
        try:
            if not self._catalogue.is_known:
                self._read_list()
            text = self._catalogue.described(name, arguments)
        except HaversackError as error:
            self._answer(pending, failed(f"{error.code}: {error}"))
            return
        self._desk.submit(lambda: self._answer(pending, self._desk.fitted_text(name, text)))


def _is_request(message: Any) -> bool:
    return isinstance(message, dict) and "id" in message and "method" in message
