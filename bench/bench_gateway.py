"""What the gateway costs and saves: calls directly, through `haversack wrap`, and through FastMCP's proxy where it is.

All ways take turns in one run, so that the machine's mood is shared; trust the ratios. `--quick` for a short look;
`--fastmcp PYTHON` names a Python that has fastmcp, when this one has not. `--table` measures well-known servers instead
and writes the tables of docs/gateway.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from haversack.tokens import count_tokens

TORTURE = [sys.executable, str(Path(__file__).parent.parent / "tests/gateway/torture_server.py")]
BUDGET = 2_000
HEAVY = {
    "rows as text": ("json", 1_500),
    "rows as structured content": ("structured", 1_500),
    "structured beside prose": ("unlike", 1_500),
    "log": ("log", 4_000),
    "long text": ("big", 3_000),
    "error": ("fail", 2_000),
    "links": ("link", 1_500),
    "base64": ("base64", 60_000),
}
PROXY = """
import sys
from fastmcp.server import create_proxy
from fastmcp.client.transports import StdioTransport
create_proxy(StdioTransport(sys.argv[1], sys.argv[2:])).run(show_banner=False)
"""


class Wire:
    """A process spoken to in lines."""

    def __init__(self, command: Sequence[str], home: str, name: str = "bench") -> None:
        environment = {**os.environ, "HAVERSACK_HOME": home, "HAVERSACK_BUDGET_TOTAL": "1000000000"}
        # Where Python may not keep what it compiled, every start would be one of a program never started before.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        client = {"name": name, "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The result of a request."""
        assert self.process.stdout
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == 1:
                return message.get("result")
        raise SystemExit("the server ended without an answer")

    def call(self, tool: str, **arguments: object) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def list(self) -> list[Any]:
        """Every tool."""
        tools, cursor = [], None
        while True:
            page = self.ask("tools/list", {"cursor": cursor} if cursor else {})
            tools += page["tools"]
            if not (cursor := page.get("nextCursor")):
                return tools

    def peak_megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status")
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1000 if status.exists() else float("nan")

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def wrapped(*options: str) -> list[str]:
    return [sys.executable, "-m", "haversack", "wrap", *options, "--", *TORTURE]


def seen(result: Any, view: str) -> str:
    """What a client with this view shows its model."""
    structured = result.get("structuredContent")
    printed = "" if structured is None else json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    texts = [block.get("text") or json.dumps(block, separators=(",", ":")) for block in result["content"]]
    if view == "structured" and printed:
        return printed
    return "\n".join(texts) + (printed if view == "both" else "")


def start_to_first_call(command: Sequence[str], home: str) -> float:
    began = time.perf_counter()
    wire = Wire(command, home)
    wire.call("echo", n=1)
    took = time.perf_counter() - began
    wire.close()
    return took


def calls(wire: Wire, count: int) -> list[float]:
    took = []
    for _ in range(count):
        began = time.perf_counter()
        wire.call("echo", n=1)
        took.append(time.perf_counter() - began)
    return took


def claim(what: str, figure: float, bound: str, unit: str = "") -> None:
    print(f"claim: {what} | {figure:.2f} | {bound} | {unit}")


def speed(ways: dict[str, list[str]], home: str, quick: bool) -> None:
    """Starts and calls, every way in turn."""
    rounds, count = (2, 60) if quick else (9, 1_000)
    starts: dict[str, list[float]] = {name: [] for name in ways}
    for command in ways.values():
        start_to_first_call(command, home)
    for _ in range(rounds):
        for name, command in ways.items():
            starts[name].append(start_to_first_call(command, home))
    wires = {name: Wire(command, home) for name, command in ways.items()}
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, wire in wires.items():
            took[name] += calls(wire, count)
    large: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, wire in wires.items():
            began = time.perf_counter()
            wire.call("big", n=6_200)
            large[name].append(time.perf_counter() - began)
    print(f"{'':<16}{'start to first call':>22}{'call, least':>14}{'call, median':>14}{'300 KB reply':>14}")
    for name in ways:
        print(
            f"{name:<16}{median(starts[name]) * 1e3:>19.0f} ms{min(took[name]) * 1e3:>11.3f} ms"
            f"{median(took[name]) * 1e3:>11.3f} ms{min(large[name]) * 1e3:>11.0f} ms"
        )
    through, direct = took["haversack"], took["direct"]
    claim("a call through the gateway, least, against direct", min(through) / min(direct), "at most 2.0", ": 1")
    claim(
        "a call through the gateway, least, more than direct", (min(through) - min(direct)) * 1e3, "at most 0.15", "ms"
    )
    added = (median(starts["haversack"]) - median(starts["direct"])) * 1e3
    claim("start to first call, more than direct", added, "at most 100", "ms")
    added = (min(large["haversack"]) - min(large["direct"])) * 1e3
    claim("a reply of 300 KB, more than direct", added, "at most 100", "ms")
    for wire in wires.values():
        wire.close()


