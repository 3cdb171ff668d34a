"""What it costs to have the server connected, and whether what is sent is right."""

import json
from typing import Any

import pytest

from haversack.errors import InvalidArgument
from haversack.mcp.definitions import UNLISTED, annotations, definition
from haversack.mcp.instructions import instructions
from haversack.mcp.tool_sets import SETS, select_tools
from haversack.tokens import estimate_tokens
from haversack.tools.declaration import Tool
from haversack.tools.registry import tools
from tests.mcp.talking import Talk, hello, stateless

ALL = list(tools().values())
MEMORY = [each for each in ALL if each.name.startswith("mem_")]


def sent(tool: Tool) -> str:
    return json.dumps(definition(tool), ensure_ascii=False, separators=(",", ":"))


def by_name(tool: Tool) -> str:
    return tool.name


def test_the_nineteen_memory_tools_cost_at_most_2500_tokens() -> None:
    assert len(MEMORY) == 19
    assert sum(len(sent(each).encode()) for each in MEMORY) / 4 <= 2_500


def test_the_instructions_cost_at_most_600_tokens_and_2000_characters() -> None:
    for groups in (SETS, ("memory",), ()):
        text = instructions(groups)
        assert estimate_tokens(text) <= 600
        assert len(text.encode()) <= 2_000


def test_the_list_that_is_sent_is_the_one_that_is_measured(talk: Talk) -> None:
    listed = talk(stateless(1, "tools/list"), tool_names=("all",))[0]["result"]["tools"]
    assert listed == [json.loads(sent(each)) for each in select_tools(["all"])]


def test_the_list_reads_the_same_every_time(talk: Talk) -> None:
    assert talk(stateless(1, "tools/list")) == talk(stateless(1, "tools/list"))


def test_the_instructions_tell_when_to_search_and_save_and_how_budgets_work(talk: Talk) -> None:
    text = talk(hello(), tool_names=("all",))[0]["result"]["instructions"]
    for needed in (
        "mem_search", "mem_timeline", "mem_get_observation", "mem_save", "mem_session_summary",
        "## Context Budget Awareness", "max_tokens", "tokens", "more(", "detail_level", "summary", "auto",
        "sdd_get_context answers with a summary",
    ):  # fmt: skip
        assert needed in text, needed
    search, timeline, get = (text.index(name) for name in ("mem_search (", "mem_timeline (", "mem_get_observation ("))
    assert search < timeline < get


def test_the_instructions_name_only_tools_that_are_offered_apart_from_what_is_common() -> None:
    assert "mem_search" not in instructions(["workspace"])
    assert "search_content" not in instructions(["memory"])


