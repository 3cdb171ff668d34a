"""The official conformance suite finds a server behind the gateway exactly as good as the server alone."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.gateway.http_bridge import Bridge
from tests.gateway.packages import NODE, PACKAGES, with_package
from tests.gateway.wire import wrapped

SUITE = PACKAGES / "conformance/dist/index.js"
SERVER = [sys.executable, "-m", "tests.gateway.conformance_server"]
ROOT = Path(__file__).parent.parent.parent

Verdicts = dict[tuple[str, str], list[str]]


def verdicts(command: Sequence[str], revision: str, results: Path) -> Verdicts:
    """What the suite says of a server, for every check of every scenario that a revision requires."""
    bridge = Bridge(command)
    threading.Thread(target=bridge.serve_forever, daemon=True).start()
    try:
        subprocess.run(
            [
                str(NODE), str(SUITE), "server", "--url", bridge.url, "--requirements", revision,
                "--timeout", "200000", "-o", str(results),
            ],
            capture_output=True, timeout=1_200, check=False, cwd=results.parent,
        )  # fmt: skip
    finally:
        bridge.stop()
    found: Verdicts = {}
    for path in results.glob("*/checks.json"):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT.*", "", path.parent.name)
        for check in json.loads(path.read_text()):
            found.setdefault((scenario, check["id"]), []).append(check["status"])
    return found


@with_package("@modelcontextprotocol/conformance")
@pytest.mark.parametrize(("revision", "least"), [("2025-11-25", 80), ("2026-07-28", 140)])
def test_a_server_behind_the_gateway_conforms_as_it_does_alone(
    revision: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HAVERSACK_HOME", str(tmp_path / "home"))
    alone = verdicts(SERVER, revision, tmp_path / "alone")
    through = verdicts(wrapped(command=SERVER), revision, tmp_path / "through")
    assert through == alone
    # The suite was run, not only compared with itself.
    assert sum(states.count("SUCCESS") for states in through.values()) >= least
