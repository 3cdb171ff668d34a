"""Following keys to the end: every item exactly once, at any budgets, while others write."""

import json
import re
import shutil
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from haversack.app import Caller, open_caller
from haversack.config import Config, TokenSettings
from haversack.errors import ExpiredKey, NotFound
from haversack.memory.save import edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.tokens import FLOOR, count_tokens
from haversack.tools.registry import tools
from haversack.tools.road.call import call
from haversack.tools.road.fit import Reply
from haversack.tools.road.quoting import unquoted
from tests.conftest import START, Clock, examples, fresh_store
from tests.contract.worlds import PROJECTS, world

ITEM = re.compile(r"^(?:#(\d+) |- (session [\w-]+)|- (prompt \d+)|- (revision \d+)|## \[[^\]]+\] .*?(?: \(#(\d+)\))?$)")
BUDGETS = st.integers(FLOOR, 3_000)
CUT_BY_LIMIT: list[tuple[str, dict[str, object]]] = [
    ("mem_search", {"query": "token 数据库 кэш port", "limit": 3, "project": "all"}),
    ("mem_search", {"query": "token 数据库 кэш port", "limit": 200, "project": "all"}),
    ("mem_search", {"query": "token", "limit": 7, "match": "all", "project": "all"}),
    ("mem_search", {"query": "deploy latency", "limit": 5, "project": PROJECTS[0]}),
    ("mem_context", {"project": "all", "limit": 4}),
    ("mem_context", {"project": "all", "limit": 200}),
    ("list_observations", {"project": "all", "limit": 9}),
    ("list_observations", {"project": "all", "limit": 200, "kind": "decision"}),
    ("list_sessions", {"project": "all", "limit": 3}),
    ("mem_timeline", {"observation_id": 40, "before": 100, "after": 100}),
    ("mem_compact", {"project": "all", "older_than_days": 0}),
    ("context_pack", {"project": "all", "candidates": 50, "detail_level": "full"}),
]


def names(reply: Reply) -> list[str]:
    """The items a reply shows, read off its text."""
    if reply.text.startswith("{"):
        facts = json.loads(reply.text)
        items = next(held for held in facts.values() if isinstance(held, list))
        return [_name(item) for item in items]
    found = [ITEM.match(line) for line in reply.text.split("\n")]
    return [next(f"#{each}" if each.isdigit() else each for each in match.groups() if each) for match in found if match]


def _name(item: dict[str, object]) -> str:
    if "session" in item and "id" not in item:
        return f"session {item['session']}"
    return f"prompt {item['prompt']}" if "prompt" in item else f"#{item['id']}"


class Reading:
    """A reader that follows keys, with budgets and formats that change from page to page."""

    def __init__(self, caller: Caller, random: Random) -> None:
        self.caller, self.random = caller, random
        self.pages: list[list[str]] = []

    def read(self, name: str, arguments: dict[str, object]) -> str:
        return self._take(call(self.caller, name, arguments | self._manner()))

    def go_on(self, key: str) -> str:
        """One page further; an item too large for the budget is asked for again with a larger one."""
        manner = self._manner()
        for factor in (1, 4, 16, 64):
            budget = int(str(manner["max_tokens"])) * factor
            reply = call(self.caller, "more", {"key": key} | manner | {"max_tokens": budget})
            assert count_tokens(reply.text, self.caller.profile.name) <= budget
            if reply.names:
                return self._take(reply)
        raise AssertionError(f"no page of {key} shows anything")

    def _manner(self) -> dict[str, object]:
        budget = self.random.choice([FLOOR, 200, 300, 700, 1000, 3000])
        return {"max_tokens": budget, "format": self.random.choice(["text", "json"])}

    def _take(self, reply: Reply) -> str:
        self.pages.append(list(reply.names))
        return reply.left.key if reply.left else ""

    @property
    def shown(self) -> list[str]:
        return [name for page in self.pages for name in page]


@pytest.mark.parametrize(("name", "arguments"), CUT_BY_LIMIT)
@examples(3)
@given(seed=st.integers(0, 10_000), profile=st.sampled_from(["bytes4", "o200k", "claude"]))
def test_following_keys_to_the_end_yields_every_item_exactly_once(
    name: str, arguments: dict[str, object], seed: int, profile: str
) -> None:
    caller = world("many").apps[profile]
    everything = call(caller, name, arguments | {"max_tokens": 10**6})
    expected = list(everything.names)
    while everything.left:
        everything = call(caller, "more", {"key": everything.left.key, "max_tokens": 10**6})
        expected += everything.names
    reading = Reading(caller, Random(seed))
    key = reading.read(name, arguments)
    while key:
        key = reading.go_on(key)
    assert sorted(reading.shown) == sorted(expected)
    assert len(set(reading.shown)) == len(reading.shown)
    ranks = {each: rank for rank, each in enumerate(expected)}
    for page in reading.pages:
        assert [ranks[each] for each in page] == sorted(ranks[each] for each in page), "in order"


