"""Budgets as callers send them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import BudgetTooSmall, InvalidArgument
from haversack.tokens import FLOOR, Budget, parse_max_tokens, profile_named
from haversack.values import replace


@pytest.mark.parametrize(("sent", "meant"), [(64, 64), (1500, 1500), ("1500", 1500), (" 1500 ", 1500), (1500.0, 1500)])
def test_a_budget_is_a_whole_number_or_a_string_of_digits(sent: object, meant: int) -> None:
    assert parse_max_tokens(sent) == meant


@pytest.mark.parametrize("sent", [63, 0, -1, -(10**30), "63", "0", "-5", 0.0, -64.0])
def test_a_budget_below_the_floor_is_refused_by_an_error_that_names_the_floor(sent: object) -> None:
    with pytest.raises(BudgetTooSmall, match=str(FLOOR)) as caught:
        parse_max_tokens(sent)
    assert "max_tokens" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "sent",
    [
        1500.5, "1500.5", math.nan, math.inf, -math.inf, True, False, "", " ", "many", "1_500", "1,500", "٣٠٠٠", "0x40",
        "1e3", "--64", None, [], [1500], {"tokens": 1500}, b"1500", "9" * 5000,
    ],
)  # fmt: skip
def test_what_is_not_a_whole_number_is_refused_by_an_error_that_names_the_floor(sent: object) -> None:
    with pytest.raises(InvalidArgument, match=str(FLOOR)) as caught:
        parse_max_tokens(sent)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("sent", [10**9 + 1, 10**30, "1000000001", 1e300])
def test_a_budget_no_window_has_is_refused(sent: object) -> None:
    with pytest.raises(InvalidArgument, match=str(FLOOR)):
        parse_max_tokens(sent)


@pytest.mark.parametrize(("digits", "said"), [("9" * 18, "over the most"), ("9" * 19, "not a whole number")])
def test_a_text_is_read_as_a_number_up_to_eighteen_digits(digits: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        parse_max_tokens(digits)


@pytest.mark.parametrize(
    ("sent", "shown"), [("x" * 58, f"'{'x' * 58}', not"), ("x" * 59, f"'{'x' * 56}..., not"), ([0], "[0], not")]
)
def test_the_error_shows_what_was_sent_in_at_most_sixty_characters(sent: object, shown: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_max_tokens(sent)
    assert f"is {shown}" in caught.value.message


def test_what_surrounds_a_text_leaves_the_budget_before_the_text_does() -> None:
    profile = replace(profile_named("o200k"), overhead=7)
    budget = Budget(64, profile)
    assert budget.units == profile.room(64) - 7
    assert budget.holds("a " * 20) == (profile.measure("a " * 20) <= budget.units)


def test_the_error_names_the_parameter_the_caller_used() -> None:
    with pytest.raises(BudgetTooSmall, match="total is 3"):
        parse_max_tokens(3, name="total")


@given(st.integers(FLOOR, 10**9))
def test_a_number_and_its_digits_mean_the_same_budget(tokens: int) -> None:
    assert parse_max_tokens(tokens) == parse_max_tokens(str(tokens)) == tokens


@given(st.text(max_size=200), st.sampled_from(["bytes4", "o200k", "claude"]), st.integers(1, 60))
def test_a_budget_holds_exactly_what_counts_to_no_more(text: str, name: str, tokens: int) -> None:
    profile = profile_named(name)
    budget = Budget(tokens, profile)
    assert budget.holds(text) == (profile.count(text) <= tokens)
    assert budget.holds(text) == (profile.measure(text) <= budget.units)
