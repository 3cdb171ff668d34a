"""MCP over Streamable HTTP: one message per request, no sessions, in both eras of the protocol."""

import asyncio
import base64
import binascii
import json
import threading
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from typing import Any

from haversack.mcp.conversation import METHODS, Conversation
from haversack.mcp.heartbeat import Heartbeat
from haversack.mcp.journal import Journal
from haversack.mcp.methods import Offer
from haversack.mcp.requests import (
    CAPABILITIES_KEY,
    HANDSHAKE_REVISIONS,
    LOG_LEVEL_KEY,
    REVISIONS,
    STATELESS_REVISIONS,
    VERSION_KEY,
    checked,
    request_id,
)
from haversack.protocol.lines import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    ProtocolError,
    failure,
    parse,
)
from haversack.values import record
from haversack.web.calls import Calls
from haversack.web.exchange import Answer, Exchange, Headers, Refused, Streamed

HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
NO_HEADER_REVISION = "2025-03-26"
"""What a client speaks that names no version."""
COMMENT_SECONDS = 15.0
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_STATUSES = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
_STREAM_HEADERS: Headers = (("x-accel-buffering", "no"), ("cache-control", "no-store"))


@record
class Message:
    """A checked message; `revision` is empty where the message states it itself."""

    content: Mapping[str, Any]
    revision: str

    @property
    def method(self) -> str:
        return str(self.content["method"])

    @property
    def params(self) -> Mapping[str, Any]:
        params = self.content.get("params", {})
        return params if isinstance(params, dict) else {}

    @property
    def wants_answer(self) -> bool:
        return "id" in self.content

    @property
    def is_streamed(self) -> bool:
        """Whether notifications may come before the answer."""
        meta = self.params.get("_meta")
        held = meta if isinstance(meta, dict) else {}
        return self.method == "subscriptions/listen" or "progressToken" in held or LOG_LEVEL_KEY in held


def check_accept(exchange: Exchange) -> None:
    """Refuse a client that cannot take both kinds of reply."""
    if missing := _unacceptable(exchange.headers.get("accept", "")):
        raise Refused(
            406, "not_acceptable", f"Accept does not allow {missing}",
            hint="send Accept: application/json, text/event-stream",
        )  # fmt: skip


@lru_cache(maxsize=64)
def _unacceptable(accept: str) -> str:
    """The content type a client does not accept, or empty; cached, since a client sends the same header every time."""
    accepted = {part.split(";")[0].strip().lower() for part in accept.split(",")}
    for wanted in ("application/json", "text/event-stream"):
        if not {wanted, f"{wanted.split('/')[0]}/*", "*/*"} & accepted:
            return wanted
    return ""


def read(exchange: Exchange, body: bytes) -> Message | None:
    """The message in a body, once its headers agree with it; None for an answer: this server sends no requests."""
    try:
        content = parse(body)
    except ProtocolError as error:
        raise _refusal(None, error) from None
    if isinstance(content, list):
        raise _refusal(None, ProtocolError(INVALID_REQUEST, "several messages in one body are not taken"))
    identifier = request_id(content)
    try:
        if isinstance(content, dict) and "method" not in content and ("result" in content or "error" in content):
            return None
        message = checked(content)
        return Message(message, _revision(exchange, message))
    except ProtocolError as error:
        raise _refusal(identifier, error) from None


def _revision(exchange: Exchange, message: Mapping[str, Any]) -> str:
    """The revision in the headers, empty where none is needed; an error where headers and body contradict."""
    header = exchange.headers.get("mcp-protocol-version", "")
    params = message.get("params", {})
    meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
    is_stateless = header in STATELESS_REVISIONS or VERSION_KEY in meta
    if not is_stateless:
        if header and header not in HANDSHAKE_REVISIONS:
            raise _unsupported(header)
        return header or NO_HEADER_REVISION
    if "id" not in message:
        return ""
    version = meta.get(VERSION_KEY)
    if not isinstance(version, str) or not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise ProtocolError(INVALID_PARAMS, f"_meta needs {VERSION_KEY} and {CAPABILITIES_KEY}")
    _agree("MCP-Protocol-Version", header, version)
    _agree("Mcp-Method", _decoded(exchange.headers.get("mcp-method", "")), message["method"])
    if key := NAMED_BY.get(message["method"]):
        _agree("Mcp-Name", _decoded(exchange.headers.get("mcp-name", "")), params.get(key))
    if version not in STATELESS_REVISIONS:
        raise _unsupported(version)
    if message["method"] == "initialize":
        raise ProtocolError(METHOD_NOT_FOUND, "no method 'initialize' in this revision")
    return ""


