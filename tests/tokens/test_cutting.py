"""Cutting one long text into pages."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.tokens import cut, profile_named, utf8_length

o200k = profile_named("o200k").measure
FENCED = "Intro\n```python\nx = 1\ny = 2\nz = 3\n```\nOutro\n~~~\nplain\n~~~\n"

LINES = st.sampled_from(
    ["", "one", "two words", "```", "```python", "````", "~~~", "~~~sh", "  ```", "    ```", "`x`", "日本語の行です", "🏳️‍🌈🙂",
     "naïve café", "a" * 300, "word " * 60, "\t- item", "| a | b |"]
)  # fmt: skip
ENDS = st.sampled_from(["\n", "\r\n", "\n", "\n\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.tuples(LINES, ENDS), max_size=12))
    return "".join(line + end for line, end in parts) + draw(LINES)


def pages(text: str, room: int, measure: object = o200k) -> list[tuple[str, str]]:
    """Every page of a text as (shown, the part of the text it stands for)."""
    found = []
    rest, fence = text, ""
    while True:
        page = cut(rest, room, measure, fence=fence)  # type: ignore[arg-type]
        found.append((page.shown, rest[: len(rest) - len(page.rest)]))
        if not page.rest:
            return found
        assert len(page.rest) < len(rest), "a page that shows nothing would go on for ever"
        rest, fence = page.rest, page.fence


def open_fences(shown: str) -> bool:
    """Whether a fence is open at the end, read line by line as CommonMark does."""
    opening = ""
    for line in re.split(r"\r\n|\n|\r", shown):
        found = re.match(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", line)
        if not found:
            continue
        marker, info = found.groups()
        if not opening:
            opening = "" if marker[0] == "`" and "`" in info else marker
        elif marker[0] == opening[0] and len(marker) >= len(opening) and not info.strip():
            opening = ""
    return bool(opening)


@settings(max_examples=150)
@given(documents(), st.integers(16, 120), st.sampled_from(["o200k", "bytes4"]))
def test_the_pages_of_a_text_add_up_to_the_text_and_none_is_over_its_room(text: str, room: int, name: str) -> None:
    measure = profile_named(name).measure
    found = pages(text, room, measure)
    assert "".join(part for _, part in found) == text
    assert all(measure(shown) <= room for shown, _ in found)


@settings(max_examples=150)
@given(documents(), st.integers(20, 120))
def test_no_page_leaves_a_fence_open(text: str, room: int) -> None:
    assert not any(open_fences(shown) for shown, _ in pages(text, room))


@settings(max_examples=100)
@given(documents(), st.integers(16, 100))
def test_pages_end_at_line_ends_unless_one_line_is_too_long(text: str, room: int) -> None:
    rest = text
    for _, part in pages(text, room)[:-1]:
        assert part.endswith("\n") or "\n" not in part.rstrip("\n"), "a page with a whole line ends after one"
        rest = rest[len(part) :]


@settings(max_examples=100)
@given(documents(), st.integers(30, 100))
def test_a_page_takes_every_line_that_still_fits(text: str, room: int) -> None:
    found = pages(text, room)
    if len(found) < 2 or not found[0][1].endswith("\n"):
        return
    first, following = found[0][1], (text[len(found[0][1]) :].splitlines(keepends=True) or [""])[0]
    assert cut(first + following, room, o200k).rest, "the next line would have fitted"


def test_a_fence_is_closed_at_the_end_of_a_page_and_opened_again_on_the_next() -> None:
    page = cut(FENCED, o200k("Intro\n```python\nx = 1\n```\n"), o200k)
    assert page.shown == "Intro\n```python\nx = 1\n```"
    following = cut(page.rest, 1000, o200k, fence=page.fence)
    assert following.shown == "```python\ny = 2\nz = 3\n```\nOutro\n~~~\nplain\n~~~\n"
    assert following.rest == following.fence == ""


def test_a_longer_fence_is_not_closed_by_a_shorter_one() -> None:
    text = "````\n```\ninside\n```\nstill inside\n"
    page = cut(text, 1000, o200k)
    assert page.shown == text + "````"


def test_windows_line_ends_are_kept_as_they_are() -> None:
    text = "one\r\ntwo\r\nthree\r\n" * 20
    found = pages(text, 20)
    assert len(found) > 1
    assert "".join(part for _, part in found) == text
    assert all(part.endswith("\r\n") for _, part in found)


def test_a_line_that_is_too_long_is_cut_at_a_word_end() -> None:
    page = cut("some words " * 100, 20, o200k)
    assert page.shown.endswith("words ") or page.shown.endswith("some ")
    assert o200k(page.shown) <= 20


def test_a_line_without_words_is_cut_between_characters() -> None:
    text = "汉" * 500
    found = pages(text, 10)
    assert "".join(part for _, part in found) == text
    assert len(found) < 100


@pytest.mark.parametrize("text", ["👨‍👩‍👧‍👦" * 40, "e\u0301" * 200, "🇩🇪🇫🇷" * 60, "👍🏽" * 80])
def test_what_a_reader_sees_as_one_character_is_never_parted(text: str) -> None:
    for _, part in pages(text, 30)[1:]:
        assert not unicodedata.combining(part[0])
        assert part[0] not in "\u200d\ufe0f" and not "\U0001f3fb" <= part[0] <= "\U0001f3ff"
        assert part.count("🇩") == part.count("🇪")


@pytest.mark.parametrize("room", [0, 1, 2, 3])
def test_a_room_too_small_for_one_character_gives_an_empty_page_and_the_whole_rest(room: int) -> None:
    page = cut("🙂🙂", room, utf8_length)
    assert (page.shown, page.rest) == ("", "🙂🙂")


def test_an_empty_text_is_one_empty_page() -> None:
    assert cut("", 10, o200k).shown == cut("", 10, o200k).rest == ""


def test_nothing_left_inside_a_fence_is_no_accident_even_in_a_tiny_room() -> None:
    page = cut("", 1, o200k, fence="```python")
    assert page.rest == ""


def test_a_megabyte_without_a_line_break_is_cut_without_counting_it_all() -> None:
    counted = 0

    def measure(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return utf8_length(text)

    page = cut("x" * 1_000_000, 400, measure)
    assert page.shown == "x" * 400
    assert counted < 1_000_000


def test_a_text_that_repeats_one_sign_fits_although_it_is_long() -> None:
    text = "=" * 4000
    assert cut(text, o200k(text), o200k).shown == text
