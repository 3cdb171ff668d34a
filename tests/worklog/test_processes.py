"""Several processes on one account, and processes that are killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from haversack.worklog.log import open_log

pytestmark = pytest.mark.sqlite_only("processes that open a file by its path")

DEBIT = """
import sys
from haversack.worklog.log import open_log
ledger = open_log(sys.argv[1]).ledger
for number in range(1000):
    ledger.debit(sys.argv[2], number % 7)
"""

RECORD = """
import sys
from haversack.worklog.log import open_log
log = open_log(sys.argv[1])
number = 0
while True:
    number += 1
    entry = log.record(sys.argv[2], "read", {"number": number}, f"result {number} " * 40)
    print(number, entry.key, entry.sent, flush=True)
"""

LEASE = """
import sys
from haversack.errors import Conflict
from haversack.worklog.log import open_log
import pytest
ledger = open_log(sys.argv[1]).ledger
for _ in range(40):
    try:
        ledger.open(1000, parent=sys.argv[2])
    except Conflict:
        break
"""


def started(program: str, path: str, account: str, count: int) -> list[subprocess.Popen[str]]:
    arguments = [sys.executable, "-c", program, path, account]
    return [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for _ in range(count)]


def test_eight_processes_with_a_thousand_debits_each_sum_exactly(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    ledger = open_log(path).ledger
    account = ledger.open().handle
    assert [process.wait() for process in started(DEBIT, path, account, 8)] == [0] * 8
    assert ledger.standing(account).account.tool_results == 8 * sum(number % 7 for number in range(1000))


def test_processes_cannot_lease_more_than_there_is_together(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    ledger = open_log(path).ledger
    account = ledger.open(100_000).handle
    assert [process.wait() for process in started(LEASE, path, account, 3)] == [0] * 3
    standing = ledger.standing(account)
    assert standing.account.leased == 70_000
    assert (standing.remaining, standing.over) == (0, 0)


def test_a_killed_process_loses_nothing_it_was_told_was_recorded(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    log = open_log(path)
    account = log.ledger.open().handle
    told: list[list[str]] = []
    for process in started(RECORD, path, account, 3):
        assert process.stdout is not None
        told += [process.stdout.readline().split() for _ in range(40)]
        process.kill()
        process.wait()
        told += [line.split() for line in process.stdout if line.endswith("\n")]
    held = log.ledger.standing(account).account
    everything = log.entries(account, 100_000, since=0)
    assert len(everything) >= len(told)
    assert held.tool_results == sum(entry.sent for entry in everything)
    assert (held.history, held.entries, held.evicted) == log.recount(account)
    for number, key, _ in told:
        assert log.expand(key) == f"result {number} " * 40