def _unsupported(version: str) -> ProtocolError:
    return ProtocolError(
        UNSUPPORTED_VERSION,
        f"protocol version {version[:40]!r} is not spoken here",
        {"supported": list(REVISIONS), "requested": version[:200]},
    )


def _agree(name: str, header: str | None, body: object) -> None:
    if header is None or not isinstance(body, str) or header != body.strip():
        raise ProtocolError(HEADER_MISMATCH, f"header {name} does not say what the body says")


def _decoded(value: str) -> str | None:
    """A header's value, decoded where it is written as `=?base64?…?=`; None for a broken one."""
    text = value.strip()
    if not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    try:
        return base64.b64decode(text[9:-2], validate=True).decode().strip()
    except (binascii.Error, ValueError):
        return None


def _refusal(identifier: str | int | None, error: ProtocolError) -> Refused:
    return Refused(
        _STATUSES.get(error.code, 400), "protocol_error", error.message, body=failure(identifier, error).encode()
    )


class McpRoute:
    """Answers messages; it keeps only caches between them."""

    def __init__(self, calls: Calls, journal: Journal) -> None:
        self._calls = calls
        self._journal = journal
        self._heartbeat = Heartbeat()
        self._streams: set[_Stream] = set()

    async def answer(self, exchange: Exchange, message: Message, offer: Offer) -> Answer | Streamed:
        """The reply to one message."""
        if not message.wants_answer:
            return Answer(202, b"")
        if message.is_streamed:
            return self._streamed(exchange, message, offer)
        output = _Silence()
        conversation = Conversation.answering(offer, output, self._heartbeat, self._journal, message.revision)

        def work() -> str:
            lines: list[str] = []
            conversation.answer(message.content, lines.append)
            return lines[0]

        method = METHODS.get(message.method)
        line = await self._calls.in_thread(exchange, work) if method and method.blocking else work()
        return Answer(_status(line, message), line.encode())

    def _streamed(self, exchange: Exchange, message: Message, offer: Offer) -> Streamed:
        stream = _Stream(asyncio.get_running_loop())
        conversation = Conversation.answering(offer, stream, self._heartbeat, self._journal, message.revision)
        if message.method == "subscriptions/listen":
            conversation.answer(message.content, stream.end)
        else:
            self._calls.begin(lambda: conversation.answer(message.content, stream.end))
        self._streams.add(stream)
        return Streamed(self._pieces(exchange, stream, conversation), "text/event-stream", _STREAM_HEADERS)

    async def _pieces(self, exchange: Exchange, stream: "_Stream", conversation: Conversation) -> AsyncIterator[bytes]:
        departure = asyncio.ensure_future(_departed(exchange, stream))
        try:
            while True:
                try:
                    line = await asyncio.wait_for(stream.lines.get(), COMMENT_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if line is None:
                    conversation.close()
                    while not stream.lines.empty() and (last := stream.lines.get_nowait()):
                        yield _event(last[0])
                    return
                yield _event(line[0])
                if line[1]:
                    return
        finally:
            stream.closed = True
            departure.cancel()
            self._streams.discard(stream)

    def close(self) -> None:
        """End the open streams, so that the server can stop."""
        for stream in list(self._streams):
            stream.lines.put_nowait(None)


class _Silence:
    """Discards notifications that the client did not ask for."""

    closed = False

    def write(self, line: str) -> None:
        return


class _Stream:
    """The queue of one reply's lines, from any thread; each is marked as last or not."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = threading.get_ident()
        self.lines: asyncio.Queue[tuple[str, bool] | None] = asyncio.Queue()
        self.closed = False

    def write(self, line: str) -> None:
        """Send a notification."""
        self._put((line, False))

    def end(self, line: str) -> None:
        """Send the answer."""
        self._put((line, True))

    def _put(self, line: tuple[str, bool]) -> None:
        if threading.get_ident() == self._thread:
            self.lines.put_nowait(line)
            return
        try:
            self._loop.call_soon_threadsafe(self.lines.put_nowait, line)
        except RuntimeError:
            self.closed = True  # the loop has ended


async def _departed(exchange: Exchange, stream: _Stream) -> None:
    while (await exchange.receive())["type"] != "http.disconnect":
        pass
    stream.closed = True
    stream.lines.put_nowait(None)


def _event(line: str) -> bytes:
    return f"event: message\ndata: {line}\n\n".encode()


def _status(line: str, message: Message) -> int:
    """The status of an answer: in the older era errors are answers like others."""
    if message.revision or '"error":{"code":' not in line[:400]:
        return 200
    answer = json.loads(line)
    return _STATUSES.get(answer["error"]["code"], 200) if "error" in answer else 200
