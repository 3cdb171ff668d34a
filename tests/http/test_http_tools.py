"""The tools as a JSON interface: the contract, the rights of limited tokens, and what programs are told."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from haversack.mcp.tool_sets import SETS
from haversack.tokens import count_tokens
from haversack.tools.declaration import Tool
from haversack.tools.registry import tools
from haversack.tools.road.call import call
from haversack.web.calls import PAGE_TOOLS
from tests.conftest import examples
from tests.contract.arguments import arguments_for, reading_tools
from tests.contract.worlds import world
from tests.http.serving import Served, serving

WORLDS = ("many", "mixed", "empty")


@pytest.fixture(scope="module")
def worlds() -> Iterator[dict[str, Served]]:
    """Servers on the stores the contract is tried on, with the clock standing still."""
    held: dict[str, Served] = {}
    opened = []
    for name in WORLDS:
        made = serving(world(name).home, tool_names=("all",), now=world(name).caller.now)
        held[name] = made.__enter__()
        opened.append(made)
    yield held
    for made in opened:
        made.__exit__(None, None, None)


OFFERED = [tool for tool in reading_tools() if tool.group in (*SETS, "core") or tool.name in PAGE_TOOLS]


@pytest.mark.parametrize("tool", OFFERED, ids=lambda tool: str(tool.name))
@examples(6)
@given(data=st.data())
def test_every_reply_over_http_keeps_its_budget(worlds: dict[str, Served], tool: Tool, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(WORLDS))
    served = worlds[name]
    budget = data.draw(st.one_of(st.sampled_from([64, 100, 256, 1_000, 8_000]), st.integers(64, 2_000)))
    form = data.draw(st.sampled_from(["text", "json"]))
    arguments = {**data.draw(arguments_for(tool, world(name))), "max_tokens": budget, "format": form}
    note(f"{name}: {tool.name}({arguments})")
    reply = served.tool(tool.name, arguments)
    assert count_tokens(reply.text) <= budget, "fits"
    if reply.status != 200:
        assert set(reply.json["error"]) == {"code", "message", "hint"}
        return
    assert int(reply.headers["haversack-tokens"]) == count_tokens(reply.text), "one counter"
    assert reply.headers["content-type"].startswith("application/json" if form == "json" else "text/markdown")
    if form == "json":
        json.loads(reply.text, object_pairs_hook=_without_repetition)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool.name, "arguments": arguments}}
    if tool.name not in PAGE_TOOLS:
        told = served.message(call).json["result"]
        [text] = [each["text"] for each in told["content"]]
        assert told["_meta"]["haversack/fit"]["tokens"] == count_tokens(text) <= budget, "fits as a message too"


def _without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a name stands twice among {names}"
    return dict(pairs)


def test_following_the_keys_over_http_gives_everything_once(worlds: dict[str, Served]) -> None:
    served = worlds["many"]
    reply = served.get("/api/v1/tools/list_observations?limit=200&max_tokens=300")
    total, seen = int(reply.headers["haversack-total"]), reply.headers["haversack-ids"].split(",")
    while key := reply.headers.get("haversack-more"):
        reply = served.get(f"/api/v1/tools/more?key={key}&max_tokens=4000")
        seen += reply.headers["haversack-ids"].split(",")
    assert len(seen) == len(set(seen)) == total


def test_a_reply_is_the_bytes_every_other_door_gives(worlds: dict[str, Served]) -> None:
    for arguments in ({"query": "token", "max_tokens": 300}, {"query": "token", "max_tokens": 300, "format": "json"}):
        expected = call(world("many").caller, "mem_search", arguments)
        assert worlds["many"].tool("mem_search", arguments).text == expected.text
        query = "&".join(f"{name}={value}" for name, value in arguments.items())
        assert worlds["many"].get(f"/api/v1/tools/mem_search?{query}").text == expected.text


@pytest.mark.parametrize(
    ("name", "arguments", "status", "code"),
    [
        ("mem_search", {}, 400, "invalid_argument"),
        ("mem_search", {"query": "x", "none": 1}, 400, "invalid_argument"),
        ("mem_search", {"query": "x", "max_tokens": 63}, 400, "budget_too_small"),
        ("mem_search", {"query": "x", "max_tokens": "many"}, 400, "invalid_argument"),
        ("mem_get_observation", {"id": 10**9}, 404, "not_found"),
        ("more", {"key": "zzzz"}, 404, "expired_key"),
        ("mem_update", {"id": 1, "restore": True}, 409, "conflict"),
        ("mem_update", {"id": 1, "pinned": True, "expected_hash": "0" * 12}, 412, "changed"),
        ("mem_save", {"title": "t", "content": "c" * 300_000}, 400, "too_large"),
        ("mem_save", {"title": "t", "content": "\ud800"}, 400, "invalid_argument"),
    ],
)  # fmt: skip
def test_an_error_has_the_status_of_its_kind(
    served: Served, name: str, arguments: dict[str, Any], status: int, code: str
) -> None:
    served.tool("mem_save", {"title": "The first", "content": "so that there is one"})
    reply = served.tool(name, arguments)
    assert (reply.status, reply.code) == (status, code)


@pytest.mark.parametrize("body", ["[]", '"text"', "{", '{"a": NaN}', "\x00", '{"a":' * 50_000, "7", '{"a": 1, "a": 2}'])
def test_what_is_no_object_of_arguments_is_refused(served: Served, body: str) -> None:
    reply = served.send("POST", "/api/v1/tools/mem_stats", body=body, headers={"content-type": "application/json"})
    assert (reply.status, reply.code) == (400, "invalid_json")


def test_arguments_in_an_address_may_repeat_only_where_they_are_lists(served: Served) -> None:
    assert served.get("/api/v1/tools/mem_search?query=a&query=b").status == 400
    assert served.get("/api/v1/tools/mem_search?query=a&tags=x&tags=y").status == 200
    assert served.get("/api/v1/tools/mem_search?query=%ff%fe").status == 400
    assert served.get("/api/v1/tools/mem_search?" + "&".join(f"a{n}=1" for n in range(300))).status == 400


def test_the_description_for_programs_names_every_tool_offered(served: Served) -> None:
    described = served.get("/api/v1/openapi.json").json
    listed = {tool["name"]: tool for tool in served.get("/api/v1/tools").json["tools"]}
    assert set(described["paths"]) == {f"/api/v1/tools/{name}" for name in listed}
    assert {"mem_search", "pack_candidates", "memory_figures", "more"} <= set(listed)
    assert not {"read_file", "vcs_log", "sdd_validate"} & set(listed), (
        "what looks at files is offered only if asked for"
    )
    for name, tool in listed.items():
        known = tools()[name]
        assert ("get" in described["paths"][f"/api/v1/tools/{name}"]) == (not known.writes) == (not tool["writes"])
        assert set(tool["parameters"]["properties"]) == {each.name for each in known.parameters}
    pytest.importorskip("jsonschema").Draft202012Validator.check_schema(listed["mem_search"]["parameters"])


def test_the_figures_count_and_hold_no_content(served: Served) -> None:
    served.tool("mem_save", {"title": "Confidential", "content": "confidential " * 90, "project": "secret"})
    served.get("/api/v1/tools/mem_search?query=confidential&max_tokens=64&detail_level=full")
    text = served.get("/metrics").text
    assert 'haversack_calls_total{tool="mem_search"}' in text
    assert 'haversack_call_seconds_bucket{tool="mem_save",le="+Inf"}' in text
    assert "onfidential" not in text
    assert "secret" not in text


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two projects, a relation between them, and a namespace."""
    with serving(str(tmp_path_factory.mktemp("home")), tool_names=("all",)) as held:
        for project in ("thesis", "shop"):
            for number in range(6):
                held.tool("mem_save", {"title": f"{project} {number}", "content": f"{project} token rotation " * 9, "project": project, "session_id": "both" if number == 5 else ""})  # fmt: skip
        held.tool("mem_relate", {"from_id": 1, "to_id": 7, "relation_type": "relates_to"})
        held.tool("mem_save", {"title": "scouted", "content": "found by a scout", "project": "thesis", "namespace": "scout"})  # fmt: skip
        yield held


