"""A real server process: what it prints, how it ends, and what it has kept by then."""

import json
import signal
import sys
from collections.abc import Callable

import pytest

from tests.e2e.conftest import Server, call_of

Start = Callable[..., Server]


def test_a_server_answers_and_ends_when_its_input_ends(start: Start) -> None:
    server = start()
    assert server.call(1, "mem_save", title="Ports", content="The gateway listens on 8080.").startswith("saved #1")
    assert "8080" in server.call(2, "mem_search", query="gateway")
    assert server.end() == (b"", b"")
    assert server.process.returncode == 0


def test_everything_sent_before_the_input_ends_is_answered(start: Start) -> None:
    server = start()
    server.send(*(call_of(n, "mem_save", title=f"Note {n}", content=f"content {n}") for n in range(200)))
    said, complaints = server.end()
    answers = [json.loads(line) for line in said.splitlines()]
    assert sorted(each["id"] for each in answers) == list(range(200))
    assert not [each for each in answers if each["result"].get("isError")]
    assert complaints == b""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_waiting_server_cleanly(start: Start, number: signal.Signals) -> None:
    server = start()
    server.call(1, "mem_save", title="t", content="c")
    server.process.send_signal(number)
    assert server.process.wait(timeout=60) == 0
    assert server.end() == (b"", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_saves_acknowledged_before_a_signal_are_kept_and_none_is_half_done(start: Start) -> None:
    server = start()
    server.send(*(call_of(n, "mem_save", title=f"Note {n}", content=f"content {n}") for n in range(300)))
    first = server.receive()
    server.process.send_signal(signal.SIGTERM)
    said, complaints = server.end()
    assert server.process.returncode == 0
    assert complaints == b""
    acknowledged = [first, *(json.loads(line) for line in said.splitlines())]
    assert not [each for each in acknowledged if each["result"].get("isError")]
    stored = json.loads(start().call(1, "mem_stats", format="json"))["observations"]
    assert stored == len(acknowledged)


def test_a_client_that_vanishes_in_the_middle_of_a_call_leaves_a_sound_store(start: Start) -> None:
    for _ in range(3):
        server = start()
        server.send(*(call_of(n, "mem_save", title=f"Note {n}", content=f"unlike {n}") for n in range(50)))
        server.output.close()
        server.input.close()
        assert server.process.wait(timeout=60) == 0
    survivor = start()
    assert "Note" in survivor.call(1, "mem_search", query="note unlike")
    assert survivor.call(2, "mem_save", title="after", content="all is well").startswith("saved")


NOISY = """
import os
from haversack.mcp import conversation
from haversack.mcp.methods import Offer
from haversack.values import replace

def noisy(offer, request):
    print("stray")
    os.write(1, b"raw\\n")
    os.system("echo child; cat")
    return Offer.tool_call(offer, request)

conversation.METHODS["tools/call"] = replace(conversation.METHODS["tools/call"], answer=noisy)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs cat")
def test_a_program_started_by_a_call_neither_speaks_to_the_client_nor_eats_its_messages(start: Start) -> None:
    server = start(before=NOISY)
    server.send(call_of(1, "mem_stats"), call_of(2, "mem_stats"))
    said, complaints = server.end()
    assert {json.loads(line)["id"] for line in said.splitlines()} == {1, 2}
    assert complaints.count(b"stray") == complaints.count(b"raw") == complaints.count(b"child") == 2


HEAVY = ("asyncio", "pydantic", "logging", "inspect", "concurrent.futures", "subprocess", "mcp", "dataclasses")


def test_a_server_starts_without_what_is_slow_to_import(start: Start) -> None:
    # With meaning switched off: where its model is installed, a save has it loaded in the background.
    told = f"""
import atexit, os, sys
os.environ["HAVERSACK_MEMORY_SEMANTIC"] = "off"
atexit.register(lambda: print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr))
"""
    server = start(before=told)
    server.call(1, "mem_save", title="t", content="c")
    server.call(2, "mem_search", query="c")
    assert server.end()[1].split() == []
