"""One client's conversation: each message is answered in the era of the protocol the client speaks."""

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, Self

from haversack.cancellation import Cancellation, watching
from haversack.errors import HaversackError
from haversack.mcp.heartbeat import Heartbeat
from haversack.mcp.journal import Journal
from haversack.mcp.methods import SERVER, Offer, failed
from haversack.mcp.pool import Pool, Work
from haversack.mcp.requests import (
    BATCHES,
    LOG_LEVEL_KEY,
    LOG_LEVELS,
    SERVER_KEY,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    Request,
    Respond,
    checked,
    is_stateless,
    negotiated,
    request_id,
)
from haversack.protocol.lines import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Giant,
    Json,
    Output,
    ProtocolError,
    failure,
    notification,
    parse,
    response,
)
from haversack.values import record

HOUR_MS = 3_600_000
HANDSHAKE_ONLY = {"initialize", "ping", "logging/setLevel"}
STATELESS_ONLY = {"server/discover", "subscriptions/listen"}


@record
class Method:
    """How a method is answered: the function, whether it may block, and how long and for whom to cache the answer."""

    answer: Callable[[Offer, Request], Json]
    blocking: bool = False
    lasts_ms: int | None = None
    scope: str = "public"


METHODS: Mapping[str, Method] = {
    "server/discover": Method(Offer.discovery, lasts_ms=HOUR_MS),
    "tools/list": Method(Offer.tool_list, lasts_ms=HOUR_MS),
    "prompts/list": Method(Offer.prompt_list, lasts_ms=HOUR_MS),
    "resources/list": Method(Offer.resource_list, lasts_ms=HOUR_MS),
    "resources/templates/list": Method(Offer.template_list, lasts_ms=HOUR_MS),
    "tools/call": Method(Offer.tool_call, blocking=True),
    "prompts/get": Method(Offer.prompt_text, blocking=True),
    "resources/read": Method(Offer.resource_text, blocking=True, lasts_ms=0, scope="private"),
    "completion/complete": Method(Offer.completion, blocking=True),
}


KNOWN_METHODS = frozenset((*METHODS, *HANDSHAKE_ONLY, *STATELESS_ONLY))


class Sink(Protocol):
    """Where notifications go; nothing is sent to a closed one."""

    @property
    def closed(self) -> bool: ...
    def write(self, line: str) -> None: ...


class AtOnce:
    """Runs work at once in the calling thread."""

    def submit(self, work: Work) -> None:
        work()