@pytest.mark.parametrize(("name", "arguments"), CUT_BY_LIMIT)
def test_the_total_is_what_following_keys_yields(name: str, arguments: dict[str, object]) -> None:
    caller = world("many").caller
    reply = call(caller, name, arguments | {"max_tokens": 10**6, "format": "json"})
    total = json.loads(reply.text)["total"]
    counted = reply.shown
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 10**6})
        counted += reply.shown
    window = {"mem_timeline"}  # it shows what stands around its focus, of a session that may be longer
    assert counted == total or name in window


def test_what_a_reply_names_is_what_its_text_shows() -> None:
    caller = world("many").caller
    for name, arguments in CUT_BY_LIMIT:
        if name == "context_pack":
            continue
        for form in ("text", "json"):
            reply = call(caller, name, arguments | {"max_tokens": 700, "format": form})
            assert names(reply) and sorted(names(reply)) == sorted(reply.names)


def scribble(caller: Caller, random: Random, gone: set[str]) -> None:
    """What another writer may do between two pages."""
    memory = caller.memory
    with memory.database.read() as tx:
        alive = [row[0] for row in tx.rows("SELECT id FROM observations WHERE deleted_at IS NULL")]
    number = random.randrange(10**9)
    pipeline.save(memory, Draft(title=f"token added {number}", content="token 数据库 port", project=PROJECTS[0]))
    topics = f"topic/{random.randrange(20)}"
    pipeline.save(memory, Draft(title="token topic", content=f"token {number}", project=PROJECTS[0], topic_key=topics))
    edits.update(memory, random.choice(alive), Changes(title=f"token retitled {number}"))
    victim = random.choice(alive)
    edits.delete(memory, victim, hard=random.random() < 0.5)
    gone.add(f"#{victim}")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mem_search", {"query": "token", "limit": 5, "project": "all"}),
        ("mem_search", {"query": "token", "limit": 5, "match": "all", "project": "all"}),
        ("mem_context", {"project": "all", "limit": 5}),
        ("list_observations", {"project": "all", "limit": 5}),
        ("mem_compact", {"project": "all", "older_than_days": 0}),
    ],
)
@examples(3)
@given(seed=st.integers(0, 10_000))
def test_nothing_is_lost_and_nothing_comes_twice_while_another_writes(
    tmp_path_factory: pytest.TempPathFactory, name: str, arguments: dict[str, object], seed: int
) -> None:
    random = Random(seed)
    home = tmp_path_factory.mktemp("written") / "home"
    clock = Clock()
    caller, other = (open_caller(Config(home=str(home)), directory=str(home.parent), now=clock) for _ in range(2))
    for number in range(160):
        topic = f"topic/{number}" if number < 20 else ""
        draft = Draft(title=f"token {number}", content=f"token number {number}", project=PROJECTS[0], topic_key=topic)
        pipeline.save(caller.memory, draft)
    clock.advance(days=1)
    reading = Reading(caller, random)
    key = reading.read(name, arguments)
    gone: set[str] = set()
    while key:
        scribble(other, random, gone)
        note(f"{reading.pages[-1]} then {key}, gone {gone}")
        key = reading.go_on(key)
    shown = reading.shown
    observations = [each for each in shown if each.startswith("#")]
    assert len(set(observations)) == len(observations), "nothing comes twice"
    before = {f"#{number}" for number in range(1, 161)}
    assert before - gone <= set(observations), "nothing is lost"
    assert set(observations) <= before, "what was added later is not part of the answer"
    caller.app.close()
    other.app.close()


@pytest.mark.parametrize("query", ["token", '"the token"', "the token of"])
def test_more_matches_than_are_ranked_are_all_reachable_and_counted(query: str, caller: Caller) -> None:
    count = 1_300
    with caller.database.write():
        for number in range(count):
            pipeline.save(caller.memory, Draft(title=f"note {number}", content=f"the token of {number}"))
        pipeline.save(caller.memory, Draft(title="something else", content="nothing of the kind"))
    reply = call(caller, "mem_search", {"query": query, "limit": 10, "max_tokens": 2_000})
    assert reply.total == count == search.count_search_results(caller.memory, query, search.filters(caller.memory))
    # Another writer adds a match, turns an old note into one, and changes one that was not shown yet.
    pipeline.save(caller.memory, Draft(title="late", content="the token of another"))
    edits.update(caller.memory, count + 1, Changes(content="the token of somebody else"))
    edits.update(caller.memory, 5, Changes(content="the token of 5, changed"))
    shown = list(reply.names)
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 20_000})
        shown += reply.names
    assert len(shown) == len(set(shown))
    assert {f"#{number}" for number in range(1, count + 1)} <= set(shown)
    assert f"#{count + 2}" not in shown


