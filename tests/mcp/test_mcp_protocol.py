"""Both eras of the protocol on one door."""

from pathlib import Path
from typing import Any

import pytest

from haversack.app import open_caller
from haversack.config import Config, ServerSettings
from tests.mcp.talking import Talk, answer_to, called, hello, request, stateless

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_handshake_agrees_on_the_revision_the_client_asks_for(talk: Talk, revision: str) -> None:
    result = talk(hello(revision))[0]["result"]
    assert result["protocolVersion"] == revision
    assert result["serverInfo"]["name"] == "haversack"
    assert "mem_search" in result["instructions"]


@pytest.mark.parametrize("revision", ["2026-07-28", "1999-01-01", ""])
def test_a_handshake_for_a_revision_without_one_is_answered_with_the_newest_that_has(talk: Talk, revision: str) -> None:
    assert talk(hello(revision))[0]["result"]["protocolVersion"] == "2025-11-25"


def test_discovery_lists_every_revision_without_a_handshake(talk: Talk) -> None:
    result = talk(stateless(1, "server/discover"))[0]["result"]
    assert result["supportedVersions"] == ["2026-07-28", *HANDSHAKE]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "haversack"


@pytest.mark.parametrize("method", LISTS)
def test_stateless_lists_say_how_long_they_last_and_for_whom(talk: Talk, method: str) -> None:
    result = talk(stateless(1, method))[0]["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "public")


def test_what_a_resource_says_is_private_and_lasts_no_time(talk: Talk) -> None:
    result = talk(stateless(1, "resources/read", uri="haversack://stats"))[0]["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


@pytest.mark.parametrize("method", LISTS)
def test_results_after_a_handshake_carry_nothing_of_the_later_era(talk: Talk, method: str) -> None:
    result = answer_to(1, talk(hello(), request(1, method)))["result"]
    assert not {"ttlMs", "cacheScope", "resultType", "_meta"} & set(result)


def test_an_unknown_revision_in_a_stateless_request_is_refused_with_those_spoken(talk: Talk) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2030-01-01"}
    error = talk(stateless(1, "tools/list", _meta=meta))[0]["error"]
    assert error["code"] == -32022
    assert error["data"]["requested"] == "2030-01-01"
    assert "2026-07-28" in error["data"]["supported"]


def test_a_stateless_request_must_declare_the_clients_capabilities(talk: Talk) -> None:
    meta = {"io.modelcontextprotocol/clientCapabilities": None}
    error = talk(stateless(1, "tools/list", _meta=meta))[0]["error"]
    assert error["code"] == -32602
    assert "clientCapabilities" in error["message"]


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel"])
def test_the_stateless_era_has_no_methods_of_the_handshake(talk: Talk, method: str) -> None:
    assert "error" in talk(stateless(1, method))[0]


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen"])
def test_the_handshake_era_has_no_methods_of_the_stateless_one(talk: Talk, method: str) -> None:
    assert answer_to(1, talk(hello(), request(1, method)))["error"]["code"] == -32601


def test_calls_before_the_handshake_are_refused_and_the_handshake_still_works(talk: Talk) -> None:
    answers = talk(called(1, "mem_stats"), request(2, "tools/list"), hello(), called(3, "mem_stats"))
    assert answer_to(1, answers)["error"]["code"] == -32600
    assert answer_to(2, answers)["error"]["code"] == -32600
    assert "result" in answer_to(3, answers)


def test_ping_is_answered_before_and_after_the_handshake(talk: Talk) -> None:
    answers = talk(request(1, "ping"), hello(), request(2, "ping"))
    assert answer_to(1, answers)["result"] == {}
    assert answer_to(2, answers)["result"] == {}


def test_both_eras_may_be_spoken_on_one_connection(talk: Talk) -> None:
    answers = talk(stateless(1, "tools/list"), hello(), request(2, "tools/list"), stateless(3, "tools/list"))
    offered = [answer_to(number, answers)["result"]["tools"] for number in (1, 2, 3)]
    assert offered[0] == offered[1] == offered[2]


def test_unknown_methods_are_told_apart_from_failed_ones(talk: Talk) -> None:
    assert answer_to(1, talk(hello(), request(1, "tools/destroy")))["error"]["code"] == -32601
    assert talk(stateless(1, "tools/destroy"))[0]["error"]["code"] == -32601


def test_notifications_are_never_answered(talk: Talk) -> None:
    unknown = {"jsonrpc": "2.0", "method": "notifications/whatever", "params": {"requestId": 7}}
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert [each["id"] for each in talk(hello(), initialized, unknown)] == [0]


def test_batches_are_answered_together_in_the_one_revision_that_has_them(talk: Talk) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    batch = [request(1, "ping"), note, called(2, "mem_stats"), {"jsonrpc": "2.0", "id": 3}, 4]
    _, answers = talk(hello("2025-03-26"), batch)
    assert isinstance(answers, list)
    assert answer_to(1, answers)["result"] == {}
    assert "content" in answer_to(2, answers)["result"]
    assert answer_to(3, answers)["error"]["code"] == -32600
    assert answer_to(None, answers)["error"]["code"] == -32600
    assert len(answers) == 4


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18"])
def test_batches_are_refused_in_revisions_without_them(talk: Talk, revision: str) -> None:
    _, answer = talk(hello(revision), [request(1, "ping")])
    assert answer["error"]["code"] == -32600


def test_a_client_that_asks_for_logs_is_told_of_each_call(talk: Talk) -> None:
    answers = talk(hello(), request(1, "logging/setLevel", level="info"), called(2, "mem_stats"))
    (message,) = [each["params"] for each in answers if each.get("method") == "notifications/message"]
    assert message["level"] == "info"
    assert message["data"]["call"] == "tools/call mem_stats"


def test_a_stateless_client_asks_for_logs_request_by_request(talk: Talk) -> None:
    loud = {"io.modelcontextprotocol/logLevel": "debug"}
    answers = talk(
        stateless(1, "tools/call", name="mem_stats", arguments={}),
        stateless(2, "tools/call", name="mem_context", arguments={}, _meta=loud),
    )
    told = [each["params"]["data"]["call"] for each in answers if "method" in each]
    assert told == ["tools/call mem_context"]


@pytest.mark.parametrize("level", ["loud", 3, None])
def test_an_unknown_log_level_is_refused(talk: Talk, level: object) -> None:
    assert answer_to(1, talk(hello(), request(1, "logging/setLevel", level=level)))["error"]["code"] == -32602


def test_listening_is_acknowledged_and_closed_when_the_server_ends(talk: Talk) -> None:
    acknowledged, closed = talk(stateless("sub", "subscriptions/listen", notifications={"toolsListChanged": True}))
    key = "io.modelcontextprotocol/subscriptionId"
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["_meta"][key] == "sub"
    assert acknowledged["params"]["notifications"] == {}
    assert closed["id"] == "sub"
    assert closed["result"]["_meta"][key] == "sub"


def test_only_a_list_that_can_change_is_announced_as_changing(tmp_path: Path, talk: Talk) -> None:
    changing = open_caller(
        Config(home=str(tmp_path), server=ServerSettings(dynamic_hints=True)), directory=str(tmp_path)
    )
    assert talk(hello())[0]["result"]["capabilities"]["tools"] == {}
    assert talk(hello(), using=changing)[0]["result"]["capabilities"]["tools"] == {"listChanged": True}
    listed = talk(stateless(1, "tools/list"), using=changing)[0]["result"]
    assert listed["ttlMs"] == 0


def test_a_cursor_nobody_gave_out_is_refused(talk: Talk) -> None:
    assert talk(stateless(1, "tools/list", cursor="abc"))[0]["error"]["code"] == -32602


def test_answers_to_questions_never_asked_are_ignored(talk: Talk) -> None:
    answers: list[Any] = talk(hello(), {"jsonrpc": "2.0", "id": 9, "result": {}}, request(1, "ping"))
    assert [each["id"] for each in answers] == [0, 1]
