"""The promise the product stands on, tried on every reading tool there is: a budget is a contract."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from haversack.errors import HaversackError, InvalidArgument, NotFound, WrongStage
from haversack.store import observations
from haversack.tokens import PROFILES, count_tokens
from haversack.tools.declaration import Tool, declared
from haversack.tools.registry import tools
from haversack.tools.road.call import call
from haversack.tools.road.fit import WORTH, Reply
from haversack.tools.road.outcomes import LEVELS, Document, Done, Result
from tests.conftest import examples
from tests.contract.arguments import arguments_for, declared_arguments, every_tool, reading_tools
from tests.contract.replies import FLOOR, Asked, as_rendered, count, shown_blocks, stated
from tests.contract.worlds import BUILDERS, KINDS, PROJECTS, TAGS, World, copied, world

EVERY_TOOL = pytest.mark.parametrize("tool", reading_tools(), ids=lambda tool: str(tool.name))
BUDGETS = st.one_of(
    st.sampled_from([64, 65, 80, 100, 128, 200, 255, 256, 257, 300, 500, 999, 1000, 1001, 2000, 8000, 9999, 32_000]),
    st.integers(FLOOR, 400),
    st.integers(FLOOR, 32_000),
)
# An entry of the log that is shown counts as used, and keeping a remainder makes the store's file larger, which
# the statistics say: asked again, these have something else to tell.
CHANGED_BY_ASKING = {"work_log", "mem_stats"}


@pytest.fixture(scope="module")
def scratch() -> World:
    """A store and a folder that tools may write to."""
    return copied("mixed")


@st.composite
def calls(draw: st.DrawFn, tool: Tool) -> Asked:
    held: World = world(draw(st.sampled_from(sorted(BUILDERS))))
    caller = held.apps[draw(st.sampled_from(sorted(PROFILES)))]
    level = draw(st.sampled_from(["summary", "standard", "full", "auto"])) if tool.level else "standard"
    asked = Asked(
        caller, tool, draw(arguments_for(tool, held)), draw(BUDGETS), level, draw(st.sampled_from(["text", "json"]))
    )
    note(f"{held.name}, {caller.profile.name}: {tool.name}({asked.sent})")
    return asked


def answered(asked: Asked) -> bool:
    """Whether the call has an answer: in the empty store most ids and keys are unknown, and nothing is planned."""
    try:
        asked.outcome()
    except (NotFound, WrongStage):
        return False
    return True


def test_every_declared_tool_is_in_the_registry() -> None:
    known = tools()
    ours = {name for name, tool in declared().items() if tool.function.__module__.startswith("haversack.")}
    assert ours == set(known)


def test_every_tool_takes_a_budget() -> None:
    assert all("max_tokens" in {each.name for each in tool.parameters} for tool in tools().values())


@pytest.mark.parametrize("tool", every_tool(), ids=lambda tool: str(tool.name))
@examples(12)
@given(data=st.data())
def test_whatever_is_sent_the_reply_or_the_error_is_within_the_budget(
    tool: Tool, data: st.DataObject, scratch: World
) -> None:
    caller = scratch.apps[data.draw(st.sampled_from(sorted(PROFILES)))]
    form = data.draw(st.sampled_from(["text", "json"]))
    sent = data.draw(declared_arguments(tool, scratch)) | {"max_tokens": data.draw(BUDGETS), "format": form}
    if tool.level:
        sent["detail_level"] = data.draw(st.sampled_from(["summary", "standard", "full", "auto"]))
    note(f"{caller.profile.name}: {tool.name}({sent})")
    try:
        text = (reply := call(caller, tool.name, sent)).text
        assert reply.tokens == count_tokens(text, caller.profile.name)
        followed = (
            call(caller, "more", {"key": reply.left.key, "max_tokens": sent["max_tokens"]}) if reply.left else None
        )
    except HaversackError as error:
        text, followed = error.written(as_json=form == "json"), None
    for each in (text, followed.text if followed else ""):
        each.encode()
        assert count_tokens(each, caller.profile.name) <= int(str(sent["max_tokens"]))
    if form == "json":
        json.loads(text)


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
    check_price(asked, reply)
    if isinstance(outcome, Document):
        return
    outcome = as_rendered(asked, outcome)
    shown = shown_blocks(asked, outcome, reply)
    check_focus(outcome, shown)
    check_totals(asked, outcome, shown, reply)
    check_filled(asked, outcome, shown, reply)
    assert shown or not outcome.blocks, "something is always shown"


def check_focus(result: Result, shown: dict[str, str]) -> None:
    for block in result.blocks:
        assert not block.required or block.name in shown, f"{block.name}, what the call is about, is missing"


def check_totals(asked: Asked, result: Result, shown: dict[str, str], reply: Reply) -> None:
    said = stated(asked, reply)
    counted = [block.name for block in result.blocks if block.counted and block.name in shown]
    left = [block for block in result.blocks if block.name not in shown]
    if said.shown is not None:
        assert (said.shown, said.total) == (len(counted), result.total), "honest"
    missing = len(left) + (result.rest.items if result.rest else 0)
    assert bool(said.key) == bool(missing), "nothing is left out without a key"
    if not missing:
        return
    assert said.left in (None, missing), "priced: how many items"


def check_price(asked: Asked, reply: Reply) -> None:
    """Following the key costs what was said: to the token, or within a tenth where it is called an estimate."""
    if reply.left is None:
        return
    said = stated(asked, reply)
    assert said.price in (None, reply.left.price)
    tokens, key = 0, reply.left.key
    while key:
        page = call(asked.caller, "more", {"key": key, "max_tokens": 10**6, "format": asked.format})
        tokens += page.tokens
        key = page.left.key if page.left else ""
    note(f"said {reply.left.price}, paid {tokens}")
    off = abs(tokens - reply.left.price)
    assert off <= (0 if reply.left.exact else max(0.1 * tokens, 5)), "priced: how many tokens"
    if asked.format == "json":
        assert ("estimate" in json.loads(reply.text)["more"]) == (not reply.left.exact), "an estimate is marked"


def check_filled(asked: Asked, result: Result, shown: dict[str, str], reply: Reply) -> None:
    """No block that was left out would have fitted, beyond what is reserved for the footer; no sequence has holes."""
    if result.sequence:
        ranked = [block.name for block in sorted(result.blocks, key=lambda block: not block.required)]
        assert set(shown) == set(ranked[: len(shown)])
        return
    opened = {block.section for block in result.blocks if block.name in shown}
    for block in result.blocks:
        if block.name in shown:
            continue
        units = asked.units(result, block, asked.levels[0])
        if asked.format == "text" and block.section not in opened:
            units += asked.caller.profile.measure(block.section + "\n")
        price = asked.caller.profile.tokens(units)
        unused = asked.budget - reply.tokens - reserve(asked, result, reply)
        assert price > unused, f"{block.name} for ~{price} would have fitted"


def reserve(asked: Asked, result: Result, reply: Reply) -> int:
    """How much a reply may leave unused although something would fit.

    The footer is paid for before its key and figures are known, which is a few tokens more than it takes. Just below
    400 tokens, from where it is longer, room for that is set aside: else a larger budget would show less. And a reply
    too small for its heading shows what it is about and nothing else, for the same reason. A mixture pays for the
    headings of all sections before it chooses.
    """
    if is_bare(asked, result, reply):
        return asked.budget
    tokens = 40 if 365 <= asked.budget < 400 else 12
    if asked.levels == LEVELS:
        sections = {block.section for block in result.blocks}
        tokens += sum(count_tokens(section + "\n", asked.caller.profile.name) for section in sections if section)
    return tokens


def is_bare(asked: Asked, result: Result, reply: Reply) -> bool:
    if asked.format == "json":
        facts = result.facts(reply.names) if callable(result.facts) else result.facts
        return not set(facts) <= set(json.loads(reply.text))
    heading = result.heading if isinstance(result.heading, str) else result.heading(reply.shown, reply.tokens)
    return bool(heading) and not reply.text.startswith(heading)


@EVERY_TOOL
@examples(12)
@given(data=st.data())
def test_at_the_first_difference_the_larger_budget_shows_more(tool: Tool, data: st.DataObject) -> None:
    asked = data.draw(calls(tool))
    if not answered(asked):
        return
    pairs = [(255, 256), (999, 1000), (250, 262), (64, 65), (990, 1010), (9_999, 10_000)]
    wider = st.tuples(st.integers(FLOOR, 1200), st.integers(0, 300)).map(lambda pair: (pair[0], pair[0] + pair[1]))
    smaller, larger = data.draw(st.one_of(st.sampled_from(pairs), wider))
    small, large = (replace(asked, budget=budget) for budget in (smaller, larger))
    outcome = asked.outcome()
    if not isinstance(outcome, Result):
        return
    replies = [each.reply() for each in (small, large)]
    outcome = as_rendered(large, outcome)
    one, other = (shown_blocks(each, outcome, reply) for each, reply in zip((small, large), replies, strict=True))
    note(f"{smaller}: {one}, {larger}: {other}")
    if asked.level == "auto" and tool.level:
        if outcome.sequence and len(other) != len(one):
            assert len(other) > len(one)
            return
        assert worth(outcome, other) >= worth(outcome, one) - 1e-9
        return
    ranked = sorted(outcome.blocks, key=lambda block: not block.required)
    difference = next((block.name for block in ranked if one.get(block.name) != other.get(block.name)), None)
    assert difference is None or richness(other.get(difference)) > richness(one.get(difference))


def richness(level: str | None) -> int:
    return [None, "cut", *LEVELS].index(level)


def worth(result: Result, shown: dict[str, str]) -> float:
    return sum(block.worth * WORTH.get(shown.get(block.name, ""), 0.0) for block in result.blocks)


NO_BUDGETS = [
    63,
    0,
    -1,
    -(10**12),
    1500.5,
    float("nan"),
    float("inf"),
    True,
    False,
    "many",
    "",
    "1e3",
    [],
    10**12,
    "9" * 40,
]


@EVERY_TOOL
def test_what_is_no_budget_is_refused_by_an_error_that_names_the_floor(tool: Tool) -> None:
    arguments = {parameter.name: "1" for parameter in tool.parameters if parameter.required}
    for sent in NO_BUDGETS:
        with pytest.raises(InvalidArgument, match="max_tokens") as caught:
            call(world("tiny").caller, tool.name, arguments | {"max_tokens": sent})
        assert str(FLOOR) in str(caught.value)


@pytest.mark.parametrize("alias", ["max_tokens", "token_budget", "tokens"])
def test_a_budget_sent_as_digits_is_taken(alias: str) -> None:
    caller = world("many").caller
    as_text = call(caller, "mem_search", {"query": "token", alias: "150"})
    assert as_text.text == call(caller, "mem_search", {"query": "token", "max_tokens": 150}).text
    assert as_text.tokens <= 150


def test_no_default_reply_is_larger_than_the_usual_allocation() -> None:
    caller = world("mixed").caller
    reply = call(caller, "mem_search", {"query": "token", "limit": 200, "detail_level": "full"})
    assert caller.config.budget.per_tool == 8_000
    assert 4_000 < count_tokens(reply.text) <= 8_000


def test_the_totals_are_those_of_a_plain_recount() -> None:
    """Counted by going through every row, not by the store's own COUNT."""
    caller = world("many").caller
    with caller.database.read() as tx:
        rows = [row for row in observations.everything(tx) if row.deleted_at is None and row.status == "active"]
    for project in ("", *PROJECTS):
        inside = [row for row in rows if not project or row.project == project]
        assert call(caller, "mem_context", {"project": project, "max_tokens": 300}).total == len(inside)
        for kind in KINDS:
            for tag in TAGS:
                expected = sum(row.kind == kind and tag in row.tags for row in inside)
                found = call(caller, "list_observations", {"project": project, "kind": kind, "tags": [tag], "limit": 1})
                assert found.total == expected
    for word in ("deploy", "latency"):
        for project in PROJECTS:
            expected = sum(
                bool(re.search(rf"\b{word}\b", f"{row.title} {row.content}")) for row in rows if row.project == project
            )
            for budget in (64, 300, 8000):
                reply = call(
                    caller, "mem_search", {"query": word, "project": project, "limit": 2, "max_tokens": budget}
                )
                assert reply.total == expected
