"""Compaction: exactly what was named and matches, softly, with its summary, in one transaction."""

import pytest

from haversack.app import Caller
from haversack.errors import InvalidArgument
from haversack.memory import context
from haversack.memory.context import place_filters
from haversack.memory.save import compaction, edits
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft, save
from haversack.store.records import Filters
from haversack.tools.road.call import call
from tests.conftest import Clock


@pytest.fixture
def old_and_new(caller: Caller, clock: Clock) -> dict[str, int]:
    ids = {
        "old": save(caller.memory, Draft(title="old", content="word " * 50, project="p")).id,
        "other": save(caller.memory, Draft(title="other", content="c", project="q")).id,
        "pinned": save(caller.memory, Draft(title="pinned", content="c", project="p", pinned=True)).id,
        "personal": save(caller.memory, Draft(title="personal", content="c", project="p", scope="personal")).id,
    }
    clock.advance(days=100)
    ids["new"] = save(caller.memory, Draft(title="new", content="c", project="p")).id
    return ids


def test_without_ids_the_candidates_are_listed_with_their_price(caller: Caller, old_and_new: dict[str, int]) -> None:
    reply = call(caller, "mem_compact", {"older_than_days": 30, "project": "p"})
    assert (reply.shown, reply.total) == (2, 2)
    assert f"#{old_and_new['old']} " in reply.text and "~51 tokens" in reply.text
    assert f"#{old_and_new['pinned']} " not in reply.text


def test_exactly_those_that_match_are_deleted_and_the_others_named(caller: Caller, old_and_new: dict[str, int]) -> None:
    filters = place_filters(project="p", scope="project")
    done = compaction.compact(caller.memory, filters, 30, (*old_and_new.values(), 404, old_and_new["old"]), None)
    assert [each.id for each in done.deleted] == [old_and_new["old"]]
    assert set(done.refused) == {*old_and_new.values(), 404} - {old_and_new["old"]}
    assert done.summary is None
    live = {each.id for each in context.recent(caller.memory, Filters(), 50)}
    assert live == set(old_and_new.values()) - {old_and_new["old"]}


def test_what_was_compacted_can_be_brought_back(caller: Caller, old_and_new: dict[str, int]) -> None:
    compaction.compact(caller.memory, place_filters(), 30, (old_and_new["old"],), None)
    edits.update(caller.memory, old_and_new["old"], Changes(restore=True))
    assert context.recall(caller.memory, old_and_new["old"]).title == "old"


def test_the_summary_is_saved_with_the_deletion(caller: Caller, old_and_new: dict[str, int]) -> None:
    arguments = {
        "older_than_days": 30,
        "project": "p",
        "ids": [old_and_new["old"]],
        "summary_content": "what they said",
    }
    text = call(caller, "mem_compact", arguments).text
    found = context.recent(caller.memory, Filters(kind="compaction_summary"), 5)
    assert [(each.content, each.project) for each in found] == [("what they said", "p")]
    assert f"summary saved #{found[0].id}" in text


def test_a_summary_that_cannot_be_saved_deletes_nothing(caller: Caller, old_and_new: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument):
        compaction.compact(caller.memory, place_filters(), 30, (old_and_new["old"],), Draft(title="s", content=" "))
    assert context.recall(caller.memory, old_and_new["old"]).deleted_at is None


def test_nothing_to_delete_saves_no_summary(caller: Caller, old_and_new: dict[str, int]) -> None:
    done = compaction.compact(caller.memory, place_filters(), 30, (old_and_new["new"],), Draft(title="s", content="c"))
    assert (done.deleted, done.summary) == ((), None)


def test_being_seen_again_keeps_a_memory_young(caller: Caller, clock: Clock, old_and_new: dict[str, int]) -> None:
    edits.update(caller.memory, old_and_new["old"], Changes(topic_key="k"))
    save(caller.memory, Draft(title="old", content="word " * 50, project="p", topic_key="k"))
    found = compaction.candidates(caller.memory, place_filters(project="p"), 30)
    assert old_and_new["old"] not in {each.id for each in found.observations}


def test_every_candidate_is_reachable_however_many_there_are(caller: Caller, clock: Clock) -> None:
    with caller.database.write():
        for number in range(620):
            save(caller.memory, Draft(title=f"note {number}", content="c", project="p"))
    clock.advance(days=2)
    reply = call(caller, "mem_compact", {"project": "all", "older_than_days": 1, "max_tokens": 20_000})
    shown = list(reply.names)
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 20_000})
        shown += reply.names
    assert shown == [f"#{number}" for number in range(1, 621)]


@pytest.mark.parametrize("days", [-1, "soon", 1.5])
def test_a_wrong_age_is_an_error(caller: Caller, days: object) -> None:
    with pytest.raises(InvalidArgument, match="older_than_days"):
        call(caller, "mem_compact", {"project": "all", "older_than_days": days})


def test_figures_have_their_commas_and_one_day_is_one(caller: Caller, clock: Clock) -> None:
    save(caller.memory, Draft(title="Long", content="queue worker " * 1_500))
    clock.advance(days=3)
    said = call(caller, "mem_compact", {"older_than_days": 1, "max_tokens": 500}).text
    assert "1 older than 1 day, ~3,0" in said and said.count("~3,0") == 2
    done = call(caller, "mem_compact", {"older_than_days": 1, "ids": [1]}).text
    assert "compacted 1 observation (" in done
