"""What the page needs of the tools: prices of candidates, times, lists for review, and refusing what has changed."""

import json
from typing import Any

import pytest

from haversack.app import Caller
from haversack.errors import Changed, NotFound
from haversack.memory.statistics import statistics
from haversack.tools.road.call import Options, call


def asked(caller: Caller, name: str, **arguments: Any) -> Any:
    return json.loads(call(caller, name, {**arguments, "format": "json"}).text)


def saved(caller: Caller, title: str, content: str, **more: Any) -> int:
    return int(asked(caller, "mem_save", title=title, content=content, project="thesis", **more)["id"])


@pytest.fixture
def filled(caller: Caller) -> Caller:
    for number in range(8):
        saved(caller, f"Decision {number}", f"token rotation number {number} " * (5 + 30 * (number % 3)))
    return caller


def test_candidates_of_a_pack_are_in_or_out_as_the_pack_has_them(filled: Caller) -> None:
    for budget in (64, 150, 400, 1_000, 5_000):
        listed = asked(filled, "pack_candidates", pack_tokens=budget, max_tokens=8_000)
        inside = {f"#{each['id']}" for each in listed["candidates"] if each["in"]}
        reply = call(filled, "context_pack", {"max_tokens": budget}, Options(footer=False))
        assert inside == set(reply.names)
        assert listed["pack_cost"] == reply.tokens
        assert {each.get("why") for each in listed["candidates"]} <= {None, "too large", "no room"}
        assert listed["total"] == 8


def test_a_near_duplicate_says_of_what(caller: Caller) -> None:
    words = "every request that started before a rotation keeps the previous key for a while"
    first = saved(caller, "Rotation", words)
    second = saved(caller, "rotation", words + " indeed")
    listed = asked(caller, "pack_candidates")["candidates"]
    assert {each["id"] for each in listed} == {first, second}
    [out] = [each for each in listed if not each["in"]]
    [inside] = [each for each in listed if each["in"]]
    assert out["why"] == f"near-duplicate of #{inside['id']}"


def test_what_a_person_puts_first_or_leaves_out_changes_the_pack_and_nothing_else(filled: Caller) -> None:
    plain = call(filled, "context_pack", {"max_tokens": 400, "query": "token rotation"})
    # One that the pack left out although it would fit by itself: every third is larger than the whole budget.
    last = next(each for each in range(8, 0, -1) if each % 3 and f"#{each}" not in plain.names)
    first = call(filled, "context_pack", {"max_tokens": 400, "query": "token rotation", "first": [last]})
    assert first.names[0] == f"#{last}"
    assert first.total == plain.total
    dropped = int(plain.names[0][1:])
    without = call(filled, "context_pack", {"max_tokens": 400, "query": "token rotation", "without": [dropped]})
    assert f"#{dropped}" not in without.names
    assert without.total == plain.total - 1
    why = {each["id"]: each.get("why") for each in asked(filled, "pack_candidates", without=[dropped])["candidates"]}
    assert why[dropped] == "left out"


def test_what_was_left_out_of_a_pack_does_not_come_back_on_its_further_pages(filled: Caller) -> None:
    reply = call(filled, "context_pack", {"max_tokens": 64, "without": [2, 3], "first": [5]})
    seen = list(reply.names)
    while reply.left:
        reply = call(filled, "more", {"key": reply.left.key, "max_tokens": 3_000})
        seen += reply.names
    assert sorted(seen) == ["#1", "#4", "#5", "#6", "#7", "#8"]


def test_a_change_to_what_was_not_read_is_refused(caller: Caller) -> None:
    identifier = saved(caller, "Rotation", "hourly")
    read = asked(caller, "mem_get_observation", id=identifier)["hash"]
    call(caller, "mem_update", {"id": identifier, "tags": ["auth"], "expected_hash": read})
    for name, change in (("mem_update", {"title": "Other"}), ("mem_delete", {}), ("mem_delete", {"hard": True})):
        with pytest.raises(Changed, match="has changed since it was read"):
            call(caller, name, {"id": identifier, "expected_hash": read, **change})
    assert asked(caller, "mem_get_observation", id=identifier)["title"] == "Rotation", "nothing was written"
    again = asked(caller, "mem_get_observation", id=identifier)["hash"]
    call(caller, "mem_delete", {"id": identifier, "expected_hash": again})
    with pytest.raises(NotFound):
        call(caller, "mem_get_observation", {"id": identifier})


