"""One request and its answer, over ASGI."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from haversack.errors import HaversackError
from haversack.values import record

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = tuple[tuple[str, str], ...]

MOST_BYTES = 4 * 1024 * 1024
BODY_SECONDS = 30.0

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
ALWAYS: Headers = (
    ("content-security-policy", _POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
)
"""Headers on every reply."""
_ALWAYS = [(name.encode(), value.encode()) for name, value in ALWAYS]
JSON = "application/json"
MARKDOWN = "text/markdown; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"


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
    """A request that gets no further; `answer` says why."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str = "", headers: Headers = (), body: bytes | None = None
    ) -> None:
        super().__init__(message)
        shown = error_body(code, message, hint) if body is None else body
        self.answer = Answer(status, shown, headers=headers)


class Gone(Exception):
    """The other end has left."""


class Exchange:
    """A request on its way through the checks."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self.receive = receive
        self._send = send
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.who = "-"
        """The id of the identity, once it is known, for the journal."""

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """The headers by name in lower case; of one given twice the values are joined by commas."""
        found: dict[str, str] = {}
        for raw_name, raw_value in self._scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
            found[name] = f"{found[name]}, {value}" if name in found else value
        return found

    @cached_property
    def query(self) -> list[tuple[str, str]]:
        """The arguments in the address, in order."""
        text = self._scope["query_string"].decode("latin-1")
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

    @cached_property
    def cookies(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for part in self.headers.get("cookie", "").split(";"):
            name, _, value = part.strip().partition("=")
            found.setdefault(name, value)
        return found

    async def body(self) -> bytes:
        """The whole body; one that is too large or too slow is refused."""
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
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
        except TimeoutError:
            raise Refused(
                408, "too_slow", f"the body took longer than {BODY_SECONDS:.0f} s",
                headers=(("connection", "close"),),
            ) from None  # fmt: skip

    async def send(self, answer: Answer | Streamed, also: Headers = ()) -> None:
        """Send a reply with the headers every reply has."""
        streamed = isinstance(answer, Streamed)
        headers = [("content-type", answer.kind), *answer.headers, *also]
        if isinstance(answer, Answer):
            headers.append(("content-length", str(len(answer.body))))
            if not answer.may_be_cached:
                headers.append(("cache-control", "no-store"))
        status = 200 if isinstance(answer, Streamed) else answer.status
        raw = _ALWAYS + [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})
        if isinstance(answer, Answer):
            content = b"" if self.method == "HEAD" else answer.body
            await self._send({"type": "http.response.body", "body": content})
            return
        assert streamed
        async for piece in answer.pieces:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})


def error_body(code: str, message: str, hint: str = "") -> bytes:
    """An error as every route tells it."""
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
    """The status an error has; those that name nothing the caller could mend are the server's fault."""
    return _STATUSES.get(error.code, 500)
