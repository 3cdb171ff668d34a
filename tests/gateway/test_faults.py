"""Whatever a server or a client does, nobody waits for ever, nothing is repeated, and no process is left behind."""

import json
import os
import signal
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


def test_a_client_s_line_beyond_the_limit_is_passed_unread(through: Open) -> None:
    wire = through()
    filler = "x" * 66_000_000
    assert json.loads(wire.ask("ping", {"size": filler}, 7)) == {"jsonrpc": "2.0", "id": 7, "result": {}}
    # An answer as long as that cannot go back; whoever asked is told so.
    assert "66,0" in json.loads(wire.ask("custom/echo", {"size": filler}, 8))["error"]["message"]


@posix
@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGKILL"])
def test_a_server_deaf_to_everything_does_not_outlive_the_gateway(how: str, tmp_path: Path) -> None:
    wire = Wire(wrapped(command=TORTURE), tmp_path, TORTURE_DEAF="1")
    while b"pid " not in wire.errors:
        assert wire.process.poll() is None
        time.sleep(0.05)
    server = int(wire.errors.split(b"pid ")[1].split()[0])
    if how == "end of input":
        assert wire.process.stdin
        wire.process.stdin.close()
    else:
        os.kill(wire.process.pid, getattr(signal, how))
    wire.process.wait(timeout=60)
    for _ in range(600):
        if not _lives(server):
            break
        time.sleep(0.05)
    assert not _lives(server)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    # Killed, but not yet collected by whoever adopted it.
    state = Path(f"/proc/{process}/stat")
    return not (state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "Z")
