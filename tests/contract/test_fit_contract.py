"""The promise the product stands on, tried on every reading tool there is: a budget is a contract."""

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from haversack.errors import NotFound, WrongStage
from haversack.tokens import PROFILES
from haversack.tools.declaring import Tool
from haversack.tools.registry import tools
from haversack.tools.result import Document, Done, Result
from tests.conftest import examples
from tests.contract.arguments import ARGUMENTS, reading_tools
from tests.contract.replies import FLOOR, Asked, as_rendered, count, shown_blocks, stated
from tests.contract.worlds import BUILDERS, World, world

EVERY_TOOL = pytest.mark.parametrize("tool", reading_tools(), ids=lambda tool: str(tool.name))
BUDGETS = st.one_of(
    st.sampled_from([64, 65, 80, 100, 128, 200, 255, 256, 257, 300, 500, 999, 1000, 1001, 2000, 8000, 9999, 32_000]),
    st.integers(FLOOR, 400),
    st.integers(FLOOR, 32_000),
)
# An entry of the log that is shown counts as used, and keeping a remainder makes the store's file larger, which
# the statistics say: asked again, these have something else to tell.
CHANGED_BY_ASKING = {"work_log", "mem_stats"}


@st.composite
def calls(draw: st.DrawFn, tool: Tool) -> Asked:
    held: World = world(draw(st.sampled_from(sorted(BUILDERS))))
    app = held.apps[draw(st.sampled_from(sorted(PROFILES)))]
    level = draw(st.sampled_from(["summary", "standard", "full", "auto"])) if tool.level else "standard"
    asked = Asked(
        app, tool, draw(ARGUMENTS[tool.name](held)), draw(BUDGETS), level, draw(st.sampled_from(["text", "json"]))
    )
    note(f"{held.name}, {app.profile.name}: {tool.name}({asked.sent})")
    return asked


def answered(asked: Asked) -> bool:
    """Whether the call has an answer: in the empty store most ids and keys are unknown, and nothing is planned."""
    try:
        asked.outcome()
    except (NotFound, WrongStage):
        return False
    return True


def test_every_reading_tool_is_under_the_contract() -> None:
    unknown = [tool.name for tool in reading_tools() if tool.name not in ARGUMENTS]
    assert not unknown, f"give {', '.join(unknown)} random arguments in tests/contract/arguments.py"


def test_a_tool_without_a_budget_only_confirms_a_write() -> None:
    assert [tool.name for tool in tools().values() if not tool.budgeted and not tool.writes] == []


@EVERY_TOOL
@examples(40)
@given(data=st.data())
def test_a_reply_keeps_the_contract(tool: Tool, data: st.DataObject) -> None:
    asked = data.draw(calls(tool))
    if not answered(asked):
        return
    reply = asked.reply()
    cost = count(asked, reply)
    assert cost <= asked.budget, "fits"
    said = stated(asked, reply)
    assert said.tokens == reply.tokens == cost, "one counter"
    reply.text.encode()
    if tool.name not in CHANGED_BY_ASKING:
        assert asked.reply().text == reply.text, "deterministic"
    outcome = asked.outcome()
    assert not isinstance(outcome, Done)
    if isinstance(outcome, Document):
        return
    outcome = as_rendered(outcome, reply)
    shown = shown_blocks(asked, outcome, reply)
    check_focus(outcome, shown)
    check_totals(asked, outcome, shown, reply)
    check_filled(asked, outcome, shown, cost)


def check_focus(result: Result, shown: dict[str, str]) -> None:
    for block in result.blocks:
        assert not block.required or block.name in shown, f"{block.name}, what the call is about, is missing"


def check_totals(asked: Asked, result: Result, shown: dict[str, str], reply: object) -> None:
    said = stated(asked, reply)  # type: ignore[arg-type]
    counted = [block.name for block in result.blocks if block.counted and block.name in shown]
    left = [block for block in result.blocks if block.name not in shown]
    if said.shown is not None:
        assert (said.shown, said.total) == (len(counted), result.total), "honest"
    missing = len(left) + (result.rest.items if result.rest else 0)
    assert bool(said.key) == bool(missing), "nothing is left out without a key"
    if not missing:
        return
    assert said.left in (None, missing), "priced: how many items"
    units = sum(asked.units(result, block, asked.levels[0]) for block in left)
    price = asked.app.profile.tokens(units) + (result.rest.price if result.rest else 0)
    assert said.price == price, "priced: how many tokens"


def check_filled(asked: Asked, result: Result, shown: dict[str, str], cost: int) -> None:
    """No block that was left out would have fitted, beyond what is reserved for the footer."""
    opened = {block.section for block in result.blocks if block.name in shown}
    for block in result.blocks:
        if block.name in shown:
            continue
        units = asked.units(result, block, asked.levels[0])
        if asked.format == "text" and block.section not in opened:
            units += asked.app.profile.measure(block.section + "\n")
        price = asked.app.profile.tokens(units)
        assert cost + price + reserve(asked, result) > asked.budget, f"{block.name} for ~{price} would have fitted"


def reserve(asked: Asked, result: Result) -> int:
    return 60
