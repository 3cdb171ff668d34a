"""Fitting a result into a budget, looked at closely."""

import json
import re

import pytest

from haversack.errors import BudgetTooSmall
from haversack.tokens import Budget, count_tokens, profile_named
from haversack.tools.road.documents import fit_document
from haversack.tools.road.fit import Reply, fit
from haversack.tools.road.layouts import JsonLayout, TextLayout
from haversack.tools.road.outcomes import Block, Document, Rest, Result

LAYOUTS = [TextLayout(), JsonLayout()]


def block(name: str, *, words: int = 5, **more: object) -> Block:
    sizes = {"summary": 1, "standard": words, "full": 3 * words}

    def text(level: str) -> str:
        return f"{name} " + "word " * (sizes[level] - 1) + "end"

    return Block(name, text, lambda level: {"name": name, "text": text(level)}, **more)  # type: ignore[arg-type]


def fitted(
    result: Result, tokens: int, level: str = "standard", layout: TextLayout | JsonLayout | None = None
) -> Reply:
    return fit(result, Budget(tokens, profile_named("o200k")), level, layout or TextLayout()).reply("ma474z")


def results(*blocks: Block, **more: object) -> Result:
    return Result(blocks, noun="results", total=len(blocks), **more)  # type: ignore[arg-type]


def test_what_fits_whole_has_no_hint() -> None:
    reply = fitted(results(block("#1"), block("#2")), 200)
    assert reply.text == "#1 word word word word end\n#2 word word word word end\n📏 ~21 tokens"
    assert (reply.shown, reply.left) == (2, None)


def test_an_empty_result_says_so_and_has_its_token_line() -> None:
    assert fitted(results(empty="No memory matches."), 64).text == "No memory matches.\n📏 ~9 tokens"
    assert fitted(results(), 64).text == "📏 ~5 tokens"


def test_blocks_of_one_section_stand_under_its_heading_once() -> None:
    reply = fitted(results(block("#1", section="## A"), block("#2", section="## B"), block("#3", section="## A")), 200)
    assert [line.split(" word")[0] for line in reply.text.split("\n")[:-1]] == ["## A", "#1", "#3", "## B", "#2"]


def test_a_heading_without_items_is_not_shown() -> None:
    blocks = [block("#1", section="## A"), block("#2", words=400, section="## B")]
    assert "## B" not in fitted(results(*blocks), 120).text


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("level", ["summary", "standard", "full", "auto"])
def test_what_the_call_is_about_is_there_even_at_the_floor(layout: TextLayout | JsonLayout, level: str) -> None:
    blocks = [block(f"#{number}", words=30) for number in range(20)]
    focus = block("#99", words=300, required=True)
    for profile in ("o200k", "claude", "bytes4"):
        reply = fit(
            results(*blocks, focus, heading="A heading that costs a lot of tokens " * 4),
            Budget(64, profile_named(profile)),
            level,
            layout,
        ).reply("ma474z")
        assert "#99" in reply.text
        assert count_tokens(reply.text, profile) <= 64


def test_items_are_printed_by_place_and_chosen_by_rank() -> None:
    places = {"#5": 0, "#4": -1, "#6": 1, "#3": -2}
    blocks = [block(name, place=place, words=20) for name, place in places.items()]
    reply = fitted(results(*blocks), 84)
    assert [line.split()[0] for line in reply.text.split("\n") if line.startswith("#")] == ["#4", "#5"]
    assert reply.names == ("#5", "#4")


def test_what_is_beside_the_items_is_shown_but_not_counted() -> None:
    reply = fitted(results(block("#1"), block("session", counted=False)), 200)
    assert (reply.shown, len(reply.names)) == (1, 2)


def test_the_rest_beyond_the_limit_is_priced_and_keyed() -> None:
    rest = Rest(21, 966, "search", {})
    result = Result([block("#1")], noun="results", total=22, limit_hint="Use limit.", rest=rest)
    assert fitted(result, 400).text.split("\n")[1] == (
        'Showing 1 of 22 results. Use limit. more("ma474z"), ~973 tokens.'
    )


def test_budget_and_limit_together_show_the_budget_line_alone() -> None:
    result = Result(
        [block("#1"), block("#2", words=400)],
        noun="results",
        total=22,
        limit_hint="Use limit.",
        rest=Rest(20, 900, "search", {}),
    )
    text = fitted(result, 300).text
    assert "Showing" not in text
    assert "1 of 22 results shown." in text


def test_json_says_the_same_as_the_footer() -> None:
    result = Result([block("#1"), block("#2", words=400)], noun="results", total=2)
    reply = fitted(result, 400, layout=JsonLayout())
    facts = json.loads(reply.text)
    assert facts["results"] == [{"name": "#1", "text": "#1 word word word word end"}]
    assert (facts["shown"], facts["total"], facts["budget"], facts["tokens"]) == (1, 2, 400, reply.tokens)
    assert facts["more"]["key"] == "ma474z" and facts["more"]["left"] == 1 and facts["more"]["tokens"] > 400


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_reply_never_exceeds_its_budget_at_any_size(layout: TextLayout | JsonLayout) -> None:
    blocks = [block(f"#{number}", words=3 + number % 17, section=f"## {number % 3}") for number in range(40)]
    for tokens in range(64, 330):
        reply = fitted(results(*blocks, heading="Forty blocks"), tokens, layout=layout)
        assert count_tokens(reply.text) == reply.tokens <= tokens


def test_a_mixture_upgrades_what_is_worth_most() -> None:
    blocks = [block("#1", words=20, worth=0.2), block("#2", words=20, worth=1.0)]
    reply = fitted(results(*blocks), 110, "auto")
    assert "#1 end\n" in reply.text
    assert reply.text.count("word") > 10


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_document_is_shown_in_pages_that_fit(layout: TextLayout | JsonLayout) -> None:
    document = Document("\n".join(f"line {number} of the document" for number in range(100)), name="d")
    draft = fit_document(document, Budget(100, profile_named("o200k")), layout)
    reply = draft.reply("ma474z")
    assert count_tokens(reply.text) <= 100
    assert draft.remainder is not None
    rest = draft.remainder.document
    assert rest is not None
    assert rest.lines_before == reply.shown > 0
    assert document.text.endswith(rest.text) and rest.text.startswith(f"line {reply.shown} ")
    assert reply.left is not None and reply.left.items == 100 - reply.shown


def test_a_frame_that_cannot_fit_is_refused_with_advice() -> None:
    with pytest.raises(BudgetTooSmall, match="max_tokens is 20") as caught:
        fitted(results(block("#1", words=100), block("#2", words=100)), 20)
    needed = int(re.findall(r"\d+", caught.value.hint)[0])
    assert fitted(results(block("#1", words=100), block("#2", words=100)), needed).names == ("#1",)
