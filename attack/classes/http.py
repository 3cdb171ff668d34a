"""A server on a port that is sent wrong tokens, crossed rights and nonsense: nothing is given away, and it goes on."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

from attack.trial import HUNG_SECONDS, SECRET, Trial, attack

READS = (
    "mem_search",
    "mem_context",
    "context_pack",
    "mem_timeline",
    "mem_get_observation",
    "mem_stats",
    "work_log",
    "more",
)
WRITES = ("mem_save", "mem_update", "mem_delete", "mem_session_start", "mem_relate")
NONSENSE = (
    b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET /../../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /static/%2e%2e/%2e%2e/haversack.db HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET //evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000000\r\n\r\n{",
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
)  # fmt: skip
BODIES = (
    b"", b"{", b"[" * 100_000, b"null", b"[]", b'{"query":' + b'{"a":' * 5_000, b"\xff\xfe", b'{"query":1e999}',
    b'{"query":"x","query":"y"}', b'{"max_tokens":-1,"query":"x"}', b'{"max_tokens":"all","query":"x"}',
)  # fmt: skip


WRONG_TOKENS = 10_000


@attack("http-tokens")
def run_tokens(trial: Trial) -> None:
    """Guess tokens on one connection after another: at most ten times the usual count of attempts."""
    door = _Door(trial.folder)
    try:
        held = door.token("read-open", "--scope", "read", "--project", "open")
        identifier, seen = held.split("_")[1], set()
        for _ in range(min(WRONG_TOKENS, 10 * trial.count)):
            secret = "".join(trial.random.choices(held, k=43))
            status = _status(door.ask(f"hvk_{identifier}_{secret}", "mem_search", query="visible"))
            trial.judge(f"a wrong token was answered {status}", status in (401, 429))
            seen.add(status)
        trial.judge(f"wrong tokens are not slowed: {seen}", trial.count < 10 or 429 in seen)
        trial.judge("the right token is shut out", b"visible" in door.ask(held, "mem_search", query="visible"))
    finally:
        door.close()


@attack("http")
def run(trial: Trial) -> None:
    """Ask with wrong tokens, with tokens for something else, and with what is no request."""
    door = _Door(trial.folder)
    try:
        held = door.token("read-open", "--scope", "read", "--project", "open")
        trial.judge("the right token finds nothing", b"visible" in door.ask(held, "mem_search", query="visible"))
        _rights(trial, door, held)
        _nonsense(trial, door, held)
        _slow(trial, door)
        _tokens(trial, door, held)  # the last: so many wrong ones close the address for a while
    finally:
        door.close()


def _rights(trial: Trial, door: "_Door", held: str) -> None:
    for tool in READS:
        for given in ({"query": SECRET}, {"query": "marker", "project": "hidden"}, {"id": 1}, {"project": "all"}):
            answer = door.ask(held, tool, **{**given, "observation_id": 1, "key": "abcdef"})
            trial.judge(f"{tool} {given} shows another project", SECRET.encode() not in answer)
    for tool in WRITES:
        answer = door.ask(held, tool, title="t", content="c", id=1, session="s", from_id=1, to_id=2)
        trial.judge(f"{tool} was let through: {answer[:80]!r}", _status(answer) in (400, 403, 404))
    for extra in ("Host: evil.example", "Origin: http://evil.example"):
        status = _status(door.send(f"GET /api/v1/tools/mem_search?query=x HTTP/1.1\r\n{extra}\r\n", held))
        trial.judge(f"{extra} was let through with {status}", status in (400, 403, 421))


def _nonsense(trial: Trial, door: "_Door", held: str) -> None:
    for number, raw in enumerate(NONSENSE * 3):
        if not trial.goes_on():
            return
        garbled = bytearray(raw)
        if number >= len(NONSENSE):
            garbled[trial.random.randrange(len(garbled))] = trial.random.randrange(256)
        answer = door.raw(bytes(garbled))
        trial.judge(f"{bytes(garbled[:60])!r} shows a file", b"root:" not in answer and b"SQLite format" not in answer)
        trial.judge(f"not alive after {bytes(garbled[:60])!r}", door.lives())
    trial.judge(
        "half a character is an error of ours", _status(door.post(held, "mem_search", b'{"query":"\\ud800"}')) < 500
    )
    for body in BODIES:
        answer = door.post(held, "mem_search", body)
        trial.judge(
            f"{body[:60]!r} was answered {answer[:60]!r}", 400 <= _status(answer) < 500 and b"Traceback" not in answer
        )


def _slow(trial: Trial, door: "_Door") -> None:
    waiting = [door.begin(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n{") for _ in range(20)]
    trial.judge("bodies that never come keep others waiting", door.lives())
    for each in waiting:
        each.close()


def _tokens(trial: Trial, door: "_Door", held: str) -> None:
    guesses = [
        "",
        " ",
        "null",
        held[:-1],
        held + "x",
        held.swapcase(),
        held[::-1],
        "a" * 60_000,
        "é",
        held[:8],
        "Bearer",
    ]
    while guesses or trial.goes_on():
        guess = guesses.pop() if guesses else "".join(trial.random.choices(held, k=len(held)))
        if guess == held:
            continue
        status = _status(door.ask(guess, "mem_search", query="visible"))
        trial.judge(f"the token {guess[:40]!r} was answered {status}", status in (400, 401, 403, 429, 431))


def _status(answer: bytes) -> int:
    words = answer.split(b" ", 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


class _Door:
    """A server process on a free port of this machine, with a memory in each of two projects."""

    def __init__(self, folder: Path) -> None:
        self._environment = {
            **os.environ, "HAVERSACK_HOME": str(folder / "home"), "PYTHONPATH": os.pathsep.join(sys.path),
        }  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._run("save", "--title", "hidden", "--content", f"the {SECRET}", "--project", "hidden")
        self._run("save", "--title", "visible", "--content", "visible to all", "--project", "open")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "haversack", "serve", "--http", f"127.0.0.1:{self._port}"],
            cwd=folder, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + HUNG_SECONDS
        while not self.lives() and time.monotonic() < until:
            time.sleep(0.1)

    def _run(self, *typed: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "haversack", *typed],
            cwd=self._folder, env=self._environment, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    def token(self, name: str, *options: str) -> str:
        """A new token."""
        return max(self._run("token", "add", name, *options).split(), key=len)

    def ask(self, token: str, tool: str, **arguments: object) -> bytes:
        """What a tool answers to somebody with a token."""
        return self.post(token, tool, json.dumps(arguments).encode())

    def post(self, token: str, tool: str, body: bytes) -> bytes:
        """What a tool answers to a body."""
        head = f"POST /api/v1/tools/{quote(tool)} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        return self.send(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n", token, body)

    def send(self, head: str, token: str, body: bytes = b"") -> bytes:
        """The answer to a request with a token, which ends the connection."""
        if "\r\nHost:" not in head:
            head += f"Host: 127.0.0.1:{self._port}\r\n"
        return self.raw(f"{head}Authorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode() + body)

    def begin(self, raw: bytes) -> socket.socket:
        """A connection on which something was sent, and nothing read."""
        link = socket.create_connection(("127.0.0.1", self._port), timeout=5)
        with contextlib.suppress(OSError):
            link.sendall(raw)
        return link

    def raw(self, raw: bytes) -> bytes:
        """What comes back on a connection of its own, until it ends or is silent."""
        answer = b""
        with contextlib.suppress(OSError), self.begin(raw) as link:
            link.settimeout(2)
            while len(answer) < 1_000_000 and (part := link.recv(65_536)):
                answer += part
                head, found, body = answer.partition(b"\r\n\r\n")
                if found and len(body) >= _length(head):
                    break
        return answer

    def lives(self) -> bool:
        """Whether the server says that it is well."""
        head = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nConnection: close\r\n\r\n"
        return _status(self.raw(head.encode())) == 200

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:") and line[15:].strip().isdigit():
            return int(line[15:])
    return 1 << 40
