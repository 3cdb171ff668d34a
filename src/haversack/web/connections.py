"""Connections: time limits for headers and bodies, and a limit on their number."""

import asyncio
from typing import Any

from haversack.web.exchange import error_body

HEADER_SECONDS = 10.0
BODY_SECONDS = 30.0
MOST_CONNECTIONS = 100
MOST_HEADER_BYTES = 64 * 1024
ALWAYS = (
    b"content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'\r\n"
    b"x-content-type-options: nosniff\r\n"
    b"referrer-policy: no-referrer\r\n"
    b"cross-origin-opener-policy: same-origin\r\n"
    b"cross-origin-resource-policy: same-origin\r\n"
)
"""Headers on every reply, whoever wrote it."""


def patient_protocol() -> type[asyncio.Protocol]:
    """uvicorn's HTTP protocol class (httptools where it is installed) with time limits."""
    bases: tuple[Any, ...]
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

        bases = (_Parts, _Patience, HttpToolsProtocol)
    except ImportError:
        from uvicorn.protocols.http.h11_impl import H11Protocol

        bases = (_Patience, H11Protocol)  # which has a limit of its own for headers
    made: type[asyncio.Protocol] = type("PatientProtocol", bases, {})
    return made


class _Patience:
    """Adds time limits and a limit on connections to uvicorn's protocol."""

    connections: set[Any]
    cycle: Any
    loop: asyncio.AbstractEventLoop
    transport: Any
    _deadline: asyncio.TimerHandle | None = None
    _awaited = ""
    """The part of a request that the deadline is for."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(_Joined(transport))  # type: ignore[misc]
        if len(self.connections) > MOST_CONNECTIONS:
            self._refuse(503, "Service Unavailable", "busy", "too many connections")
        else:
            self._wait_for("headers")

    def data_received(self, data: bytes) -> None:
        super().data_received(data)  # type: ignore[misc]
        self._wait_for(self._missing)

    def connection_lost(self, error: Exception | None) -> None:
        self._wait_for("")
        super().connection_lost(error)  # type: ignore[misc]

    def on_response_complete(self) -> None:
        self.transport.flush()
        super().on_response_complete()  # type: ignore[misc]

    def send_400_response(self, message: str) -> None:
        """Answer an invalid HTTP request with the same JSON error as every route."""
        self._refuse(400, "Bad Request", "bad_request", "this is not an HTTP request")

    @property
    def _missing(self) -> str:
        """The missing part of a request: its headers, its body or nothing."""
        if self.cycle is None or self.cycle.response_complete:
            return "headers"
        return "body" if self.cycle.more_body else ""

    def _wait_for(self, what: str) -> None:
        """Set the deadline for the headers or the body; clear it when nothing is missing."""
        if self._awaited == what:
            return
        self._awaited = what
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(_patience(what), self._give_up) if what else None

    def _give_up(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self.transport.is_closing():
            return
        if self._awaited == "headers" and is_answering:
            # Those of the next request: the one before it is answered first.
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._give_up)
        elif self._awaited == "headers" or (is_answering and not self.cycle.response_started):
            message = f"the {self._awaited} took longer than {_patience(self._awaited):.0f} s"
            self._refuse(408, "Request Timeout", "too_slow", message)
        else:
            self.transport.close()

    def _refuse(self, status: int, phrase: str, code: str, message: str) -> None:
        self.transport.write(_refusal(status, phrase, code, message))
        self.transport.close()


class _Parts:
    """Tracks which part of a request is missing, from httptools' callbacks; too many headers are refused."""

    cycle: Any
    transport: Any
    url: bytes
    headers: list[tuple[bytes, bytes]]
    _missing = "headers"
    _header_bytes = 0

    def data_received(self, data: bytes) -> None:
        if self._missing != "body":
            end = data.find(b"\r\n\r\n")
            self._header_bytes += len(data) if end < 0 else end
            if self._header_bytes > MOST_HEADER_BYTES:
                self._refuse(431, "Request Header Fields Too Large", "too_large", "the headers are over 64 KiB")  # type: ignore[attr-defined]
                return
        super().data_received(data)  # type: ignore[misc]

    def on_message_begin(self) -> None:
        self._missing = "headers"
        super().on_message_begin()  # type: ignore[misc]

    def on_headers_complete(self) -> None:
        self._missing = "body"
        self._header_bytes = 0
        scheme, _, rest = self.url.partition(b"://")
        if scheme in (b"http", b"https"):
            # An absolute request URL names the host, whatever the Host header says.
            self.headers[:] = [
                (b"host", rest.partition(b"/")[0]),
                *(each for each in self.headers if each[0] != b"host"),
            ]
        super().on_headers_complete()  # type: ignore[misc]

    def on_message_complete(self) -> None:
        self._missing = ""
        super().on_message_complete()  # type: ignore[misc]

    def _unsupported_upgrade_warning(self) -> None:
        """Close the connection behind the answer: bytes that follow a request for another protocol are not HTTP."""
        self.cycle.keep_alive = False


def _patience(what: str) -> float:
    return HEADER_SECONDS if what == "headers" else BODY_SECONDS


class _Joined:
    """A transport that adds the common headers and sends each reply in one write.

    Two writes, one for the headers and one for the body, would wake the client twice.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held = b""

    def write(self, content: bytes) -> None:
        """Buffer the head of a reply until its body comes or the reply ends; send everything else."""
        if not self._held and content.startswith(b"HTTP/1.1 ") and not content.startswith(b"HTTP/1.1 100"):
            self._held = content.replace(b"\r\n", b"\r\n" + ALWAYS, 1)
        else:
            self._transport.write(self._held + content)
            self._held = b""

    def flush(self) -> None:
        """Send the buffered bytes."""
        if self._held:
            self._transport.write(self._held)
            self._held = b""

    def close(self) -> None:
        """Send the buffered bytes, and close."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _refusal(status: int, phrase: str, code: str, message: str) -> bytes:
    """The refusal of a connection on which no request has been read."""
    body = error_body(code, message)
    headers = [("content-type", "application/json"), ("content-length", str(len(body))),
               ("cache-control", "no-store"), ("retry-after", "1"), ("connection", "close")]  # fmt: skip
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {status} {phrase}\r\n{lines}\r\n".encode() + body
