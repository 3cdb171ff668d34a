"""Recalling without a query: the context of a project, the neighbourhood of an observation, the graph."""

import re
from itertools import pairwise

import pytest

from haversack.app import Caller
from haversack.errors import InvalidArgument, NotFound
from haversack.memory import context, relations, sessions
from haversack.memory.relations import graph, relations_of
from haversack.memory.save import edits
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft, save
from haversack.tools.road.call import call


@pytest.fixture
def ten(caller: Caller) -> list[int]:
    return [save(caller.memory, Draft(title=f"note {number}", content="c", project="p")).id for number in range(10)]


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0, 3), (3, 0), (100, 100), (2, 2)])
def test_a_timeline_has_as_many_neighbours_as_asked_for(
    caller: Caller, ten: list[int], before: int, after: int
) -> None:
    found = context.timeline(caller.memory, ten[4], before=before, after=after)
    assert [each.id for each in found.before] == ten[:4][::-1][:before]
    assert [each.id for each in found.after] == ten[5:][:after]
    assert found.total == 10


def test_before_zero_shows_the_focus_first(caller: Caller, ten: list[int]) -> None:
    text = call(caller, "mem_timeline", {"observation_id": ten[4], "before": 0, "after": 2}).text
    assert text.startswith(f"#{ten[4]} ")
    assert "Showing 3 of 10 observations in session." in text


def test_a_timeline_is_printed_in_time_order_with_its_focus_marked(caller: Caller, ten: list[int]) -> None:
    text = call(
        caller, "mem_timeline", {"observation_id": ten[4], "before": 2, "after": 1, "detail_level": "summary"}
    ).text
    lines = text.split("\n")
    assert [line.split(" ")[0] for line in lines[:4]] == [f"#{each}" for each in ten[2:6]]
    assert ["focus" in line for line in lines[:4]] == [False, False, True, False]


def test_a_timeline_leaves_out_deleted_neighbours_and_other_sessions(caller: Caller, ten: list[int]) -> None:
    edits.delete(caller.memory, ten[3])
    save(caller.memory, Draft(title="elsewhere", content="c", project="q"))
    found = context.timeline(caller.memory, ten[4])
    assert ten[3] not in [each.id for each in found.before]
    assert found.total == 9


@pytest.mark.parametrize("tool", ["mem_timeline", "mem_build_context"])
def test_an_unknown_or_deleted_focus_is_an_error(caller: Caller, ten: list[int], tool: str) -> None:
    edits.delete(caller.memory, ten[0])
    for identifier in (404, ten[0]):
        with pytest.raises(NotFound, match=f"#{identifier}"):
            call(caller, tool, {"observation_id": identifier})


@pytest.mark.parametrize(("before", "after"), [(-1, 0), (0, 101)])
def test_a_window_out_of_range_is_an_error(caller: Caller, ten: list[int], before: int, after: int) -> None:
    with pytest.raises(InvalidArgument):
        context.timeline(caller.memory, ten[0], before=before, after=after)


def test_a_context_shows_pinned_first_then_sessions_prompts_and_memories_with_their_ids(
    caller: Caller, ten: list[int]
) -> None:
    edits.update(caller.memory, ten[0], Changes(pinned=True))
    sessions.save_prompt(caller.memory, "make it quick", project="p")
    text = call(caller, "mem_context", {"project": "p"}).text
    places = [
        text.index(part)
        for part in ("## Pinned", f"#{ten[0]} ", "## Sessions", "## Prompts", "## Memories", f"#{ten[9]} ")
    ]
    assert places == sorted(places)
    assert all(f"#{each} " in text for each in ten)
    assert text.count(f"#{ten[0]} ") == 1


def test_a_context_keeps_its_limit_and_says_what_it_left(caller: Caller, ten: list[int]) -> None:
    edits.update(caller.memory, ten[0], Changes(pinned=True))
    reply = call(caller, "mem_context", {"project": "p", "limit": 3})
    assert (reply.shown, reply.total) == (4, 10)
    assert "Showing 4 of 10 observations. Increase limit" in reply.text


def test_an_empty_context_still_ends_with_the_token_line(caller: Caller) -> None:
    assert call(caller, "mem_context", {"project": "all"}).text.split("\n")[-1].startswith("📏 ~")


def test_reading_a_memory_counts_as_access(caller: Caller, ten: list[int]) -> None:
    context.recall(caller.memory, ten[0])
    assert context.recall(caller.memory, ten[0]).access_count == 1


