"""The planning guide: the story told to a real server over standard input and output, and written down."""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STORY = Path(__file__).with_name("sdd_story.toml")
# The time stands still, so that the guide reads the same whenever it is written.
SERVE = (
    "import sys; from haversack.app import Caller, open_caller; from haversack.stdio.server import serve; "
    "sys.exit(serve(open_caller(now=lambda: 1_770_000_000_000_000), tool_names=['all']))"
)
INTRODUCTION = """\
# Planning before building

Haversack keeps a project's intent as Markdown beside the code, in `sdd/`, and moves it forward by a small state
machine, so that an assistant plans before it builds and checks what it is about to change against what was decided.
The tools store and check; the writing is the assistant's.

A project passes through eight stages:

    init -> propose -> specify -> business-rules -> clarify -> design -> tasks -> validate

Any finished stage can be written again with `reopen`; what comes after it becomes stale and is listed, not lost, and
every text that is replaced stays in `sdd/history/`. Requirement ids (`FR-001`, `NFR-001`, `BRC-001`) are read from the
artifacts, so that a design or a task that cites an id nobody defined, a must-have without a task, tasks that wait for
each other and words like "TBD" are found, not hoped for.

A change has stages of its own, by type and size (cc stands for the context check):

| type | small | medium | large |
|---|---|---|---|
| fix | describe, cc, tasks, verify | describe, cc, spec, tasks, verify | describe, cc, spec, design, tasks, verify |
| feature, enhancement | describe, cc, tasks, verify | propose, cc, spec, tasks, verify | \
propose, cc, spec, clarify, design, tasks, verify |
| refactor | scope, cc, tasks, verify | scope, cc, design, tasks, verify | scope, cc, spec, design, tasks, verify |

The tools are offered by `haversack serve --tools memory,sdd,budget`; each is also a command (`haversack sdd --help`).
What follows is a whole project and a large change, as a client and the server said it over MCP. A test drives the same
conversation and compares it with this file.
"""
CLOSING = """\
## When something breaks

Files are written beside their place and renamed into it, under a lock, so a crash leaves the old text or the new one.
Should `sdd.json` or a `change.json` be damaged all the same (a merge gone wrong, say), every tool refuses to touch it
and says so; `haversack sdd doctor` shows what is wrong, and `haversack sdd doctor --mend` rebuilds the state from the
artifacts and keeps the damaged file in `sdd/history/`.
"""


@dataclass(frozen=True)
class Step:
    """One call, with the words that introduce it; a `heading` begins a new part of the guide."""

    words: str
    tool: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    heading: str = ""


@dataclass(frozen=True)
class Exchange:
    """A step with what the server answered."""

    step: Step
    reply: str
    failed: bool


def converse(folder: Path) -> list[Exchange]:
    """Tell the whole story to a server that works in a folder `lending-desk` inside `folder`."""
    story = tomllib.loads(STORY.read_text(encoding="utf-8"))
    workspace = folder / "lending-desk"
    (workspace / ".git").mkdir(parents=True)
    (workspace / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (workspace / "CONTRIBUTING.md").write_text(story["conventions"], encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HAVERSACK_")}
    environment |= {"HAVERSACK_HOME": str(folder / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    steps = [Step(**each) for each in story["steps"]]
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=workspace
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        said, heard = server.stdin, server.stdout

        def ask(message: dict[str, Any]) -> dict[str, Any]:
            said.write(json.dumps(message).encode() + b"\n")
            said.flush()
            answer: dict[str, Any] = json.loads(heard.readline())
            return answer

        ask(_greeting())
        exchanges = [_exchange(step, ask(_call(number, step))) for number, step in enumerate(steps, 1)]
        said.close()
    return exchanges


def guide() -> str:
    """The whole guide, with the conversation as it goes today."""
    with tempfile.TemporaryDirectory() as folder:
        return written(converse(Path(folder)))


def written(exchanges: list[Exchange]) -> str:
    """The guide around a conversation."""
    parts = [INTRODUCTION]
    for exchange in exchanges:
        step = exchange.step
        heading = f"## {step.heading}\n\n" if step.heading else ""
        parts.append(f"{heading}{step.words}\n\n{_fenced(_spoken(step))}\n\n{_fenced(exchange.reply)}\n")
    return "\n".join((*parts, CLOSING))


def _greeting() -> dict[str, Any]:
    client = {"name": "guide", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def _call(number: int, step: Step) -> dict[str, Any]:
    params = {"name": step.tool, "arguments": dict(step.arguments)}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def _exchange(step: Step, answer: dict[str, Any]) -> Exchange:
    result = answer["result"]
    return Exchange(step, result["content"][0]["text"], bool(result.get("isError")))


def _spoken(step: Step) -> str:
    """A call as people read it: the tool, then each argument, long texts on lines of their own."""
    lines = [f"> {step.tool}"]
    for name, value in step.arguments.items():
        if isinstance(value, str) and "\n" in value:
            lines += [f"  {name}:", *(f"    {line}" for line in value.split("\n"))]
        else:
            lines.append(f"  {name}: {value if isinstance(value, str) else json.dumps(value)}")
    return "\n".join(lines)


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"
