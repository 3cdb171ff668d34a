"""The footer lines, word for word."""

import pytest
from inline_snapshot import snapshot

from haversack.tokens import LeftOut, budget_line, navigation_hint, token_footer

LEFT = LeftOut("k7f2", 14, 2310)
ADVICE = "Increase max_tokens or use detail_level=summary for more."


def test_the_token_line_has_commas_between_thousands() -> None:
    assert token_footer(1234) == snapshot("\n📏 ~1,234 tokens")
    assert token_footer(7) == snapshot("\n📏 ~7 tokens")
    assert token_footer(1_234_567) == snapshot("\n📏 ~1,234,567 tokens")


def test_a_limit_that_cut_a_search_names_what_to_do() -> None:
    assert navigation_hint(10, 31, "Use limit or mem_get_observation #ID for more.") == snapshot(
        "Showing 10 of 31 results. Use limit or mem_get_observation #ID for more."
    )


def test_a_limit_that_cut_a_context_names_its_own_noun() -> None:
    hint = "Increase limit or use mem_get_observation #ID for details."
    assert navigation_hint(20, 60, hint, noun="observations") == snapshot(
        "Showing 20 of 60 observations. Increase limit or use mem_get_observation #ID for details."
    )


def test_a_window_smaller_than_its_session_needs_no_advice() -> None:
    assert navigation_hint(4, 9, noun="observations in session") == snapshot("Showing 4 of 9 observations in session.")


@pytest.mark.parametrize(("showing", "total"), [(0, 0), (5, 5), (6, 5)])
def test_there_is_no_hint_when_nothing_is_hidden(showing: int, total: int) -> None:
    assert navigation_hint(showing, total, "Use limit.") == ""


def test_a_budget_that_cut_names_the_way_to_the_rest_and_its_price() -> None:
    line = budget_line(290, 300, shown=4, total=18, noun="observations", advice=ADVICE, left=LEFT)
    assert line == snapshot(
        '⚡ Budget: ~290/300 tokens used. 4 of 18 observations shown. Increase max_tokens or use detail_level=summary for more. More: more("k7f2"), 14 left, ~2310 tokens.'
    )


def test_a_budget_that_cut_without_a_key_ends_with_the_advice() -> None:
    line = budget_line(290, 300, shown=4, total=18, noun="files", advice=ADVICE, left=None)
    assert line == snapshot(
        "⚡ Budget: ~290/300 tokens used. 4 of 18 files shown. Increase max_tokens or use detail_level=summary for more."
    )


def test_small_budgets_get_the_short_form() -> None:
    line = budget_line(190, 200, shown=1, total=18, noun="matches", advice=ADVICE, left=LEFT)
    assert line == snapshot('⚡ Budget: ~190/200 tokens used. 1 of 18 matches shown. more("k7f2"), ~2310 tokens.')
    assert budget_line(60, 64, shown=0, total=2, noun="lines", advice=ADVICE, left=None) == snapshot(
        "⚡ Budget: ~60/64 tokens used. 0 of 2 lines shown."
    )


def test_the_long_form_begins_at_256() -> None:
    def line(budget: int) -> str:
        return budget_line(60, budget, shown=1, total=2, noun="lines", advice=ADVICE, left=LEFT)

    assert "Increase" not in line(255)
    assert "Increase" in line(256)


def test_a_limit_that_left_a_key_ends_with_the_key() -> None:
    hint = navigation_hint(10, 24, "Use limit or mem_get_observation #ID for more.") + LEFT.long()
    assert hint == snapshot(
        'Showing 10 of 24 results. Use limit or mem_get_observation #ID for more. More: more("k7f2"), 14 left, ~2310 tokens.'
    )
