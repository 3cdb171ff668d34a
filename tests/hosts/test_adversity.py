"""Hooks and installing where nothing goes well: no room, no rights, kills, odd paths, two sessions at once."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hosts.test_hooks import PAYLOADS, asked, hook, remember
from tests.hosts.test_install import JSONC, environment, files, run

EVENTS = ("session-start", "prompt", "after-tool", "after-compact", "stop", "session-end", "usage")
KILLED = """
import os, signal, sys
replace, left = os.replace, int(sys.argv.pop(1))
def kill_or_replace(*given):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(*given)
os.replace = kill_or_replace
sys.argv[0] = "haversack"
from haversack.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def user(tmp_path: Path) -> Path:
    home = tmp_path / "Üser 家"
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "settings.json").write_text(JSONC, encoding="utf-8")
    (home / ".codex").mkdir()
    return home


@pytest.mark.skipif(sys.platform != "linux", reason="needs a place where nobody can write")
@pytest.mark.parametrize("event", EVENTS)
def test_a_home_that_cannot_be_written_is_nothing_to_the_host(event: str, project: Path) -> None:
    sent = {"session_id": "r", "cwd": str(project), "prompt": "When do tokens rotate?"}
    assert hook(event, "claude-code", sent, project, HAVERSACK_HOME="/proc/haversack") == ""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of a process")
@pytest.mark.parametrize("event", EVENTS)
def test_a_full_disk_is_nothing_to_the_host(event: str, project: Path) -> None:
    import resource

    remember(project, "Signing tokens rotate hourly", "The signing tokens rotate every hour.")
    sent = {"session_id": "f", "cwd": str(project), "prompt": "When do our signing tokens rotate?"}
    run = subprocess.run(
        [sys.executable, "-m", "haversack", "hook", event, "--client", "codex"], input=json.dumps(sent).encode(),
        capture_output=True, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )  # fmt: skip
    assert run.returncode == 0 and run.stdout == b""
    assert "rotate every hour" in asked(project, "mem_search", query="signing tokens")


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("host", ["gemini", "codex"])
@pytest.mark.parametrize("moment", range(5))
def test_a_kill_in_the_middle_of_install_loses_nothing(host: str, moment: int, user: Path) -> None:
    before = files(user)
    typed = [sys.executable, "-c", KILLED, str(moment), "install", host]
    subprocess.run(typed, env=environment(user), capture_output=True, check=False)
    assert run(user, "uninstall", host).returncode == 0
    assert files(user) == before
    assert run(user, "install", host).returncode == 0
    assert run(user, "uninstall", host).returncode == 0
    assert files(user) == before


def test_hooks_of_others_stay_and_a_home_with_any_letters_works(user: Path) -> None:
    assert run(user, "install", "gemini").returncode == 0
    text = (user / ".gemini" / "settings.json").read_text(encoding="utf-8")
    assert "echo mine" in text and "// at night" in text and "hook session-start --client gemini" in text
    assert run(user, "doctor", "hosts", "gemini").returncode == 0


def test_two_sessions_at_once_keep_their_prompts_apart(project: Path) -> None:
    def session(name: str) -> None:
        for number in range(2):
            sent = {"session_id": name, "cwd": str(project), "prompt": f"Request {number} of session {name}"}
            hook("prompt", "claude-code", sent, project)
        hook("stop", "claude-code", {"session_id": name, "cwd": str(project)}, project)

    with ThreadPoolExecutor() as pool:
        list(pool.map(session, ("one", "two")))
    found = json.loads(asked(project, "list_observations", format="json", detail_level="full", kind="session_summary"))
    digests = sorted(each["content"] for each in found["observations"])
    assert digests == [
        f"Asked: {'; '.join(f'Request {number} of session {name}' for number in range(2))}" for name in ("one", "two")
    ]


def test_a_folder_that_is_not_on_this_machine_is_no_obstacle(project: Path) -> None:
    sent = {**PAYLOADS["claude-code"]["prompt"], "cwd": r"C:\\Users\\Ana\\shop", "transcript_path": r"C:\\t.jsonl"}
    hook("prompt", "claude-code", sent, project)
    hook("stop", "claude-code", sent, project)
    assert "Add a retry to the uploader" in asked(project, "mem_context", project="all")


def test_two_repositories_of_one_name_have_two_memories(tmp_path: Path) -> None:
    folders = [tmp_path / owner / "api" for owner in ("ana", "bob")]
    for folder in folders:
        folder.mkdir(parents=True)
        owner = folder.parent.name
        for typed in (["init", "-q"], ["remote", "add", "origin", f"https://example.org/{owner}/api.git"]):
            subprocess.run(["git", *typed], cwd=folder, check=True, env={**os.environ, "HOME": str(tmp_path)})
        remember(folder, f"The api of {owner}", f"It belongs to {owner} and answers in JSON.")
    start = hook("session-start", "claude-code", {"session_id": "x", "cwd": str(folders[0])}, folders[0])
    assert "The api of ana" in start and "bob" not in start
