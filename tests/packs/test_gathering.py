"""Which memories are candidates for a pack."""

import json
import re
from typing import Any

import pytest

from haversack.app import Caller
from haversack.errors import NotFound
from haversack.memory import relations
from haversack.memory.save import edits
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import search
from haversack.packs.candidates import gather
from haversack.tools.road.call import Options, call


def add(caller: Caller, title: str, content: str = "", **more: Any) -> int:
    return save(caller.memory, Draft(title=title, content=content or f"about {title}", project="p", **more)).id


def gathered(caller: Caller, query: str = "", **more: Any) -> list[int]:
    return [each.id for each in gather(caller.memory, query, search.filters(caller.memory), **more).candidates]


def pack(caller: Caller, **arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        call(caller, "context_pack", {"project": "all", "format": "json", **arguments}).text
    )
    return found


def test_without_a_query_pinned_come_first_then_the_important_then_the_recent(caller: Caller) -> None:
    plain, important, pinned = (
        add(caller, "plain"),
        add(caller, "important", importance=0.9),
        add(caller, "pinned", pinned=True),
    )
    recent = add(caller, "recent")
    assert gathered(caller) == [pinned, important, recent, plain]


def test_with_a_query_relevance_leads(caller: Caller) -> None:
    add(caller, "gardening", importance=1.0, pinned=True)
    wanted = add(caller, "key rotation", "keys rotate hourly")
    assert gathered(caller, "how do keys rotate")[0] == wanted


def test_no_more_candidates_than_asked_for(caller: Caller) -> None:
    for number in range(10):
        add(caller, f"note {number}", f"text {number} {'word' * number}")
    assert len(gathered(caller, candidates=4)) == 4


def test_near_duplicates_do_not_take_space_twice(caller: Caller) -> None:
    text = "The cache is flushed on every release because nothing may live in it alone and nobody should rely on it"
    first = add(caller, "Cache", text + " today", importance=0.9)
    add(caller, "Cache", text + " tomorrow")
    found = pack(caller, project="p")
    assert [each["id"] for each in found["memories"]] == [first]
    assert found["near_duplicates"]


def test_a_changed_figure_is_no_near_duplicate(caller: Caller) -> None:
    text = "The database listens on port {} behind the pooler, and prepared statements have to be switched off there"
    ids = {add(caller, "Port", text.format(port)) for port in (5432, 6543)}
    assert {each["id"] for each in pack(caller, project="p")["memories"]} == ids


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`xml.dom.pulldom`", "`xml.dom.expatbuilder`"),
        ("Alice", "Boris"),
        ("a cat or dog", "a cow or hen"),
        ("parents", "never parents"),
        ("a == b", "a != b"),
        ("readers before writers", "writers before readers"),
    ],
)
def test_texts_of_one_pattern_that_name_different_things_are_no_near_duplicates(
    caller: Caller, one: str, other: str
) -> None:
    text = (
        "What it does: checks for code that parses what comes from strangers with {}. Why it is bad: what strangers "
        "send may be made to exhaust memory, to read local files or to open connections that nobody asked for."
    )
    ids = {add(caller, "lint rule note", text.format(subject)) for subject in (one, other)}
    assert {each["id"] for each in pack(caller, project="p")["memories"]} == ids


def test_what_is_superseded_never_enters_beside_its_successor(caller: Caller) -> None:
    old, new = add(caller, "old way"), add(caller, "new way")
    relations.relate(caller.memory, new, old, "supersedes")
    edits.update(caller.memory, old, Changes(status="active"))
    assert gathered(caller) == [new]


def test_the_whole_output_is_within_the_budget_in_every_format(caller: Caller) -> None:
    from haversack.tokens import count_tokens

    for number in range(20):
        add(caller, f"note {number}", f"word{number} " * (5 + 20 * number))
    for budget in (64, 100, 400, 2000):
        for options in (Options(), Options(footer=False)):
            reply = call(caller, "context_pack", {"project": "all", "max_tokens": budget}, options)
            assert count_tokens(reply.text) == reply.tokens <= budget
        found = call(caller, "context_pack", {"project": "all", "max_tokens": budget, "format": "json"})
        assert count_tokens(found.text) <= budget