def test_a_token_for_a_project_sees_nothing_else(shared: Served) -> None:
    token = shared.token_for("admin", project="thesis")
    reply = shared.tool("mem_search", {"query": "token rotation", "limit": 50, "max_tokens": 8_000}, token=token)
    assert "thesis" in reply.text
    assert "shop" not in reply.text
    assert shared.tool("mem_search", {"query": "token", "project": "Thesis"}, token=token).status == 200
    for name, arguments in (
        ("mem_search", {"query": "token", "project": "shop"}),
        ("mem_context", {"project": "shop"}),
        ("context_pack", {"project": "shop"}),
        ("context_pack", {"first": [7]}),
        ("context_pack", {"first": "7,8"}),
        ("mem_get_observation", {"id": 7}),
        ("mem_get_observation", {"id": "#7"}),
        ("mem_get_observation", {"id": 1}),
        ("mem_build_context", {"observation_id": 1}),
        ("mem_timeline", {"observation_id": 6}),
        ("observation_history", {"id": 8}),
        ("mem_update", {"id": 8, "title": "taken"}),
        ("mem_update", {"id": 2, "project": "shop"}),
        ("mem_update", {"id": 2, "project": ""}),
        ("mem_delete", {"id": 8}),
        ("mem_delete", {"id": 8, "hard": True}),
        ("mem_relate", {"from_id": 2, "to_id": 8, "relation_type": "relates_to"}),
        ("mem_save", {"title": "t", "content": "c", "project": "shop"}),
        ("mem_save", {"title": "t", "content": "c", "relate_to": [8]}),
        ("mem_compact", {"older_than_days": 0, "ids": [8]}),
    ):
        reply = shared.tool(name, arguments, token=token)
        assert reply.status == 404, f"{name}({arguments}) {reply.text}"
        assert "shop token" not in reply.text
    for name in (
        "read_file",
        "project_files",
        "work_log",
        "budget_status",
        "sdd_get_context",
        "mem_unrelate",
        "mem_session_end",
    ):
        sent = {"path": "x", "id": "1"} if name in ("read_file", "mem_unrelate", "mem_session_end") else {}
        assert shared.tool(name, sent, token=token).status in (400, 403), name
    saved = shared.tool("mem_save", {"title": "mine", "content": "of the thesis", "format": "json"}, token=token)
    assert saved.json["project"] == "thesis"


