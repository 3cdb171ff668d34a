"""Transcripts that real hosts wrote, read back: sessions of the past become prompts, learnings and digests, once."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from haversack.hosts.host import expanded, host_named
from haversack.hosts.transcripts.items import Item, read
from tests.hosts.test_hooks import asked, hook, remember

RECORDED = Path(__file__).parent / "transcripts"
HOSTS = sorted(path.stem for path in RECORDED.glob("*.jsonl"))
PROMPT = "Add a retry to the uploader; signing tokens rotate hourly, mind that"
LEARNING = "The uploader needs an idempotency key for every retry it makes"
NAMES = {
    "claude-code": "-work/0a.jsonl",
    "codex": "2026/11/18/rollout-2026-11-18T03-47-59-0a.jsonl",
    "copilot": "0a/events.jsonl",
    "gemini": "work/chats/session-2026-11-18T03-57-0a.jsonl",
    "opencode": "opencode.db",
}
"""Where each host keeps a transcript below its folder."""


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "user"
    home.mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return home


def kept(host: str, project: Path, text: str | None = None) -> Path:
    """A transcript where the host keeps its own, from a recorded one or from a text."""
    facts = host_named(host).transcripts
    assert facts is not None
    path = Path(expanded(host_named(host), facts.folder, os.environ)) / NAMES[host]
    path.parent.mkdir(parents=True, exist_ok=True)
    held = (RECORDED / f"{host}.jsonl").read_text(encoding="utf-8") if text is None else text
    held = held.replace("{cwd}", str(project))
    if path.suffix == ".db":
        _store_rows(path, [json.loads(line) for line in held.splitlines()])
    else:
        path.write_text(held, encoding="utf-8")
    if host == "gemini":
        (path.parent.parent / ".project_root").write_text(str(project))
    return path


def _store_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    connection = apsw.Connection(str(path))
    for table in ("session", "message", "part"):
        columns = {name: None for row in rows if row["table"] == table for name in row if name != "table"}
        connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        for row in rows:
            if row["table"] == table:
                marks = ", ".join("?" for _ in columns)
                connection.execute(f"INSERT INTO {table} VALUES ({marks})", [row.get(name) for name in columns])
    connection.close()


def backfill(*typed: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "haversack", "backfill", *typed], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def items(host: str, path: Path) -> list[Item]:
    facts = host_named(host).transcripts
    assert facts is not None
    return list(read(facts.reader, str(path)))


@pytest.mark.parametrize("host", HOSTS)
def test_a_recorded_transcript_is_read_as_what_happened(host: str, user: Path, project: Path) -> None:
    found = items(host, kept(host, project))
    assert [item.directory for item in found if item.kind == "session"] == [str(project)]
    assert PROMPT in [item for item in found if item.kind == "prompt"][-1].text
    tools = [item for item in found if item.kind == "tool"]
    assert len(tools) == 2 and tools[0].tool.endswith("mem_save") and "saved #2" in tools[0].tool_output
    assert LEARNING in [item for item in found if item.kind == "answer"][-1].text
    assert [item.context for item in found if item.kind == "usage"] == [1_234] * 3
    assert all(item.moment for item in found)


@pytest.mark.parametrize("host", HOSTS)
def test_a_kept_session_is_remembered_once(host: str, user: Path, project: Path) -> None:
    kept(host, project)
    foretold = backfill(host, "--dry-run")
    assert "1 sessions, 1 prompts, 1 learnings, 1 digests" in foretold
    assert PROMPT not in asked(project, "mem_context")
    assert "1 sessions read; added 4, updated 0, already there 0" in backfill(host)
    context = asked(project, "mem_context", detail_level="full")
    assert PROMPT in context and LEARNING in context and "Saved: Uploads are retried" in context
    assert "haversack-recall" not in context
    assert "added 0, updated 0" in backfill(host)
    assert asked(project, "mem_context", detail_level="full") == context


def test_what_is_remembered_of_old_sessions_stands_behind_what_is_newer(user: Path, project: Path) -> None:
    remember(project, "Of today", "This was saved before the transcripts were read.")
    recorded = (RECORDED / "claude-code.jsonl").read_text(encoding="utf-8")
    kept("claude-code", project, recorded.replace("2026-", "2024-"))
    backfill("claude-code")
    titles = [each["title"] for each in json.loads(asked(project, "list_observations", format="json"))["observations"]]
    assert titles[0] == "Of today" and len(titles) == 3


def test_what_hooks_have_kept_is_not_added_again(user: Path, project: Path) -> None:
    session = items("codex", kept("codex", project))[0].text
    sent = {"session_id": session, "cwd": str(project)}
    hook("prompt", "codex", {**sent, "prompt": PROMPT}, project)
    message = f"## Key learnings\n\n- {LEARNING}\n"
    hook("stop", "codex", {**sent, "last_assistant_message": message}, project)
    assert "added 0, updated 0" in backfill("codex")


def test_a_session_that_went_on_is_brought_up_to_date(user: Path, project: Path) -> None:
    path = kept("claude-code", project)
    backfill("claude-code")
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next(json.loads(line) for line in lines if json.loads(line)["type"] == "user")
    later = {**first, "timestamp": "2026-11-18T09:00:00.000Z", "message": {"content": "Now measure the retries"}}
    path.write_text("\n".join([*lines, json.dumps(later)]) + "\n", encoding="utf-8")
    assert "added 1, updated 1" in backfill("claude-code")
    assert "mind that; Now measure the retries" in asked(project, "mem_context", detail_level="full")


def test_secrets_in_transcripts_are_taken_out(user: Path, project: Path) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    text = (RECORDED / "claude-code.jsonl").read_text(encoding="utf-8").replace("mind that", f"use {secret} there")
    kept("claude-code", project, text)
    backfill("claude-code")
    assert "Add a retry" in asked(project, "mem_context", detail_level="full")
    store = b"".join(path.read_bytes() for path in Path(os.environ["HAVERSACK_HOME"]).rglob("*") if path.is_file())
    assert secret.encode() not in store


def test_a_broken_transcript_stops_nothing(user: Path, project: Path) -> None:
    path = kept("claude-code", project)
    (path.parent / "broken.jsonl").write_bytes(b'{"type": "user", "message"\xff\n[]\nnull\n"x"\n{"type": "user"}\n')
    (path.parent / "half.jsonl").write_text(path.read_text(encoding="utf-8")[:-200], encoding="utf-8")
    assert "added" in backfill("claude-code")
    assert PROMPT in asked(project, "mem_context")


def test_others_save_while_a_long_history_is_read(user: Path, project: Path) -> None:
    typed = {"type": "user", "sessionId": "s", "cwd": str(project), "timestamp": "2026-01-01T00:00:00Z"}
    requests = ({**typed, "message": {"content": f"Request number {number}"}} for number in range(1_500))
    kept("claude-code", project, "\n".join(map(json.dumps, requests)))
    told: list[str] = []
    reading = threading.Thread(target=lambda: told.append(backfill("claude-code")))
    reading.start()
    saved = 0
    while reading.is_alive():
        asked(project, "mem_save", title=f"Meanwhile {saved}", content=f"Saved while the history is read, {saved}")
        saved += 1
    reading.join()
    assert "added 1,502" in told[0]
    assert saved > 3


def test_a_host_without_transcripts_gets_a_clear_sentence(user: Path) -> None:
    def refused(*typed: str) -> str:
        run = subprocess.run(
            [sys.executable, "-m", "haversack", "backfill", *typed], capture_output=True, text=True, check=False
        )
        assert run.returncode == 1
        return run.stderr

    assert "Cursor keeps no transcripts" in refused("cursor")
    assert "no host called 'emacs'" in refused("emacs")
    assert "no transcript was found" in refused() and str(user) in refused()
