"""Which memories are candidates for a pack."""

import json
from typing import Any

import pytest

from haversack.app import App
from haversack.errors import NotFound
from haversack.memory import relations
from haversack.memory.save import edits
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import search
from haversack.packs.candidates import gather
from haversack.tools.road.call import Options, call


def add(app: App, title: str, content: str = "", **more: Any) -> int:
    return save(app.memory, Draft(title=title, content=content or f"about {title}", project="p", **more)).id


def gathered(app: App, query: str = "", **more: Any) -> list[int]:
    return [each.id for each in gather(app.memory, query, search.filters(app.memory), **more).candidates]


def pack(app: App, **arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call(app, "context_pack", {"format": "json", **arguments}).text)
    return found


def test_without_a_query_pinned_come_first_then_the_important_then_the_recent(app: App) -> None:
    plain, important, pinned = add(app, "plain"), add(app, "important", importance=0.9), add(app, "pinned", pinned=True)
    recent = add(app, "recent")
    assert gathered(app) == [pinned, important, recent, plain]


def test_with_a_query_relevance_leads(app: App) -> None:
    add(app, "gardening", importance=1.0, pinned=True)
    wanted = add(app, "key rotation", "keys rotate hourly")
    assert gathered(app, "how do keys rotate")[0] == wanted


def test_no_more_candidates_than_asked_for(app: App) -> None:
    for number in range(10):
        add(app, f"note {number}", f"text {number} {'word' * number}")
    assert len(gathered(app, candidates=4)) == 4


def test_near_duplicates_do_not_take_space_twice(app: App) -> None:
    text = "The cache is flushed on every release because nothing may live in it alone and nobody should rely on it"
    first = add(app, "Cache", text + " today", importance=0.9)
    add(app, "Cache", text + " tomorrow")
    found = pack(app, project="p")
    assert [each["id"] for each in found["memories"]] == [first]
    assert found["near_duplicates"]


def test_a_changed_figure_is_no_near_duplicate(app: App) -> None:
    text = "The database listens on port {} behind the pooler, and prepared statements have to be switched off there"
    ids = {add(app, "Port", text.format(port)) for port in (5432, 6543)}
    assert {each["id"] for each in pack(app, project="p")["memories"]} == ids


def test_what_is_superseded_never_enters_beside_its_successor(app: App) -> None:
    old, new = add(app, "old way"), add(app, "new way")
    relations.relate(app.memory, new, old, "supersedes")
    edits.update(app.memory, old, Changes(status="active"))
    assert gathered(app) == [new]


def test_the_whole_output_is_within_the_budget_in_every_format(app: App) -> None:
    from haversack.tokens import count_tokens

    for number in range(20):
        add(app, f"note {number}", f"word{number} " * (5 + 20 * number))
    for budget in (64, 100, 400, 2000):
        for options in (Options(), Options(footer=False)):
            reply = call(app, "context_pack", {"max_tokens": budget}, options)
            assert count_tokens(reply.text) == reply.tokens <= budget
        found = call(app, "context_pack", {"max_tokens": budget, "format": "json"})
        assert count_tokens(found.text) <= budget


def test_a_pasted_pack_states_its_own_cost_in_its_first_line(app: App) -> None:
    add(app, "note")
    reply = call(app, "context_pack", {"project": "p"}, Options(footer=False))
    assert reply.text.startswith(f"# Project Context: p (1 memory, ~{reply.tokens} tokens)\n")
    assert "📏" not in reply.text


def test_json_names_what_is_shown_and_what_was_left_out(app: App) -> None:
    small, large = add(app, "small", importance=0.1), add(app, "large", "word " * 400, importance=0.9)
    found = pack(app, project="p", max_tokens=250)
    assert [each["id"] for each in found["memories"]] == [small]
    assert [(each["id"], each["title"]) for each in found["omitted"]] == [(large, "large")]
    assert found["omitted"][0]["tokens"] > 400
    assert (found["budget"], found["project_id"]) == (250, "p")
    assert all(value not in ("", [], None) for value in found["memories"][0].values())


@pytest.mark.parametrize("arguments", [{"project": "nobody"}, {"query": "zebra"}])
def test_an_empty_pack_says_why(app: App, arguments: dict[str, object]) -> None:
    add(app, "note")
    found = pack(app, **arguments)
    assert found["memories"] == []
    assert found["reason"]
    assert "No memory matches" in call(app, "context_pack", arguments).text


def test_auto_lets_what_does_not_fit_in_full_enter_as_a_title(app: App) -> None:
    for number in range(6):
        add(app, f"large {number}", f"word{number} " * 300)
    reply = call(app, "context_pack", {"max_tokens": 300, "detail_level": "auto"})
    assert reply.shown > call(app, "context_pack", {"max_tokens": 300}).shown


def test_scrubbing_takes_secrets_out_of_titles_and_contents(app: App) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    with app.database.write() as tx:
        add(app, "note")
        tx.run("UPDATE observations SET title = ?, content = ?", (f"key {secret}", f"it is {secret}"))
    assert secret in call(app, "context_pack", {}).text
    for form in ("text", "json"):
        assert secret not in call(app, "context_pack", {"scrub": True, "format": form}).text


def test_an_unknown_pack_is_an_error(app: App) -> None:
    with pytest.raises(NotFound, match="p000"):
        call(app, "context_pack", {"since": "p000"})
