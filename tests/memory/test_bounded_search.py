"""Search reads a bounded number of rows for common words, and loses nothing by it."""

import pytest

from haversack.app import Caller
from haversack.errors import HaversackError
from haversack.memory import context
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.packs import candidates
from haversack.tools.road.call import call


def save(caller: Caller, content: str, project: str = "p", **more: object) -> int:
    return pipeline.save(caller.memory, Draft(content, content, project=project, **more)).id  # type: ignore[arg-type]


def test_a_word_that_is_common_in_the_store_but_rare_in_the_project_finds_its_rows_there(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_POSTINGS", 5)
    for number in range(20):
        save(caller, f"alpha {number}", "large")
    wanted = {save(caller, "alpha one", "small"), save(caller, "alpha two", "small"), save(caller, "beta", "small")}
    found = search.search(caller.memory, "alpha beta", search.filters(caller.memory, project="small"))
    assert {hit.observation.id for hit in found.hits} == wanted and found.total == 3


def test_a_word_that_every_memory_holds_gives_the_newest_first_a_true_total_and_a_way_to_all(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_POSTINGS", 3)
    monkeypatch.setattr(search, "MOST_FIRST", 4)
    ids = [save(caller, f"alpha number{number}") for number in range(12)]
    found = search.search(caller.memory, "alpha", search.filters(caller.memory, project="p"), limit=3)
    assert found.total == 12
    assert {hit.observation.id for hit in found.hits} <= set(ids[-4:])
    reply = call(caller, "mem_search", {"query": "alpha", "project": "p", "limit": 3})
    assert "Showing 3 of 12" in reply.text
    key = reply.text.split('more("')[1].split('"')[0]
    rest = call(caller, "more", {"key": key}).text
    shown = {
        int(word[1:]) for text in (reply.text, rest) for word in text.split() if word[1:].isdigit() and word[0] == "#"
    }
    assert shown == set(ids)


@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_totals_leave_out_what_is_not_current_and_count_it_when_asked_for(caller: Caller, status: str) -> None:
    save(caller, "alpha now")
    save(caller, "alpha then", status=status)
    current = search.filters(caller.memory, project="p")
    assert search.search(caller.memory, "alpha", current).total == 1
    then = search.filters(caller.memory, project="p", status=status)
    assert search.search(caller.memory, "alpha", then).total == 1
    everything = search.filters(caller.memory, project="p", status="all")
    assert search.search(caller.memory, "alpha", everything).total == 2


@pytest.mark.sqlite_only("the query plans of SQLite")
@pytest.mark.parametrize("project", ["", "p"])
def test_packs_and_contexts_never_walk_through_the_table(caller: Caller, project: str) -> None:
    save(caller, "alpha")
    asked: list[str] = []

    def note(_: object, statement: str, values: object) -> bool:
        asked.append(statement)
        return True

    with caller.database.read() as tx:
        tx._connection.exec_trace = note  # type: ignore[attr-defined]
    context.context(caller.memory, project=project)
    candidates.gather(caller.memory, "", search.filters(caller.memory, project=project))
    with caller.database.read() as tx:
        tx._connection.exec_trace = None  # type: ignore[attr-defined]
        plans = [
            (each, str(tx.rows(f"EXPLAIN QUERY PLAN {each}", (None,) * each.count("?"))))
            for each in asked
            if each.startswith("SELECT")
        ]
    assert len(plans) >= 5
    for statement, plan in plans:
        assert "TEMP B-TREE FOR ORDER BY" not in plan, statement
        assert "SCAN o" not in plan or "tallies" in statement or "USING INDEX" in plan, statement


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("mem_search", "query"),
        ("context_pack", "query"),
        ("mem_suggest_topic_key", "title"),
        ("mem_save", "title"),
        ("mem_save_prompt", "content"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_thirty_megabytes_of_words_are_refused_before_they_are_read(
    caller: Caller, tool: str, name: str, form: str
) -> None:
    sent = {"title": "t", "content": "c"} if tool == "mem_save" else {}
    with pytest.raises(HaversackError, match="30,000,000 characters") as caught:
        call(caller, tool, sent | {name: "alpha beta " * 2_727_272 + "gamma 汉!", "max_tokens": 64, "format": form})
    assert caught.value.hint
    assert caller.profile.count(caught.value.written(as_json=form == "json")) <= 64


def test_a_question_as_long_as_a_memory_may_be_is_answered(caller: Caller) -> None:
    pipeline.save(caller.memory, Draft(title="Rotation", content="the token rotates"))
    assert call(caller, "mem_search", {"query": "token " * 33_000}).names == ("#1",)
