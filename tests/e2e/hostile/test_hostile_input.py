"""Every tool of a real server, called with what a hostile or broken caller sends: an answer, and nothing harmed."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.protocol.client import Answer, Refused, StdioClient, own_server
from haversack.store.sqlite import health
from haversack.tokens import count_tokens
from haversack.tools.registry import tools
from tests.conftest import THOROUGHNESS
from tests.e2e.hostile.cases import CASES
from tests.e2e.hostile.material import INSTRUCTION, NUMBERS, ODD, TEXTS, nested

SERVE = (sys.executable, "-m", "haversack", "serve", "--tools", "all")
ANYTHING = st.one_of(st.sampled_from(TEXTS), st.sampled_from(NUMBERS), st.sampled_from(ODD), st.text(max_size=40))


class Victim:
    """A server in a folder of its own, with a file beside that nobody may touch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        (self.workspace / "a.txt").write_text("inside\n")
        (folder / "outside.txt").write_text("precious")
        self.before = sorted(os.listdir(folder))
        self.client = StdioClient(SERVE, environment=own_server(str(self.home)), folder=str(self.workspace))
        self.client.shake_hands()

    def answer(self, tool: str, arguments: dict[str, Any]) -> Answer | None:
        """The answer, checked for what must hold of any; None when the message itself was refused."""
        try:
            answer = self.client.call(tool, arguments)
        except Refused as refusal:
            assert "unexpected" not in str(refusal), (tool, refusal)
            return None
        answer.line.decode()
        assert "\ud800" not in answer.text
        if answer.is_error:
            assert answer.meta["haversack/error"]["code"] != "internal_error", (tool, shortened(arguments), answer.text)
            assert len(answer.text) <= 3_000
        budget = arguments.get("max_tokens")
        if isinstance(budget, int) and not isinstance(budget, bool) and not answer.is_error and reads(tool):
            assert count_tokens(answer.text) <= budget
        return answer

    def check_unharmed(self) -> None:
        assert self.client.call("mem_stats", {}).text
        assert (self.folder / "outside.txt").read_text() == "precious"
        assert set(os.listdir(self.folder)) - {"home"} == set(self.before)
        state = health.examine(str(self.home / "haversack.db"))
        assert state.is_sound, state
        assert not state.index, state


def reads(tool: str) -> bool:
    return not tools()[tool].writes


def shortened(arguments: dict[str, Any]) -> str:
    return repr(arguments)[:300]


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    made = Victim(tmp_path_factory.mktemp("hostile"))
    yield made
    made.check_unharmed()
    made.client.kill()


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    tool = draw(st.sampled_from(sorted(tools().values(), key=lambda each: each.name)))
    arguments = {
        parameter.name: draw(ANYTHING)
        for parameter in tool.parameters
        if parameter.name not in ("format", "detail_level") and (parameter.required or draw(st.booleans()))
    }
    if draw(st.integers(0, 9)) == 0:
        arguments[draw(st.sampled_from(TEXTS))[:40]] = draw(ANYTHING)
    if draw(st.booleans()):
        arguments["max_tokens"] = draw(st.sampled_from((64, 100, 300, 5_000)))
    return tool.name, arguments


@settings(max_examples=150 * THOROUGHNESS)
@given(call=calls())
def test_no_arguments_break_a_tool(victim: Victim, call: tuple[str, dict[str, Any]]) -> None:
    victim.answer(*call)


@pytest.mark.parametrize("name", CASES)
def test_what_was_found_once_stays_mended(victim: Victim, name: str) -> None:
    tool, arguments = CASES[name]
    victim.answer(tool, arguments)


@pytest.mark.parametrize("tool", ["mem_save", "mem_search", "mem_progress", "read_file"])
def test_ten_megabytes_are_answered_in_a_sentence(victim: Victim, tool: str) -> None:
    giant = "x" * 10_000_000
    arguments: dict[str, dict[str, Any]] = {
        "mem_save": {"title": "t", "content": giant},
        "mem_search": {"query": giant},
        "mem_progress": {"project": "p", "content": json.dumps({"a": giant})},
        "read_file": {"path": giant},
    }
    answer = victim.answer(tool, arguments[tool])
    assert answer is None or answer.is_error or tool == "mem_search"
    assert answer is None or len(answer.text) < 2_500