@pytest.mark.parametrize("tool", ALL, ids=by_name)
def test_a_schema_is_a_valid_plain_object_with_typed_members(tool: Tool) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema comes with the MCP SDK")
    schema: dict[str, Any] = json.loads(sent(tool))["inputSchema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema) <= {"type", "properties", "required"}
    assert schema["type"] == "object"
    assert set(schema.get("required", [])) <= set(schema["properties"])
    for member in schema["properties"].values():
        assert isinstance(member["type"], str)
        if member["type"] == "array":
            assert member["items"]["type"] in ("string", "integer")
        assert None not in member.values()


@pytest.mark.parametrize("tool", ALL, ids=by_name)
def test_every_parameter_but_those_for_programs_is_in_the_schema(tool: Tool) -> None:
    described: dict[str, Any] = json.loads(sent(tool))["inputSchema"]
    unlisted = UNLISTED | {"max_tokens"} if tool.confirms else UNLISTED
    assert set(described["properties"]) == {each.name for each in tool.parameters if each.listed} - unlisted
    assert set(described.get("required", [])) == {each.name for each in tool.parameters if each.required}


@pytest.mark.parametrize("tool", ALL, ids=by_name)
def test_descriptions_are_there_and_short(tool: Tool) -> None:
    assert 10 <= len(tool.about) <= 400
    assert len(tool.name) <= 40


def test_a_client_need_not_ask_before_a_search() -> None:
    hints = annotations(tools()["mem_search"])
    assert hints == {"readOnlyHint": True, "openWorldHint": False}


def test_only_deleting_is_destructive_among_the_memory_tools() -> None:
    destructive = [each.name for each in MEMORY if annotations(each).get("destructiveHint")]
    assert destructive == ["mem_delete"]


def test_writing_says_that_it_writes_and_whether_it_may_be_repeated() -> None:
    assert annotations(tools()["mem_save"]) == {
        "readOnlyHint": False, "destructiveHint": False, "openWorldHint": False,
    }  # fmt: skip
    assert annotations(tools()["mem_update"])["idempotentHint"] is True


def names(*asked: str) -> set[str]:
    return {each.name for each in select_tools(asked)}


def test_the_default_set_is_memory_and_budget_with_the_way_to_the_rest() -> None:
    assert {each.group for each in select_tools([])} <= {"memory", "budget", "core"}
    assert {each.name for each in MEMORY} | {"more", "context_pack"} <= names()


def test_sets_and_single_names_can_be_combined_in_any_spelling() -> None:
    assert names("memory", "list_sessions") == names("memory,list_sessions") == names("memory") | {"list_sessions"}
    assert names("mem_search") == {"mem_search", "more"}


def test_all_means_every_set_and_not_what_only_the_command_line_shows() -> None:
    assert "list_observations" not in names("all")
    assert names("all") == names(*SETS)


@pytest.mark.parametrize("tool", ALL, ids=by_name)
def test_the_tools_of_a_set_are_declared_in_the_folder_named_after_it(tool: Tool) -> None:
    folder = tool.function.__module__.split(".")[2]
    assert folder == {"core": "road"}.get(tool.group, tool.group) or tool.group not in (*SETS, "core")


@pytest.mark.parametrize("wrong", ["memroy", "terminal", "core", "mem_everything"])
def test_an_unknown_name_is_an_error_that_lists_what_there_is(wrong: str) -> None:
    with pytest.raises(InvalidArgument, match=wrong) as raised:
        select_tools([wrong])
    for known in ("memory", "workspace", "all", "mem_search"):
        assert known in raised.value.hint


def test_an_unknown_name_stops_the_server_before_it_reads(talk: Talk) -> None:
    with pytest.raises(InvalidArgument):
        talk(hello(), tool_names=("memory", "nonsense"))


def test_tools_outside_the_selection_cannot_be_called(talk: Talk) -> None:
    message = stateless(1, "tools/call", name="mem_delete", arguments={"id": 1})
    assert talk(message, tool_names=("mem_search",))[0]["error"]["code"] == -32602


@pytest.mark.parametrize("tool", ALL, ids=by_name)
def test_a_budget_is_described_with_its_minimum_wherever_it_is_listed(tool: Tool) -> None:
    listed = json.loads(sent(tool))["inputSchema"]["properties"]
    assert tool.confirms or listed["max_tokens"] == {"type": "integer", "description": "Token budget", "minimum": 64}


def test_the_five_core_tools_are_kept_in_view_and_no_others() -> None:
    kept = {each.name for each in ALL if json.loads(sent(each)).get("_meta") == {"anthropic/alwaysLoad": True}}
    assert kept == {"mem_search", "mem_save", "mem_context", "mem_session_summary", "more"}
    assert all("_meta" not in json.loads(sent(each)) for each in ALL if each.name not in kept)


def test_a_tool_that_exists_but_is_not_offered_is_named_with_the_way_to_have_it(talk: Talk) -> None:
    def refusal(name: str) -> str:
        return str(talk(stateless(1, "tools/call", name=name, arguments={}))[0]["error"]["message"])

    assert refusal("sdd_get_context") == "sdd_get_context is not offered here. start the server with --tools sdd"
    assert refusal("list_sessions").endswith("--tools list_sessions")
    assert "command line only" in refusal("export_memories")
    assert "did you mean mem_search" in refusal("mem_serch")


def test_prompts_for_plans_are_offered_with_the_tools_for_plans(talk: Talk) -> None:
    def names(*sets: str) -> set[str]:
        return {each["name"] for each in talk(stateless(1, "prompts/list"), tool_names=sets)[0]["result"]["prompts"]}

    assert names() == {"recall", "save-session"}
    assert names("sdd") == {"sdd-start", "sdd-status"}
    refused = talk(stateless(1, "prompts/get", name="sdd-status", arguments={}))[0]["error"]["message"]
    assert "--tools sdd" in refused
