import os
import select
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from haversack.cancellation import Cancellation, Cancelled, watching
from haversack.errors import ToolFailed
from haversack.workspace.programs import (
    Limits,
    Polling,
    Running,
    Threads,
    _leash,
    clean_environment,
    find_program,
    records,
)


@pytest.fixture(params=[Polling, Threads])
def attendant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to wait for a program; which one is used depends on the system."""
    monkeypatch.setattr("haversack.workspace.programs._ATTENDANT", request.param)


def run(program: str, folder: Path, limits: Limits) -> bytes:
    with Running(
        [sys.executable, "-c", program], cwd=str(folder), environment=clean_environment(), limits=limits
    ) as running:
        said = b"".join(running.blocks())
        running.ended()
    return said


@pytest.mark.usefixtures("attendant")
def test_a_program_that_runs_too_long_is_ended_with_all_it_started(folder: Path) -> None:
    # The grandchild holds the same pipe: the stream can only come to its end when that one is gone too.
    program = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "time.sleep(600)\n"
    )
    with pytest.raises(ToolFailed, match=r"within 0\.8 seconds"):
        run(program, folder, Limits(seconds=0.8))


@pytest.mark.usefixtures("attendant")
def test_a_program_that_says_too_much_is_stopped(folder: Path) -> None:
    with pytest.raises(ToolFailed, match="more than 1 MB"):
        run("while True: print('x' * 1000)", folder, Limits(max_bytes=1_000_000))


@pytest.mark.usefixtures("attendant")
def test_a_program_that_complains_without_end_does_not_block(folder: Path) -> None:
    program = "import sys; sys.stderr.write('e' * 1_000_000); print('done')"
    assert run(program, folder, Limits()) == b"done\n"


@pytest.mark.usefixtures("attendant")
def test_what_a_program_complains_of_at_its_very_end_is_heard(folder: Path) -> None:
    program = (
        "import os; os.write(1, b'said'); os.close(1); os.write(2, b'e' * 100_000); os.write(2, b'!'); os._exit(3)"
    )
    with Running([sys.executable, "-c", program], cwd=str(folder), environment={}, limits=Limits()) as running:
        assert b"".join(running.blocks()) == b"said"
        ended = running.ended()
    assert (ended.code, set(ended.errors), len(ended.errors) >= 4_096) == (3, {"e"}, True)


@pytest.mark.usefixtures("attendant")
def test_a_program_that_closes_its_streams_and_stays_is_ended_too(folder: Path) -> None:
    program = "import os, time; os.close(1); os.close(2); time.sleep(600)"
    with pytest.raises(ToolFailed, match=r"within 0\.8 seconds"):
        run(program, folder, Limits(seconds=0.8))


@pytest.mark.usefixtures("attendant")
def test_what_a_program_leaves_behind_is_not_waited_for(folder: Path) -> None:
    # The grandchild in a session of its own holds the error stream open.
    program = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(5)'],"
        " stdout=subprocess.DEVNULL, start_new_session=True)\n"
        "print('done')"
    )
    assert run(program, folder, Limits()) == b"done\n"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system never had it")
def test_the_end_of_a_program_is_noticed_without_the_help_of_linux(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.pidfd_open")
    assert run("print('done')", folder, Limits()) == b"done\n"
    with pytest.raises(ToolFailed, match=r"within 0\.5 seconds"):
        run("import os, time; os.close(1); os.close(2); time.sleep(600)", folder, Limits(seconds=0.5))


def test_a_program_that_is_not_there_is_an_error(folder: Path) -> None:
    with pytest.raises(ToolFailed, match="cannot be started"):
        Running(["/no/such/program"], cwd=str(folder), environment={}, limits=Limits())


def test_only_a_few_variables_reach_a_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_EXTERNAL_DIFF", "RIPGREP_CONFIG_PATH", "LD_PRELOAD_X", "SECRET_TOKEN"):
        monkeypatch.setenv(name, "x")
    seen = run("import os; print(*sorted(os.environ))", folder, Limits()).decode().split()
    assert {"GIT_DIR", "GIT_EXTERNAL_DIFF", "RIPGREP_CONFIG_PATH", "LD_PRELOAD_X", "SECRET_TOKEN"}.isdisjoint(seen)
    assert "PATH" in seen


def test_a_program_of_the_project_itself_is_never_chosen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "bin").mkdir()
    fake = folder / "bin" / "git"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder / "bin"), "bin", ".", os.environ["PATH"]]))
    monkeypatch.chdir(folder)
    found = find_program("git", outside=str(folder.resolve()))
    assert found is not None and not found.startswith(str(folder))
    assert find_program("no-such-program-anywhere", outside=str(folder)) is None


def test_a_stream_is_split_the_same_however_it_arrives() -> None:
    for blocks in ([b"a\0b", b"b\0\0c"], [b"a\0bb\0\0c"], [b"a", b"\0", b"bb", b"\0\0", b"c"]):
        assert list(records(iter(blocks))) == [b"a", b"bb", b"", b"c"]
    assert list(records(iter([b"a\0"]))) == [b"a"]


@pytest.mark.parametrize("inside", ["", "bin"])
def test_a_program_of_the_workspace_itself_is_never_found(
    inside: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / inside).mkdir(exist_ok=True)
    trap = folder / inside / "git"
    trap.write_text("#!/bin/sh\n")
    trap.chmod(0o755)
    link = folder.parent / "link"
    link.symlink_to(folder / inside)
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder / inside), str(link), os.environ["PATH"]]))
    found = find_program("git", outside=os.path.realpath(folder))
    assert found is not None
    assert os.path.realpath(found) != os.path.realpath(trap)


def test_a_cancelled_call_ends_the_program_it_waits_for(folder: Path) -> None:
    cancellation = Cancellation()
    program = "import sys, time; print('running', flush=True); time.sleep(600)"
    with (
        watching(cancellation),
        pytest.raises(Cancelled),
        Running(
            [sys.executable, "-c", program], cwd=str(folder), environment=clean_environment(), limits=Limits()
        ) as running,
    ):
        blocks = running.blocks()
        assert next(blocks) == b"running\n"
        threading.Thread(target=cancellation.cancel).start()
        assert list(blocks) == []
        running.ended()


def test_a_call_cancelled_before_it_starts_a_program_starts_none(folder: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with watching(cancellation), pytest.raises(Cancelled):
        run(f"open({str(folder / 'ran')!r}, 'w')", folder, Limits())
    assert not (folder / "ran").exists()


PARENT = """
import sys
from haversack.workspace.programs import Limits, Running, clean_environment
child = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
running = Running([sys.executable, "-c", child], cwd="/", environment=clean_environment(), limits=Limits())
print(next(running.blocks()).decode(), end="", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux" or not _leash(), reason="needs setpriv of util-linux 2.33")
def test_a_program_dies_with_a_parent_that_is_killed() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout
    child = os.pidfd_open(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    waiting = select.poll()
    waiting.register(child, select.POLLIN)
    ended = waiting.poll(60_000)
    os.close(child)
    assert ended
