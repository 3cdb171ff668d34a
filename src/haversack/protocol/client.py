"""A client for any MCP server on standard input and output, in plain JSON-RPC."""

import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from haversack.errors import HaversackError, ToolFailed
from haversack.values import record
from haversack.version import __version__

REVISION = "2025-06-18"
METHOD_NOT_FOUND = -32601

Message = dict[str, Any]


class Refused(HaversackError):
    """The server answered a request with a JSON-RPC error."""

    code = "refused"


@record
class Answer:
    """A tool's answer: its text content joined, its structure, and the line it came in, as bytes."""

    text: str
    is_error: bool
    meta: Mapping[str, Any]
    line: bytes


class StdioClient:
    """A server process and a conversation with it, begun with the handshake."""

    def __init__(
        self, command: Sequence[str], *, environment: Mapping[str, str] | None = None, folder: str | None = None
    ) -> None:
        try:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(environment) if environment is not None else None,
                cwd=folder,
            )
        except OSError as error:
            raise ToolFailed(f"{command[0]} cannot be started ({error.strerror})", hint="check the command") from None
        self._numbers = itertools.count(1)
        self._writing = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[tuple[Message, bytes]]] = {}
        self._ended = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def shake_hands(self, *, seconds: float = 60) -> Message:
        """Do the handshake and return the server's description of itself."""
        client = {"name": "haversack", "version": __version__}
        hello = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client}
        told, _ = self.request("initialize", hello, seconds=seconds)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return told

    def list_tools(self) -> list[Message]:
        """Every tool, whichever page of the list it is on."""
        tools: list[Message] = []
        params: Message = {}
        while True:
            page, _ = self.request("tools/list", params)
            tools += page.get("tools", [])
            if not (cursor := page.get("nextCursor")):
                return tools
            params = {"cursor": cursor}

    def call(self, tool: str, arguments: Mapping[str, Any], *, seconds: float = 60) -> Answer:
        """Call a tool and wait for its answer."""
        result, line = self.request("tools/call", {"name": tool, "arguments": arguments}, seconds=seconds)
        parts = [part.get("text", "") for part in result.get("content", ()) if part.get("type") == "text"]
        return Answer("".join(parts), bool(result.get("isError")), result.get("_meta") or {}, line)

    def request(self, method: str, params: Message, *, seconds: float = 60) -> tuple[Message, bytes]:
        """The result of a request, and the line it came in."""
        number = next(self._numbers)
        answers: queue.SimpleQueue[tuple[Message, bytes]] = queue.SimpleQueue()
        self._waiting[number] = answers
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        if self._ended.is_set():
            self._release()
        try:
            message, line = answers.get(timeout=seconds)
        except queue.Empty:
            raise ToolFailed(f"no answer to {method} within {seconds:g} seconds") from None
        finally:
            self._waiting.pop(number, None)
        if not message:
            raise ToolFailed(f"the server ended before it answered {method}", hint="run the command by itself")
        if "error" in message:
            raise Refused(str(message["error"].get("message"))[:500])
        return message.get("result") or {}, line

    def close(self) -> int:
        """Close the input and wait for the end; a server that does not leave is killed."""
        with contextlib.suppress(OSError):
            self._input.close()
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        """End the server at once, whatever it is doing."""
        self.process.kill()
        code = self.process.wait()
        self._reader.join(timeout=20)
        for stream in (self.process.stdin, self.process.stdout):
            # The reader is gone, so flushing the rest fails.
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        return code

    @property
    def _input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    def _send(self, message: Message) -> None:
        line = json.dumps(message).encode() + b"\n"
        # The reading thread notices that a server is gone and wakes every waiting thread.
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._input.write(line)
            self._input.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line.decode("utf-8", "replace"))
            except ValueError:
                continue
            if not isinstance(message, dict):
                continue
            if "method" in message:
                self._answer(message)
            elif (waiting := self._waiting.get(message.get("id", 0))) is not None:
                waiting.put((message, line))
        self._ended.set()
        self._release()

    def _release(self) -> None:
        for waiting in list(self._waiting.values()):
            waiting.put(({}, b""))

    def _answer(self, message: Message) -> None:
        """Answer a request of the server: a ping is answered, everything else is refused."""
        if "id" not in message:
            return
        answer: Message = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": METHOD_NOT_FOUND, "message": "not offered"}
        self._send(answer)


def own_server(home: str, **variables: str) -> dict[str, str]:
    """The environment of a server of this program with its home there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HAVERSACK_")}
    # The server finds the modules of this program also where they are not installed, from whatever folder.
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "HAVERSACK_HOME": home, **variables}