@pytest.mark.parametrize("depth", [50, 900, 20_000])
def test_deeply_nested_arguments_are_answered(victim: Victim, depth: int) -> None:
    query = "[" * depth + "1" + "]" * depth
    params = f'{{"name":"mem_search","arguments":{{"query":{query}}}}}'
    line = f'{{"jsonrpc":"2.0","id":777,"method":"tools/call","params":{params}}}\n'
    assert victim.client.process.stdin is not None
    victim.client.process.stdin.write(line.encode())
    victim.client.process.stdin.flush()
    victim.check_unharmed()


@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/passwd", "a.txt/../../outside.txt", "~/x", "\0", "a.txt\0.md"]
)
def test_no_path_leads_outside_the_workspace(victim: Victim, path: str) -> None:
    for tool, arguments in (("read_file", {"path": path}), ("file_info", {"paths": [path]})):
        answer = victim.answer(tool, arguments)
        assert answer is not None
        assert "precious" not in answer.text
        assert "root:x:" not in answer.text


def test_a_link_does_not_lead_outside_the_workspace(victim: Victim) -> None:
    link = victim.workspace / "link.txt"
    link.symlink_to(victim.folder / "outside.txt")
    for tool, arguments in (
        ("read_file", {"path": "link.txt"}),
        ("search_content", {"query": "precious", "pattern": "precious"}),
        ("file_info", {"paths": ["link.txt"]}),
    ):
        known = {each.name for each in tools()[tool].parameters}
        answer = victim.answer(tool, {name: held for name, held in arguments.items() if name in known})
        assert answer is not None
        assert "\n  precious" not in answer.text and "1: precious" not in answer.text, answer.text
    link.unlink()


def test_recalled_instructions_stand_apart_from_the_reply(victim: Victim) -> None:
    saved = victim.answer("mem_save", {"title": "A page from the web", "content": INSTRUCTION, "project": "p"})
    assert saved is not None
    number = int(saved.text.split("#")[1].split()[0])
    shown = victim.answer("mem_get_observation", {"id": number})
    assert shown is not None
    lines = shown.text.splitlines()
    assert lines[0].startswith(f"#{number} [observation] A page from the web")
    assert [line for line in lines if line.startswith("📏")] == [lines[-1]]
    assert [line for line in lines if line.startswith("#")] == [lines[0]]
    told = victim.client.request("prompts/list", {})
    assert told


def test_deep_values_in_arguments_are_refused(victim: Victim) -> None:
    for parameter in ("title", "tags", "importance", "relate_to"):
        answer = victim.answer("mem_save", {"title": "t", "content": "c", parameter: nested(400)})
        assert answer is None or answer.is_error


@pytest.mark.parametrize("method", ["resources/read", "prompts/get", "completion/complete", "tools/list", "ping"])
def test_other_methods_refuse_what_they_cannot_use(victim: Victim, method: str) -> None:
    for text in (*TEXTS, "haversack://memory/", "haversack://observation/1%00", "haversack://project/%ff?x=%"):
        shapes: dict[str, dict[str, Any]] = {
            "resources/read": {"uri": text},
            "prompts/get": {"name": text, "arguments": {text: text}},
            "completion/complete": {
                "ref": {"type": "ref/prompt", "name": text},
                "argument": {"name": "project", "value": text},
            },
        }
        params = shapes.get(method, {"cursor": text})
        try:
            victim.client.request(method, params)
        except Refused as refusal:
            assert "unexpected" not in str(refusal), (text[:60], refusal)
            assert len(str(refusal)) <= 2_500


def test_prompts_and_resources_that_exist_take_hostile_arguments(victim: Victim) -> None:
    prompts = victim.client.request("prompts/list", {})[0]["prompts"]
    templates = victim.client.request("resources/templates/list", {})[0]["resourceTemplates"]
    requests: list[tuple[str, dict[str, Any]]] = []
    for text in TEXTS:
        requests += [
            ("prompts/get", {"name": each["name"], "arguments": {one["name"]: text for one in each["arguments"]}})
            for each in prompts
        ]
        requests += [
            ("resources/read", {"uri": re.sub(r"\{[^}]*\}", lambda _: text, each["uriTemplate"])})  # noqa: B023
            for each in templates
        ]
    for method, params in requests:
        try:
            victim.client.request(method, params)
        except Refused as refusal:
            assert "unexpected" not in str(refusal), (method, shortened(params), refusal)
