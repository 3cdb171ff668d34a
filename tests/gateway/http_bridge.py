"""A bridge from Streamable HTTP to a server on standard input and output: the conformance suite speaks only HTTP.

It carries messages and adds what HTTP itself asks for: sessions, streams, and the refusal of foreign origins.
"""

import contextlib
import itertools
import json
import queue
import subprocess
import threading
import uuid
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WAIT = 200.0
META = "io.modelcontextprotocol/"
STATELESS = f"{META}protocolVersion"
SUBSCRIPTION = f"{META}subscriptionId"
STATUS = {-32600: 400, -32601: 404, -32602: 400, -32020: 400, -32021: 400, -32022: 400, -32700: 400}


class Stream:
    """What a request of the client is answered with, in order."""

    def __init__(self, message: Mapping[str, Any]) -> None:
        self.identifier = message.get("id")
        meta = (message.get("params") or {}).get("_meta") or {}
        self.token = meta.get("progressToken")
        self.lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()


class Server:
    """One process, whose lines go to the streams that wait for them."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.streams: dict[str, Stream] = {}
        self.unasked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin
        with self._lock:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def ask(self, message: Mapping[str, Any]) -> tuple[str, Stream]:
        """Send a request under an id of its own: clients that share the process may use the same ids."""
        stream, own = Stream(message), f"b{next(self._numbers)}"
        self.streams[own] = stream
        self.send({**message, "id": own})
        return own, stream

    def leave(self, own: str) -> None:
        """Cancel a request whose client has gone."""
        if self.streams.pop(own, None) is not None:
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": own}}
            self.send(cancelled)

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" not in message:
                if (stream := self.streams.pop(str(message.get("id")), None)) is not None:
                    stream.lines.put({**message, "id": stream.identifier})
                continue
            self._place(message).put(message)

    def _place(self, message: dict[str, Any]) -> "queue.SimpleQueue[dict[str, Any]]":
        """The stream a message of the server belongs to."""
        params = message.get("params") or {}
        meta = params.get("_meta") or {}
        if (own := meta.get(SUBSCRIPTION)) in self.streams:
            meta[SUBSCRIPTION] = self.streams[own].identifier
            return self.streams[own].lines
        waiting = list(self.streams.values())
        token = params.get("progressToken")
        by_token = [each for each in waiting if token is not None and each.token == token]
        chosen = by_token or waiting[-1:]
        return chosen[0].lines if chosen else self.unasked

    def close(self) -> None:
        assert self.process.stdin
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.wait(timeout=WAIT)


class Bridge(ThreadingHTTPServer):
    """Serves `/mcp` from two processes: one for all sessions, one for requests that have none.

    A process that has shaken hands no longer takes requests without a session, but shakes hands again.
    """

    daemon_threads = True

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.sessions: set[str] = set()
        self.handshaking, self.stateless = Server(command), Server(command)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self.handshaking.close()
        self.stateless.close()


class Exchange(BaseHTTPRequestHandler):
    """One HTTP request."""

    protocol_version = "HTTP/1.1"
    server: Bridge

    def log_message(self, format: str, *args: object) -> None:
        return

    def _is_foreign(self) -> bool:
        hosts = (self.headers.get("Host") or "", self.headers.get("Origin") or "http://127.0.0.1")
        return not all(any(own in host for own in ("127.0.0.1", "localhost")) for host in hosts)

    def _session(self) -> Server | None:
        return self.server.handshaking if self.headers.get("Mcp-Session-Id") in self.server.sessions else None

    def _json(self, status: int, body: object, session: str = "") -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if session:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        self.wfile.write(content)

    def do_DELETE(self) -> None:
        if self._is_foreign():
            return self._json(403, None)
        if self._session() is None:
            return self._json(404, None)
        self.server.sessions.discard(str(self.headers.get("Mcp-Session-Id")))
        return self._json(200, None)

    def do_GET(self) -> None:
        if self._is_foreign():
            return self._json(403, None)
        session = self._session()
        if session is None:
            return self._json(405, None)
        self._begin_events()
        while self._session() is not None and session.process.poll() is None:
            with contextlib.suppress(queue.Empty):
                self._event(session.unasked.get(timeout=1.0))
        return None

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self._is_foreign():
            return self._json(403, None)
        try:
            message = json.loads(body)
        except ValueError:
            return self._json(400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "not JSON"}})
        if message.get("method") == "initialize":
            name = uuid.uuid4().hex
            self.server.sessions.add(name)
            _, stream = self.server.handshaking.ask(message)
            return self._json(200, stream.lines.get(timeout=WAIT), name)
        session = self._session()
        if session is None and "Mcp-Session-Id" in self.headers:
            return self._json(404, None)
        holder = session or (self.server.stateless if _has_envelope(message) else self.server.handshaking)
        if "method" not in message or "id" not in message:
            holder.send(message)
            return self._json(202, None)
        return self._answer(holder, message, is_stateless=session is None)

    def _answer(self, holder: Server, message: Mapping[str, Any], *, is_stateless: bool) -> None:
        own, stream = holder.ask(message)
        first = stream.lines.get(timeout=WAIT)
        if "error" in first:
            return self._json(STATUS.get(first["error"].get("code"), 200) if is_stateless else 200, first)
        try:
            self._begin_events()
            while True:
                self._event(first)
                if "method" not in first:
                    return None
                first = self._next(stream)
        except OSError:
            return holder.leave(own)

    def _next(self, stream: Stream) -> dict[str, Any]:
        while True:
            with contextlib.suppress(queue.Empty):
                return stream.lines.get(timeout=0.5)
            # A comment finds out whether the client still listens.
            self.wfile.write(b": waiting\n\n")
            self.wfile.flush()

    def _begin_events(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()

    def _event(self, message: Mapping[str, Any]) -> None:
        self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
        self.wfile.flush()


def _has_envelope(message: Mapping[str, Any]) -> bool:
    """Whether a request says what it speaks; the first that does not would turn the process to handshakes."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return "method" not in message or (isinstance(meta, dict) and STATELESS in meta)
