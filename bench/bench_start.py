"""How soon the program answers: the command line against Python itself, the server against the least a server can be.

All systems take turns in one run, so that the machine's mood is shared; trust the ratios. `--quick` for a short look.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
# A start in daily use finds its bytecode written already, and buffers as usual.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")}
# As it comes: an installed model of meaning is loaded in the background of a server, and has its own figures.
ENVIRONMENT["HAVERSACK_MEMORY_SEMANTIC"] = "off"
HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}},
}  # fmt: skip


class Client:
    """A server process, spoken to one line at a time."""

    def __init__(self, command: Sequence[str], home: str) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**ENVIRONMENT, "HAVERSACK_HOME": home}
        )

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while line := self.process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == message["id"]:
                return answer
        raise SystemExit("the server ended without an answer")

    def call(self, tool: str, **arguments: str) -> None:
        """Call a tool, which must succeed."""
        params = {"name": tool, "arguments": arguments}
        answer = self.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        if answer.get("error") or answer["result"].get("isError"):
            raise SystemExit(f"{tool} failed: {answer}")

    def memory(self) -> float:
        """Resident megabytes, where the system tells them."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return float("nan")
        (line,) = [each for each in status.read_text().splitlines() if each.startswith("VmRSS")]
        return int(line.split()[1]) / 1024


class System:
    """One kind of server: how it is started, and what its tools for the least work, for saving and finding are."""

    def __init__(self, name: str, command: Sequence[str], least: str, save: str, search: str) -> None:
        self.name = name
        self.command = command
        self.least, self.save, self.search = least, save, search
        self.first_answers: list[float] = []
        self.first_calls: list[float] = []
        self.rates: list[float] = []
        self.megabytes = 0.0

    @contextmanager
    def started(self, home: str) -> Iterator[Client]:
        client = Client([each.replace("{store}", f"{home}/{self.name}.db") for each in self.command], home)
        try:
            yield client
        finally:
            client.process.communicate()

    def time_start(self, home: str) -> None:
        """Spawn to the first answer, and to the first answer of a tool."""
        began = time.perf_counter()
        with self.started(home) as client:
            client.ask(HELLO)
            self.first_answers.append((time.perf_counter() - began) * 1000)
            client.call(self.search, query="gateway port")
            self.first_calls.append((time.perf_counter() - began) * 1000)

    def time_calls(self, home: str, calls: int) -> None:
        """Calls one after the other, and the memory used by then."""
        with self.started(home) as client:
            client.ask(HELLO)
            for tool, arguments in (
                (self.least, {"title": "Port of service {0}"}),
                (self.save, {"title": "Port of service {0}", "content": "service {0} has 5{0}"}),
                (self.search, {"query": "5{0}"}),
            ):
                began = time.perf_counter()
                for number in range(calls):
                    client.call(tool, **{name: text.format(number) for name, text in arguments.items()})
                self.rates.append(calls / (time.perf_counter() - began))
            self.megabytes = client.memory()


def systems() -> list[System]:
    """The floor, this program, and the official SDK where it is installed."""
    found = [
        System("bare loop", [sys.executable, str(HERE / "servers/bare.py"), "{store}"], "echo", "save", "search"),
        System(
            "haversack", [sys.executable, "-m", "haversack", "serve"], "mem_suggest_topic_key", "mem_save", "mem_search"
        ),
    ]
    if find_spec("mcp"):
        command = [sys.executable, str(HERE / "servers/sdk.py"), "{store}"]
        found.append(System("official SDK", command, "echo", "save", "search"))
    return found


def time_command(home: str, *arguments: str) -> float:
    """Milliseconds one process takes from start to end."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], env={**ENVIRONMENT, "HAVERSACK_HOME": home}, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{arguments} failed: {done.stderr.decode()}")
    return (time.perf_counter() - began) * 1000


def bench_command_line(home: str, rounds: int) -> None:
    """Cold starts of the command line beside those of Python."""
    save = ("-m", "haversack", "save", "--title", "Ports", "--content", "The gateway listens on 8080")
    time_command(home, *save)
    cases = {
        "python -c pass": ("-c", "pass"),
        "python -c 'import json, sqlite3'": ("-c", "import json, sqlite3"),
        "haversack search": ("-m", "haversack", "search", "gateway port"),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, arguments in cases.items():
            times[name].append(time_command(home, *arguments))
    floor = median(times["python -c pass"])
    print("Command line, cold (median ms, ratio to python -c pass; aim: at most 4x)")
    for name, measured in times.items():
        print(f"  {name:34} {median(measured):8.1f} {median(measured) / floor:6.2f}x")
    ratio = median(times["haversack search"]) / floor
    print(f"claim: a search from the command line beside an empty Python | {ratio:.2f} | at most 4 | : 1")


def bench_servers(home: str, rounds: int, calls: int) -> None:
    """Starts and calls of the servers, by turns."""
    compared = systems()
    for system in compared:
        system.time_start(home)
        system.first_answers.clear()
        system.first_calls.clear()
    for _ in range(rounds):
        for system in compared:
            system.time_start(home)
    for system in compared:
        system.time_calls(home, calls)
    floor = compared[0]
    print("Server (medians; ratios to the bare loop; aim: first answer at most 3x)")
    heads = f"{'least calls/s':>14} {'saves/s':>9} {'searches/s':>11} {'RSS MB':>7}"
    print(f"  {'':14} {'first answer':>18} {'first tool answer':>18} {heads}")
    for system in compared:
        answer, called = median(system.first_answers), median(system.first_calls)
        answers = f"{answer:.1f} ms {answer / median(floor.first_answers):5.2f}x"
        tools = f"{called:.1f} ms {called / median(floor.first_calls):5.2f}x"
        least, saves, searches = system.rates
        rates = f"{least:14,.0f} {saves:9,.0f} {searches:11,.0f} {system.megabytes:7.1f}"
        print(f"  {system.name:14} {answers:>18} {tools:>18} {rates}")
    ours = next(system for system in compared if system.name == "haversack")
    ratio = median(ours.first_answers) / median(floor.first_answers)
    print(f"claim: the server's first answer beside the least server's | {ratio:.2f} | at most 3 | : 1")
    print(f"claim: memory of the server | {ours.megabytes:.1f} | at most 25 | MB")
    aims = (("a call", 10), ("a save", 3), ("a search", 10))
    for (name, aim), least, own in zip(aims, floor.rates, ours.rates, strict=True):
        ratio = least / own
        print(f"claim: {name} beside the least server's, which keeps no account | {ratio:.1f} | at most {aim} | : 1")


def main() -> None:
    """Run both parts on a store in a temporary place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as home:
        bench_command_line(home, 3 if quick else 25)
        bench_servers(home, 3 if quick else 25, 50 if quick else 1_000)


if __name__ == "__main__":
    main()
