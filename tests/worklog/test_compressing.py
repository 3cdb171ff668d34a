"""One line for a result, whatever the compressor does."""

from hypothesis import given
from hypothesis import strategies as st

from haversack.text.clipping import one_line
from haversack.worklog import compress
from haversack.worklog.log_line import written


def test_the_tools_own_compressor_sees_the_result_itself() -> None:
    line = compress("count", list(range(30)), compressors={"count": lambda result: f"{len(result)} numbers"})
    assert line == "30 numbers"


def test_a_failing_compressor_falls_back_to_the_beginning() -> None:
    line = compress("count", "one\ntwo\n" * 500, compressors={"count": lambda result: f"{1 / 0}"})
    assert line.startswith("one two one two")
    assert line.endswith("…")
    assert len(line) <= 500


def test_a_compressor_that_says_more_than_the_result_is_not_heeded() -> None:
    assert compress("count", "three", compressors={"count": lambda _: "a long way of saying three"}) == "three"


@given(st.text(max_size=3_000), st.integers(1, 600), st.text(max_size=700))
def test_a_line_is_one_line_within_its_limit_and_never_longer_than_the_result(
    text: str, limit: int, brief: str
) -> None:
    line = compress("tool", text, compressors={"tool": lambda _: brief}, limit=limit)
    assert len(line) <= min(limit, max(len(text), 1))
    assert len(line.splitlines()) <= 1


def test_a_text_that_is_nearly_all_space_is_still_shown() -> None:
    assert one_line(" " * 100_000 + "word", 20) == "word"


def test_arguments_are_written_as_in_a_call_and_cut() -> None:
    arguments = {"query": "jwt auth " * 20, "limit": 5, "tags": ["a", "b"], "evicted": True}
    assert written(arguments, each=20) == 'query="jwt auth jwt auth…", limit=5, tags=["a","b"], evicted=true'


def test_an_argument_nested_in_itself_is_named_by_its_kind() -> None:
    knot: list[object] = []
    knot.append(knot)
    assert written({"knot": knot}, each=20) == "knot=(list)"
