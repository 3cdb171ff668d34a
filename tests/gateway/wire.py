"""A client that sees bytes: it sends lines and reads lines, directly or through the gateway."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TORTURE = [sys.executable, str(Path(__file__).with_name("torture_server.py"))]
WAIT = 60.0


class Wire:
    """A process and the lines between it and the test."""

    def __init__(self, command: Sequence[str], home: Path, **variables: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HAVERSACK_")}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # An account that no test empties: what it warns of is tested elsewhere.
            env={**kept, "HAVERSACK_HOME": str(home), "HAVERSACK_BUDGET_TOTAL": "1000000000", **variables},
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.errors = b""
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._hear, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _hear(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.errors += line

    def send(self, message: object) -> None:
        """Send a message, or bytes as they are."""
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def line(self) -> bytes:
        """The next line; empty when the process has closed its output."""
        return self._lines.get(timeout=WAIT)

    def message(self) -> Any:
        return json.loads(self.line())

    def ask(self, method: str, params: object = None, identifier: object = 1) -> bytes:
        """The line that answers a request."""
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}})
        return self.line()

    def call(self, tool: str, identifier: object = 1, meta: Any = None, **arguments: object) -> bytes:
        params: dict[str, object] = {"name": tool, "arguments": arguments}
        if meta is not None:
            params["_meta"] = meta
        return self.ask("tools/call", params, identifier)

    def result(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The result of a call."""
        held: dict[str, Any] = json.loads(self.call(tool, **arguments))["result"]
        return held

    def greet(self, name: str = "test", **capabilities: object) -> bytes:
        """Shake hands as a client of this name."""
        client = {"name": name, "version": "1"}
        line = self.ask(
            "initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client}, 0
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return line

    def close(self) -> int:
        """Close the input and wait for the end."""
        assert self.process.stdin
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(timeout=WAIT)
        for thread in self._threads:
            thread.join(timeout=WAIT)
        assert self.process.stdout and self.process.stderr
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def wrapped(*options: str, command: Sequence[str] = TORTURE) -> list[str]:
    """The command that runs a server behind the gateway."""
    return [sys.executable, "-m", "haversack", "wrap", *options, "--", *command]


def texts(result: Mapping[str, Any]) -> str:
    """The text of a result's text blocks."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
