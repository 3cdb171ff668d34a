"""The account of a host's server follows what the host's hooks report: prompts, compactions, real usage."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from haversack.tokens import count_tokens
from tests.hosts.test_hooks import ROTATION, hook, injected, remember


class Server:
    """A server that this process has started, as a host does, with the hooks below."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "haversack", "serve"], cwd=folder, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._number = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.asked("initialize", hello)

    def asked(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while True:
            found: dict[str, Any] = json.loads(self.process.stdout.readline())
            if found.get("id") == self._number:
                return found

    def call(self, tool: str, **arguments: str) -> str:
        reply = self.asked("tools/call", {"name": tool, "arguments": arguments})
        return str(reply["result"]["content"][0]["text"])

    def status(self) -> str:
        return self.call("budget_status")


@pytest.fixture
def server(project: Path) -> Iterator[Server]:
    started = Server(project)
    yield started
    assert started.process.stdin is not None
    started.process.stdin.close()
    started.process.wait()


def used(status: str, tier: str) -> int:
    line = next(line for line in status.splitlines() if line.startswith(tier))
    return int(line.partition("]")[2].split()[0].replace(",", ""))


def test_prompts_compaction_and_usage_reach_the_account_of_the_server(server: Server, project: Path) -> None:
    remember(project, *ROTATION)
    sent = {"session_id": "a", "cwd": str(project)}
    assert "user message not reported yet" in server.status()
    prompt = "When do our signing tokens rotate and who calls it?"
    before = used(server.status(), "tool results")
    text = injected("codex", hook("prompt", "codex", {**sent, "prompt": prompt}, project))
    told = server.status()
    assert used(told, "user message") == count_tokens(prompt) and "user message reported by codex" in told
    assert used(told, "tool results") >= before + count_tokens(text) // 2, "what was recalled is in the context too"
    usage = {"input_tokens": 20_000, "output_tokens": 100, "total_tokens": 20_100}
    hook("usage", "codex", {**sent, "token_usage": usage}, project)
    assert "codex reported 20,000 tokens in its context at " in server.status()
    hook("after-compact", "codex", {**sent, "compact_summary": "Tokens rotate hourly; that was all."}, project)
    after = server.status()
    assert used(after, "user message") == count_tokens("Tokens rotate hourly; that was all.")
    assert used(after, "tool results") < used(told, "tool results") + count_tokens(told)
    assert "codex compacted its context at 20" in after and "codex compacted" not in told


def test_after_a_compaction_the_session_is_told_what_it_has_read_and_saved(server: Server, project: Path) -> None:
    remember(project, *ROTATION)
    server.call("mem_search", query="signing tokens")
    server.call("mem_save", title="Uploads are retried", content="The uploader retries three times.")
    sent = {"session_id": "r", "cwd": str(project)}
    hook("session-start", "codex", {**sent, "source": "startup"}, project)
    text = injected("codex", hook("session-start", "codex", {**sent, "source": "compact"}, project))
    read = text.partition("## Read in this session")[2].partition("\n## ")[0]
    assert 'mem_search(query="signing tokens")' in read and "Signing tokens rotate hourly" in read
    assert "mem_save" not in read and "hook" not in read
    assert count_tokens(text) <= 1_500


def test_usage_is_read_from_the_transcript_where_no_hook_tells_it(server: Server, project: Path) -> None:
    server.status()
    transcript = project / "t.jsonl"
    transcript.write_text((Path(__file__).parent / "transcripts/claude-code.jsonl").read_text(encoding="utf-8"))
    sent = {"session_id": "a", "cwd": str(project), "transcript_path": str(transcript)}
    hook("stop", "claude-code", sent, project)
    assert "claude-code reported 1,234 tokens in its context at " in server.status()


def test_a_server_that_ended_or_was_killed_leaves_no_account_behind(project: Path, tmp_path: Path) -> None:
    for end in ("close", "kill"):
        started = Server(project)
        started.status()
        notes = list((tmp_path / "home" / "hosts" / "servers").glob("*.json"))
        assert len(notes) == 1
        assert started.process.stdin is not None
        if end == "kill":
            started.process.kill()
        started.process.stdin.close()
        started.process.wait()
        hook("prompt", "codex", {"session_id": end, "cwd": str(project), "prompt": f"Count the {end} sheep"}, project)
        assert not list((tmp_path / "home" / "hosts" / "servers").glob("*.json"))


def test_a_compaction_that_ends_after_the_new_start_takes_nothing_back(project: Path) -> None:
    remember(project, *ROTATION)
    sent = {"session_id": "order", "cwd": str(project)}
    assert "rotate hourly" in hook("session-start", "claude-code", {**sent, "source": "startup"}, project)
    assert "rotate hourly" in hook("session-start", "claude-code", {**sent, "source": "compact"}, project)
    hook("after-compact", "claude-code", {**sent, "compact_summary": "We spoke of tokens."}, project)
    ask = {**sent, "prompt": "When do our signing tokens rotate and who calls it?"}
    assert hook("prompt", "claude-code", ask, project) == ""
