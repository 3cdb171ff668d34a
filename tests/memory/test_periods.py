"""When a question is about: dates it names, and those it counts from today."""

import pytest

from haversack.app import Caller
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import search
from haversack.memory.search.periods import Period, Span, days_only, nearness, periods_in
from haversack.text.times import DAY, from_iso
from tests.conftest import Clock

NOW = from_iso("2026-05-20T15:00:00")  # a Wednesday
TODAY = NOW // DAY


def day(text: str) -> int:
    return from_iso(text) // DAY


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what was decided on 2026-02-10?", [Period(2026, 2, 10)]),
        ("the report of 2026-02", [Period(2026, 2, None)]),
        ("the build 2026-99-99", [Period(2026, None, None)]),
        ("on 8 May, 2023", [Period(2023, 5, 8)]),
        ("on May 8th 2023", [Period(2023, 5, 8)]),
        ("the 3rd of June", [Period(None, 6, 3)]),
        ("in March", [Period(None, 3, None)]),
        ("what happened in 2024", [Period(2024, None, None)]),
        ("it may rain in Paris", []),
        ("the release in May", [Period(None, 5, None)]),
        ("what broke last May?", [Period(2025, 5, None)]),
        ("the outage this May", [Period(2026, 5, None)]),
        ("last March we moved", [Period(2026, 3, None)]),
        ("last December", [Period(2025, 12, None)]),
        ("what did we do yesterday", [Span(TODAY - 1, TODAY - 1)]),
        ("today's notes", [Span(TODAY, TODAY)]),
        ("two days ago", [Span(TODAY - 2, TODAY - 2)]),
        ("10 days ago", [Span(TODAY - 10, TODAY - 10)]),
        ("a week ago", [Span(TODAY - 10, TODAY - 4)]),
        ("five months ago", [Period(2025, 12, None)]),
        ("3 years ago", [Period(2023, None, None)]),
        ("last week", [Span(day("2026-05-11"), day("2026-05-17"))]),
        ("this week", [Span(day("2026-05-18"), day("2026-05-24"))]),
        ("last month", [Period(2026, 4, None)]),
        ("this year", [Period(2026, None, None)]),
        ("last year", [Period(2025, None, None)]),
        ("the past week", [Span(TODAY - 7, TODAY)]),
        ("last Wednesday", [Span(TODAY - 7, TODAY - 7)]),
        ("last Monday", [Span(day("2026-05-18"), day("2026-05-18"))]),
        ("nothing about time", []),
    ],
)
def test_times_are_found_in_questions(text: str, expected: list[object]) -> None:
    assert list(periods_in(text, NOW)) == expected


def test_in_january_last_month_is_of_the_year_before() -> None:
    assert periods_in("last month", from_iso("2026-01-05")) == (Period(2025, 12, None),)


@pytest.mark.parametrize(
    ("written", "text", "expected"),
    [
        ("2023-05-08T10:00:00", "on 8 May 2023", "day"),
        ("2023-05-09T10:00:00", "on 8 May 2023", "month"),
        ("2023-05-09T10:00:00", "in May 2023", "period"),
        ("2022-05-09T10:00:00", "in May 2023", ""),
        ("2026-05-19T23:59:59", "yesterday", "day"),
        ("2026-05-17T12:00:00", "yesterday", "month"),
        ("2026-05-10T12:00:00", "yesterday", ""),
        ("2026-05-12T12:00:00", "last week", "period"),
        ("1969-12-31T12:00:00", "in December", "period"),
    ],
)
def test_a_stored_time_is_held_against_them(written: str, text: str, expected: str) -> None:
    assert nearness(from_iso(written), periods_in(text, NOW)) == expected


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what did we do today", 0, 0),
        ("What happened yesterday?", -1, -1),
        ("what did I work on 3 days ago", -3, -3),
        ("today", 0, 0),
    ],
)
def test_a_question_that_names_only_a_time_asks_for_that_time(question: str, first: int, last: int) -> None:
    today = 20_000
    assert days_only(question, today * DAY + 5) == Span(today + first, today + last)


@pytest.mark.parametrize("question", ["what did we decide about caching today", "the May release", "deploy", ""])
def test_a_question_that_names_something_else_too_is_a_search(question: str) -> None:
    assert days_only(question, 20_000 * DAY) is None


def test_a_date_only_question_lists_that_time_with_its_total(caller: Caller, clock: Clock) -> None:
    old = save(caller.memory, Draft("old", "written before", project="p")).id
    clock.advance(days=1)
    new = [save(caller.memory, Draft(f"new {number}", "written now", project="p")).id for number in range(3)]
    found = search.search(caller.memory, "what did we do today?", search.filters(caller.memory, project="p"), limit=2)
    assert [hit.observation.id for hit in found.hits] == [new[2], new[1]]
    assert (found.total, found.others) == (3, (new[0],))
    yesterday = search.search(caller.memory, "what did we do yesterday", search.filters(caller.memory, project="p"))
    assert [hit.observation.id for hit in yesterday.hits] == [old]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Was haben wir heute gemacht?", Span(TODAY, TODAY)),
        ("was haben wir gestern gemacht", Span(TODAY - 1, TODAY - 1)),
        ("Was war letzte Woche?", Span(TODAY - 9, TODAY - 3)),
        ("qu'avons-nous fait aujourd'hui", Span(TODAY, TODAY)),
        ("¿Qué hicimos ayer?", Span(TODAY - 1, TODAY - 1)),
        ("qu'avons-nous fait hier ?", Span(TODAY - 1, TODAY - 1)),
        ("Qu'est-ce qui s'est passé hier ?", Span(TODAY - 1, TODAY - 1)),
        ("les notes d'hier", Span(TODAY - 1, TODAY - 1)),
        ("was haben wir hier gemacht", None),
        ("cosa abbiamo fatto oggi", Span(TODAY, TODAY)),
        ("was haben wir heute über Zeppeline gesagt", None),
    ],
)
def test_days_are_understood_in_other_languages(text: str, days: Span | None) -> None:
    assert days_only(text, NOW) == days