@pytest.mark.parametrize(
    "change",
    [{"pinned": True}, {"status": "pending"}, {"verification": "disputed"}, {"importance": 0.9}, {"topic_key": "a/b"}],
)
def test_every_change_gives_another_hash(caller: Caller, change: dict[str, object]) -> None:
    identifier = saved(caller, "Rotation", "hourly")
    before = asked(caller, "mem_get_observation", id=identifier)["hash"]
    call(caller, "mem_update", {"id": identifier, **change})
    assert asked(caller, "mem_get_observation", id=identifier)["hash"] != before


def test_disputed_and_deleted_memories_can_be_listed_to_their_end(caller: Caller) -> None:
    ids = [saved(caller, f"Memory {number}", f"content {number}") for number in range(30)]
    for each in ids[:25]:
        call(caller, "mem_delete", {"id": each})
    call(caller, "mem_update", {"id": ids[26], "verification": "disputed"})
    disputed = asked(caller, "list_observations", verification="disputed")
    assert [each["id"] for each in disputed["observations"]] == [ids[26]]
    reply = call(caller, "list_observations", {"deleted": True, "limit": 5})
    assert reply.total == 25
    seen = list(reply.names)
    while reply.left:
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 100})
        seen += reply.names
    assert seen == [f"#{each}" for each in reversed(ids[:25])]


def test_figures_add_up_to_what_is_stored(filled: Caller) -> None:
    saved(filled, "A note", "something else", kind="config")
    listed = asked(filled, "memory_figures", max_tokens=8_000)
    stored = statistics(filled.memory).tokens
    assert sum(each["tokens"] for each in listed["figures"]) == stored == listed["tokens_in_all"]
    assert sum(each["count"] for each in listed["figures"]) == 9
    assert {each["kind"] for each in listed["figures"]} == {"observation", "config"}
    assert {each["week"] for each in listed["figures"]} == {"2026-02-02"}, "weeks begin on Monday"


def test_an_entry_of_the_work_log_says_when(caller: Caller) -> None:
    account = asked(caller, "budget_open")["account"]["handle"]
    debited = caller.app.caller(account=account)
    call(debited, "mem_stats", {})
    [entry] = asked(caller, "work_log", account=account)["entries"]
    assert entry["at"].startswith("2026-02-02T")


def test_a_person_who_looks_at_the_work_log_does_not_use_its_lines(caller: Caller) -> None:
    account = asked(caller, "budget_open", total=50_000)["account"]["handle"]
    keeping = caller.app.caller(directory=caller.directory, account=account)
    for _ in range(3):
        asked(keeping, "mem_stats")

    def used() -> list[int]:
        with caller.database.read() as tx:
            return [row[0] for row in tx.rows("SELECT used FROM entries WHERE account = ? ORDER BY id", (account,))]

    before = used()
    assert len(asked(caller, "work_log", account=account, looking=True)["entries"]) == 3
    assert used() == before
    asked(caller, "work_log", account=account)
    assert used() != before


def test_the_tokens_stored_are_not_those_of_the_reply_about_them(filled: Caller) -> None:
    reply = call(filled, "mem_stats", {"format": "json"})
    told = json.loads(reply.text)
    assert told["tokens"] == reply.tokens
    assert told["tokens_stored"] == sum(row["tokens"] for row in asked(filled, "memory_figures")["figures"])


def test_the_tools_of_the_page_are_offered_only_by_name() -> None:
    from haversack.mcp.tool_sets import select_tools

    names = {"pack_candidates", "memory_figures"}
    assert not names & {tool.name for tool in select_tools(["all"])}
    assert names <= {tool.name for tool in select_tools([*names])}