def longest_line(home: str, quick: bool) -> None:
    """A line that is too long for memory."""
    wire = Wire(wrapped(), home)
    began = time.perf_counter()
    wire.call("huge", n=70 if quick else 100)
    took = time.perf_counter() - began
    direct = Wire(TORTURE, home)
    began = time.perf_counter()
    direct.call("huge", n=70 if quick else 100)
    print(f"a line of {70 if quick else 100} MB: {took:.2f} s, directly {time.perf_counter() - began:.2f} s")
    claim("a line of 100 MB", took, "at most 1.0", "s")
    claim("memory at its peak with it", wire.peak_megabytes(), "at most 100", "MB")
    wire.close()
    direct.close()


def tokens(home: str) -> None:
    """Heavy replies in each view, and tool lists in each mode."""
    direct = Wire(TORTURE, home)
    print(
        f"\n{'tokens shown':<28}" + "".join(f"{f'{view}, {how}':>22}" for view in VIEWS for how in ("direct", "wrap"))
    )
    totals = dict.fromkeys(VIEWS, 0)
    wires = {view: Wire(wrapped("--budget", str(BUDGET), "--view", view), home) for view in VIEWS}
    for what, (tool, n) in HEAVY.items():
        row = f"{what:<28}"
        for view, wire in wires.items():
            alone = count_tokens(seen(direct.call(tool, n=n), view))
            cut = count_tokens(seen(wire.call(tool, n=n), view))
            totals[view] += cut
            row += f"{alone:>22,}{cut:>22,}"
        print(row)
    for view, total in totals.items():
        claim(f"tokens of 8 heavy replies at {BUDGET:,}, view {view}", total, "at most 16000", "tokens")
    listed = {"direct": count_tokens(json.dumps(direct.list(), separators=(",", ":")))}
    for mode in ("pass", "slim", "index", "search"):
        wire = Wire(wrapped("--tools", mode), home)
        tools = wire.list()
        listed[mode] = count_tokens(json.dumps(tools, separators=(",", ":")))
        listed["own tools"] = count_tokens(json.dumps(tools[-2:], separators=(",", ":")))
        wire.close()
    print("\ntool list: " + ", ".join(f"{mode} {count:,}" for mode, count in listed.items()))
    claim("tokens of the own tools in a list", listed["own tools"], "at most 150", "tokens")
    claim("an index of the tools, against the list", listed["index"] / listed["direct"], "at most 0.3", ": 1")
    for wire in (*wires.values(), direct):
        wire.close()


VIEWS = ("content", "structured", "both")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fastmcp", default=sys.executable if find_spec("fastmcp") else "", metavar="PYTHON")
    parser.add_argument("--table", action="store_true", help="measure well-known servers for docs/gateway.md")
    parsed = parser.parse_args()
    if parsed.table:
        tools = Path(__file__).parent.parent / "tools"
        for program in ("install_servers.py", "measure_gateway.py"):
            subprocess.run([sys.executable, str(tools / program)], check=True)
        return 0
    with tempfile.TemporaryDirectory() as home:
        ways = {"direct": TORTURE, "haversack": wrapped()}
        if parsed.fastmcp:
            ways["fastmcp proxy"] = [parsed.fastmcp, "-c", PROXY, *TORTURE]
        else:
            print("fastmcp is not installed here: its proxy is left out (--fastmcp PYTHON names one that has it)\n")
        speed(ways, home, parsed.quick)
        longest_line(home, parsed.quick)
        tokens(home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
