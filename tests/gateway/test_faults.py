"""Whatever a server or a client does, nobody waits for ever, nothing is repeated, and no process is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.gateway.conftest import Open
from tests.gateway.torture_server import lines
from tests.gateway.wire import TORTURE, Wire, texts, wrapped

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups")


def test_a_server_that_ends_is_told_to_everyone_who_waits(through: Open) -> None:
    wire = through()
    wire.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow", "arguments": {}}})
    wire.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "die", "arguments": {"n": 5}}})
    wire.send({"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {}})
    answers = {}
    while line := wire.line():
        answers[json.loads(line)["id"]] = json.loads(line)
    assert wire.close() == 5
    for call in (1, 2):
        assert answers[call]["result"]["isError"]
        assert "exit code 5" in texts(answers[call]["result"])
        assert "killed by torture" in texts(answers[call]["result"])
    assert answers[3]["error"]["code"] == -32603


def test_a_server_that_dies_at_once_answers_the_handshake_with_its_last_words(through: Open) -> None:
    wire = through(TORTURE_DIES_AT_ONCE="1")
    error = json.loads(wire.greet())["error"]
    assert "exit code 9" in error["message"]
    assert "no licence" in error["message"]
    assert wire.close() == 9


def test_a_server_that_ends_with_its_client_keeps_its_exit_code_and_whoever_reads_is_told(tmp_path: Path) -> None:
    environment = {**os.environ, "HAVERSACK_HOME": str(tmp_path)}
    command = wrapped(command=[sys.executable, "-c", "import sys; sys.stdin.read(); sys.exit(9)"])
    asked = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n'
    for sent in (b"", asked):
        done = subprocess.run(command, input=sent, env=environment, capture_output=True, timeout=60)
        assert done.returncode == 9
    assert "exit code 9" in json.loads(done.stdout)["error"]["message"]


def test_a_command_that_does_not_exist_is_named(through: Open) -> None:
    wire = through(command=["no-such-server-anywhere"])
    assert wire.close() == 1
    assert b"no-such-server-anywhere" in wire.errors
    assert b"check the command" in wire.errors


def test_no_command_at_all_is_an_error_that_says_what_to_type(through: Open) -> None:
    wire = through(command=[])
    assert wire.close() == 1
    assert b"haversack wrap [options] -- COMMAND" in wire.errors


@pytest.mark.parametrize("size", [1, 20, 60, 90])
def test_a_reply_cut_off_by_death_is_dropped_and_its_call_answered(size: int, through: Open) -> None:
    wire = through()
    result = wire.result("half", n=size)
    assert result["isError"]
    assert "exit code 7" in texts(result)
    assert wire.close() == 7


def test_a_last_reply_without_its_line_end_is_delivered(through: Open) -> None:
    wire = through()
    assert texts(wire.result("no_newline", n=10)) == lines(10)
    assert wire.close() == 0


def test_what_is_not_json_on_the_output_is_dropped_and_told_on_standard_error(through: Open) -> None:
    wire = through()
    assert texts(wire.result("junk")) == "after junk"
    wire.close()
    assert b"Starting up..." in wire.errors
    assert b'{"half":' in wire.errors


def test_a_line_of_a_hundred_megabytes_is_answered_with_its_size_and_a_key(through: Open) -> None:
    wire = through()
    wire.ask("tools/list")
    wire.ask("tools/list", {"cursor": "second"})
    told = texts(wire.result("huge", n=100))
    size = next(int(word.replace(",", "")) for word in told.split() if word[0].isdigit())
    assert 100_000_000 < size < 110_000_000
    key = told.split('more("')[1].split('"')[0]
    page = texts(wire.result("more", key=key, max_tokens=500))
    assert page.startswith('{"jsonrpc":"2.0","id":1,"result"')
    assert "0123456789abcdef hay" in page
    found = texts(wire.result("find_in", key=key, query="needle in the hay"))
    last = texts(wire.result("more", key=found.split('more("')[1].split('"')[0], max_tokens=500))
    assert 'needle in the hay"}]}}' in last
    if sys.platform == "linux":
        peak = Path(f"/proc/{wire.process.pid}/status").read_text().split("VmHWM:")[1].split()[0]
        assert int(peak) < 150_000


def test_a_thousand_calls_in_flight_each_get_their_answer(through: Open) -> None:
    wire = through("--budget", "200")
    for number in range(1_000):
        params = {"name": "big" if number % 50 == 0 else "echo", "arguments": {"n": 300, "number": number}}
        wire.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    answers = [wire.message() for _ in range(1_000)]
    assert {each["id"] for each in answers} == set(range(1_000))
    for each in answers:
        if each["id"] % 50:
            assert json.loads(texts(each["result"]))["number"] == each["id"]


def test_calls_that_passed_unread_are_answered_when_their_server_ends(through: Open) -> None:
    wire = through()
    for number in range(5):
        params = {"name": "slow" if number % 2 else "echo", "arguments": {"n": 1}}
        # One id for all: an answer belongs to the first call that waits under it.
        wire.send({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params})
    wire.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "die", "arguments": {"n": 4}}})
    answers = []
    while line := wire.line():
        answers.append(json.loads(line))
    assert wire.close() == 4
    assert [each["id"] for each in answers] == ["same"] * 5 + [9]
    assert ["exit code 4" in texts(each["result"]) for each in answers] == [False] * 3 + [True] * 3


def test_a_client_s_line_beyond_the_limit_is_passed_unread(through: Open) -> None:
    wire = through()
    filler = "x" * 66_000_000
    assert json.loads(wire.ask("ping", {"size": filler}, 7)) == {"jsonrpc": "2.0", "id": 7, "result": {}}
    # An answer as long as that cannot go back; whoever asked is told so.
    assert "66,0" in json.loads(wire.ask("custom/echo", {"size": filler}, 8))["error"]["message"]


@posix
def test_a_server_deaf_to_everything_does_not_outlive_the_gateway_nor_does_what_it_started(tmp_path: Path) -> None:
    """All ways to end, side by side: each takes the five seconds a server is given."""
    file = tmp_path / "servers.toml"
    file.write_text(f"[gateway.servers.one]\ncommand = {json.dumps(TORTURE)}\n")
    doors = {"wrap": wrapped(command=TORTURE), "gateway": [sys.executable, "-m", "haversack", "gateway", str(file)]}
    ways = {"end of input": 0, "SIGTERM": 143, "SIGINT": 130, "SIGHUP": 129, "SIGKILL": -9}
    wires = {(door, how): Wire(command, tmp_path, TORTURE_DEAF="1") for door, command in doors.items() for how in ways}
    servers = {case: _processes(wire) for case, wire in wires.items()}
    for (_, how), wire in wires.items():
        if how == "end of input":
            assert wire.process.stdin
            wire.process.stdin.close()
        else:
            os.kill(wire.process.pid, getattr(signal, how))
    for (door, how), wire in wires.items():
        assert (door, how, wire.process.wait(timeout=60)) == (door, how, ways[how])
        wire.close()
        assert b"Traceback" not in wire.errors
    for _ in range(600):
        if not any(_lives(each) for pair in servers.values() for each in pair):
            break
        time.sleep(0.05)
    assert [case for case, processes in servers.items() if any(map(_lives, processes))] == []


def _processes(wire: Wire) -> list[int]:
    """A deaf server and the process it started, once both live."""
    while wire.errors.count(b"pid ") < 2 or not wire.errors.endswith(b"\n"):
        assert wire.process.poll() is None
        time.sleep(0.05)
    return [int(part.split()[0]) for part in wire.errors.split(b"pid ")[1:]]


@posix
def test_the_watchdog_ends_with_the_gateway(tmp_path: Path) -> None:
    wire = Wire(wrapped(), tmp_path)
    wire.greet()
    children = Path(f"/proc/{wire.process.pid}/task/{wire.process.pid}/children")
    if not children.exists():
        pytest.skip("needs /proc with the children of a process")
    started = [int(each) for each in children.read_text().split()]
    assert len(started) == 2, "the watchdog and the server"
    assert wire.close() == 0
    assert not any(map(_lives, started))


def test_what_is_registered_for_the_end_of_the_program_is_run(tmp_path: Path) -> None:
    program = (
        "import atexit, sys; from haversack.__main__ import program; "
        "atexit.register(lambda: sys.stderr.write('registered')); program()"
    )
    command = [sys.executable, "-c", program, "wrap", "--", *TORTURE]
    wire = Wire(command, tmp_path)
    wire.greet()
    assert wire.close() == 0
    assert wire.errors == b"registered"


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    # Killed, but not yet collected by whoever adopted it.
    state = Path(f"/proc/{process}/stat")
    return not (state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "Z")
