"""The transparency battery: what need not be edited passes through the gateway as the same bytes."""

import json

import pytest

from tests.gateway.conftest import Open
from tests.gateway.wire import Wire

SAME = {
    "a small result": ("tools/call", {"name": "echo", "arguments": {"n": 1, "word": "漢字 café 🎒"}}),
    "odd numbers in a result": ("tools/call", {"name": "numbers", "arguments": {}}),
    "half a surrogate pair": ("tools/call", {"name": "surrogate", "arguments": {"n": 1}}),
    "a small audio block": ("tools/call", {"name": "audio", "arguments": {"n": 30}}),
    "an image that fits": ("tools/call", {"name": "image", "arguments": {}}),
    "text within the budget": ("tools/call", {"name": "big", "arguments": {"n": 40}}),
    "structured content that fits": ("tools/call", {"name": "structured", "arguments": {"n": 2}}),
    "an error result": ("tools/call", {"name": "fail", "arguments": {"n": 3}}),
    "links": ("tools/call", {"name": "link", "arguments": {"n": 3}}),
    "a task that was begun": ("tools/call", {"name": "task", "arguments": {}, "task": {"ttl": 1}}),
    "a long request for input": ("tools/call", {"name": "input", "arguments": {}}),
    "an error with data": ("tools/call", {"name": "refuse", "arguments": {}}),
    "an unknown tool": ("tools/call", {"name": "nothing", "arguments": {}}),
    "a call without arguments": ("tools/call", {"name": "echo"}),
    "a call of nothing": ("tools/call", {}),
    "a long resource": ("resources/read", {"uri": "file:///long"}),
    "a long prompt": ("prompts/get", {"name": "long"}),
    "a custom method": ("custom/echo", {"deep": {"x": [1, None, 1.5, "é"]}}),
    "an unknown method": ("no/such", {}),
    "a ping": ("ping", {}),
    "the first page of a list of another kind": ("prompts/list", {}),
    "discovery": ("server/discover", {}),
}


@pytest.mark.parametrize("name", SAME)
def test_passes_as_the_same_bytes(name: str, both: tuple[Wire, Wire]) -> None:
    method, params = SAME[name]
    here, there = both
    assert here.ask(method, params) == there.ask(method, params)


@pytest.mark.parametrize("identifier", [0, 1, "1", "", "a/b", -5, 2**53, 1.5, "é\\n"])
def test_ids_come_back_as_they_were_sent(identifier: object, both: tuple[Wire, Wire]) -> None:
    here, there = both
    assert here.call("echo", identifier, n=1) == there.call("echo", identifier, n=1)


def test_the_server_sees_the_bytes_the_client_sent(both: tuple[Wire, Wire]) -> None:
    # The torture server answers a sampling request with the very line it got.
    answer = b'{ "jsonrpc":"2.0",  "result": {"x": 1.10, "\\u00e9": "\\ud83c\\udf92"}, "id":"s-1" }\n'
    seen = []
    for wire in both:
        wire.send({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "ask", "arguments": {}}})
        assert wire.message()["method"] == "sampling/createMessage"
        wire.send(answer)
        seen.append(wire.line())
    assert seen[0] == seen[1]
    assert json.loads(seen[0])["result"]["content"][0]["text"] == answer.decode()


def test_notifications_and_requests_of_the_server_pass_in_order(both: tuple[Wire, Wire]) -> None:
    heard = []
    for wire in both:
        wire.send(
            {
                "jsonrpc": "2.0",
                "id": 9,
                "method": "tools/call",
                "params": {"name": "progress", "arguments": {"n": 5, "token": "t"}},
            }
        )
        heard.append([wire.line() for _ in range(6)])
    assert heard[0] == heard[1]


def test_what_is_not_json_reaches_the_server(through: Open) -> None:
    wire = through()
    wire.send(b"this is not JSON\n")
    assert wire.message()["error"]["code"] == -32700


def test_answers_nobody_asked_for_and_answers_given_twice_pass(through: Open) -> None:
    wire = through()
    assert json.loads(wire.call("unknown"))["id"] == "nobody asked"
    assert wire.message()["result"]["content"][0]["text"] == "known"
    answers = [json.loads(wire.call("duplicate", 5)), wire.message()]
    assert sorted(each["result"]["content"][0]["text"] for each in answers) == ["one", "two"]


def test_the_client_s_capabilities_and_name_reach_the_server(through: Open) -> None:
    seen = json.loads(through().greet("claude-code", roots={"listChanged": True}))["result"]["seen"]
    assert seen["clientInfo"]["name"] == "claude-code"
    assert seen["capabilities"] == {"roots": {"listChanged": True}}


def test_a_list_keeps_its_pages_order_and_unknown_fields(through: Open, direct: Open) -> None:
    here, there = through(), direct()
    first, first_direct = here.ask("tools/list"), there.ask("tools/list")
    pages = [json.loads(line)["result"] for line in (first, first_direct)]
    assert [tool["name"] for tool in pages[0]["tools"]] == [tool["name"] for tool in pages[1]["tools"]]
    last, last_direct = (json.loads(wire.ask("tools/list", {"cursor": "second"}))["result"] for wire in (here, there))
    assert [tool["name"] for tool in last["tools"]] == [tool["name"] for tool in last_direct["tools"]] + [
        "more",
        "find_in",
    ]
    assert (last["ttlMs"], last["cacheScope"]) == (60_000, "public")
    for tool, upstream in zip(
        pages[0]["tools"] + last["tools"], pages[1]["tools"] + last_direct["tools"], strict=False
    ):
        is_view = "ui" in upstream["_meta"]  # what is drawn by a view passes whole
        expected = upstream["_meta"] if is_view else {"anthropic/maxResultSizeChars": 32_000, "odd": 1.1}
        assert tool["_meta"] == expected
        changed = {"_meta", "outputSchema"}
        assert {k: v for k, v in tool.items() if k not in changed} == {
            k: v for k, v in upstream.items() if k not in changed
        }
    assert b'"odd": 1.1}' in first


def test_a_server_without_tools_is_given_none(through: Open) -> None:
    assert json.loads(through(TORTURE_NO_TOOLS="1").ask("tools/list"))["result"] == {"tools": []}


def test_a_batch_comes_back_in_one_line_each_member_by_its_rule(through: Open) -> None:
    wire = through("--budget", "300")
    wire.ask("tools/list")
    wire.ask("tools/list", {"cursor": "second"})
    small = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "big", "arguments": {"n": 2}}}
    large = {"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": {"name": "big", "arguments": {"n": 900}}}
    own = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "more", "arguments": {"key": "zzzz"}}}
    wire.send([small, large, {"jsonrpc": "2.0", "method": "notifications/initialized"}, own])
    answers = {json.dumps(each["id"]): each["result"] for each in wire.message()}
    assert set(answers) == {"1", '"1"', "2"}
    assert answers["2"]["isError"]
    assert "more(" not in answers["1"]["content"][0]["text"]
    assert 'more("' in answers['"1"']["content"][0]["text"]


def test_a_cancelled_call_is_forgotten_and_the_server_is_told(through: Open) -> None:
    wire = through()
    wire.send({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "slow", "arguments": {}}})
    wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}})
    assert wire.message()["params"]["data"] == "cancelled"
    assert b"after" not in wire.ask("ping")
