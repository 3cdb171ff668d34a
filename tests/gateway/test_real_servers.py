"""Well-known servers behind the gateway, with clients made from both SDKs."""

import asyncio
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from haversack.tokens import count_tokens
from tests.gateway.conftest import Open
from tests.gateway.packages import FOLDER, NODE, PACKAGES, node_server, python_server, with_module, with_package
from tests.gateway.wire import Wire, texts, wrapped

with_node = with_package("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")
with_python = with_module("mcp_server_git", "mcp_server_time")


def listed(wire: Wire) -> dict[str, Any]:
    wire.greet("test")
    return {tool["name"]: tool for tool in json.loads(_answer(wire, wire.ask("tools/list")))["result"]["tools"]}


def _answer(wire: Wire, line: bytes) -> bytes:
    """The line, or the first after it that is no notification of the server's."""
    while "method" in json.loads(line):
        line = wire.line()
    return line


@with_node
@pytest.mark.parametrize("name", ["server-everything", "server-memory", "server-sequential-thinking"])
def test_a_node_server_lists_and_answers_as_it_does_alone(
    name: str, through: Open, direct: Open, tmp_path: Path
) -> None:
    command = node_server(name)
    here = through(command=command, MEMORY_FILE_PATH=str(tmp_path / "a.jsonl"))
    there = direct(command=command, MEMORY_FILE_PATH=str(tmp_path / "b.jsonl"))
    tools, alone = listed(here), listed(there)
    assert list(tools) == [*alone, "more", "find_in"]
    calls: dict[str, dict[str, object]] = {
        "echo": {"message": "hi"}, "get-sum": {"a": 1, "b": 2.5}, "get-tiny-image": {}, "read_graph": {},
        "get-annotated-message": {"messageType": "error", "includeImage": True},
        "sequentialthinking": {"thought": "x", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}, "nothing": {},
    }  # fmt: skip
    for tool, arguments in calls.items():
        if tool in alone or tool == "nothing":
            answers = [_answer(wire, wire.call(tool, "x", **arguments)) for wire in (here, there)]
            assert answers[0] == answers[1], tool


@with_node
def test_files_are_cut_for_the_client_and_read_to_their_end_by_key(through: Open, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("\n".join(f"entry {n}: some words" for n in range(2_000)))
    wire = through("--budget", "500", command=node_server("server-filesystem", str(tmp_path)))
    listed(wire)
    text = texts(wire.result("read_text_file", path=str(tmp_path / "long.txt")))
    assert count_tokens(text) <= 500
    key = re.findall(r'find_in\("(\w+)"', text)[0]
    assert "1999: entry 1998: some words" in texts(wire.result("find_in", key=key, query="entry 1998:"))


@with_python
def test_git_and_time_answer_as_they_do_alone(through: Open, direct: Open, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "a.txt").write_text("words\n" * 3_000)
    subprocess.run([*git, "add", "a.txt"], check=True)
    command = python_server("mcp_server_git", "--repository", str(tmp_path))
    here, there = through(command=command), direct(command=command)
    listed(here)
    listed(there)
    for tool in ("git_status", "git_branch"):
        given = {"repo_path": str(tmp_path), "branch_type": "local"}
        assert here.call(tool, **given) == there.call(tool, **given)
    cut = json.loads(here.call("git_diff_staged", meta={"haversack/max_tokens": 300}, repo_path=str(tmp_path)))[
        "result"
    ]
    assert count_tokens(texts(cut)) <= 300
    clock = through(command=python_server("mcp_server_time", "--local-timezone", "UTC"))
    listed(clock)
    assert "Europe/Berlin" in texts(clock.result("get_current_time", timezone="Europe/Berlin"))


@with_node
def test_the_typescript_client_accepts_results_that_were_cut(tmp_path: Path) -> None:
    if not (PACKAGES / "sdk").exists():
        pytest.skip("the TypeScript SDK is not installed")
    (tmp_path / "long.txt").write_text("some words\n" * 5_000)
    shutil.copy(Path(__file__).with_name("client.mjs"), FOLDER / "client.mjs")
    calls = [
        {"name": "read_text_file", "arguments": {"path": str(tmp_path / "long.txt")}},
        {"name": "list_directory", "arguments": {"path": str(tmp_path)}},
        {"name": "list_allowed_directories", "arguments": {}},
    ]
    command = wrapped("--budget", "300", command=node_server("server-filesystem", str(tmp_path)))
    environment = {**os.environ, "HAVERSACK_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [str(NODE), str(FOLDER / "client.mjs"), json.dumps(calls), *command],
        capture_output=True, text=True, env=environment, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cut, whole, *_ = json.loads(done.stdout.splitlines()[-1])
    assert set(cut["structuredContent"]) == {"haversack"}
    assert set(whole["structuredContent"]) == {"content"}


@with_node
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_python_client_accepts_results_that_were_cut(mode: str, tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp")
    (tmp_path / "long.txt").write_text("some words\n" * 5_000)
    command = wrapped("--budget", "300", command=node_server("server-filesystem", str(tmp_path)))
    environment = {**os.environ, "HAVERSACK_HOME": str(tmp_path / "home")}
    parameters = mcp.StdioServerParameters(command=command[0], args=command[1:], env=environment)

    async def read() -> Any:
        async with mcp.Client(parameters, mode=mode) as client:
            await client.list_tools()
            return await client.call_tool("read_text_file", {"path": str(tmp_path / "long.txt")})

    result = asyncio.run(read())
    assert count_tokens(result.content[0].text) <= 300
    assert set(result.structured_content) == {"haversack"}
