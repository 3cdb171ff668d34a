"""What the account costs a call: the same searches with and without one, taking turns on one store.

Debits from several processes follow. Trust the differences and ratios; `--quick` for a short look.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.tools.road.call import call
from haversack.worklog import open_log

DEBITS = """
import sys
from haversack.worklog import open_log
ledger = open_log(sys.argv[1]).ledger
for _ in range(int(sys.argv[3])):
    ledger.debit(sys.argv[2], 1)
"""
SEARCHES: dict[str, dict[str, object]] = {
    "whole": {"limit": 5, "project": "five"},
    "cut by its limit": {"limit": 10},
    "cut to 300 tokens": {"limit": 50, "max_tokens": 300},
}


def filled(home: str, memories: int) -> tuple[Caller, Caller]:
    """A program without an account and one with its own, on one store."""
    plain = open_caller(Config(home=home), directory=home)
    for number in range(memories):
        project = "five" if number % (memories // 5) == 0 else "thesis"
        content = f"Service number {number} listens on port {5000 + number}, behind the gateway of ward {number % 97}."
        call(plain, "mem_save", {"title": f"Port of service {number}", "content": content, "project": project})
    return plain, open_caller(Config(home=home), directory=home, own_account=True)


def milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def compare(plain: Caller, logged: Caller, arguments: dict[str, object], rounds: int) -> tuple[float, float]:
    """The median time of a search without and with an account, in turns."""
    without, with_account = [], []
    for number in range(rounds + 10):
        query = {**arguments, "query": f"gateway of ward {number % 97}"}
        without.append(milliseconds(lambda query=query: call(plain, "mem_search", query)))  # type: ignore[misc]
        with_account.append(milliseconds(lambda query=query: call(logged, "mem_search", query)))  # type: ignore[misc]
        call(logged, "budget_reset", {})
    return median(without[10:]), median(with_account[10:])


def debits(path: str, processes: int, each: int) -> tuple[float, int]:
    """Debits a second from several processes, and how many were lost."""
    ledger = open_log(path).ledger
    account = ledger.open().handle
    start = time.perf_counter()
    running = [subprocess.Popen([sys.executable, "-c", DEBITS, path, account, str(each)]) for _ in range(processes)]
    for process in running:
        process.wait()
    seconds = time.perf_counter() - start
    return processes * each / seconds, processes * each - ledger.standing(account).account.tool_results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as home:
        plain, logged = filled(home, 200 if quick else 2_000)
        print("mem_search            without   with account   difference")
        for name, arguments in SEARCHES.items():
            without, with_account = compare(plain, logged, arguments, 50 if quick else 300)
            print(f"{name:20}{without:6.2f} ms {with_account:11.2f} ms {with_account - without:9.2f} ms")
            print(f"claim: an account adds to a search ({name}) | {with_account - without:.2f} | at most 3 | ms")
        entries = logged.log.entries(logged.account, 100_000, since=0)
        before, after = sum(entry.sent for entry in entries), sum(entry.cost for entry in entries)
        print(f"{len(entries):,} replies of {before:,} tokens are {after:,} in the log: {before / after:.1f} to 1")
        plain.app.close()
        logged.app.close()
        rate, lost = debits(str(Path(home) / "ledger.db"), 8, 100 if quick else 1_000)
        print(f"8 processes: {rate:,.0f} debits a second with their start, {lost} lost")
        print(f"claim: debits of 8 processes that were lost | {lost} | at most 0 | debits")
        print(f"claim: tokens of replies to tokens of their log | {before / after:.1f} | at least 1 | : 1")


if __name__ == "__main__":
    main()
