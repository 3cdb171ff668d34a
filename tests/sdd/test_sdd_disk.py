"""Writing under fire: real processes, real kills, nothing lost."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import haversack.sdd
from haversack.errors import DamagedFile, StoreBusy, StoreReadOnly
from haversack.sdd.documents.disk import Folder, find
from haversack.sdd.documents.library import load_changes, load_project, located

if TYPE_CHECKING:
    from tests.sdd.conftest import Desk

SOURCE = str(Path(haversack.sdd.__file__).parents[2])
PRELUDE = """
import sys
from datetime import UTC, datetime
from haversack.errors import HaversackError
from haversack.sdd.documents import decisions
from haversack.sdd.flows import change_steps, project
from haversack.sdd.documents.artifacts import Decision, Proposal
root, me = sys.argv[1], sys.argv[2]
now = datetime(2026, 3, 1, tzinfo=UTC)
def proposal(text):
    rest = dict(target_users="u", proposed_solution="s", out_of_scope="o", success_criteria="c")
    return Proposal(problem_statement=text, **rest)
print("ready", flush=True)
sys.stdin.readline()
"""


def spawn(root: str, me: int, program: str) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + program, root, str(me)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    return child


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


def outputs(root: str, program: str, *, processes: int = 6) -> list[str]:
    """What each of several processes prints that run the program at the same time."""
    children = [spawn(root, number, program) for number in range(processes)]
    for child in children:
        go(child)
    printed = [child.communicate(timeout=60)[0] for child in children]
    assert [child.returncode for child in children] == [0] * processes
    return printed


def test_of_two_processes_that_propose_at_once_one_wins_and_the_others_are_told_so(desk: "Desk") -> None:
    desk.init()
    program = """
try:
    project.create_proposal(root, proposal(f"by {me}"), now=now)
    print("won")
except HaversackError as error:
    print(error)
"""
    printed = outputs(desk.workspace, program)
    winner = next(number for number, text in enumerate(printed) if text == "won\n")
    assert sum(text == "won\n" for text in printed) == 1
    assert all("sdd_generate_requirements" in text for text in printed if text != "won\n")
    assert f"by {winner}" in desk.read("proposal.md")
    assert not [name for name in desk.files() if name.startswith("history")]


def test_no_version_is_lost_when_many_processes_rewrite_one_stage_at_once(desk: "Desk") -> None:
    desk.init()
    desk.propose()
    program = """
for turn in range(5):
    project.create_proposal(root, proposal(f"mark-{me}-{turn}-"), reopen=True, now=now)
"""
    outputs(desk.workspace, program)
    kept = "".join(desk.read(name) for name in desk.files() if "proposal" in name)
    assert all(f"mark-{me}-{turn}-" in kept for me in range(6) for turn in range(5))
    state = load_project(located(desk.workspace))
    assert state is not None
    assert state.state("propose").iterations == 31


def test_decisions_recorded_at_once_each_get_a_number_of_their_own(desk: "Desk") -> None:
    program = """
for turn in range(5):
    content = Decision(context="c", decision="d", rationale="r")
    decisions.record_decision(root, title=f"Choice {me} {turn}", content=content, now=now)
"""
    outputs(desk.workspace, program)
    names = sorted(name for name in desk.files() if name.startswith("adrs/"))
    assert [int(name[5:8]) for name in names] == list(range(1, 31))


def test_of_changes_started_at_once_exactly_one_becomes_active(desk: "Desk") -> None:
    program = """
try:
    change_steps.start_change(root, change_type="fix", size="small", description=f"Change {me}", now=now)
    print("started")
except HaversackError as error:
    print("is active" in str(error))
"""
    printed = outputs(desk.workspace, program)
    assert sorted(printed) == ["True\n"] * 5 + ["started\n"]
    assert len(load_changes(located(desk.workspace))) == 1


def test_a_process_killed_while_writing_leaves_a_state_and_artifacts_that_can_be_read(desk: "Desk") -> None:
    desk.init()
    desk.propose()
    program = """
turn = 0
while True:
    project.create_proposal(root, proposal(f"turn {turn} " + "x" * 150_000), reopen=True, now=now)
    print(turn, flush=True)
    turn += 1
"""
    for victim in range(4):
        child = spawn(desk.workspace, victim, program)
        go(child)
        assert child.stdout is not None
        for _ in range(1 + victim):
            assert child.stdout.readline()
        child.send_signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        child.communicate()
        state = load_project(located(desk.workspace))
        assert state is not None
        assert state.current == "specify"
        assert desk.read("proposal.md").endswith("c\n")


@pytest.fixture
def holder(desk: "Desk") -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    desk.init()
    child = spawn(
        desk.workspace,
        0,
        """
from haversack.sdd.documents.disk import Folder
with Folder(root).locked():
    print("held", flush=True)
    sys.stdin.readline()
""",
    )
    go(child)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.communicate()


def test_a_lock_held_by_another_process_is_an_error_that_names_it(
    desk: "Desk", holder: "subprocess.Popen[str]"
) -> None:
    with pytest.raises(StoreBusy, match=str(holder.pid)), Folder(desk.workspace).locked(patience=0.05):
        pass


def test_the_lock_of_a_process_that_died_is_free(desk: "Desk", holder: "subprocess.Popen[str]") -> None:
    holder.kill()
    holder.wait()
    with Folder(desk.workspace).locked(patience=0):
        pass


def test_two_threads_of_one_process_exclude_each_other_too(desk: "Desk") -> None:
    desk.init()
    with (
        Folder(desk.workspace).locked(),
        pytest.raises(StoreBusy, match=str(os.getpid())),
        Folder(desk.workspace).locked(patience=0),
    ):
        pass


def test_a_write_that_fails_leaves_the_old_text_and_no_scraps(desk: "Desk", monkeypatch: pytest.MonkeyPatch) -> None:
    desk.upto("propose")
    before = {name: desk.read(name) for name in desk.files()}

    def refuse(source: str, target: str, **_: int) -> None:
        raise PermissionError(13, "Permission denied", target)

    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, refuse)
    with pytest.raises(StoreReadOnly, match="right to write"):
        desk.specify()
    monkeypatch.undo()
    assert {name: desk.read(name) for name in desk.files()} == before


def test_the_lock_and_scraps_are_kept_out_of_version_control(desk: "Desk") -> None:
    desk.init()
    assert Path(desk.workspace, "sdd", ".gitignore").read_text() == ".lock\n*.tmp\n"


def test_a_file_that_is_not_text_is_named(desk: "Desk") -> None:
    desk.init()
    Path(desk.workspace, "sdd", "proposal.md").write_bytes(b"caf\xe9")
    with pytest.raises(DamagedFile, match=r"sdd/proposal\.md is not UTF-8 text, from byte 3"):
        Folder(desk.workspace).read("proposal.md")


def test_a_folder_called_sdd_that_is_not_ours_is_not_taken_for_a_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sdd").mkdir()
    (tmp_path / "sdd" / "main.c").write_text("int main;")
    assert find(str(tmp_path)) is None
