"""Which match comes first: relevance leads, everything else may only reorder near-equals."""

from typing import Any

import pytest

from haversack.app import Caller
from haversack.errors import InvalidArgument
from haversack.memory import context, relations
from haversack.memory.save import edits
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import relevance, search
from haversack.tools.road.call import call
from haversack.values import replace
from tests.conftest import Clock

BETTER = Draft(
    title="Rotating signing keys", content="The signing keys rotate hourly; rotation keeps the old key.", project="p"
)
WEAKER = Draft(
    title="Lunch", content="We spoke of many things over lunch, among them one key to the flat.", project="p"
)
FILLER = "An unrelated remark about gardening, weather and the price of apples, number {}."


def fill(caller: Caller, count: int = 40) -> None:
    for number in range(count):
        save(caller.memory, Draft(title=f"Remark {number}", content=FILLER.format(caller.now()), project="p"))


def order(caller: Caller, query: str, **filters: Any) -> list[int]:
    found = search.search(caller.memory, query, search.filters(caller.memory, **filters), limit=100)
    return [hit.observation.id for hit in found.hits]


def test_a_clearly_better_match_wins_over_everything_else_together(caller: Caller, clock: Clock) -> None:
    fill(caller)
    better = save(caller.memory, replace(BETTER, importance=0.0)).id
    edits.update(caller.memory, better, Changes(verification="disputed"))
    clock.advance(days=700)
    weaker = save(caller.memory, replace(WEAKER, importance=1.0)).id
    edits.update(caller.memory, weaker, Changes(verification="verified"))
    for _ in range(12):
        context.recall(caller.memory, weaker)
    for other in range(1, 7):
        relations.relate(caller.memory, weaker, other, "relates_to")
    assert order(caller, "signing key rotation")[0] == better


@pytest.mark.parametrize("nudge", ["recency", "importance", "verification", "access", "links"])
def test_between_equals_each_nudge_decides(caller: Caller, clock: Clock, nudge: str) -> None:
    ids = []
    for letter in ("A", "B"):
        fill(caller, 20)
        ids.append(save(caller.memory, replace(BETTER, title=f"Rotating signing keys {letter}")).id)
    fill(caller, 20)
    preferred, other = ids
    if nudge == "recency":
        clock.advance(days=200)
        preferred = save(caller.memory, replace(BETTER, title="Rotating signing keys C")).id
    elif nudge == "importance":
        edits.update(caller.memory, preferred, Changes(importance=1.0))
        edits.update(caller.memory, other, Changes(importance=0.0))
    elif nudge == "verification":
        edits.update(caller.memory, preferred, Changes(verification="verified"))
        edits.update(caller.memory, other, Changes(verification="outdated"))
    elif nudge == "access":
        for _ in range(10):
            context.recall(caller.memory, preferred)
    else:
        for each in range(1, 6):
            relations.relate(caller.memory, preferred, each, "relates_to")
    assert order(caller, "signing keys")[0] == preferred


def test_the_parts_of_a_score_are_shown_on_request(caller: Caller) -> None:
    save(caller.memory, BETTER)
    text = call(caller, "mem_search", {"project": "all", "query": "signing", "explain": True}).text
    assert "score" in text
    assert all(part in text for part in ("words", "recency", "importance", "verification", "access", "links"))
    assert "score" not in call(caller, "mem_search", {"project": "all", "query": "signing"}).text


@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_what_is_not_current_is_out_unless_asked_for(caller: Caller, status: str) -> None:
    found = save(caller.memory, BETTER).id
    edits.update(caller.memory, found, Changes(status=status))
    assert order(caller, "signing") == []
    assert order(caller, "signing", status=status) == [found]
    assert order(caller, "signing", status="all") == [found]
    assert str(found) not in call(caller, "context_pack", {"project": "p"}).text


def test_filters_apply_inside_the_query_before_ranking(caller: Caller) -> None:
    """Two hundred better matches elsewhere do not keep the one that passes the filter from being found."""
    with caller.database.write():
        for number in range(300):
            save(
                caller.memory,
                replace(BETTER, title=f"Signing keys {number}", content=f"signing key {number}", kind="fact"),
            )
    wanted = save(
        caller.memory, Draft(title="Aside", content="some key", kind="decision", project="q", tags=("Rare",))
    ).id
    narrowing: tuple[dict[str, Any], ...] = ({"kind": "decision"}, {"project": "Q"})
    for filters in narrowing:
        found = search.search(caller.memory, "signing key", search.filters(caller.memory, **filters), limit=5)
        assert ([hit.observation.id for hit in found.hits], found.total) == ([wanted], 1)
    found = search.search(caller.memory, "signing key", search.filters(caller.memory, tags=("rare",)), limit=5)
    assert [hit.observation.id for hit in found.hits] == [wanted]


