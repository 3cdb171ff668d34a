"""Several processes on one store: none is refused, and no write is lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from haversack.store.sqlite.engine import Database

pytestmark = pytest.mark.sqlite_only("locks of a file")

WRITER = """
import sys
from haversack.app import Caller, open_caller
from haversack.tools.road.call import call
number, count = int(sys.argv[1]), int(sys.argv[2])
caller = open_caller(directory=".")
print("ready", flush=True)
sys.stdin.readline()
for each in range(count):
    print(call(caller, "mem_save", {"title": f"note {number}-{each}", "content": f"from {number}, {each}", "project": "p"}).text)
    call(caller, "mem_save", {"title": "state", "content": f"state {number}-{each}", "project": "p", "topic_key": "state/now"})
"""

STARTER = """
import sys
from haversack.app import Caller, open_caller
from haversack.tools.road.call import call
print("ready", flush=True)
sys.stdin.readline()
print(call(open_caller(directory="."), "mem_save", {"title": f"first of {sys.argv[1]}", "content": "hello", "project": "p"}).text)
"""


def at_once(script: str, count: int, *arguments: str) -> list[str]:
    """Run a script in so many processes that begin at the same moment; what each of them printed."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(number), *arguments],
            env=os.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate() for process in processes]
    assert [(process.returncode, errors) for process, (_, errors) in zip(processes, outputs, strict=True)] == [
        (0, "")
    ] * count
    return [printed for printed, _ in outputs]


@pytest.mark.parametrize("processes", [4, 8])
def test_processes_that_write_at_once_lose_nothing(processes: int, tmp_path: Path) -> None:
    each = 25
    printed = at_once(WRITER, processes, str(each))
    acknowledged = [line for output in printed for line in output.splitlines()]
    assert len(acknowledged) == processes * each
    assert all(line.startswith("saved #") for line in acknowledged)
    with Database(str(tmp_path / "home" / "haversack.db")).read() as tx:
        assert tx.value("SELECT count(*) FROM observations WHERE topic_key = ''") == processes * each
        assert tx.value("SELECT count(*) FROM observations WHERE topic_key = 'state/now'") == 1
        assert tx.value("SELECT count(*) FROM revisions") == processes * each - 1
        assert tx.value("SELECT revision_count FROM observations WHERE topic_key <> ''") == processes * each - 1
        assert tx.value("PRAGMA integrity_check") == "ok"
        assert tx.words.check() == ""


@pytest.mark.parametrize("attempt", range(5))
def test_processes_that_start_at_once_on_a_fresh_store_all_come_up(attempt: int, tmp_path: Path) -> None:
    printed = at_once(STARTER, 4)
    assert all(line.startswith("saved #") for line in printed)
    with Database(str(tmp_path / "home" / "haversack.db")).read() as tx:
        assert tx.value("SELECT count(*) FROM observations") == 4
        assert tx.value("SELECT count(*) FROM meta WHERE name = 'salt'") == 1
