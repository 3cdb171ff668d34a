"""What tools, prompts, resources and completions answer over the protocol."""

import json
from typing import Any

import pytest

from haversack.app import Caller, open_caller
from haversack.tools.road.call import call
from haversack.values import replace
from tests.mcp.talking import Talk, answer_to, called, hello, request, stateless


@pytest.fixture
def filled(caller: Caller) -> Caller:
    for number in range(40):
        content = f"The service number {number} listens on port {5000 + number} behind the gateway."
        call(caller, "mem_save", {"title": f"Port of service {number}", "content": content, "project": "thesis"})
    return caller


def one(talk: Talk, message: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = answer_to(1, talk(hello(), message))["result"]
    return result


def test_a_reply_is_the_text_of_the_tool_and_nothing_else(talk: Talk, filled: Caller) -> None:
    result = one(talk, called(1, "mem_search", query="gateway port", max_tokens=300))
    expected = call(filled, "mem_search", {"query": "gateway port", "max_tokens": 300})
    assert result["content"] == [{"type": "text", "text": expected.text}]
    assert "structuredContent" not in result


def test_the_facts_of_the_footer_are_there_for_programs(talk: Talk, filled: Caller) -> None:
    facts = one(talk, called(1, "mem_search", query="gateway port", max_tokens=300, limit=40))["_meta"]["haversack/fit"]
    assert facts["tokens"] <= 300
    assert facts["shown"] < facts["total"] == 40
    assert facts["left"] == facts["total"] - facts["shown"]
    rest = one(talk, called(1, "more", key=facts["more"], max_tokens=30_000))["_meta"]["haversack/fit"]
    assert "more" not in rest
    assert rest["shown"] == facts["left"]


def test_json_on_request_is_within_the_budget_too(talk: Talk, filled: Caller) -> None:
    result = one(talk, called(1, "mem_search", query="gateway", max_tokens=400, format="json"))
    text = result["content"][0]["text"]
    assert json.loads(text)["total"] == 40
    assert filled.profile.count(text) <= 400


def test_an_error_the_model_can_act_on_is_a_result_with_code_message_and_hint(talk: Talk) -> None:
    result = one(talk, called(1, "mem_get_observation", id=99))
    assert result["isError"] is True
    assert result["content"][0]["text"] == "not_found: no observation #99. mem_search finds ids by content"
    assert result["_meta"]["haversack/error"]["code"] == "not_found"


def test_an_error_is_json_for_callers_of_json(talk: Talk) -> None:
    result = one(talk, called(1, "mem_search", query="x", limit=0, format="json"))
    assert json.loads(result["content"][0]["text"])["error"]["code"] == "invalid_argument"


def test_an_error_is_never_long(talk: Talk) -> None:
    result = one(talk, called(1, "mem_search", query="x", **{f"unknown_{'x' * 5000}": 1}))
    assert len(result["content"][0]["text"]) <= 2_000


def test_a_fault_of_the_server_is_told_as_such_and_the_next_call_works(
    talk: Talk, caller: Caller, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("haversack.memory.statistics.observation_figures.totals", broken)
    answers = talk(hello(), called(1, "mem_stats"), called(2, "mem_search", query="x"))
    text = answer_to(1, answers)["result"]["content"][0]["text"]
    assert text.startswith("internal_error: unexpected ZeroDivisionError in tools/call mem_stats")
    assert "secret detail" not in text
    assert "secret detail" in capsys.readouterr().err
    assert "isError" not in answer_to(2, answers)["result"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 3},
        {"name": "mem_search", "arguments": [1]},
        {"name": "mem_search", "arguments": "query=x"},
        {"name": "no_such_tool"},
        {"name": "list_observations"},
    ],
)
def test_a_call_that_names_no_offered_tool_is_a_protocol_error(talk: Talk, params: dict[str, object]) -> None:
    error = answer_to(1, talk(hello(), request(1, "tools/call", **params)))["error"]
    assert error["code"] == -32602


def test_a_misspelt_tool_is_answered_with_the_nearest_name(talk: Talk) -> None:
    assert "mem_search" in answer_to(1, talk(hello(), called(1, "mem_serach")))["error"]["message"]


def test_prompts_are_listed_with_their_arguments_and_descriptions(talk: Talk) -> None:
    listed = one(talk, request(1, "prompts/list"))["prompts"]
    assert {"recall", "save-session"} <= {each["name"] for each in listed}
    assert all(each["description"] for each in listed)
    (recall,) = [each for each in listed if each["name"] == "recall"]
    assert [(each["name"], each["required"]) for each in recall["arguments"]] == [("topic", True), ("project", False)]


def test_recall_puts_what_is_remembered_before_the_model(talk: Talk, filled: Caller) -> None:
    result = one(talk, request(1, "prompts/get", name="recall", arguments={"topic": "port of service 7"}))
    text = result["messages"][0]["content"]["text"]
    assert "Port of service 7" in text
    assert filled.profile.count(text) <= 2_200


def test_save_session_asks_for_a_summary(talk: Talk) -> None:
    result = one(talk, request(1, "prompts/get", name="save-session", arguments={"focus": "the migration"}))
    text = result["messages"][0]["content"]["text"]
    assert "mem_session_summary" in text
    assert "the migration" in text


