"""Servers in this process, on a store of their own."""

import json
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.stdio.server import serve
from haversack.tools import declaration
from haversack.tools.declaration import tool
from haversack.tools.registry import tools
from haversack.tools.road.outcomes import Done, Outcome
from tests.mcp.talking import Dialogue, Gate, Talk


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return open_caller(Config(home=str(tmp_path / "home")), directory=str(tmp_path))


@pytest.fixture
def talk(caller: Caller) -> Talk:
    """Sends messages (or raw lines) all at once and gives every line that came back, decoded."""

    def converse(*messages: object, tool_names: tuple[str, ...] = (), using: Caller | None = None) -> list[Any]:
        lines = [each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in messages]
        output = BytesIO()
        assert serve(using or caller, tool_names=tool_names, stdin=BytesIO(b"".join(lines)), stdout=output) == 0
        return [json.loads(line) for line in output.getvalue().splitlines()]

    return converse


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The tool `wait_at_gate`, declared for one test."""
    held = Gate()
    tools()
    monkeypatch.setattr(declaration, "_TOOLS", dict(declaration._TOOLS))

    def wait_at_gate(caller: Caller, *, note: str = "") -> Outcome:
        """Wait until the test opens the gate."""
        held.wait()
        held.passed.append(note)
        return Done(f"passed {note}")

    tool(group="test", writes=True)(wait_at_gate)
    yield held
    held.opened.set()


@pytest.fixture
def dialogue(caller: Caller) -> Iterator[Callable[..., Dialogue]]:
    """Opens dialogues, and ends those a test leaves open."""
    opened: list[Dialogue] = []

    def open_dialogue(*tool_names: str) -> Dialogue:
        opened.append(Dialogue(caller, *tool_names))
        return opened[-1]

    yield open_dialogue
    for each in opened:
        if not each.output.closed:
            each.end()