def test_a_page_of_a_long_list_fills_its_budget_although_it_was_not_rendered_yet() -> None:
    caller = world("many").caller
    first = call(caller, "list_observations", {"limit": 5})
    assert first.left is not None
    page = call(caller, "more", {"key": first.left.key, "max_tokens": 32_000})
    assert len(page.names) == first.left.items
    assert page.left is None


def test_using_a_key_twice_gives_the_same_page() -> None:
    caller = world("many").caller
    left = call(caller, "mem_search", {"query": "token", "max_tokens": 200}).left
    assert left is not None
    one = call(caller, "more", {"key": left.key, "max_tokens": 300})
    assert call(caller, "more", {"key": f' "{left.key.upper()}" ', "max_tokens": 300}).text == one.text


def test_a_key_outlives_the_process_that_gave_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(world("tiny").home, home)
    first = open_caller(Config(home=str(home)), directory=str(tmp_path), now=Clock())
    left = call(first, "mem_get_observation", {"id": 2, "max_tokens": 200}).left
    first.app.close()
    assert left is not None
    second = open_caller(Config(home=str(home)), directory=str(tmp_path), now=Clock())
    assert call(second, "more", {"key": left.key, "max_tokens": 200}).text.startswith("汉")
    second.app.close()


def test_an_expired_key_says_which_call_to_make_again(caller: Caller, clock: Clock) -> None:
    pipeline.save(caller.memory, Draft(title="long", content="a line of text\n" * 200))
    left = call(caller, "mem_get_observation", {"id": 1, "max_tokens": 100}).left
    assert left is not None
    clock.advance(days=2)
    with pytest.raises(ExpiredKey) as caught:
        call(caller, "more", {"key": left.key})
    assert "mem_get_observation" in caught.value.hint


def test_an_unknown_key_is_a_clear_error(caller: Caller) -> None:
    with pytest.raises(NotFound, match="zzzz"):
        call(caller, "more", {"key": "zzzz"})


DOCUMENTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), min_size=1, max_size=3000
) | st.sampled_from(
    ["word " * 900, "```python\nx = 1\n" * 80 + "```\nend", "a\r\nb\r\n" * 300, "\n\n\nline\n\n" * 150, "汉" * 2000]
)


@examples(15)
@given(
    content=DOCUMENTS.filter(str.strip),
    budgets=st.lists(st.integers(FLOOR, 400), min_size=1, max_size=5),
    profile=st.sampled_from(["bytes4", "o200k", "claude"]),
)
def test_the_pages_of_a_document_put_together_are_the_document(content: str, budgets: list[int], profile: str) -> None:
    caller = open_caller(
        Config(home="unused", tokens=TokenSettings(profile=profile)), directory="/somewhere", now=lambda: START
    )
    caller.app.__dict__["database"] = fresh_store()
    pipeline.save(caller.memory, Draft(title="t", content=content, project="p"))
    reply = call(caller, "mem_get_observation", {"id": 1, "max_tokens": budgets[0], "format": "json"})
    if reply.left is None:
        assert json.loads(reply.text)["content"] == content
        return
    pages = [json.loads(reply.text)["text"]]
    while reply.left:
        budget = budgets[len(pages) % len(budgets)]
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": budget, "format": "json"})
        assert count_tokens(reply.text, profile) <= budget
        pages.append(json.loads(reply.text)["text"])
    whole = "".join(pages)
    assert whole.startswith("#1 [observation] t\n")
    assert content.rstrip() in unquoted(whole)
    caller.app.close()


def test_every_tool_that_can_be_cut_is_read_to_its_end_here_or_shows_everything_it_has() -> None:
    """A tool whose result is limited needs a way to the rest, which the tests above follow."""
    followed = {name for name, _ in CUT_BY_LIMIT}
    limited = {
        tool.name
        for tool in tools().values()
        if {"limit", "candidates"} & {parameter.name for parameter in tool.parameters}
    }
    assert limited - {"work_log", "pack_candidates"} <= followed
