"""A server on standard input that is sent nonsense: it goes on answering, and a cancelled call frees its worker."""

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from attack.places import project
from attack.trial import HUNG_SECONDS, Trial, attack

HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "attack", "version": "0"}},
}  # fmt: skip
LINES = (
    b"", b"\0", b"\xff\xfe", b"{", b"[", b"]" * 1_000, b"[" * 200_000, b'{"a":' * 100_000, b"null", b"1e999", b'"text"', b"[]",
    b"[[]]", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b'{"jsonrpc":"1.0","id":7,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', b'{"jsonrpc":"2.0","id":8,"method":7}', b'{"jsonrpc":"2.0","method":"x"}',
    b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[]}', b'{"jsonrpc":"2.0","id":10,"result":{}}',
    b'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"mem_save","arguments":7}}',
    b'{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"\\ud800","arguments":{}}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    b'{"jsonrpc":"2.0","id":13,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}',
    b"x" * 5_000_000, b'{"jsonrpc":"2.0","id":14,"method":"' + b"a" * 1_000_000 + b'"}',
)  # fmt: skip


@attack("wire")
def run(trial: Trial) -> None:
    """Send one line at a time and see whether a ping still comes back."""
    root = project(trial.folder / "project")
    (root / "bomb.txt").write_text("a" * 60 + "!\n")
    server = _Server(trial.folder, root)
    try:
        trial.judge("no handshake", server.asks(HELLO))
        for number, line in enumerate(LINES * 3, 1_000):
            if not trial.goes_on():
                break
            garbled = bytearray(line)
            if number >= 1_000 + len(LINES) and garbled:
                garbled[trial.random.randrange(len(garbled))] = trial.random.randrange(256)
            server.send(bytes(garbled).replace(b"\n", b" "))
            answered = server.asks({"jsonrpc": "2.0", "id": number, "method": "ping"})
            trial.judge(f"no ping after {bytes(garbled[:60])!r}", answered)
            if not answered:
                return
        for number in range(8):
            arguments = {"pattern": "(a+)+$" if number % 2 else "(a|aa)+$", "is_regex": True, "path": "bomb.txt"}
            params = {"name": "search_content", "arguments": arguments}
            server.send(
                json.dumps({"jsonrpc": "2.0", "id": f"s{number}", "method": "tools/call", "params": params}).encode()
            )
        for number in range(8):
            params = {"requestId": f"s{number}"}
            server.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode())
        call = {
            "jsonrpc": "2.0",
            "id": 5_000,
            "method": "tools/call",
            "params": {"name": "vcs_status", "arguments": {}},
        }
        trial.judge("cancelled searches kept every worker busy", server.asks(call, seconds=15))
    finally:
        server.process.kill()
        server.process.wait()


class _Server:
    def __init__(self, folder: Path, root: Path) -> None:
        environment = {**os.environ, "HAVERSACK_HOME": str(folder / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "haversack", "serve", "--tools", "memory,workspace"],
            cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            message = json.loads(line)
            if isinstance(message, dict):
                self._answers.put(message)

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def asks(self, message: dict[str, Any], seconds: float = HUNG_SECONDS) -> bool:
        """Whether a message is answered in time; other answers are passed over."""
        try:
            self.send(json.dumps(message).encode())
            while self._answers.get(timeout=seconds).get("id") != message["id"]:
                pass
        except (queue.Empty, BrokenPipeError):
            return False
        return True
