"""Whatever a tool is sent through HTTP, reading or writing, what comes back is within the budget that was named."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from haversack.config import WorkspaceSettings
from haversack.mcp.tool_sets import SETS
from haversack.tokens import PROFILES, count_tokens
from haversack.tools.declaration import Tool
from haversack.tools.prompts import prompts
from haversack.tools.resources import Resource, resources
from haversack.web.calls import PAGE_TOOLS
from tests.conftest import examples
from tests.contract.arguments import TEXTS, declared_arguments, every_tool
from tests.contract.worlds import World, copied
from tests.http.serving import Served, serving

BUDGETS = st.one_of(st.sampled_from([64, 65, 100, 257, 1_000, 8_000]), st.integers(64, 2_000))
OFFERED = [tool for tool in every_tool() if tool.group in (*SETS, "core") or tool.name in PAGE_TOOLS]
STATUSES = {200, 400, 403, 404, 409, 412}


@pytest.fixture(scope="module")
def scratch() -> World:
    """A store and a folder that tools may write to."""
    return copied("mixed")


@pytest.fixture(scope="module")
def writable(scratch: World) -> Iterator[Served]:
    sections = {"workspace": WorkspaceSettings(root=scratch.desk)}
    with serving(scratch.home, tool_names=("all",), now=scratch.caller.now, sections=sections) as served:
        yield served


def _names(served: Served) -> set[str]:
    return {tool["name"] for tool in served.get("/api/v1/tools").json["tools"]}


def test_every_tool_that_is_served_is_walked_here(writable: Served) -> None:
    assert _names(writable) == {tool.name for tool in OFFERED}
    assert any(tool.writes for tool in OFFERED)


@pytest.mark.parametrize("tool", OFFERED, ids=lambda tool: str(tool.name))
@examples(5)
@given(data=st.data())
def test_a_reply_or_an_error_of_any_tool_is_within_the_budget(
    tool: Tool, data: st.DataObject, writable: Served, scratch: World
) -> None:
    profile = data.draw(st.sampled_from(sorted(PROFILES)))
    budget, form = data.draw(BUDGETS), data.draw(st.sampled_from(["text", "json"]))
    sent = data.draw(declared_arguments(tool, scratch)) | {"max_tokens": budget, "format": form}
    note(f"{profile}: {tool.name}({sent})")
    reply = writable.tool(tool.name, sent, headers={"haversack-profile": profile})
    assert reply.status in STATUSES, reply.text
    assert count_tokens(reply.text, profile) <= budget, "fits"
    if reply.status == 200:
        assert int(reply.headers["haversack-tokens"]) == count_tokens(reply.text, profile), "one counter"
        _check_rest(writable, reply.headers, budget, profile)
    else:
        assert set(reply.json["error"]) == {"code", "message", "hint"}
    if form == "json":
        json.loads(reply.text)
    if not tool.writes and data.draw(st.booleans()):
        query = urlencode({name: value for name, value in sent.items() if value is not None}, doseq=True)
        by_address = writable.get(f"/api/v1/tools/{tool.name}?{query}", headers={"haversack-profile": profile})
        assert by_address.status in STATUSES
        assert count_tokens(by_address.text, profile) <= budget, "fits when asked for by address"
    if tool.name not in PAGE_TOOLS:
        params = {"name": tool.name, "arguments": sent}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        told = writable.message(message, headers={"haversack-profile": profile}).json["result"]
        [text] = [each["text"] for each in told["content"]]
        assert count_tokens(text, profile) <= budget, "fits as a message"
        if not told.get("isError"):
            assert told["_meta"]["haversack/fit"]["tokens"] == count_tokens(text, profile)


def _check_rest(served: Served, headers: Any, budget: int, profile: str) -> None:
    """What was left out is there under its key, and is within the budget too."""
    if key := headers.get("haversack-more"):
        rest = served.tool("more", {"key": key, "max_tokens": budget}, headers={"haversack-profile": profile})
        assert rest.status == 200, rest.text
        assert count_tokens(rest.text, profile) <= budget


@pytest.mark.parametrize("resource", resources(), ids=lambda resource: str(resource.path))
@examples(12)
@given(data=st.data())
def test_a_resource_read_over_http_is_within_the_budget(
    resource: Resource, data: st.DataObject, writable: Served, scratch: World
) -> None:
    profile = data.draw(st.sampled_from(sorted(PROFILES)))
    budget = data.draw(BUDGETS)
    known = st.sampled_from([str(each) for each in scratch.ids[:20]])
    filled = quote(data.draw(st.one_of(TEXTS, known)) or "x", safe="")
    address = f"{resource.scheme}{resource.path.partition('{')[0]}{filled if resource.variable else ''}"
    note(f"{profile}: {address}?max_tokens={budget}")
    params = {"uri": f"{address}?max_tokens={budget}"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
    answer = writable.message(message, headers={"haversack-profile": profile}).json
    if "error" in answer:
        assert count_tokens(answer["error"]["message"], profile) <= budget, "fits"
        return
    [content] = answer["result"]["contents"]
    assert answer["result"]["_meta"]["haversack/fit"]["tokens"] == count_tokens(content["text"], profile) <= budget


@pytest.mark.parametrize("name", sorted(prompts()))
def test_a_prompt_is_small(writable: Served, name: str) -> None:
    arguments = {each.name: "token rotation " * 40 for each in prompts()[name].arguments}
    params = {"name": name, "arguments": arguments}
    answer = writable.message({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params}).json
    [message] = answer["result"]["messages"]
    assert count_tokens(message["content"]["text"]) < 8_000


def _sample(schema: dict[str, Any]) -> Any:
    """A value a schema of the description allows."""
    if "enum" in schema:
        return schema["enum"][-1]
    samples = {"string": "token rotation", "boolean": True, "array": [], "object": {}}
    return samples.get(schema["type"], schema.get("minimum", 1))


def test_the_description_is_sound_and_every_path_of_it_answers(writable: Served) -> None:
    described = writable.get("/api/v1/openapi.json").json
    pytest.importorskip("openapi_spec_validator").validate(described)
    for path, operations in described["paths"].items():
        schema = operations["post"]["requestBody"]["content"]["application/json"]["schema"]
        full = {name: _sample(held) for name, held in schema["properties"].items()}
        least = {name: full[name] for name in schema.get("required", ())}
        for body in (least, least | {"max_tokens": 300, "format": "json"}):
            reply = writable.tool(path.rpartition("/")[2], body)
            assert reply.status in STATUSES, f"{path} {body}: {reply.text}"
            assert str(reply.status) in operations["post"]["responses"]
        if "get" in operations:
            assert {each["name"] for each in operations["get"]["parameters"]} == set(full)
            assert writable.get(f"{path}?{urlencode(least, doseq=True)}").status in STATUSES