def test_the_keys_of_others_are_not_for_a_limited_token(shared: Served) -> None:
    ours = shared.get("/api/v1/tools/mem_search?query=shop&max_tokens=64").headers["haversack-more"]
    token = shared.token_for("read", project="thesis")
    assert shared.tool("more", {"key": ours}, token=token).status == 404
    theirs = shared.tool("mem_search", {"query": "thesis", "max_tokens": 64}, token=token).headers["haversack-more"]
    assert shared.tool("more", {"key": theirs}, token=token).status == 200


def test_a_token_for_a_namespace_sees_nothing_else(shared: Served) -> None:
    token = shared.token_for("read", namespace="scout")
    found = shared.tool("mem_search", {"query": "found token rotation", "max_tokens": 4_000}, token=token)
    assert "scouted" in found.text
    assert "thesis 1" not in found.text
    assert shared.tool("mem_search", {"query": "found", "namespace": ""}, token=token).status == 404
    assert shared.tool("mem_get_observation", {"id": 2}, token=token).status == 404


def test_limits_hold_for_mcp_too(shared: Served) -> None:
    token = shared.token_for("read", project="thesis")

    def ask(method: str, params: dict[str, Any]) -> Any:
        return shared.message({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token=token)

    for method, params in (
        ("resources/read", {"uri": "haversack://context/shop"}),
        ("completion/complete", {"ref": {}, "argument": {"name": "project", "value": "s"}}),
        ("prompts/get", {"name": "x"}),
    ):
        assert ask(method, params).status == 403
    called = ask("tools/call", {"name": "mem_get_observation", "arguments": {"id": 7}}).json["result"]
    assert called["isError"]
    assert "not_found" in called["content"][0]["text"]
    found = ask("tools/call", {"name": "mem_search", "arguments": {"query": "token rotation", "limit": 50}})
    assert "shop" not in found.text
