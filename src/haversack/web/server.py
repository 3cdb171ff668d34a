"""Listening: one port, limits on slow and numerous connections, and a stop that finishes running calls."""

import asyncio
import errno
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from haversack.app import App
from haversack.errors import Conflict, HaversackError, InvalidArgument
from haversack.processes import stopped_by
from haversack.values import record
from haversack.web.connections import patient_protocol
from haversack.web.door import Door
from haversack.web.guards import place_of

DEFAULT_ADDRESS, DEFAULT_PORT = "127.0.0.1", 7420
KEEP_ALIVE_SECONDS = 30
GRACE_SECONDS = 60
BACKLOG = 256


@record
class Listening:
    """Where and how to listen."""

    address: str = DEFAULT_ADDRESS
    port: int = DEFAULT_PORT
    allowed_hosts: tuple[str, ...] = ()
    certificate: str = ""
    key: str = ""
    behind_tls: bool = False

    @property
    def is_loopback(self) -> bool:
        return self.address in ("localhost", "::1") or self.address.startswith("127.")


def parse_address(text: str) -> tuple[str, int]:
    """The host and port in `[HOST:]PORT`."""
    host, _, port = text.strip().rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65_536):
        raise InvalidArgument(f"{text[:80]!r} is not [HOST:]PORT", hint="for example 7420, or 0.0.0.0:7420")
    return host.strip("[]") or DEFAULT_ADDRESS, int(port)


class HttpServer:
    """A server bound to its port; `run` serves until `stop` is called."""

    def __init__(self, app: App, listening: Listening, tool_names: Sequence[str] = (), log_file: str = "") -> None:
        self._app = app
        self._listening = listening
        self._socket = _bound(listening)
        self.port: int = self._socket.getsockname()[1]
        place = place_of(
            app.config,
            listening.address,
            self.port,
            allowed=listening.allowed_hosts,
            is_encrypted=bool(listening.certificate) or listening.behind_tls,
        )
        self.door = Door(app, place, tool_names, log_file)
        self.public_url = place.public_url
        self._server = _server(self.door, listening)

    def run(self, started: Callable[[], None] | None = None) -> bool:
        """Serve; `started` is called when the first request can come. Says whether all calls ended."""
        asyncio.run(self._run(started))
        return self.door.close()

    async def _run(self, started: Callable[[], None] | None) -> None:
        if started is not None:
            self._server.on_started = started
        await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        """Stop listening, and end when the running calls are done; callable from any thread."""
        self._server.should_exit = True


def _bound(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.address else socket.AF_INET
    # asyncio sends small segments at once only on sockets that say they are TCP; else each reply waits 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((listening.address, listening.port))
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        where = f"{listening.address}:{listening.port}"
        if error.errno == errno.EADDRINUSE:
            raise Conflict(f"port {listening.port} is taken", hint="--http 0 takes a free one") from None
        raise InvalidArgument(f"cannot listen on {where}: {error.strerror}", hint="try --http 7420") from None
    return bound


def _server(door: Door, listening: Listening) -> Any:
    try:
        import uvicorn
    except ImportError:
        raise _missing_extra() from None

    class Server(uvicorn.Server):
        on_started: Callable[[], None] | None = None

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.on_started:
                self.on_started()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            door.end_streams()
            await super().shutdown(sockets)

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            with stopped_by(self.handle_exit):
                yield

    config = uvicorn.Config(
        door,
        http=patient_protocol(),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",  # invalid requests must not fill standard error
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
        ssl_certfile=listening.certificate or None,
        ssl_keyfile=listening.key or None,
    )
    try:
        config.load()
    except OSError as error:
        raise InvalidArgument(
            f"the certificate cannot be used: {error}", hint="check --tls-cert and --tls-key"
        ) from None
    return Server(config)


def _missing_extra() -> HaversackError:
    return InvalidArgument("serving over HTTP needs the package uvicorn", hint="pip install 'haversack[http]'")
