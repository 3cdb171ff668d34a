"""Real hosts that compact their context: the summary is kept, the account begins anew, and what was saved comes back."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.real.programs import REAL_HOSTS, SECONDS, Machine, RealHost, machine
from tests.hosts.real.scripted_model import Call, ScriptedModel

PROMPT = "Add a retry to the uploader, and mind that signing tokens rotate hourly"
SAVED = {"title": "Uploads are retried", "content": "The uploader retries three times, with a pause that doubles."}
SUMMARY = "The uploader retries now; the tests of its pauses are still to be written."
FULL = 29_000
"""Tokens the model says its context holds at the first request, so that the host compacts it."""


def codex(host: RealHost, user: Machine) -> None:
    typed = host.command(user, PROMPT)
    # On a busy machine it would ask its model before the server has started.
    settings = ["-c", "mcp_servers.haversack.required=true", "-c", f"model_auto_compact_token_limit={FULL - 1_000}"]
    done = user.run(*typed[:-1], *settings, typed[-1])
    assert done.returncode == 0, done.stderr[-2_000:]


def opencode(host: RealHost, user: Machine) -> None:
    settings = json.loads(user.extra["OPENCODE_CONFIG_CONTENT"])
    settings["provider"]["mock"]["models"]["mock"]["limit"] = {"context": FULL, "output": 2_000}
    done = user.run(*host.command(user, PROMPT), OPENCODE_CONFIG_CONTENT=json.dumps(settings))
    assert done.returncode == 0, done.stderr[-2_000:]


def claude_code(host: RealHost, user: Machine) -> None:
    """One session with three turns, of which the second is the command to compact."""
    typed = [word for word in host.command(user, PROMPT) if word != PROMPT]
    streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    turns = [PROMPT, "/compact", "What did we decide about the uploader?"]
    sent = "".join(json.dumps({"type": "user", "message": {"role": "user", "content": each}}) + "\n" for each in turns)
    done = subprocess.run(
        [*typed, *streams], cwd=user.project, env=user.environment(), input=sent, capture_output=True, text=True,
        timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]


DRIVERS: dict[str, Callable[[RealHost, Machine], None]] = {
    "claude-code": claude_code, "codex": codex, "opencode": opencode,
}  # fmt: skip


@pytest.mark.parametrize("host", [each for each in REAL_HOSTS if each.name in DRIVERS], ids=lambda host: host.name)
def test_a_compaction_keeps_the_summary_and_begins_the_account_anew(
    host: RealHost, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--real-hosts"):
        pytest.skip("real hosts are run by `make test-hosts`")
    if not host.is_installed:
        pytest.skip(f"{host.package} is not installed (tools/install_hosts.py does it where npm works)")
    # opencode asks for a title too, before its first request or after it.
    usage = {"codex": [FULL], "opencode": [FULL, FULL]}.get(host.name, [])
    model = ScriptedModel([Call("mem_save", SAVED), SUMMARY], usage, SUMMARY)
    user = machine(tmp_path, model.url)
    user.extra = host.environment(user)
    host.prepare(user)
    try:
        assert user.haversack("install", host.name).returncode == 0
        DRIVERS[host.name](host, user)
    finally:
        model.close()
    sent = user.sent()
    events = [event for event, _, _ in sent]
    assert "after-compact" in events, events
    restored = [text for event, payload, text in sent if event == "session-start" and payload["source"] == "compact"]
    assert len(restored) == 1 and SAVED["content"] in restored[0] and "Saved in this session" in restored[0]
    assert SAVED["content"] in json.dumps(model.requests[-1], ensure_ascii=False), "what came back reached the model"
    context = user.haversack("context", "--detail-level", "full").stdout
    assert f"Session summary: {user.project.name}" in context and context.count(SUMMARY) >= 1
    accounts = re.findall(r"(?m)^(\w+): [\d,]+ of", user.haversack("budget").stdout)
    told = [user.haversack("budget", each).stdout for each in accounts]
    assert any(f"{host.name} compacted its context at" in each for each in told), told
    log = user.data / "logs/hooks.log"
    assert not log.exists(), log.read_text()
