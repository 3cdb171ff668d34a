"""A server in this process: a conversation from memory for most tests, one over pipes for those that need time."""

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from haversack.app import Caller
from haversack.stdio.server import serve

Message = dict[str, Any]
Talk = Callable[..., list[Any]]

STATELESS_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(number: int | str, method: str, **params: Any) -> Message:
    """A request of the handshake era."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def stateless(number: int | str, method: str, **params: Any) -> Message:
    """A request that speaks for itself."""
    meta = STATELESS_META | params.pop("_meta", {})
    return request(number, method, **params, _meta=meta)


def called(number: int | str, name: str, **arguments: Any) -> Message:
    """A call of a tool in the handshake era."""
    return request(number, "tools/call", name=name, arguments=arguments)


def hello(revision: str = "2025-11-25") -> Message:
    """The handshake's first message, with id 0."""
    client = {"name": "test", "version": "1"}
    return request(0, "initialize", protocolVersion=revision, capabilities={}, clientInfo=client)


def answer_to(number: int | str | None, answers: list[Any]) -> Message:
    """The one answer with an id."""
    found: list[Message] = [each for each in answers if each.get("id") == number and "method" not in each]
    assert len(found) == 1, answers
    return found[0]


class Dialogue:
    """A server in a thread that is spoken to over pipes, one message at a time."""

    def __init__(self, caller: Caller, *tool_names: str) -> None:
        client_reads, server_writes = os.pipe()
        server_reads, client_writes = os.pipe()
        self.input: IO[bytes] = os.fdopen(client_writes, "wb", buffering=0)
        self.output: IO[bytes] = os.fdopen(client_reads, "rb")
        self._server = (os.fdopen(server_reads, "rb"), os.fdopen(server_writes, "wb"))
        self._thread = threading.Thread(target=self._serve, args=(caller, tool_names))
        self._thread.start()

    def _serve(self, caller: Caller, tool_names: tuple[str, ...]) -> None:
        source, target = self._server
        try:
            serve(caller, tool_names=tool_names, stdin=source, stdout=target)
        finally:
            source.close()
            with suppress(BrokenPipeError):
                target.close()

    def send(self, *messages: Message) -> None:
        for message in messages:
            self.input.write(json.dumps(message).encode() + b"\n")

    def receive(self) -> Message:
        message: Message = json.loads(self.output.readline())
        return message

    def end(self) -> list[Message]:
        """Close the input and give what was still to come."""
        if not self.input.closed:
            self.input.close()
        rest = [json.loads(line) for line in self.output]
        self._thread.join()
        self.output.close()
        return rest


class Gate:
    """A tool that waits inside a call until the test lets it go on."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()
        self.passed: list[str] = []

    def wait(self) -> None:
        self.entered.set()
        self.opened.wait(timeout=30)
