"""A server for the official conformance suite: ours, with the few tools, prompts and resources the suite asks for.

The suite sends no token, and nobody is anonymous here; so a forwarder in front adds one and changes nothing else.
"""

import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import Annotated

from haversack.app import Caller
from haversack.errors import NotFound
from haversack.mcp.heartbeat import Heartbeat
from haversack.protocol.lines import ProtocolError
from haversack.tools.declaration import tool
from haversack.tools.prompts import Prompt, PromptArgument, prompts
from haversack.tools.resources import Resource, resources
from haversack.tools.road.outcomes import Document, Outcome
from haversack.values import replace
from haversack.web.credentials import Credentials
from haversack.web.mcp_route import MISSING_CAPABILITY
from tests.http.serving import UNHURRIED, serving

BEAT_SECONDS = 0.05


@tool(group="memory")
def test_simple_text(caller: Caller) -> Outcome:
    """A text."""
    return Document("This is a simple text response for testing.")


@tool(group="memory")
def test_error_handling(caller: Caller) -> Outcome:
    """An error."""
    raise NotFound("This tool intentionally returns an error for testing", hint="nothing to mend")


@tool(group="memory")
def test_tool_with_progress(caller: Caller) -> Outcome:
    """A text that takes a few signs of life."""
    time.sleep(10 * BEAT_SECONDS)
    return Document("done")


@tool(group="memory")
def test_logging_tool(caller: Caller) -> Outcome:
    """A text; every call is told to a client that asks for log messages."""
    return Document("done")


@tool(group="memory")
def test_streaming_elicitation(caller: Caller) -> Outcome:
    """A text; this server asks its clients nothing."""
    return Document("done")


@tool(group="memory")
def test_missing_capability(caller: Caller) -> Outcome:
    """What a tool says that needs something of a client which has not declared it."""
    raise ProtocolError(MISSING_CAPABILITY, "sampling is needed", {"requiredCapabilities": {"sampling": {}}})


@tool(group="memory")
def test_static_text(caller: Caller, *, id: Annotated[str, "Anything"] = "") -> Outcome:
    """The text of a resource."""
    return Document(f"This is the content of a resource {id}")


def declare() -> None:
    """Add what is not a tool."""
    resources().append(Resource("static-text", "test_static_text", "static text", "A text", scheme="test://"))
    held = prompts()
    assert isinstance(held, dict)
    held["test_simple_prompt"] = Prompt(
        "test_simple_prompt", "memory", "Simple", "A prompt", (), lambda caller: "This is a simple prompt for testing."
    )
    held["test_prompt_with_arguments"] = Prompt(
        "test_prompt_with_arguments",
        "memory",
        "With arguments",
        "A prompt",
        tuple(PromptArgument(name, "A text", required=True) for name in ("arg1", "arg2")),
        lambda caller, *, arg1, arg2: f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'",
    )


class Forwarder:
    """Passes requests on with a token in them."""

    def __init__(self, token: str) -> None:
        self._header = f"authorization: Bearer {token}\r\n".encode()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.target = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listening.accept()
            server = socket.create_connection(("127.0.0.1", self.target))
            for work in (self._requests, self._replies):
                threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError), client.makefile("rb") as sent:
            while first := sent.readline():
                server.sendall(first + self._header)
                size, line = 0, b""
                while line != b"\r\n":
                    line = sent.readline()
                    name, _, value = line.partition(b":")
                    size = int(value) if name.lower() == b"content-length" else size
                    server.sendall(line)
                server.sendall(sent.read(size))
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    def _replies(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while part := server.recv(65_536):
                client.sendall(part)
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


def main() -> int:
    """Serve until standard input ends; the address is the first line of the output."""
    declare()
    with tempfile.TemporaryDirectory() as home:
        forwarder = Forwarder(Credentials(home).add("suite", "admin")[1])
        hosts = (f"127.0.0.1:{forwarder.port}", f"localhost:{forwarder.port}")
        with serving(home, replace(UNHURRIED, allowed_hosts=hosts), ("all",)) as served:
            served.server.door._mcp._heartbeat = Heartbeat(BEAT_SECONDS)
            forwarder.target = served.port
            print(f"http://127.0.0.1:{forwarder.port}/mcp", flush=True)
            sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