class Conversation:
    """The state of one client: what it declared, and its requests in flight."""

    def __init__(
        self,
        offer: Offer,
        output: Output | Sink,
        pool: Pool | AtOnce,
        heartbeat: Heartbeat,
        journal: Journal,
        revision: str = "",
    ) -> None:
        self._offer = offer
        self._output = output
        self._pool = pool
        self._heartbeat = heartbeat
        self._journal = journal
        self._revision = revision
        self._log_level = ""
        self._in_flight: dict[tuple[type, str | int], Request] = {}
        self._listeners: dict[tuple[type, str | int], Request] = {}
        self._cancellations: dict[tuple[type, str | int], Cancellation] = {}

    @classmethod
    def answering(cls, offer: Offer, output: Sink, heartbeat: Heartbeat, journal: Journal, revision: str) -> Self:
        """A conversation of one message, for a transport on which every request stands alone.

        `revision` is the one the transport states, or empty where the request states it itself. `output` takes
        notifications; `answer` works in the thread that calls it.
        """
        return cls(offer, output, AtOnce(), heartbeat, journal, revision)

    def answer(self, message: object, respond: Respond) -> None:
        """Take one message that has been parsed; a request's answer goes to `respond`."""
        self._receive_one(message, respond)

    def receive(self, line: bytes | Giant) -> None:
        """Take a line; its answer is written now or when the work for it is done."""
        if isinstance(line, Giant):
            error = ProtocolError(INVALID_REQUEST, "the line is longer than server.max_line_bytes allows")
            self._output.write(failure(line.request_id(), error))
            return
        if line.isspace():
            return
        try:
            message = parse(line)
        except ProtocolError as error:
            self._output.write(failure(None, error))
            return
        if isinstance(message, list):
            self._receive_batch(message)
        else:
            self._receive_one(message, self._send)

    def close(self) -> None:
        """End the subscriptions to changes."""
        for request in self._listeners.values():
            request.respond(response(request.id, self._complete(request, {"_meta": {SUBSCRIPTION_KEY: request.id}})))
        self._listeners.clear()

    def _tools_changed(self) -> None:
        """Notify the client that the list of tools has changed."""
        method = "notifications/tools/list_changed"
        if self._revision:
            self._output.write(notification(method, {}))
        for request in list(self._listeners.values()):
            if request.object("notifications").get("toolsListChanged") is True:
                self._output.write(notification(method, {"_meta": {SUBSCRIPTION_KEY: request.id}}))

    def _send(self, line: str) -> None:
        if line:
            self._output.write(line)

    def _receive_batch(self, messages: list[object]) -> None:
        if self._revision != BATCHES or not messages:
            error = ProtocolError(INVALID_REQUEST, "several messages in one array are not part of this revision")
            self._output.write(failure(None, error))
            return
        batch = _Batch(messages, self._output.write)
        for message in messages:
            self._receive_one(message, batch.add)

    def _receive_one(self, message: object, respond: Respond) -> None:
        if isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message):
            # This server sends no requests, so an answer matches nothing.
            return
        try:
            content = checked(message)
            if "id" in content:
                self._request(content, respond)
            else:
                self._notified(content["method"], content.get("params", {}))
        except ProtocolError as error:
            respond(failure(request_id(message), error))

    def _notified(self, method: str, params: Mapping[str, Any]) -> None:
        asked = params.get("requestId")
        if method == "notifications/cancelled" and isinstance(asked, str | int):
            key = (type(asked), asked)
            self._listeners.pop(key, None)
            if request := self._in_flight.pop(key, None):
                if cancellation := self._cancellations.pop(key, None):
                    cancellation.cancel()
                request.respond("")

    def _request(self, content: Mapping[str, Any], respond: Respond) -> None:
        method, params = content["method"], content.get("params", {})
        stateless = is_stateless(method, params)
        request = Request(content["id"], method, params, stateless, respond)
        self._check_era(request)
        if request.key in self._in_flight or request.key in self._listeners:
            raise ProtocolError(INVALID_REQUEST, f"a request with id {str(request.id)[:80]} is still being answered")
        if method == "subscriptions/listen":
            self._listen(request)
        elif method in HANDSHAKE_ONLY:
            request.respond(response(request.id, self._greeting(request)))
        elif METHODS[method].blocking:
            self._in_flight[request.key] = request
            self._pool.submit(partial(self._work, request))
        else:
            request.respond(self._answer(request))

    def _check_era(self, request: Request) -> None:
        method = request.method
        wrong_era = method in (HANDSHAKE_ONLY if request.stateless else STATELESS_ONLY)
        if wrong_era and not request.stateless and not self._revision:
            raise ProtocolError(INVALID_PARAMS, f"{method} needs _meta with {VERSION_KEY}")
        if wrong_era or method not in KNOWN_METHODS:
            raise ProtocolError(METHOD_NOT_FOUND, f"no method {method[:80]!r}")
        if not request.stateless and not self._revision and method not in ("initialize", "ping"):
            raise ProtocolError(INVALID_REQUEST, f"initialize comes before {method}, or _meta with {VERSION_KEY}")

    def _greeting(self, request: Request) -> Json:
        if request.method == "initialize":
            self._revision = negotiated(request.params)
            return self._offer.handshake(self._revision)
        if request.method == "logging/setLevel":
            level = request.text("level")
            if level not in LOG_LEVELS:
                raise ProtocolError(INVALID_PARAMS, f"level is {level[:40]!r}, not one of {', '.join(LOG_LEVELS)}")
            self._log_level = level
        return {}

    def _listen(self, request: Request) -> None:
        wanted = request.object("notifications")
        may_change = self._offer.changes and wanted.get("toolsListChanged") is True
        params = {
            "_meta": {SUBSCRIPTION_KEY: request.id},
            "notifications": {"toolsListChanged": True} if may_change else {},
        }
        self._listeners[request.key] = request
        self._output.write(notification("notifications/subscriptions/acknowledged", params))

    def _work(self, request: Request) -> None:
        if self._in_flight.get(request.key) is not request or self._output.closed:
            return
        if request.method == "tools/call":
            # Before the call, so that the first `budget_status` already knows what the tool list costs.
            self._offer.measure()
        name = request.params.get("name")
        what = name if isinstance(name, str) else request.method
        cancellation = self._cancellations[request.key] = Cancellation()
        if self._in_flight.get(request.key) is not request:
            cancellation.cancel()
        with self._heartbeat.watching(self._output.write, request.progress_token, what), watching(cancellation):
            line = self._answer(request)
        if self._cancellations.get(request.key) is cancellation:
            del self._cancellations[request.key]
        # A cancelled request is no longer in flight, and is not answered.
        if self._in_flight.pop(request.key, None) is request:
            request.respond(line)
        if request.method == "tools/call" and self._offer.has_changed():
            self._tools_changed()

    def _answer(self, request: Request) -> str:
        began = time.perf_counter()
        what = f"{request.method} {str(request.params.get('name', ''))[:80]}".rstrip()
        try:
            result = METHODS[request.method].answer(self._offer, request)
        except ProtocolError as error:
            return failure(request.id, error)
        except Exception:  # noqa: BLE001 - the one boundary of this door
            short = self._journal.unexpected(what)
            self._log(request, "error", {"message": short})
            if request.method != "tools/call":
                return failure(request.id, ProtocolError(INTERNAL_ERROR, f"unexpected {short}"))
            result = failed(_Unexpected(f"unexpected {short}", hint="a fault of the server; its log says more"))
        took = (time.perf_counter() - began) * 1000
        outcome = "failed" if result.get("isError") else "answered"
        self._journal.note(f"{what} {outcome} in {took:.1f} ms")
        self._log(request, "info", {"call": what, "outcome": outcome, "ms": round(took, 1)})
        return response(request.id, self._complete(request, result))

    def _complete(self, request: Request, result: Json) -> Json:
        """The result with the members every result has in the request's era."""
        if not request.stateless:
            return result
        held = result.get("_meta")
        meta = {**(held if isinstance(held, dict) else {}), SERVER_KEY: SERVER}
        complete = {**result, "resultType": "complete", "_meta": meta}
        method = METHODS.get(request.method)
        if method is not None and method.lasts_ms is not None:
            # Hints in the descriptions change from call to call.
            fleeting = request.method == "tools/list" and self._offer.changes
            complete |= {"ttlMs": 0 if fleeting else method.lasts_ms, "cacheScope": method.scope}
        return complete

    def _log(self, request: Request, level: str, data: Json) -> None:
        """Send the client a log message, if it asked for that level."""
        asked = request.meta.get(LOG_LEVEL_KEY) if request.stateless else self._log_level
        if asked in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(asked):
            params = {"level": level, "logger": "haversack", "data": data}
            self._output.write(notification("notifications/message", params))


class _Unexpected(HaversackError):
    code = "internal_error"


class _Batch:
    """The answers to the messages of a batch, sent back as one."""

    def __init__(self, messages: list[object], write: Respond) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._missing = sum(1 for message in messages if not _needs_no_answer(message))
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        """Take an answer, or an empty line for one that was cancelled."""
        with self._lock:
            self._missing -= 1
            if line:
                self._lines.append(line)
            if self._missing == 0 and self._lines:
                self._write(f"[{','.join(self._lines)}]")


def _needs_no_answer(message: object) -> bool:
    """Whether a message is a sound notification, or an answer itself."""
    if not isinstance(message, dict) or ("id" in message and "method" in message):
        return False
    if "method" not in message:
        return "result" in message or "error" in message
    try:
        checked(message)
    except ProtocolError:
        return False
    return True
