"""Calls that take their time: cancelled, reported on, queued, and finished before the server goes."""

import json
import os
import signal
import threading
from collections.abc import Callable
from io import BytesIO

import pytest

from haversack.app import Caller, open_caller
from haversack.mcp import heartbeat
from haversack.mcp.pool import Pool
from haversack.protocol.lines import Output
from haversack.stdio import server
from haversack.tools.road.call import call
from haversack.values import replace
from tests.mcp.talking import Dialogue, Gate, called, hello, request, stateless

Open = Callable[..., Dialogue]


def cancelled(number: int | str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


def test_other_calls_are_answered_while_one_waits(dialogue: Open, gate: Gate) -> None:
    client = dialogue("memory", "wait_at_gate")
    client.send(hello(), called(1, "wait_at_gate"), called(2, "mem_stats"), request(3, "ping"))
    assert {client.receive()["id"] for _ in range(3)} == {0, 2, 3}
    gate.opened.set()
    assert client.receive()["id"] == 1


def test_a_cancelled_call_finishes_its_work_and_is_not_answered(dialogue: Open, gate: Gate) -> None:
    client = dialogue("wait_at_gate")
    client.send(hello(), called(1, "wait_at_gate", note="a"))
    assert gate.entered.wait(timeout=30)
    client.send(cancelled(1), request(2, "ping"))
    assert [client.receive()["id"] for _ in range(2)] == [0, 2]
    gate.opened.set()
    assert client.end() == []
    assert gate.passed == ["a"]


def test_a_cancelled_call_that_no_thread_had_begun_is_never_run(
    dialogue: Open, gate: Gate, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "Pool", lambda size, capacity: Pool(1, capacity))
    client = dialogue("wait_at_gate")
    client.send(hello(), called(1, "wait_at_gate", note="a"), called("1", "wait_at_gate", note="b"))
    assert gate.entered.wait(timeout=30)
    client.send(cancelled("1"), request(3, "ping"))
    assert [client.receive()["id"] for _ in range(2)] == [0, 3]
    gate.opened.set()
    assert [each["id"] for each in client.end()] == [1]
    assert gate.passed == ["a"]


def test_an_id_can_be_used_again_after_its_call_was_cancelled(dialogue: Open, gate: Gate) -> None:
    client = dialogue("memory", "wait_at_gate")
    client.send(hello(), called(1, "wait_at_gate"))
    assert gate.entered.wait(timeout=30)
    client.send(cancelled(1), called(1, "mem_stats"))
    assert client.receive()["id"] == 0
    assert "observations" in client.receive()["result"]["content"][0]["text"]
    gate.opened.set()
    assert client.end() == []


def test_cancelling_what_is_unknown_changes_nothing(dialogue: Open) -> None:
    client = dialogue()
    client.send(hello(), cancelled(77), cancelled("x"), request(1, "ping"))
    assert [client.receive()["id"] for _ in range(2)] == [0, 1]


def test_a_listener_that_is_cancelled_hears_nothing_more(dialogue: Open) -> None:
    client = dialogue()
    client.send(stateless(1, "subscriptions/listen", notifications={"toolsListChanged": True}))
    assert client.receive()["method"] == "notifications/subscriptions/acknowledged"
    client.send(cancelled(1))
    assert client.end() == []


def test_a_long_call_reports_progress_under_the_clients_token_until_it_ends(
    dialogue: Open, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "Heartbeat", lambda: heartbeat.Heartbeat(0.01))
    client = dialogue("wait_at_gate")
    message = called(1, "wait_at_gate")
    message["params"]["_meta"] = {"progressToken": "tok"}
    client.send(hello(), message, called(2, "wait_at_gate"))
    client.receive()
    reports = [client.receive() for _ in range(3)]
    assert {each["method"] for each in reports} == {"notifications/progress"}
    assert {each["params"]["progressToken"] for each in reports} == {"tok"}
    figures = [each["params"]["progress"] for each in reports]
    assert figures == sorted(set(figures))
    gate.opened.set()
    rest = client.end()
    (end,) = [index for index, each in enumerate(rest) if each.get("id") == 1]
    assert not [each for each in rest[end:] if "method" in each]


def test_a_call_in_flight_finishes_when_the_client_leaves(dialogue: Open, gate: Gate) -> None:
    client = dialogue("wait_at_gate")
    client.send(hello(), called(1, "wait_at_gate", note="kept"))
    client.receive()
    assert gate.entered.wait(timeout=30)
    client.input.close()
    gate.opened.set()
    assert [each["id"] for each in client.end()] == [1]
    assert gate.passed == ["kept"]


def test_a_client_that_stops_listening_ends_the_server_and_its_writes_are_kept(dialogue: Open, caller: Caller) -> None:
    client = dialogue()
    client.send(hello())
    client.receive()
    client.output.close()
    client.send(called(1, "mem_save", title="kept", content="written although nobody listens"))
    client.input.close()
    client._thread.join()
    assert "kept" in call(caller, "mem_search", {"query": "nobody listens"}).text


def test_a_full_queue_makes_the_sender_wait_until_there_is_room(gate: Gate) -> None:
    pool = Pool(1, capacity=2)
    done: list[int] = []
    pool.submit(gate.wait)
    assert gate.entered.wait(timeout=30)
    pool.submit(lambda: done.append(1))
    pool.submit(lambda: done.append(2))
    # Full now: only when the gate is opened, from another thread, is there room for one more.
    threading.Timer(0.05, gate.opened.set).start()
    pool.submit(lambda: done.append(3))
    assert gate.opened.is_set()
    assert pool.finish(30)
    assert done == [1, 2, 3]


def test_dropping_the_queue_leaves_what_was_begun(gate: Gate) -> None:
    pool = Pool(1, capacity=10)
    done: list[str] = []

    def begun() -> None:
        gate.wait()
        done.append("begun")

    pool.submit(begun)
    assert gate.entered.wait(timeout=30)
    pool.submit(lambda: done.append("waiting"))
    pool.drop()
    gate.opened.set()
    assert pool.finish(30)
    assert done == ["begun"]


def test_a_call_that_never_ends_does_not_hold_up_the_end(gate: Gate) -> None:
    pool = Pool(1, capacity=1)
    pool.submit(gate.wait)
    assert pool.finish(0.01) is False


def test_nothing_is_written_after_the_stream_broke() -> None:
    stream = BytesIO()
    output = Output(stream)
    output.write("one")
    stream.close()
    output.write("two")
    assert output.closed
    output.write("three")


def test_a_thread_that_fails_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    pool = Pool(1, capacity=10)
    done = threading.Event()
    failing = threading.Event()

    def fail() -> None:
        failing.set()
        raise RuntimeError("unforeseen")

    pool.submit(fail)
    assert failing.wait(timeout=30)
    while pool._threads:
        pool._threads[0].join(timeout=30)
    pool.submit(done.set)
    assert done.wait(timeout=30)


@pytest.mark.skipif(os.name == "nt", reason="signals are asked for differently")
def test_a_stop_finishes_what_was_begun_and_drops_what_was_waiting(
    caller: Caller, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropping = Pool.drop

    def drop(pool: Pool) -> None:
        dropping(pool)
        gate.opened.set()

    monkeypatch.setattr(Pool, "drop", drop)
    monkeypatch.setattr(server, "PATIENCE_SECONDS", 5)
    config = replace(caller.config, server=replace(caller.config.server, workers=1))
    reading, writing = os.pipe()
    calls = (hello(), called(1, "wait_at_gate", note="begun"), called(2, "wait_at_gate", note="waiting"))

    def client() -> None:
        os.write(writing, b"".join(json.dumps(each).encode() + b"\n" for each in calls))
        assert gate.entered.wait(timeout=30)
        os.kill(os.getpid(), signal.SIGTERM)

    talking = threading.Thread(target=client)
    talking.start()
    with os.fdopen(reading, "rb") as stdin:
        server.serve(
            open_caller(config, directory=caller.directory), tool_names=["wait_at_gate"], stdin=stdin, stdout=BytesIO()
        )
    talking.join()
    os.close(writing)
    assert gate.passed == ["begun"]
