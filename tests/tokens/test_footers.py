"""The footer lines, word for word."""

import pytest
from inline_snapshot import snapshot

from haversack.tokens import LeftOut, budget_line, count_tokens, navigation_hint, token_footer

LEFT = LeftOut("k7f2", 14, 2310, exact=True)
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
    line = budget_line(1_290, 1_300, shown=4, total=18, noun="observations", advice=ADVICE, left=LEFT.sentence())
    assert line == snapshot(
        '⚡ Budget: ~1,290/1,300 tokens used. 4 of 18 observations shown. Increase max_tokens or use detail_level=summary for more. more("k7f2"), ~2,310 tokens.'
    )


def test_a_budget_that_cut_without_a_key_ends_with_the_advice() -> None:
    line = budget_line(390, 400, shown=4, total=1_018, noun="files", advice=ADVICE)
    assert line == snapshot(
        "⚡ Budget: ~390/400 tokens used. 4 of 1,018 files shown. Increase max_tokens or use detail_level=summary for more."
    )


def test_small_budgets_get_the_short_form() -> None:
    line = budget_line(190, 200, shown=1, total=18, noun="matches", advice=ADVICE, left=LEFT.sentence())
    assert line == snapshot('⚡ 1 of 18 matches shown. more("k7f2"), ~2,310 tokens.')
    assert budget_line(60, 64, shown=1, total=2, noun="lines", advice=ADVICE, part=True) == snapshot(
        "⚡ Part of 1 of 2 lines shown."
    )


def test_the_long_form_begins_at_400() -> None:
    def line(budget: int) -> str:
        return budget_line(60, budget, shown=1, total=2, noun="lines", advice=ADVICE)

    assert "Increase" not in line(399)
    assert "Increase" in line(400)


@pytest.mark.parametrize(("budget", "most"), [(64, 30), (128, 30), (399, 30), (400, 50), (999, 50)])
def test_the_footers_cost_at_most_30_tokens_below_400_and_50_from_there(budget: int, most: int) -> None:
    for noun in ("results", "observations", "matches"):
        left = LeftOut("k7f2", 48, 4_300, exact=True).sentence()
        line = budget_line(budget - 1, budget, shown=12, total=60, noun=noun, advice=ADVICE, left=left)
        assert count_tokens(line + token_footer(budget - 1)) <= most


def test_what_the_counts_do_not_tell_is_told() -> None:
    assert LEFT.sentence(with_items=True) == snapshot(' more("k7f2"), 14 left, ~2,310 tokens.')


def test_what_could_not_be_kept_has_no_key() -> None:
    assert LeftOut("", 14, 2_310, exact=True).sentence() == snapshot(" ~2,310 tokens not kept.")


def test_a_limit_that_left_a_key_ends_with_the_key() -> None:
    hint = navigation_hint(10, 1_024, "Use limit or mem_get_observation #ID for more.") + LEFT.sentence()
    assert hint == snapshot(
        'Showing 10 of 1,024 results. Use limit or mem_get_observation #ID for more. more("k7f2"), ~2,310 tokens.'
    )
