"""Profiles: how tokens are counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import InvalidArgument
from haversack.tokens import PROFILES, count_tokens, estimate_tokens, profile_named, utf8_length

PROFILE_NAMES = sorted(PROFILES)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(TEXTS)
def test_the_estimate_is_the_utf8_length_divided_by_four_and_at_least_one(text: str) -> None:
    length = len(text.encode())
    assert estimate_tokens(text) == (max(1, length // 4) if text else 0)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abc", 1), ("abcdefg", 1), ("abcdefgh", 2), ("汉字", 1), ("汉字汉字", 3), ("🙂", 1)],
)
def test_the_estimate_counts_bytes_not_characters(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_half_a_character_is_counted_like_any_other_text() -> None:
    assert utf8_length("\ud800") == 3
    for name in PROFILE_NAMES:
        assert count_tokens("a \ud800 b", name) >= 1


@given(st.sampled_from(PROFILE_NAMES), st.integers(0, 10**7))
def test_a_room_is_the_most_units_that_cost_no_more(name: str, tokens: int) -> None:
    profile = profile_named(name)
    room = profile.room(tokens)
    assert profile.tokens(room) <= tokens
    assert profile.tokens(room + 1) > tokens or (tokens == 0 and room == 0)


@given(st.sampled_from(PROFILE_NAMES), st.integers(0, 10**7))
def test_units_fit_exactly_into_the_room_of_their_own_cost(name: str, units: int) -> None:
    profile = profile_named(name)
    assert profile.room(profile.tokens(units)) >= units
    assert profile.tokens(units) <= profile.tokens(units + 1)


@given(st.sampled_from(PROFILE_NAMES), st.lists(TEXTS.filter(lambda text: not text[:1].isspace()), max_size=5))
def test_units_of_pieces_that_begin_on_a_new_line_bound_the_whole(name: str, pieces: list[str]) -> None:
    """Packing adds pieces up, so a whole may cost a little less than its pieces but hardly more."""
    profile = profile_named(name)
    lines = [piece + "\n" for piece in pieces]
    assert profile.measure("".join(lines)) <= sum(map(profile.measure, lines)) + len(lines)


@given(TEXTS)
def test_the_profile_for_claude_is_never_below_the_exact_count(text: str) -> None:
    exact = count_tokens(text, "o200k")
    assert count_tokens(text, "claude") == -(-exact * 3 // 2)


def test_an_unknown_profile_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(InvalidArgument, match="unknown token profile 'gpt9'") as caught:
        count_tokens("text", "gpt9")
    assert all(name in caught.value.hint for name in PROFILE_NAMES)


def test_profiles_say_whether_they_are_exact() -> None:
    assert {name: PROFILES[name].exact for name in ("bytes4", "o200k", "claude")} == {
        "bytes4": False,
        "o200k": True,
        "claude": False,
    }