@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        ("nothing", {}, "recall"),
        ("recall", {}, "topic"),
        ("recall", {"topic": ""}, "topic"),
        ("recall", {"topic": "x", "colour": "red"}, "colour"),
        ("recall", {"topic": 5}, "topic"),
    ],
)
def test_a_wrong_prompt_is_refused_with_what_would_be_right(
    talk: Talk, name: str, arguments: dict[str, object], named: str
) -> None:
    error = answer_to(1, talk(hello(), request(1, "prompts/get", name=name, arguments=arguments)))["error"]
    assert error["code"] == -32602
    assert named in error["message"]


def test_resources_are_the_replies_of_tools_under_an_address(talk: Talk, filled: Caller) -> None:
    expected: list[tuple[str, str, dict[str, object]]] = [
        ("haversack://context", "mem_context", {}),
        ("haversack://context/thesis", "mem_context", {"project": "thesis"}),
        ("haversack://context?project=thesis&max_tokens=200", "mem_context", {"project": "thesis", "max_tokens": 200}),
        ("haversack://observation/3", "mem_get_observation", {"id": 3}),
        ("haversack://search/port%20of%207?limit=2", "mem_search", {"query": "port of 7", "limit": 2}),
    ]
    for address, tool, arguments in expected:
        (content,) = one(talk, request(1, "resources/read", uri=address))["contents"]
        assert content["uri"] == address
        assert content["text"] == call(filled, tool, arguments).text


def test_every_listed_resource_can_be_read(talk: Talk) -> None:
    for each in one(talk, request(1, "resources/list"))["resources"]:
        assert one(talk, request(1, "resources/read", uri=each["uri"]))["contents"][0]["text"]


@pytest.mark.parametrize("uri", ["haversack://nothing", "file:///etc/passwd", "haversack://observation/", ""])
def test_an_unknown_resource_is_refused_in_the_words_of_each_era(talk: Talk, uri: str) -> None:
    assert answer_to(1, talk(hello(), request(1, "resources/read", uri=uri)))["error"]["code"] == -32002
    assert talk(stateless(1, "resources/read", uri=uri))[0]["error"]["code"] == -32602


def test_a_resource_with_wrong_arguments_is_refused(talk: Talk) -> None:
    error = answer_to(1, talk(hello(), request(1, "resources/read", uri="haversack://context?limit=0")))["error"]
    assert error["code"] == -32602
    assert "limit" in error["message"]


def test_project_names_are_completed(talk: Talk, caller: Caller) -> None:
    for name in ("thesis", "Theatre", "other"):
        call(caller, "mem_save", {"title": "t", "content": name, "project": name})
    asked = {"ref": {"type": "ref/prompt", "name": "recall"}, "argument": {"name": "project", "value": "the"}}
    completion = one(talk, request(1, "completion/complete", **asked))["completion"]
    assert sorted(completion["values"]) == ["Theatre", "thesis"]
    assert (completion["total"], completion["hasMore"]) == (2, False)


def test_an_argument_without_known_values_completes_to_nothing(talk: Talk) -> None:
    asked = {"ref": {"type": "ref/prompt", "name": "recall"}, "argument": {"name": "topic", "value": "x"}}
    assert one(talk, request(1, "completion/complete", **asked))["completion"]["values"] == []


@pytest.mark.parametrize("argument", [None, "project", {"name": "project"}, {"name": 1, "value": "x"}])
def test_a_completion_without_a_proper_argument_is_refused(talk: Talk, argument: object) -> None:
    asked = request(1, "completion/complete", ref={"type": "ref/prompt", "name": "recall"}, argument=argument)
    assert answer_to(1, talk(hello(), asked))["error"]["code"] == -32602


def test_what_the_client_was_told_is_entered_in_the_account_as_system_prompt(caller: Caller, talk: Talk) -> None:
    own = open_caller(caller.config, directory=caller.directory, own_account=True)
    talk(hello(), request(1, "tools/list"), called(2, "mem_stats"), using=own)
    (system,) = [tier for tier in own.ledger.standing(own.account).tiers if tier.name == "system"]
    assert 2_000 < system.used < 5_000


def test_hints_in_descriptions_follow_the_budget_and_are_announced(caller: Caller, talk: Talk) -> None:
    settings = replace(caller.config, server=replace(caller.config.server, dynamic_hints=True))
    hinting = open_caller(settings, directory=caller.directory, own_account=True)
    answers = talk(hello(), request(1, "tools/list"), called(2, "mem_stats"), using=hinting)
    (search,) = [each for each in answer_to(1, answers)["result"]["tools"] if each["name"] == "mem_search"]
    assert "Budget allows ~8,000 tokens." in search["description"]
    assert not [each for each in answers if each.get("method", "").endswith("list_changed")]
    hinting.ledger.debit(hinting.account, 35_000)
    answers = talk(hello(), request(1, "tools/list"), called(2, "mem_stats", max_tokens=500), using=hinting)
    assert [each["method"] for each in answers if "method" in each] == ["notifications/tools/list_changed"]