def test_since_and_until_bound_the_time(caller: Caller, clock: Clock) -> None:
    old = save(caller.memory, BETTER).id
    clock.advance(days=30)
    new = save(caller.memory, replace(BETTER, title="Signing keys again")).id
    assert order(caller, "signing", since="7d") == [new]
    assert order(caller, "signing", until="2026-02-10") == [old]
    assert order(caller, "signing", since="2026-02-02", until="2026-02-02") == [old]
    with pytest.raises(InvalidArgument, match="since"):
        order(caller, "signing", since="the other day")


def test_every_tag_asked_for_must_be_there(caller: Caller) -> None:
    both = save(caller.memory, replace(BETTER, tags=("A", "b"))).id
    save(caller.memory, replace(BETTER, title="one tag", tags=("a",)))
    found = search.search(caller.memory, "signing", search.filters(caller.memory, tags=("a", "B")))
    assert [hit.observation.id for hit in found.hits] == [both]


def test_when_nothing_is_found_here_other_projects_are_named(caller: Caller) -> None:
    save(caller.memory, replace(BETTER, project="Thesis"))
    save(caller.memory, replace(BETTER, title="x", project="thesis"))
    save(caller.memory, replace(BETTER, project="garden"))
    text = call(caller, "mem_search", {"query": "signing", "project": "blog"}).text
    assert "there is Thesis, garden" in text and "Without it 3 match" in text
    assert "Without it 0 match" in call(caller, "mem_search", {"query": "zebra", "project": "blog"}).text


def test_a_project_is_found_whatever_its_case(caller: Caller) -> None:
    found = save(caller.memory, replace(BETTER, project="MyThesis")).id
    assert order(caller, "signing", project="mythesis") == [found]


def test_a_query_without_a_word_is_a_clear_error(caller: Caller) -> None:
    for query in ("", "   ", "()", '""'):
        with pytest.raises(InvalidArgument, match="query"):
            call(caller, "mem_search", {"project": "all", "query": query})


@pytest.mark.parametrize("limit", [0, -1, 201, 10**9])
def test_a_limit_out_of_range_is_an_error_not_a_clamp(caller: Caller, limit: int) -> None:
    with pytest.raises(InvalidArgument, match="limit"):
        call(caller, "mem_search", {"project": "all", "query": "x", "limit": limit})


def test_match_all_asks_for_every_word(caller: Caller) -> None:
    both = save(caller.memory, Draft(title="t", content="apples and pears", project="p")).id
    save(caller.memory, Draft(title="u", content="apples alone", project="p"))
    assert search.search(caller.memory, "apples pears", search.filters(caller.memory), mode="all").total == 1
    assert order(caller, "apples pears")[0] == both
    assert len(order(caller, "apples pears")) == 2


def test_what_holds_a_quoted_phrase_leads_what_only_holds_its_words(caller: Caller) -> None:
    texts = ("an exact phrase and a kettle", "an exact phrase and a saucer", "phrase exact kettle")
    both, phrase_alone, words_alone = [save(caller.memory, Draft("t", text, project="p")).id for text in texts]
    found = search.search(caller.memory, '"exact phrase" kettle', search.filters(caller.memory, project="p"))
    assert [hit.observation.id for hit in found.hits] == [both, phrase_alone, words_alone]


def test_a_note_that_the_best_match_names_by_its_title_comes_next(caller: Caller) -> None:
    texts = [
        ("Payment outage", "The outage of the payment page was caused by the Bluebird proxy."),
        ("Bluebird proxy", "It drops idle connections after ninety seconds."),
        ("Outage policy", "Who is called in an outage, and when."),
        *((f"Note {number}", f"Nothing of interest, number {number}.") for number in range(20)),
    ]
    payment, proxy, policy, *_ = [save(caller.memory, Draft(title, text, project="p")).id for title, text in texts]
    found = search.search(caller.memory, "what caused the payment outage", search.filters(caller.memory, project="p"))
    assert [hit.observation.id for hit in found.hits][:3] == [payment, proxy, policy]
    assert dict(found.hits[1].parts)["links to it"] > 0
    assert found.beside == {proxy}
    assert found.total == 2


def test_a_relation_earns_what_a_mentioned_title_earns(caller: Caller) -> None:
    first, related, _ = (
        save(caller.memory, Draft(f"{name} topic", f"{name} text", project="p")).id
        for name in ("amber", "birch", "cedar")
    )
    relations.relate(caller.memory, first, related, "depends_on")
    found = search.search(caller.memory, "amber", search.filters(caller.memory, project="p"))
    assert [hit.observation.id for hit in found.hits] == [first, related]


