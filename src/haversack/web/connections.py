"""Connections: how long one may take to say what it wants, and how many there may be."""

import asyncio
from typing import Any

from haversack.web.exchange import ALWAYS, error_body

HEADER_SECONDS = 10.0
MOST_CONNECTIONS = 100
MOST_HEADER_BYTES = 64 * 1024


def patient_protocol() -> type[asyncio.Protocol]:
    """uvicorn's reader of requests, with httptools where it is there, kept from waiting for ever."""
    base: Any
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

        base = HttpToolsProtocol
    except ImportError:
        from uvicorn.protocols.http.h11_impl import H11Protocol

        base = H11Protocol
    made: type[asyncio.Protocol] = type("PatientProtocol", (_Patience, base), {})
    return made


class _Patience:
    """What is added to a connection of uvicorn's: an end to waiting for headers, and to ever more connections."""

    connections: set[Any]
    cycle: Any
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _deadline: asyncio.TimerHandle | None = None
    _header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(_Joined(transport))  # type: ignore[misc]
        if len(self.connections) > MOST_CONNECTIONS:
            transport.write(_refusal(503, "Service Unavailable", "busy", "too many connections"))
            transport.close()
            return
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        if self._is_waiting and self._is_too_much(data):
            self.transport.write(
                _refusal(431, "Request Header Fields Too Large", "too_large", "the headers are over 64 KiB")
            )
            self.transport.close()
            return
        super().data_received(data)  # type: ignore[misc]
        if self._is_waiting:
            self._wait_for_headers()
        elif self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def connection_lost(self, error: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(error)  # type: ignore[misc]

    @property
    def _is_waiting(self) -> bool:
        """Whether the headers of a request are still to come."""
        return self.cycle is None or self.cycle.response_complete

    def _is_too_much(self, data: bytes) -> bool:
        """Count what has come of the headers; httptools would take them without end."""
        end = data.find(b"\r\n\r\n")
        size = self._header_bytes + (len(data) if end < 0 else end)
        self._header_bytes = size if end < 0 else 0
        return size > MOST_HEADER_BYTES

    def send_400_response(self, message: str) -> None:
        """Refuse what is not HTTP as every route refuses, in place of uvicorn's own words."""
        self.transport.write(_refusal(400, "Bad Request", "bad_request", "this is not an HTTP request"))
        self.transport.close()

    def _wait_for_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._deadline = None
        if self._is_waiting and not self.transport.is_closing():
            self.transport.write(_refusal(408, "Request Timeout", "too_slow", "the headers took too long"))
            self.transport.close()


class _Joined:
    """A transport that sends a reply's headers and body in one piece: two would wake the other end twice."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held = b""
        self._waiting: asyncio.Handle | None = None

    def write(self, content: bytes) -> None:
        """Send what was held and this; the first piece waits for the next, at most until the loop's next turn."""
        if self._waiting is None:
            self._held = content
            self._waiting = asyncio.get_running_loop().call_soon(self.flush)
        else:
            self._held += content
            self.flush()

    def flush(self) -> None:
        """Send what is held."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
            self._transport.write(self._held)
            self._held = b""

    def close(self) -> None:
        """Send what is held, and close."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _refusal(status: int, phrase: str, code: str, message: str) -> bytes:
    """The refusal of a connection on which no request has been read."""
    body = error_body(code, message)
    headers = [*ALWAYS, ("content-type", "application/json"), ("content-length", str(len(body))),
               ("cache-control", "no-store"), ("retry-after", "1"), ("connection", "close")]  # fmt: skip
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {status} {phrase}\r\n{lines}\r\n".encode() + body