def test_a_pasted_pack_states_its_own_cost_in_its_first_line(caller: Caller) -> None:
    add(caller, "note")
    reply = call(caller, "context_pack", {"project": "p"}, Options(footer=False))
    assert reply.text.startswith(f"# Project Context: p (1 memory, ~{reply.tokens} tokens)\n")
    assert "📏" not in reply.text


def test_a_date_that_is_all_there_is_to_say_of_each_memory_stands_once_in_a_pack(caller: Caller) -> None:
    add(caller, "one", "First.")
    add(caller, "two", "Second.")
    text = call(caller, "context_pack", {"project": "p"}, Options(footer=False)).text
    assert re.sub(r"\d{4}-\d\d-\d\d", "DAY", text.split("\n", 1)[1]) == (
        "\n*DAY*\n\n## two\n\nSecond.\n\n---\n\n## one\n\nFirst.\n"
    )
    add(caller, "three", "Third.", kind="decision", tags=("auth",))
    text = call(caller, "context_pack", {"project": "p"}, Options(footer=False)).text
    assert len(re.findall(r"^\*\d{4}-\d\d-\d\d\*$", text, re.MULTILINE)) == 2
    assert re.search(r"^## \[decision\] three\n\*\d{4}-\d\d-\d\d \| tags: auth\*\n\nThird\.$", text, re.MULTILINE)


def test_json_names_what_is_shown_and_what_was_left_out(caller: Caller) -> None:
    small, large = add(caller, "small", importance=0.1), add(caller, "large", "word " * 400, importance=0.9)
    found = pack(caller, project="p", max_tokens=420)
    assert [each["id"] for each in found["memories"]] == [small]
    assert [(each["id"], each["title"]) for each in found["omitted"]] == [(large, "large")]
    assert found["omitted"][0]["tokens"] > 400
    assert (found["budget"], found["project_id"]) == (420, "p")
    assert all(value not in ("", [], None) for value in found["memories"][0].values())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [({"project": "nobody"}, "No memory has project 'nobody'"), ({"query": "zebra"}, "No memory matches")],
)
def test_an_empty_pack_says_why(caller: Caller, arguments: dict[str, object], reason: str) -> None:
    add(caller, "note")
    found = pack(caller, **arguments)
    assert found["memories"] == []
    assert found["reason"].startswith(reason)
    assert reason in call(caller, "context_pack", arguments).text


def test_auto_lets_what_does_not_fit_in_full_enter_as_a_title(caller: Caller) -> None:
    for number in range(6):
        add(caller, f"large {number}", f"word{number} " * 300)
    reply = call(caller, "context_pack", {"project": "all", "max_tokens": 300, "detail_level": "auto"})
    assert reply.shown > call(caller, "context_pack", {"project": "all", "max_tokens": 300}).shown


def test_scrubbing_takes_secrets_out_of_titles_and_contents(caller: Caller) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    with caller.database.write() as tx:
        add(caller, "note")
        tx.run("UPDATE observations SET title = ?, content = ?", (f"key {secret}", f"it is {secret}"))
    assert secret in call(caller, "context_pack", {"project": "all"}).text
    for form in ("text", "json"):
        assert secret not in call(caller, "context_pack", {"project": "all", "scrub": True, "format": form}).text


def test_an_unknown_pack_is_an_error(caller: Caller) -> None:
    with pytest.raises(NotFound, match="p000"):
        call(caller, "context_pack", {"since": "p000"})


def test_a_pack_in_which_nothing_fits_names_what_is_there(caller: Caller) -> None:
    add(caller, "large", content="many words " * 400)
    text = call(caller, "context_pack", {"project": "all", "max_tokens": 200}).text
    assert "large (#1)" in text, "its title, and the id to ask for"