def test_a_word_said_twice_counts_more_than_one_said_once(caller: Caller) -> None:
    kettle, saucer = (
        save(caller.memory, Draft("t", f"a {word} stands there", project="p")).id for word in ("kettle", "saucer")
    )
    assert order(caller, "kettle saucer kettle")[0] == kettle
    assert order(caller, "kettle saucer saucer")[0] == saucer


def test_of_two_notes_that_say_it_alike_the_shorter_leads_and_the_reason_is_shown(caller: Caller) -> None:
    padding = " ".join(f"filler{number}" for number in range(300))
    said = "The zeppelin lands at noon."
    save(caller.memory, Draft(title="Zeppelin", content=f"{said} The zeppelin lands by the lake.", project="p"))
    save(caller.memory, Draft(title="Long", content=f"{said} {padding}", project="p"))
    save(caller.memory, Draft(title="Short", content=said, project="p"))
    hits = search.search(caller.memory, "when does the zeppelin land", search.filters(caller.memory)).hits
    assert [hit.observation.title for hit in hits] == ["Zeppelin", "Short", "Long"]
    assert "brevity" not in dict(hits[0].parts)
    assert dict(hits[1].parts)["brevity"] > 0 > dict(hits[2].parts)["brevity"]


def test_the_best_note_stays_first_however_long_it_is() -> None:
    long, short = 1, 2
    held = relevance.Postings(1.0, 1.0, {long: (long, 0, 1, 0, 900), short: (short, 0, 1, 0, 9)})
    gains = relevance.brevity([held], {long: 2.0, short: 1.9}, usual_units=100.0)
    assert gains[long] == 0
    assert 0 < gains[short] < 0.1


def test_words_side_by_side_in_the_question_count_more_where_they_are_side_by_side(caller: Caller) -> None:
    fill(caller)
    apart = "The paper of the wall is green, and the feed for birds is grey."
    joined = "The wall paper is green, and the bird feed is grey, of the for and."
    first = save(caller.memory, Draft(title="One", content=joined, project="p")).id
    second = save(caller.memory, Draft(title="Two", content=apart, project="p")).id
    assert order(caller, "green wall paper")[:2] == [first, second]


def test_a_note_called_by_its_whole_title_leads_one_that_repeats_the_words(caller: Caller) -> None:
    fill(caller)
    save(
        caller.memory,
        Draft(title="Oslo", content="The harbour plan of Oslo. Plan of the harbour, harbour plan.", project="p"),
    )
    titled = save(caller.memory, Draft(title="Harbour plan (2024)", content="Two piers, one crane.", project="p")).id
    hits = search.search(caller.memory, "what does the harbour plan say", search.filters(caller.memory)).hits
    assert hits[0].observation.id == titled
    assert dict(hits[0].parts)["named"] > 0
    assert "named" not in dict(hits[1].parts)


def test_a_title_that_many_notes_share_names_none_of_them(caller: Caller) -> None:
    for number in range(5):
        save(caller.memory, Draft(title="Harbour plan", content=f"Pier {number} has a crane.", project="p"))
    hits = search.search(caller.memory, "harbour plan for pier 3", search.filters(caller.memory)).hits
    assert all("named" not in dict(hit.parts) for hit in hits)


def test_what_tells_namesakes_apart_is_no_part_of_the_name_that_is_mentioned(caller: Caller) -> None:
    fill(caller)
    save(caller.memory, Draft(title="Crossing", content="The Bluebird ferry sails with Ada Berg.", project="p"))
    person = save(caller.memory, Draft(title="Ada Berg (captain)", content="Born in Bergen.", project="p")).id
    assert person in order(caller, "who sails the ferry")


def test_a_title_of_several_words_is_mentioned_in_any_inflection(caller: Caller) -> None:
    fill(caller)
    save(caller.memory, Draft(title="Trains", content="The release train uses the amber gates.", project="p"))
    linked = save(caller.memory, Draft(title="Amber gate", content="Two people have to sign.", project="p")).id
    save(caller.memory, Draft(title="Amber", content="It floats.", project="p"))
    assert linked in order(caller, "what does the release train use")


def test_titles_that_are_too_long_for_names_lead_nowhere(caller: Caller) -> None:
    fill(caller)
    about = save(caller.memory, Draft(title="Ferries", content="The Bluebird ferry leaves at noon.", project="p")).id
    long = save(caller.memory, Draft(title=f"Bluebird {'and more ' * 20}", content="Something.", project="p")).id
    assert order(caller, "when does the ferry leave") == [about]
    assert long not in order(caller, "ferry noon")
