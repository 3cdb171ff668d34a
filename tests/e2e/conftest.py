"""Real server processes, each on a store of its own unless a test says otherwise."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pytest

MAIN = "import sys; from haversack.__main__ import main; sys.exit(main())"


def command(*tool_names: str, before: str = "") -> list[str]:
    """How a server is started, with a script to run before if need be."""
    started = ["-c", before + MAIN] if before else ["-m", "haversack"]
    return [sys.executable, *started, "serve", *(["--tools", ",".join(tool_names)] if tool_names else [])]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The variables of a server: this Python's path, and a home inside the test's folder."""
    return {**os.environ, "HAVERSACK_HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}


class Server:
    """A server process and a client that speaks to it by hand."""

    def __init__(self, environment: dict[str, str], folder: Path, tool_names: Sequence[str], before: str) -> None:
        self.process = subprocess.Popen(
            command(*tool_names, before=before),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=folder,
        )

    @property
    def input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def send(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            self.input.write(json.dumps(message).encode() + b"\n")
        self.input.flush()

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.output.readline())
        return message

    def call(self, number: int, tool: str, **arguments: Any) -> str:
        """Call a tool, wait for its answer and give its text."""
        self.send(call_of(number, tool, **arguments))
        answer = self.receive()
        assert answer["id"] == number, answer
        assert not answer["result"].get("isError"), answer
        text: str = answer["result"]["content"][0]["text"]
        return text

    def end(self) -> tuple[bytes, bytes]:
        """Close the input, and give what was still said and what was complained of."""
        assert self.process.stderr is not None
        self.input.close()
        said, complaints = self.output.read(), self.process.stderr.read()
        self.process.wait(timeout=60)
        return said, complaints


def call_of(number: int | str, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call that speaks for itself, so that no handshake has to come first."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers, with a script to run before if need be, and ends those a test leaves running."""
    started: list[Server] = []

    def start_server(*tool_names: str, before: str = "") -> Server:
        started.append(Server(environment, tmp_path, tool_names, before))
        return started[-1]

    yield start_server
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        for stream in (each.process.stdin, each.process.stdout, each.process.stderr):
            if stream is not None:
                stream.close()
        each.process.wait()
