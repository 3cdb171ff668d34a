"""Renderings show more of a long result than plain cutting, and what they state can be read back."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.gateway.renderings import rendered
from haversack.gateway.renderings.tables import rows
from haversack.tokens import count_tokens
from tests.gateway.torture_server import rows as sample_rows

NAMES = st.sampled_from(["id", "name", "a.b", "owner", "", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def read_back(lines: list[str]) -> list[Any]:
    """The objects a table was made from."""
    names, *cells = (json.loads(line) for line in lines)
    dotted = any("." in name for name in names)
    found = []
    for row in cells:
        made: dict[str, Any] = {}
        for name, value in zip(names, row, strict=True):
            if value == {} and _column_misses(names, cells, name):
                continue
            inner = made
            *path, last = name.split(".") if dotted and not made.get("__flat__") else [name]
            for part in path:
                inner = inner.setdefault(part, {})
            inner[last] = value
        found.append(made)
    return found


def _column_misses(names: list[str], cells: list[Any], name: str) -> bool:
    place = names.index(name)
    return any(row[place] != {} for row in cells) or all(row[place] == {} for row in cells)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["id", "name", "owner", "x"]), VALUES, min_size=1, max_size=4),
        min_size=3,
        max_size=6,
    )
)
def test_the_rows_of_a_table_parse_back_to_the_source(values: list[dict[str, Any]]) -> None:
    text = json.dumps(values)
    lines = rows(json.loads(text))
    if lines is None or any("." in name for name in _all_names(values)) or "{}" in text:
        return
    assert read_back(lines) == json.loads(text)


def _all_names(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(name for inner in value.values() for name in _all_names(inner))]
    return [name for inner in value for name in _all_names(inner)] if isinstance(value, list) else []


def test_a_table_halves_the_price_of_rows_and_keeps_numbers_as_written() -> None:
    text = json.dumps({"total": 500, "items": sample_rows(500)}).replace('"total": 500', '"total": 5.00E+2')
    rendering = rendered(text)
    assert rendering is not None
    assert rendering.text.startswith(
        '{"total":5.00E+2}\n["id","name","owner.login","owner.site"]\n[0,"item 0","user0",null]\n'
    )
    assert count_tokens(rendering.text) < 0.6 * count_tokens(text)


@pytest.mark.parametrize("seed", range(20))
def test_a_planted_rare_line_is_on_the_first_page_of_a_log(seed: int) -> None:
    chance = random.Random(seed)
    lines = [
        f"2026-11-18T10:{chance.randrange(60):02}:{chance.randrange(60):02}Z INFO worker-{chance.randrange(9)} "
        f"handled request {chance.getrandbits(64):016x} in {chance.randrange(900)} ms"
        for _ in range(4_000)
    ]
    lines[chance.randrange(4_000)] = "2026-11-18T10:00:00Z ERROR the payment was charged twice"
    rendering = rendered("\n".join(lines))
    assert rendering is not None
    assert "charged twice" in rendering.text.splitlines()[0]
    assert count_tokens(rendering.text) < 1_000


def test_measurements_source_code_and_prose_are_not_taken_for_logs() -> None:
    assert rendered("\n".join(f"2026-11-18 10:00:{n % 60:02},{n * 1.5},{n}" for n in range(500))) is None
    with open(__file__, encoding="utf-8") as file:
        assert rendered(file.read() * 20) is None


def test_html_becomes_headings_text_links_and_rows() -> None:
    page = (
        "<!doctype html><html><head><title>T &amp; U</title><style>p{}</style></head><body><script>x()</script>"
        "<h2>Head</h2><p>Some <b>bold</b> text with <a href='/a?b=1&amp;c=2'>a link</a>.</p>"
        "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><ul><li>one<li>two</ul></body></html>"
    )
    rendering = rendered(page)
    assert rendering is not None
    assert rendering.text.splitlines() == [
        "# T & U", "## Head", "Some bold text with [a link](/a?b=1&c=2).", "A | B", "1 | 2", "- one", "- two",
    ]  # fmt: skip


def test_a_diff_lists_its_files_before_its_hunks() -> None:
    diff = "".join(
        f"diff --git a/f{n}.py b/f{n}.py\n--- a/f{n}.py\n+++ b/f{n}.py\n@@ -1,2 +1,3 @@\n same\n--- removed\n+added\n+too\n"
        for n in range(3)
    )
    rendering = rendered(diff)
    assert rendering is not None
    assert rendering.about.startswith("diff: 3 files, +6 -3")
    assert rendering.text.startswith("f0.py +2 -1\nf1.py +2 -1\nf2.py +2 -1\n\ndiff --git a/f0.py")
    assert rendering.text.endswith(diff)


def test_test_output_shows_failures_and_the_summary() -> None:
    passed = "\n".join(f"tests/test_a.py::test_{n} PASSED" for n in range(200))
    text = (
        f"===== test session starts =====\nplatform linux\n{passed}\n===== FAILURES =====\n____ test_x ____\n"
        "E   assert 1 == 2\n===== short test summary info =====\nFAILED tests/test_a.py::test_x\n===== 1 failed, 200 passed in 3s =====\n"
    )
    rendering = rendered(text)
    assert rendering is not None
    assert rendering.text.splitlines() == [
        "===== FAILURES =====", "____ test_x ____", "E   assert 1 == 2", "===== short test summary info =====",
        "FAILED tests/test_a.py::test_x", "===== 1 failed, 200 passed in 3s =====",
    ]  # fmt: skip


def test_repeated_frames_of_a_stack_trace_are_folded() -> None:
    text = "Traceback:\n" + '  File "a.py", line 3, in f\n    return f(x)\n' * 500 + "RecursionError: too deep"
    rendering = rendered(text)
    assert rendering is not None
    assert rendering.text.splitlines()[1:4] == [
        '  File "a.py", line 3, in f', "    return f(x)", "[the 2 lines above 499 more times]",
    ]  # fmt: skip
    assert rendering.text.endswith("RecursionError: too deep")
