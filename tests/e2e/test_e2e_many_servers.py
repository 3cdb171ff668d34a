"""Several servers on one store, started and writing at once."""

import json
from collections.abc import Callable

import pytest

from tests.e2e.conftest import Server, call_of

Start = Callable[..., Server]
SERVERS = 4


@pytest.mark.parametrize("round_number", range(5))
def test_servers_started_at_once_on_a_fresh_store_all_work(start: Start, round_number: int) -> None:
    servers = [start() for _ in range(SERVERS)]
    for number, server in enumerate(servers):
        server.send(call_of(number, "mem_save", title=f"From {number}", content=f"round {round_number} of {number}"))
    for number, server in enumerate(servers):
        answer = server.receive()
        assert not answer["result"].get("isError"), answer
        assert answer["result"]["content"][0]["text"].startswith("saved #"), number
    assert json.loads(servers[0].call(9, "mem_stats", format="json"))["observations"] == SERVERS


def test_no_write_of_several_busy_servers_is_lost_or_refused(start: Start) -> None:
    servers, each_saves = [start() for _ in range(SERVERS)], 100
    for number, server in enumerate(servers):
        for note in range(each_saves):
            title = f"Note {note} of server {number}"
            server.send(call_of(note, "mem_save", title=title, content=f"what {number} noted as {note}"))
    for server in servers:
        answers = [server.receive() for _ in range(each_saves)]
        assert not [each for each in answers if each["result"].get("isError")]
        assert sorted(each["id"] for each in answers) == list(range(each_saves))
    assert json.loads(servers[0].call(1, "mem_stats", format="json"))["observations"] == SERVERS * each_saves
    for server in servers:
        assert server.end()[1] == b""


def test_what_one_server_left_out_another_can_fetch(start: Start) -> None:
    first, second = start(), start()
    for note in range(30):
        first.call(note, "mem_save", title=f"Deployment step {note}", content=f"step {note} of the deployment")
    first.send(call_of(99, "mem_search", query="deployment", limit=30, max_tokens=300))
    facts = first.receive()["result"]["_meta"]["haversack/fit"]
    second.send(call_of(1, "more", key=facts["more"], max_tokens=20_000))
    assert second.receive()["result"]["_meta"]["haversack/fit"]["shown"] == facts["left"]
