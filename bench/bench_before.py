"""Whether this tree is slower than a commit before it: starts, saves and searches of both, by turns in one run.

`make bench-before BASE=<commit>` checks the commit out into a temporary place. Without a base this tree is compared
with its own last commit. The claims are about processor time, which other programs on the machine hardly change;
elapsed time stands beside it. `--quick` for a short look.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# From the command line the folder of this script leads the path; the package of benchmarks is above it.
sys.path.insert(0, str(ROOT))
from bench.bench_start import ENVIRONMENT, HELLO  # noqa: E402

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta", "ve")
QUESTIONS = 40


@dataclass
class Measured:
    """Elapsed and processor milliseconds of one act, each time it was done."""

    elapsed: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


@dataclass
class Tree:
    """A source tree with a store of its own."""

    name: str
    source: Path
    home: str
    acts: dict[str, Measured] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**ENVIRONMENT, "HAVERSACK_HOME": self.home, "PYTHONPATH": str(self.source)}

    def command(self, act: str, *words: str) -> None:
        """Run a command of the program and note what it took."""
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "haversack", *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        processor, code = ended(process)
        if code:
            raise SystemExit(f"{self.name}: haversack {' '.join(words)} failed")
        self.note(act, (time.perf_counter() - began) * 1000, processor)

    def serve(self, act: str, calls: list[tuple[str, dict[str, str]]]) -> None:
        """Start a server, make the calls and note what each of them took; without calls, what the start took."""
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "haversack", "serve"],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        ask(process, HELLO)
        if calls:
            began = time.perf_counter()
        for number, (tool, arguments) in enumerate(calls, 1):
            params = {"name": tool, "arguments": arguments}
            answer = ask(process, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
            if answer.get("error") or answer["result"].get("isError"):
                raise SystemExit(f"{self.name}: {tool} failed: {answer}")
        elapsed = (time.perf_counter() - began) * 1000
        assert process.stdin is not None
        process.stdin.close()
        processor, _ = ended(process)
        if calls:
            start = median(self.acts["a server's start"].processor)
            elapsed, processor = elapsed / len(calls), (processor - start) / len(calls)
        self.note(act, elapsed, processor)

    def note(self, act: str, elapsed: float, processor: float) -> None:
        measured = self.acts.setdefault(act, Measured())
        measured.elapsed.append(elapsed)
        measured.processor.append(processor)


def ended(process: subprocess.Popen[bytes]) -> tuple[float, int]:
    """Wait for a process; its processor time in milliseconds (not a number where the system does not tell) and code."""
    if not hasattr(os, "wait4"):
        return float("nan"), process.wait()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime) * 1000, process.returncode


def ask(process: subprocess.Popen[bytes], message: dict[str, Any]) -> dict[str, Any]:
    """The answer of a server to a request."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    while line := process.stdout.readline():
        answer: dict[str, Any] = json.loads(line)
        if answer.get("id") == message["id"]:
            return answer
    raise SystemExit("the server ended without an answer")


def texts(count: int, words: int, chosen: random.Random) -> list[str]:
    """Texts of made-up words, a few of which are common."""
    vocabulary = ["".join(chosen.choices(SYLLABLES, k=3)) for _ in range(2_000)]
    weights = [1 / place for place in range(1, len(vocabulary) + 1)]
    return [" ".join(chosen.choices(vocabulary, weights, k=words)) for _ in range(count)]


@contextmanager
def checked_out(base: str, folder: Path) -> Iterator[Path]:
    """The sources of a commit in a folder that is gone afterwards."""
    git = ["git", "-C", str(ROOT)]
    there = str(folder / "base")
    subprocess.run([*git, "worktree", "add", "--quiet", "--detach", there, base], check=True)
    try:
        yield Path(there) / "src"
    finally:
        subprocess.run([*git, "worktree", "remove", "--force", there], check=True)


def measure(trees: list[Tree], *, stored: int, rounds: int, calls: int) -> None:
    """Do every act in every tree, by turns; the first of each is not counted."""
    chosen = random.Random(7)
    notes = [
        ("mem_save", {"title": text[:40], "content": text, "project": "bench"}) for text in texts(stored, 60, chosen)
    ]
    questions = [("mem_search", {"query": text, "project": "bench"}) for text in texts(QUESTIONS, 3, chosen)]
    acts: dict[str, Callable[[Tree, int], None]] = {
        "a start": lambda tree, _: tree.command("a start", "--version"),
        "a save by command": lambda tree, number: tree.command(
            "a save by command", "save", "--title", f"Port {number}", "--content", f"Service {number} has port {number}"
        ),
        "a search by command": lambda tree, number: tree.command(
            "a search by command", "search", questions[number % QUESTIONS][1]["query"]
        ),
        "a server's start": lambda tree, _: tree.serve("a server's start", []),
        "a save in a server": lambda tree, number: tree.serve(
            "a save in a server",
            [
                ("mem_save", {"title": f"{number} {title[:30]}", "content": title, "project": "bench"})
                for title in texts(calls, 60, random.Random(number))
            ],
        ),
        "a search in a server": lambda tree, _: tree.serve(
            "a search in a server", [questions[place % QUESTIONS] for place in range(calls)]
        ),
    }
    for tree in trees:
        tree.serve("a server's start", [])
        tree.serve("filling the store", notes)
    for name, act in acts.items():
        for tree in trees:
            act(tree, -1)
            tree.acts.pop(name)
        for number in range(rounds):
            for tree in trees if number % 2 else reversed(trees):
                act(tree, number)


def main() -> None:
    """Measure both trees and print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", default="HEAD", help="the commit to compare with (HEAD)")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--stored", type=int, default=2_000, help="observations in the store")
    parser.add_argument("--quick", action="store_true", help="few rounds on a small store")
    asked = parser.parse_args()
    rounds, stored, calls = (2, 20, 10) if asked.quick else (asked.rounds, asked.stored, 200)
    with tempfile.TemporaryDirectory() as folder, checked_out(asked.base, Path(folder)) as source:
        before = Tree(asked.base, source, f"{folder}/before")
        now = Tree("this tree", ROOT / "src", f"{folder}/now")
        measure([before, now], stored=stored, rounds=rounds, calls=calls)
    print(f"Beside {asked.base}, {stored:,} observations stored (medians of {rounds}, in milliseconds)")
    print(f"  {'':22} {'processor time':^28} {'elapsed time':^28}")
    print(f"  {'':22} {'before':>9} {'now':>9} {'ratio':>8} {'before':>9} {'now':>9} {'ratio':>8}")
    for act in now.acts:
        if act == "filling the store":
            continue
        old, new = before.acts[act], now.acts[act]
        figures = [median(old.processor), median(new.processor), median(old.elapsed), median(new.elapsed)]
        ratios = (figures[1] / figures[0], figures[3] / figures[2])
        print(
            f"  {act:22} {figures[0]:9.2f} {figures[1]:9.2f} {ratios[0]:8.2f}"
            f" {figures[2]:9.2f} {figures[3]:9.2f} {ratios[1]:8.2f}"
        )
        claimed = ratios[0] if hasattr(os, "wait4") else ratios[1]
        print(f"claim: {act} beside the same before | {claimed:.2f} | at most 1.1 | : 1")


if __name__ == "__main__":
    main()
