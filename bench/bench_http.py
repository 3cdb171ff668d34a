"""The HTTP door beside the official SDK's trivial server and beside our own stdio, all in one run.

`--quick` for a short look. The machine's mood is shared by turns; trust the ratios.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.bench_start import HELLO, Client

HERE = Path(__file__).parent
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")}
ENVIRONMENT |= {"HAVERSACK_MEMORY_SEMANTIC": "off", "HAVERSACK_HTTP_CALLS_PER_MINUTE": "0"}
ENVIRONMENT["HAVERSACK_HTTP_WRITES_PER_MINUTE"] = "0"
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
}
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})


class Server:
    """A server process on a port."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int, token: str = "") -> None:
        self.process = process
        self.port = port
        self.headers = HEADERS | ({"authorization": f"Bearer {token}"} if token else {})

    def connection(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=60)

    def post(self, connection: HTTPConnection, body: str, path: str = "/mcp") -> tuple[int, bytes]:
        connection.request("POST", path, body, self.headers)
        reply = connection.getresponse()
        return reply.status, reply.read()

    def cpu(self) -> float:
        """Seconds of processor time so far, in nanoseconds where the kernel counts them."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        if exact := sum(int(each.read_text().split()[0]) for each in threads):
            return exact / 1e9
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Resident megabytes."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@contextmanager
def started(command: list[str], port: int, home: str, token_file: Path | None) -> Iterator[tuple[Server, float]]:
    """A running server, and the processor seconds until its first answer."""
    process = subprocess.Popen(
        command, env={**ENVIRONMENT, "HAVERSACK_HOME": home}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    server = Server(process, port)
    try:
        while True:
            try:
                token = token_file.read_text().strip() if token_file else ""
                server = Server(process, port, token)
                status, _ = server.post(server.connection(), json.dumps(HELLO))
                if status == 200:
                    break
            except OSError:
                time.sleep(0.005)
            if process.poll() is not None:
                raise SystemExit(f"{command} ended")
        yield server, server.cpu()
    finally:
        process.terminate()
        process.wait()


def ours(home: str) -> tuple[list[str], int, Path]:
    port = free_port()
    return [sys.executable, "-m", "haversack", "serve", "--http", str(port)], port, Path(home) / "http-token"


def theirs() -> tuple[list[str], int, None]:
    port = free_port()
    return [sys.executable, str(HERE / "servers" / "sdk_http.py"), str(port)], port, None


def pings(servers: dict[str, Server], turns: int, count: int) -> dict[str, list[float]]:
    """Processor milliseconds of a ping in every turn; both servers run, and are asked by turns."""
    connections = {name: server.connection() for name, server in servers.items()}
    took: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(turns + 1):
        for name, server in servers.items():
            before = server.cpu()
            for _ in range(count):
                status, _ = server.post(connections[name], PING)
                assert status == 200
            if turn:  # the first turn warms up
                took[name].append((server.cpu() - before) * 1000 / count)
    return took


def searches(ask: Any, count: int) -> float:
    """The median milliseconds of a search."""
    took = []
    for number in range(count + 10):
        began = time.perf_counter()
        ask(f"token rotation {number % 7}")
        took.append((time.perf_counter() - began) * 1000)
    return median(took[10:])


def load(server: Server, connections: int, seconds: float) -> tuple[int, int, list[float]]:
    """Calls answered and failed by many connections at once, and the server's memory every second."""
    until = time.monotonic() + seconds
    done, failed = [0] * connections, [0] * connections
    body = json.dumps({"query": "token rotation", "max_tokens": 300})

    def ask(place: int) -> None:
        connection = server.connection()
        while time.monotonic() < until:
            try:
                status, _ = server.post(connection, body, "/api/v1/tools/mem_search")
                done[place] += status == 200
                failed[place] += status != 200
            except OSError:
                failed[place] += 1
                connection = server.connection()

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(connections)]
    for thread in threads:
        thread.start()
    held = []
    while time.monotonic() < until:
        time.sleep(min(1.0, seconds / 10))
        held.append(server.memory())
    for thread in threads:
        thread.join()
    return sum(done), sum(failed), held


def claim(what: str, figure: float, aim: float, unit: str = ": 1") -> None:
    print(f"claim: {what} | {figure:.2f} | at most {aim} | {unit}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rounds, count, seconds = (1, 200, 2.0) if quick else (5, 2_000, 30.0)
    cpu: dict[str, list[float]] = {"ours": [], "sdk": []}
    memory: dict[str, list[float]] = {"ours": [], "sdk": []}
    ping: dict[str, list[float]] = {"ours": [], "sdk": []}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(rounds):
            (command, port, token), (other, other_port, _) = ours(home), theirs()
            with (
                started(command, port, home, token) as (server, first),
                started(other, other_port, home, None) as (sdk, sdk_first),
            ):
                cpu["ours"].append(first)
                cpu["sdk"].append(sdk_first)
                memory["ours"].append(server.memory())
                memory["sdk"].append(sdk.memory())
                for name, took in pings({"ours": server, "sdk": sdk}, count // 200, 200).items():
                    ping[name] += took
        for name in cpu:
            print(f"{name}: {median(cpu[name]):.2f} s CPU to the first answer, {median(memory[name]):.0f} MB, "
                  f"{median(ping[name]):.3f} ms CPU a ping")  # fmt: skip
        claim("first answer beside the SDK, CPU", median(cpu["ours"]) / median(cpu["sdk"]), 0.35)
        claim("memory beside the SDK", median(memory["ours"]) / median(memory["sdk"]), 0.6)
        claim("a ping beside the SDK, CPU", median(ping["ours"]) / max(1e-6, median(ping["sdk"])), 0.25)
        stdio = Client([sys.executable, "-m", "haversack", "serve"], home)
        stdio.ask(HELLO)
        for number in range(200):
            text = f"token rotation {number} " * 12
            stdio.call("mem_save", title=f"Memory {number}", content=text, project="bench")
        plain = searches(lambda query: stdio.call("mem_search", query=query, max_tokens="300"), count // 4)
        command, port, token = ours(home)
        with started(command, port, home, token) as (server, _):
            connection = server.connection()

            def ask(query: str) -> None:
                params = {"name": "mem_search", "arguments": {"query": query, "max_tokens": 300}}
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                status, body = server.post(connection, json.dumps(message))
                assert status == 200 and b'"isError"' not in body, body

            over_http = searches(ask, count // 4)
            print(f"mem_search: {plain:.2f} ms on stdio, {over_http:.2f} ms over HTTP")
            claim("mem_search over HTTP beside stdio", over_http / plain, 1.5)
            done, failed, held = load(server, 16 if quick else 64, seconds)
            print(f"{done:,} searches in {seconds:.0f} s, {failed} failed, {held[0]:.0f} to {held[-1]:.0f} MB")
            claim("failures under 64 connections", failed, 0, "calls")
            later = held[len(held) // 2 :]
            claim("memory at the end of the load beside its middle", later[-1] / later[0], 1.15)
        assert stdio.process.stdin is not None
        stdio.process.stdin.close()
        stdio.process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
