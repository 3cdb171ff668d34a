"""The frame of a reply: heading, hint and token line leave the budget to the items."""

import re
from collections.abc import Iterator

import pytest

from haversack.app import Caller, open_caller
from haversack.cli.wording import worded
from haversack.config import Config
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.tokens import count_tokens
from haversack.tools.registry import find
from haversack.tools.road.call import Options, call
from tests.conftest import Clock

FRAME = re.compile(r"⚡ |📏 |Showing |# Project Context: ")
COMMAS = 2
"""Tokens that a figure of four to six digits costs more than one of three."""
COMMAND = 6
"""Tokens that commands and options cost more than the names of tools and parameters."""
READINGS: dict[str, dict[str, object]] = {
    "mem_search": {"query": "deploy", "limit": 100},
    "mem_context": {"limit": 100},
    "list_observations": {"limit": 100},
    "context_pack": {"query": "deploy"},
    "mem_timeline": {"observation_id": 300, "before": 100, "after": 100},
}


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    clock = Clock()
    home = tmp_path_factory.mktemp("frames")
    opened = open_caller(Config(home=str(home)), directory=str(home), now=clock)
    with opened.database.write():
        for number in range(600):
            clock.advance(days=1)
            kind = ("observation", "decision", "bugfix")[number % 3]
            text = f"We deploy service {number} on Tuesdays, behind the backup. " * (1 + number % 9)
            draft = Draft(title=f"Deploy note {number}", content=text, project="atlas", kind=kind, session_id="s1")
            pipeline.save(opened.memory, draft)
    yield opened
    opened.app.close()


def frame_of(text: str) -> str:
    return "".join(f"{line}\n" for line in text.split("\n") if FRAME.match(line))


def is_small(budget: int) -> bool:
    return budget < 400


def said_besides(frame: str) -> int:
    """What a frame says that not every tool has to say: a heading, the session, how many are left in the window."""
    extra = re.findall(r"# Project Context: .*\n| in session|[\d,]+ left, ", frame)
    return sum(count_tokens(each) for each in extra)


def commas(frame: str) -> int:
    """What figures of four digits and more cost beyond three, but for the price, which is rarely less."""
    return COMMAS * (len(re.findall(r"\d,\d", frame)) - len(re.findall(r"~[\d,]+ tokens\.", frame)))


@pytest.mark.parametrize("name", READINGS)
def test_a_frame_is_at_most_30_tokens_below_400_and_50_from_there(caller: Caller, name: str) -> None:
    given = READINGS[name] | ({} if name == "mem_timeline" else {"project": "atlas"})
    tool = find(name)
    for budget in (100, 250, 399, 400, 700, 999, 2_000, 8_000):
        frame = frame_of(call(caller, name, {**given, "max_tokens": budget}).text)
        assert "📏 ~" in frame
        allowed = 30 if is_small(budget) else 50 + commas(frame) + said_besides(frame)
        assert count_tokens(frame) <= allowed, (budget, frame)
        typed = worded(frame, tool.commands[0], tool)
        assert count_tokens(typed) <= allowed + COMMAND, (budget, typed)


def test_a_small_pack_has_no_heading_where_its_footer_says_the_figures(caller: Caller) -> None:
    asked = {"query": "deploy", "project": "atlas"}
    assert "# Project Context" not in call(caller, "context_pack", asked | {"max_tokens": 300}).text
    assert call(caller, "context_pack", asked | {"max_tokens": 500}).text.startswith("# Project Context: atlas\n")
    pasted = call(caller, "context_pack", asked | {"max_tokens": 300}, Options(footer=False))
    assert re.match(rf"# Project Context: atlas \(\d memories, ~{pasted.tokens} tokens\)\n", pasted.text)


@pytest.mark.parametrize("name", ["mem_context", "list_observations", "mem_timeline"])
def test_a_row_names_its_kind_only_where_somebody_chose_one(caller: Caller, name: str) -> None:
    given = READINGS[name] | ({} if name == "mem_timeline" else {"project": "atlas"})
    shown = call(caller, name, {**given, "max_tokens": 4_000}).text
    assert "[observation]" not in shown
    assert "[decision] Deploy note" in shown and re.search(r"^#\d+ Deploy note \d+ \(", shown, re.MULTILINE)
