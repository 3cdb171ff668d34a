"""One request and its answer, over ASGI."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl

from haversack.errors import HaversackError
from haversack.values import record

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = tuple[tuple[str, str], ...]

MOST_BYTES = 4 * 1024 * 1024

JSON = "application/json"
MARKDOWN = "text/markdown; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"
NO_STORE = ("cache-control", "no-store")


@record
class Answer:
    """A whole reply."""

    status: int
    body: bytes = b""
    kind: str = JSON
    headers: Headers = ()
    may_be_cached: bool = False


@record
class Streamed:
    """A reply that is sent piece by piece."""

    pieces: AsyncIterator[bytes]
    kind: str
    headers: Headers = ()


class Refused(Exception):
    """A request that is refused; `answer` says why."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str = "", headers: Headers = (), body: bytes | None = None
    ) -> None:
        super().__init__(message)
        shown = error_body(code, message, hint) if body is None else body
        self.answer = Answer(status, shown, headers=headers)


class Gone(Exception):
    """The client has disconnected."""


class Exchange:
    """A request while it passes the checks."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self.receive = receive
        self._send = send
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers = _by_name(scope["headers"])
        """The headers by name, which ASGI gives in lower case; of one given twice the values are joined by commas."""
        self.who = "-"
        """The id of the identity, once it is known, for the journal."""

    def query(self) -> list[tuple[str, str]]:
        """The arguments in the address, in order."""
        text = self._scope["query_string"].decode("latin-1")
        if not text:
            return []
        try:
            return parse_qsl(text, keep_blank_values=True, max_num_fields=200, errors="strict")
        except ValueError:
            raise Refused(
                400, "invalid_argument", "the query of the address cannot be read",
                hint="at most 200 fields, percent-encoded as UTF-8",
            ) from None  # fmt: skip

    @property
    def address(self) -> str:
        """Where the request comes from."""
        client = self._scope.get("client")
        return str(client[0]) if client else "unknown"

    def cookie(self, name: str) -> str:
        """The value of a cookie, empty where there is none; of one given twice the first counts."""
        for part in self.headers.get("cookie", "").split(";"):
            given, _, value = part.strip().partition("=")
            if given == name:
                return value
        return ""

    async def body(self) -> bytes:
        """The whole body; one that is too large is refused, and the connection ends one that is too slow."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Gone
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > MOST_BYTES:
                raise too_large()
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)

    async def send(self, answer: Answer | Streamed) -> None:
        """Send a reply; the connection adds the headers every reply has."""
        if isinstance(answer, Streamed):
            await self._start(200, answer.kind, answer.headers)
            await self._send({"type": "http.response.body", "body": b"", "more_body": True})  # the headers go at once
            async for piece in answer.pieces:
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            await self._send({"type": "http.response.body", "body": b""})
            return
        headers = answer.headers if answer.may_be_cached else (*answer.headers, NO_STORE)
        await self._start(answer.status, answer.kind, (*headers, ("content-length", str(len(answer.body)))))
        content = b"" if self.method == "HEAD" else answer.body
        await self._send({"type": "http.response.body", "body": content})

    async def _start(self, status: int, kind: str, headers: Headers) -> None:
        raw = [
            (name.encode(), value.encode("latin-1", "replace")) for name, value in (("content-type", kind), *headers)
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})


def _by_name(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1").strip()
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def error_body(code: str, message: str, hint: str = "") -> bytes:
    """The JSON body of an error, the same for every route."""
    return json.dumps({"error": {"code": code, "message": message, "hint": hint}}, ensure_ascii=False).encode()


def as_json(value: object) -> Answer:
    """A value as a reply."""
    return Answer(200, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def too_large() -> Refused:
    """The refusal of a body over the limit."""
    return Refused(
        413, "too_large", f"the body is over {MOST_BYTES // 1024 // 1024} MiB", hint="send less at once",
        headers=(("connection", "close"),),
    )  # fmt: skip


_STATUSES = {
    "unknown_tool": 404,
    "not_found": 404,
    "expired_key": 404,
    "conflict": 409,
    "wrong_stage": 409,
    "changed": 412,
    "forbidden": 403,
    "outside_root": 403,
    "withheld": 403,
    "store_busy": 503,
    "store_read_only": 503,
    "store_unavailable": 503,
    "store_full": 507,
    "invalid_argument": 400,
    "budget_too_small": 400,
    "too_large": 400,
}


def status_of(error: HaversackError) -> int:
    """The HTTP status of an error; 500 for errors the caller cannot mend."""
    return _STATUSES.get(error.code, 500)