def test_a_graph_goes_outward_level_by_level_and_skips_the_deleted(caller: Caller, ten: list[int]) -> None:
    for one, other in pairwise(ten[:5]):
        relations.relate(caller.memory, one, other, "depends_on")
    found = graph(caller.memory, ten[0], depth=3)
    assert [(each.observation.id, each.depth) for each in found.linked] == [(ten[1], 1), (ten[2], 2), (ten[3], 3)]
    edits.delete(caller.memory, ten[1])
    assert graph(caller.memory, ten[0], depth=5).linked == ()
    assert f"#{ten[1]}" not in call(caller, "mem_get_observation", {"id": ten[2]}).text


def test_a_graph_with_a_circle_shows_each_observation_once(caller: Caller, ten: list[int]) -> None:
    for one, other in ((0, 1), (1, 2), (2, 0), (0, 2)):
        relations.relate(caller.memory, ten[one], ten[other], "relates_to")
    found = graph(caller.memory, ten[0], depth=5)
    assert sorted(each.observation.id for each in found.linked) == ten[1:3]


@pytest.mark.parametrize("depth", [0, 6])
def test_a_depth_out_of_range_is_an_error(caller: Caller, ten: list[int], depth: int) -> None:
    with pytest.raises(InvalidArgument, match="depth"):
        graph(caller.memory, ten[0], depth=depth)


def test_the_same_relation_again_renews_it(caller: Caller, ten: list[int]) -> None:
    first = relations.relate(caller.memory, ten[0], ten[1], "fixes", note="old", strength=0.1)
    again = relations.relate(caller.memory, ten[0], ten[1], "fixes", note="new", strength=0.9)
    assert (first.added, again.added) == (1, 0)
    assert [(each.id, each.note, each.strength) for each in relations_of(caller.memory, ten[0])] == [
        (first.relations[0].id, "new", 0.9)
    ]


def test_a_relation_in_both_directions_is_two_relations(caller: Caller, ten: list[int]) -> None:
    made = relations.relate(caller.memory, ten[0], ten[1], "contradicts", bidirectional=True)
    assert [(each.from_id, each.to_id) for each in made.relations] == [(ten[0], ten[1]), (ten[1], ten[0])]


def test_what_is_superseded_leaves_until_the_relation_goes(caller: Caller, ten: list[int]) -> None:
    made = relations.relate(caller.memory, ten[1], ten[0], "supersedes").relations[0]
    assert f"#{ten[0]} " not in call(caller, "mem_context", {"project": "all"}).text
    assert call(caller, "mem_search", {"project": "all", "query": "note", "limit": 50}).total == 9
    relations.unrelate(caller.memory, made.id)
    assert call(caller, "mem_search", {"project": "all", "query": "note", "limit": 50}).total == 10
    with pytest.raises(NotFound, match=str(made.id)):
        relations.unrelate(caller.memory, made.id)


@pytest.mark.parametrize(
    ("one", "other", "kind", "error"),
    [(0, 0, "fixes", InvalidArgument), (0, 1, "likes", InvalidArgument), (0, None, "fixes", NotFound)],
)
def test_a_wrong_relation_is_an_error(
    caller: Caller, ten: list[int], one: int, other: int | None, kind: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        relations.relate(caller.memory, ten[one], 404 if other is None else ten[other], kind)


def test_a_small_context_shows_something_of_every_section(caller: Caller) -> None:
    for number in range(5):
        sessions.start(caller.memory, identifier=f"s{number}", project="p")
        sessions.save_prompt(caller.memory, f"prompt {number}: " + "many words " * 30, project="p")
        sessions.end(caller.memory, f"s{number}", summary=f"summary {number}: " + "several words " * 30)
    for number in range(60):
        save(caller.memory, Draft(f"title {number}", "content " * 30, project="p"))
    text = call(caller, "mem_context", {"project": "p", "max_tokens": 500}).text
    assert all(section in text for section in ("## Sessions", "## Prompts", "## Memories"))
    assert text.count("title ") >= 3


def test_a_search_reply_prints_no_bracket_first_no_date_twice_and_no_importance_nobody_set(caller: Caller) -> None:
    save(caller.memory, Draft("Kettle", "It boils water.", project="p"))
    save(caller.memory, Draft("The kettle was repaired.", "The kettle was repaired.\nBy Ana.", project="p"))
    text = call(caller, "mem_search", {"query": "kettle", "detail_level": "full"}).text
    date = text.split("\n")[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
    assert text.count(date) == 1
    assert "importance" not in text
    assert text.count("The kettle was repaired.") == 1
