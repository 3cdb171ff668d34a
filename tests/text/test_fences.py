"""Fenced code in Markdown: which lines are in it, and what is open at the end."""

import pytest

from haversack.text.fences import ANY_INDENT, closing, open_fence, with_fences


def fenced(text: str, indent: int = 3) -> str:
    """One character for each line: `x` where it is fenced code."""
    return "".join("x" if is_fenced else "." for _, is_fenced in with_fences(text.split("\n"), indent=indent))


@pytest.mark.parametrize(
    ("text", "expected", "still_open"),
    [
        ("a\n```py\nb\n```\nc", ".xxx.", ""),
        ("````\n```\n````\na", "xxx.", ""),
        ("```\n~~~\n```", "xxx", ""),
        ("~~~ `name`\na", "xx", "~~~ `name`"),
        ("``` a `b` ```\nc", "..", ""),
        ("```\na\n``` b\nc", "xxxx", "```"),
        ("    ```\na", "..", ""),
        ("   ```\na\n```\nb", "xxx.", ""),
        ("a", ".", ""),
    ],
)
def test_a_fence_runs_to_a_bare_line_of_its_own_marks(text: str, expected: str, still_open: str) -> None:
    assert fenced(text) == expected
    assert open_fence(text.split("\n")) == still_open


def test_a_text_may_begin_inside_a_fence() -> None:
    assert open_fence(["a"], "~~~~sh") == "~~~~sh"
    assert open_fence(["a", "~~~~"], "~~~~sh") == ""
    assert closing("  ~~~~sh") == "~~~~"


def test_fences_of_list_items_may_stand_as_far_in_as_the_item() -> None:
    assert fenced("- a\n      ```\n      b\n      ```\nc", ANY_INDENT) == ".xxx."


def test_without_tildes_only_backticks_are_fences() -> None:
    lines = ["~~~", "a", "```", "b"]
    assert [is_fenced for _, is_fenced in with_fences(lines, tildes=False)] == [False, False, True, True]
