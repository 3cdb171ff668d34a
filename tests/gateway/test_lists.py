"""Tool lists in every mode: short where that is asked for, the same bytes twice, and every tool within reach."""

import json
from typing import Any

import pytest

from haversack.gateway.listing.lists import decided, found_tools, front, line
from haversack.tokens import count_tokens, profile_named
from tests.gateway.conftest import Open
from tests.gateway.torture_server import TOOLS, definition
from tests.gateway.wire import Wire, texts

DEFINITIONS = [definition(name) for name in TOOLS]
PROFILE = profile_named("o200k")


def page(wire: Wire) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = json.loads(wire.ask("tools/list"))["result"]["tools"]
    return tools


def test_a_slim_list_loses_only_what_a_model_does_not_need(through: Open) -> None:
    tool = page(through("--tools", "slim"))[0]
    assert tool["inputSchema"] == {
        "type": "object", "properties": {"n": {"type": "integer"}, "title": {"type": "string"}}, "required": ["n"],
    }  # fmt: skip
    assert "title" not in tool
    assert tool["icons"] == [{"src": "data:,x"}]


def test_an_index_names_every_tool_with_its_signature(through: Open) -> None:
    wire = through("--tools", "index")
    line_ = wire.ask("tools/list")
    tools = json.loads(line_)["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["call_tool", "tool_schema", "more", "find_in"]
    about = tools[0]["description"]
    assert "\necho(n,title?) Does echo.\n" in about
    assert all(f"\n{name}(" in about for name in TOOLS)
    assert tools[0]["annotations"] == {"destructiveHint": True}
    assert wire.ask("tools/list") == line_
    assert count_tokens(json.dumps(tools)) < 0.3 * count_tokens(json.dumps(DEFINITIONS))


def test_a_call_goes_through_the_index_under_the_client_s_id_and_comes_back_as_the_tool_s_result(
    through: Open, direct: Open
) -> None:
    here, there = through("--tools", "search"), direct()
    assert here.call("call_tool", "a", name="image") == there.call("image", "a")
    assert here.call("image", "b") == there.call("image", "b")
    here.send(
        {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "tools/call",
            "params": {"name": "call_tool", "arguments": {"name": "slow"}},
        }
    )
    here.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    assert here.message()["params"]["data"] == "cancelled"
    for wrong in ({}, {"name": ""}, {"name": "echo", "arguments": "{"}, {"name": "echo", "arguments": [1]}):
        assert here.result("call_tool", **wrong)["isError"], wrong


def test_a_search_finds_tools_and_a_miss_lists_the_names(through: Open) -> None:
    wire = through("--tools", "search")
    assert "structured(n,title?)" in texts(wire.result("search_tools", query="structured"))
    missed = texts(wire.result("search_tools", query="quantum"))
    assert "No tool matches" in missed
    assert "echo, numbers" in missed
    assert wire.result("tool_schema", name="nothing")["isError"]
    assert wire.call("tool_schema", name="echo") == wire.call("tool_schema", name="echo")


@pytest.mark.parametrize(
    ("tools", "defers", "total", "mode"),
    [
        (DEFINITIONS, True, 100_000, "pass"),
        (DEFINITIONS[:3], False, 100_000, "pass"),
        (DEFINITIONS, False, 100_000, "index"),
        ([{**definition("echo"), "name": f"tool_{n}"} for n in range(400)], False, 100_000, "search"),
    ],
)
def test_auto_shrinks_long_lists_for_clients_that_load_all_of_them(
    tools: list[dict[str, Any]], defers: bool, total: int, mode: str
) -> None:
    assert decided("auto", tools, PROFILE, defers_tools=defers, total=total) == mode


def test_call_read_reaches_only_tools_that_are_known_to_read() -> None:
    made = front("index", DEFINITIONS, ["echo"])
    assert made[0]["name"] == "call_read"
    assert made[0]["annotations"] == {"readOnlyHint": True}
    assert "echo" in made[0]["description"]
    assert "numbers" not in made[0]["description"]


def test_a_tool_s_line_is_short_whatever_the_tool_says() -> None:
    assert line({"name": "x"}) == "x()"
    assert line({"name": "x", "description": "a " * 300, "inputSchema": {"properties": {"p": {}}}}).startswith(
        "x(p?) a a"
    )
    assert len(line({"name": "x", "description": "word " * 300})) < 110


def test_keywords_find_camel_case_and_inflections() -> None:
    tools = [
        {"name": "listIssues", "description": "Lists all issues"},
        {"name": "merge_branch", "description": "Merging"},
    ]
    assert found_tools(tools, "issue listing")[0]["name"] == "listIssues"
    assert found_tools(tools, "merged branches")[0]["name"] == "merge_branch"
