"""The official SDK's client, in every way it can connect; it checks each message against the negotiated revision."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import command

mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed")

MODES = ("legacy", "auto", "2026-07-28")
Work = Callable[[Any], Awaitable[None]]
Connect = Callable[..., None]


@pytest.fixture
def connect(environment: dict[str, str], tmp_path: Path) -> Connect:
    """Runs a piece of work with a connected client."""

    def run(mode: str, work: Work, *tool_names: str, **options: Any) -> None:
        program, *arguments = command(*tool_names)
        server = mcp.StdioServerParameters(command=program, args=arguments, env=environment, cwd=tmp_path)

        async def connected() -> None:
            async with mcp.Client(server, mode=mode, read_timeout_seconds=60, **options) as client:
                await work(client)

        asyncio.run(connected())

    return run


@pytest.mark.parametrize("mode", MODES)
def test_a_client_saves_searches_and_pages(connect: Connect, mode: str) -> None:
    async def work(client: Any) -> None:
        for number in range(25):
            arguments = {
                "title": f"Release note {number}",
                "content": f"what changed in release {number} of the app",
            }
            saved = await client.call_tool("mem_save", arguments)
            assert not saved.is_error
        found = await client.call_tool("mem_search", {"query": "release note", "limit": 25, "max_tokens": 300})
        facts = found.meta["haversack/fit"]
        assert facts["total"] == 25
        assert found.structured_content is None
        seen = facts["shown"]
        while "more" in facts:
            page = await client.call_tool("more", {"key": facts["more"], "max_tokens": 300})
            facts = page.meta["haversack/fit"]
            seen += facts["shown"]
        assert seen == 25

    connect(mode, work)


@pytest.mark.parametrize("mode", MODES)
def test_a_client_finds_the_revision_it_hoped_for(connect: Connect, mode: str) -> None:
    async def work(client: Any) -> None:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        if mode != "2026-07-28":
            assert "Context Budget Awareness" in client.instructions
            assert client.server_info.name == "haversack"

    connect(mode, work)


@pytest.mark.parametrize("mode", MODES)
def test_a_client_lists_and_reads_everything_that_is_offered(connect: Connect, mode: str) -> None:
    async def work(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert {"mem_save", "mem_search", "more"} <= {each.name for each in tools}
        assert all(each.output_schema is None for each in tools)
        for resource in (await client.list_resources()).resources:
            content = await client.read_resource(resource.uri)
            assert content.contents[0].text
        templates = (await client.list_resource_templates()).resource_templates
        assert "haversack://observation/{id}" in {each.uri_template for each in templates}
        prompts = (await client.list_prompts()).prompts
        assert {"recall", "save-session"} <= {each.name for each in prompts}
        prompt = await client.get_prompt("recall", {"topic": "anything"})
        assert "No memory matches" in prompt.messages[0].content.text
        reference = mcp.types.PromptReference(type="ref/prompt", name="recall")
        completed = await client.complete(reference, {"name": "project", "value": ""})
        assert completed.completion.values == []

    connect(mode, work, "all")


@pytest.mark.parametrize("mode", MODES)
def test_a_client_sees_errors_of_a_tool_as_results_and_errors_of_the_protocol_as_such(
    connect: Connect, mode: str
) -> None:
    async def work(client: Any) -> None:
        failed = await client.call_tool("mem_get_observation", {"id": 12345})
        assert failed.is_error
        assert failed.content[0].text.startswith("not_found: no observation #12345")
        with pytest.raises(mcp.MCPError, match="no tool called"):
            await client.call_tool("mem_serach", {"query": "x"})
        with pytest.raises(mcp.MCPError, match="no resource"):
            await client.read_resource("haversack://nothing")

    connect(mode, work)


@pytest.mark.parametrize("mode", MODES)
def test_many_calls_at_once_each_get_their_own_answer(connect: Connect, mode: str) -> None:
    async def work(client: Any) -> None:
        saves = [client.call_tool("mem_save", {"title": f"Fact {n}", "content": f"fact {n}"}) for n in range(60)]
        assert not [each for each in await asyncio.gather(*saves) if each.is_error]
        asked = range(1, 61)
        answers = await asyncio.gather(*(client.call_tool("mem_get_observation", {"id": n}) for n in asked))
        assert [each.content[0].text.split()[0] for each in answers] == [f"#{n}" for n in asked]

    connect(mode, work)


def test_a_listening_client_is_let_go_when_it_leaves(connect: Connect) -> None:
    async def work(client: Any) -> None:
        async with client.listen(tools_list_changed=True) as subscription:
            assert not subscription.honored.tools_list_changed
            assert (await client.call_tool("mem_stats", {})).content

    connect("2026-07-28", work)


def test_logs_reach_a_client_that_asks_for_them(connect: Connect) -> None:
    heard: list[str] = []

    async def hear(params: Any) -> None:
        heard.append(params.data["call"])

    async def work(client: Any) -> None:
        await client.call_tool("mem_stats", {})

    connect("2026-07-28", work, log_level="info", logging_callback=hear)
    assert "tools/call mem_stats" in heard
