"""A filter that names what nothing has is said to be unknown, with what is near and what would match."""

import json

import pytest

from haversack import count_observations, count_search_results, estimate_index_tokens, estimate_memory_tokens
from haversack.app import Caller
from haversack.errors import InvalidArgument
from haversack.memory.search.search import by_ids
from haversack.tokens import estimate_tokens
from haversack.tools.road.call import call


@pytest.fixture
def seeded(caller: Caller) -> Caller:
    for number in range(4):
        call(
            caller,
            "mem_save",
            {
                "title": f"Gateway {number}",
                "content": f"The gateway listens on {8080 + number}.",
                "kind": "decision" if number else "bugfix",
                "project": "orchard",
                "tags": ["network", "ports"],
            },
        )
    return caller


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": "decison"}, "No memory has kind 'decison'; there is decision. Without it 4 match."),
        ({"tags": ["netwrok"]}, "No memory has tag 'netwrok'; there is network. Without it 4 match."),
        ({"project": "orchid"}, "No memory has project 'orchid'; there is orchard. Without it 4 match."),
        ({"kind": "decison", "tags": ["ports", "x"]}, "Without them 4 match."),
    ],
)
def test_an_unknown_filter_is_named(seeded: Caller, filters: dict[str, object], expected: str) -> None:
    for name, arguments in (("mem_search", {"query": "gateway"}), ("list_observations", {})):
        assert expected in call(seeded, name, {**arguments, **filters}).text


def test_a_known_filter_that_matches_nothing_is_not_called_unknown(seeded: Caller) -> None:
    assert "No memory has" not in call(seeded, "mem_search", {"query": "zebra", "kind": "decision"}).text
    assert "No memory has" not in call(seeded, "list_observations", {"kind": "bugfix", "since": "2030-01-01"}).text


def test_a_list_of_an_empty_store_says_how_to_begin(caller: Caller) -> None:
    assert "Nothing is remembered yet. mem_save keeps the first." in call(caller, "list_observations", {}).text


def test_a_search_reply_does_not_look_like_json(seeded: Caller) -> None:
    for level in ("summary", "standard", "full", "auto"):
        for arguments in ({"query": "gateway"}, {"query": "zebra"}, {"query": "gateway", "explain": True}):
            assert call(seeded, "mem_search", {**arguments, "detail_level": level}).text[0] not in "[{"


def test_the_focus_of_a_timeline_is_marked_in_json(seeded: Caller) -> None:
    items = json.loads(call(seeded, "mem_timeline", {"observation_id": 2, "format": "json"}).text)["observations"]
    assert [item["id"] for item in items if item.get("focus")] == [2]


def test_a_topic_key_is_not_made_from_nothing(caller: Caller) -> None:
    with pytest.raises(InvalidArgument, match="needs words"):
        call(caller, "mem_suggest_topic_key", {"kind": "decision"})


def test_counts_are_those_the_replies_state(seeded: Caller) -> None:
    call(seeded, "mem_delete", {"id": 1})
    assert count_observations(seeded.memory) == call(seeded, "list_observations", {}).total == 3
    assert count_observations(seeded.memory, project="orchard", kind="decision", tags=("ports",)) == 3
    assert count_observations(seeded.memory, project="elsewhere") == 0
    assert count_search_results(seeded.memory, "gateway") == call(seeded, "mem_search", {"query": "gateway"}).total == 3
    assert count_search_results(seeded.memory, "8081 zebra", match="all") == 0


def test_estimates_add_what_stands_beside_a_memory(seeded: Caller) -> None:
    (memory,) = by_ids(seeded.memory, [2])
    head = estimate_tokens(memory.title) + estimate_tokens("network, ports")
    assert estimate_index_tokens(memory) == head + 15
    assert estimate_memory_tokens(memory) == head + estimate_tokens(memory.content) + 20


@pytest.mark.parametrize("name", ["mem_context", "context_pack"])
def test_a_context_and_a_pack_name_an_unknown_project_too(caller: Caller, name: str) -> None:
    call(caller, "mem_save", {"title": "T", "content": "C", "project": "thesis"})
    said = call(caller, name, {"project": "thesiss"}).text
    assert "No memory has project 'thesiss'; there is thesis. Without it 1 matches." in said
    assert "No memory has" not in call(caller, name, {}).text


def test_a_pack_names_an_unknown_tag(caller: Caller) -> None:
    call(caller, "mem_save", {"title": "T", "content": "C", "tags": ["ops"]})
    assert "No memory has tag 'opps'; there is ops." in call(caller, "context_pack", {"tags": ["opps"]}).text
