"""Real clients with a server behind the gateway: the Inspector, Claude Code, and both SDKs on the newest wire."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from haversack.tokens import count_tokens
from tests.gateway.packages import FOLDER, MODULES, NODE, node_server, with_package
from tests.gateway.wire import wrapped

ROOT = Path(__file__).parents[2]
MODERN = [sys.executable, "-m", "tests.gateway.conformance_server"]
BINARIES = sorted(MODULES.glob("@anthropic-ai/claude-code-*/claude*"))


def _environment(folder: Path) -> dict[str, str]:
    path = f"{Path(str(NODE)).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"HAVERSACK_HOME": str(folder / "home"), "HOME": str(folder), "CLAUDE_CONFIG_DIR": str(folder), "PATH": path}
    return {**os.environ, **own, "MCP_INSPECTOR_SECRET_STORE": "memory", "PYTHONPATH": str(ROOT)}


def _entry(folder: Path) -> dict[str, Any]:
    (folder / "long.txt").write_text("some words\n" * 5_000)
    command = wrapped("--budget", "300", command=node_server("server-filesystem", str(folder)))
    return {"command": command[0], "args": command[1:], "env": {"HAVERSACK_HOME": str(folder / "home")}}


@with_package("@modelcontextprotocol/inspector", "@modelcontextprotocol/server-filesystem")
def test_the_inspector_lists_and_calls_through_the_gateway(tmp_path: Path) -> None:
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"files": _entry(tmp_path)}}))

    def inspect(*words: str) -> Any:
        done = subprocess.run(
            [str(MODULES / ".bin/mcp-inspector"), "--cli", "--config", str(config), "--server", "files", *words],
            env=_environment(tmp_path), capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    assert [tool["name"] for tool in inspect("--method", "tools/list")["tools"]][-2:] == ["more", "find_in"]
    call = ("--method", "tools/call", "--tool-name", "read_text_file", "--tool-arg", f"path={tmp_path / 'long.txt'}")
    assert count_tokens(inspect(*call)["content"][0]["text"]) <= 300


@with_package("@anthropic-ai/claude-code", "@modelcontextprotocol/server-filesystem")
@pytest.mark.skipif(not BINARIES, reason="Claude Code has no program for this machine")
def test_claude_code_connects_to_a_wrapped_server(tmp_path: Path) -> None:
    settings = {"mcpServers": {"files": {"type": "stdio", **_entry(tmp_path)}}}
    (tmp_path / ".claude.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [str(BINARIES[0]), "mcp", "list"],
        cwd=tmp_path, env=_environment(tmp_path), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert "Connected" in done.stdout, done.stdout + done.stderr


@with_package("@modelcontextprotocol/client")
def test_the_second_typescript_sdk_reads_a_wrapped_server_on_the_newest_wire(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("client2.mjs"), FOLDER / "client2.mjs")
    calls = [{"name": "test_simple_text", "arguments": {}}, {"name": "test_image_content", "arguments": {}}]
    told = []
    for command in (MODERN, wrapped(command=MODERN)):
        done = subprocess.run(
            [str(NODE), str(FOLDER / "client2.mjs"), json.dumps(calls), *command],
            cwd=ROOT, env=_environment(tmp_path), capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told.append(json.loads(done.stdout.splitlines()[-1]))
    assert told[1]["tools"] == [*told[0]["tools"], "more", "find_in"]
    assert told[1]["results"] == told[0]["results"]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_python_sdk_reads_a_wrapped_server_as_it_does_alone(mode: str, tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp")

    async def told(command: list[str]) -> tuple[list[str], Any]:
        parameters = mcp.StdioServerParameters(
            command=command[0], args=command[1:], env=_environment(tmp_path), cwd=str(ROOT)
        )
        async with mcp.Client(parameters, mode=mode) as client:
            tools = (await client.list_tools()).tools
            results = [await client.call_tool(name, {}) for name in ("test_simple_text", "test_multiple_content_types")]
            return [tool.name for tool in tools], results

    names, results = asyncio.run(told(MODERN))
    through, same = asyncio.run(told(wrapped(command=MODERN)))
    assert through == [*names, "more", "find_in"]
    assert same == results
