"""Short texts: one line, at most so wide, cut at a word end."""

from hypothesis import given
from hypothesis import strategies as st

from haversack.text.clipping import clipped, one_line, word_end


@given(st.text(), st.integers(min_value=0, max_value=60))
def test_one_line_is_never_wider_than_asked_and_is_whole_where_it_fits(text: str, width: int) -> None:
    folded = " ".join(text.split())
    line = one_line(text, width)
    assert len(line) <= width
    assert line == folded if len(folded) <= width else line == "" or line.endswith("…")
    assert folded.startswith(line.removesuffix("…"))


def test_a_long_text_is_cut_at_a_word_end() -> None:
    assert one_line("the cache is\nwarmed at start", 21) == "the cache is warmed…"


def test_a_long_word_is_cut_inside_rather_than_lost() -> None:
    assert one_line("see " + "x" * 40, 20) == "see " + "x" * 15 + "…"
    assert one_line("字" * 40, 20) == "字" * 19 + "…"


def test_white_space_behind_a_text_that_just_fits_does_not_mark_it_as_cut() -> None:
    assert one_line("exactly ten" + " " * 500, 11) == "exactly ten"


def test_clipping_keeps_the_spaces_and_lines_of_what_it_shows() -> None:
    assert clipped("a  b\nc", 10) == "a  b\nc"
    assert clipped("one  two\nthree four five", 17) == "one  two\nthree…"


def test_a_word_end_in_the_first_half_is_no_place_to_cut() -> None:
    assert word_end("a bcdefgh") == 9
    assert word_end("abcdef gh") == 6


def test_a_text_can_be_cut_inside_a_word() -> None:
    assert one_line("the cache is\nwarmed at start", 15, at_word=False) == "the cache is w…"
