import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.memory.search.query import parse_query
from haversack.memory.search.snippets import match_positions, snippet

LOREM = "lorem ipsum dolor sit amet "


def matched(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in match_positions(text, parse_query(query))]


@pytest.mark.parametrize(
    ("text", "query", "spans"),
    [
        (
            "We authenticate users; authentication failed.",
            "authenticated user",
            ["authenticate", "users", "authentication"],
        ),
        ("Happy, happily, happening", "happiness", ["Happy"]),
        ("getUserName, get_user_name", "name", ["Name", "name"]),
        ("getUserName", "getUserName", ["getUserName"]),
        ("an HTTPServer2", "server", ["Server"]),
        ("the username", "name", []),
        ("un CAFÉ, un cafe\u0301", "café", ["CAFÉ", "cafe\u0301"]),
        ("使用数据库连接PostgreSQL数据库", "数据库 postgresql", ["数据库", "PostgreSQL", "数据库"]),
        ("C, C++ and C++17", "c++", ["C++", "C++"]),
        ("shipped 🎉🎉 today", "🎉", ["🎉", "🎉"]),
        ("copyright copying recopy", "copy*", ["copyright", "copying"]),
        ("in src/auth/login.py now", "src/auth/login.py", ["src", "auth", "login", "py"]),
        ("exact phrase", '"exact phrases"', ["exact", "phrase"]),
        ("ﬁne İstanbul x", "x", ["x"]),
    ],
)
def test_matches_are_found_where_they_stand(text: str, query: str, spans: list[str]) -> None:
    assert matched(text, query) == spans


@given(st.text(), st.text(max_size=40))
def test_positions_are_in_order_inside_the_text_and_apart(text: str, query: str) -> None:
    positions = match_positions(text, parse_query(query))
    edges = [edge for span in positions for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in positions)


@given(st.text(), st.text(max_size=40), st.integers(1, 120))
def test_a_snippet_is_one_line_within_its_width(text: str, query: str, width: int) -> None:
    shown = snippet(text, parse_query(query), width=width)
    assert len(shown) <= width
    assert shown == " ".join(shown.split())


@given(st.text(), st.integers(1, 120))
def test_a_snippet_is_made_of_the_text(text: str, width: int) -> None:
    shown = snippet(text, parse_query("word"), width=width)
    assert shown.removeprefix("…").removesuffix("…").strip() in " ".join(text.split())


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("one\n  two\tthree", parse_query("two"), width=40) == "one two three"


def test_a_snippet_shows_where_the_match_is() -> None:
    text = LOREM * 40 + "the connection pool was exhausted " + LOREM * 40
    shown = snippet(text, parse_query("exhausting connections"), width=80)
    assert "connection pool was exhausted" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_a_text_does_not_lose_only_its_first_words() -> None:
    text = "Requests that began early were refused with a needle. " + LOREM * 6
    assert snippet(text, parse_query("needle"), width=100).startswith("Requests that")
    far = LOREM * 6 + "and a needle at the end"
    assert snippet(far, parse_query("needle"), width=100).startswith("…")


def test_different_words_together_beat_one_word_repeated() -> None:
    text = "pool pool pool " + LOREM * 20 + "the database pool leaked" + LOREM * 20
    assert "database pool leaked" in snippet(text, parse_query("database pool leaking"), width=60)


def test_without_a_match_the_beginning_is_shown() -> None:
    shown = snippet(LOREM * 20, parse_query("absent"), width=30)
    assert shown == "lorem ipsum dolor sit amet…"


def test_cuts_are_made_between_words() -> None:
    text = LOREM * 20 + "needle " + LOREM * 20
    inner = snippet(text, parse_query("needle"), width=50).strip("…")
    assert set(inner.split()) <= {*LOREM.split(), "needle"}


def test_an_endless_word_is_cut_between_characters() -> None:
    shown = snippet("x" * 500 + " needle " + "y" * 500, parse_query("needle"), width=40)
    assert len(shown) == 40
    assert " needle " in shown


@pytest.mark.parametrize("character", ["👩\u200d👩\u200d👧", "🇺🇸", "👍🏽", "e\u0301\u0302", "1\ufe0f\u20e3"])
def test_what_looks_like_one_character_is_never_parted(character: str) -> None:
    for width in range(12, 30):
        shown = snippet(character * 50, parse_query("absent"), width=width)
        assert shown.endswith("…")
        assert len(shown[:-1]) % len(character) == 0


def test_a_match_in_a_very_long_text_is_reached() -> None:
    text = LOREM * 7_000 + "needle"
    assert snippet(text, parse_query("needles"), width=60).endswith("needle")


@pytest.mark.parametrize("text", ["c" * 200_000, "aB" * 100_000, "ca " * 60_000, "Ca1" * 60_000])
def test_hostile_texts_are_searched_like_any_other(text: str) -> None:
    assert snippet(text, parse_query("cat config cab a"), width=50)


def test_decomposed_text_is_matched_in_its_own_positions() -> None:
    text = unicodedata.normalize("NFD", "déjà vu à côté")
    start, end = match_positions(text, parse_query("cote"))[0]
    assert unicodedata.normalize("NFC", text[start:end]) == "côté"
