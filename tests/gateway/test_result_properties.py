"""Random results, budgets and views: what is shown fits, nothing is lost, and what was cut still validates."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haversack.app import App
from haversack.config import load
from haversack.gateway.fitting.delivery import Delivery
from haversack.gateway.fitting.prices import binary
from haversack.gateway.fitting.results import Fitted, Rule, fit_result
from haversack.gateway.listing.schemas import widened
from haversack.gateway.own_tools import OwnTools
from haversack.gateway.upstream.spool import Spools
from haversack.tokens import profile_named
from tests.gateway.torture_server import png

SCRIPTS = st.sampled_from(
    [
        "plain words here",
        "漢字かな交じり文",
        "🎒👩‍👩‍👧 café",
        'quotes " and \\ and \t',
        "def f(x):\n    return x",
        "{}[]",
    ]
)
WORDS = st.builds(lambda part, n, end: (part + end) * n, SCRIPTS, st.integers(1, 300), st.sampled_from([" ", "\n", ""]))
TEXT = st.builds(lambda text: {"type": "text", "text": text}, WORDS)
PICTURE = st.builds(lambda w: {"type": "image", "data": png(w, 40), "mimeType": "image/png"}, st.integers(1, 900))
AUDIO = st.builds(lambda n: {"type": "audio", "data": "AAAA" * n, "mimeType": "audio/wav"}, st.integers(1, 900))
LINK = st.builds(lambda n: {"type": "resource_link", "uri": f"file:///{n}", "name": str(n)}, st.integers())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=20,
)
ROWS = st.lists(
    st.fixed_dictionaries({"id": st.integers(), "text": WORDS}, optional={"x": JSON}), min_size=3, max_size=30
)
CONTENT = st.lists(st.one_of(TEXT, TEXT, PICTURE, AUDIO, LINK, st.builds(lambda rows: {"type": "text", "text": json.dumps(rows)}, ROWS)), min_size=1, max_size=4)  # fmt: skip
BUDGETS = st.sampled_from([64, 90, 150, 256, 400, 1_000, 4_000])
VIEWS = st.sampled_from(["content", "structured", "both"])
KEY = re.compile(r'(?:more|find_in)\("(\w+)"')


@pytest.fixture(scope="module")
def delivery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    """Deliveries into a store of their own, with an account no test empties."""
    home = str(tmp_path_factory.mktemp("home"))
    config = load({"HAVERSACK_HOME": home, "HAVERSACK_BUDGET_TOTAL": "1000000000"})
    held = Delivery(lambda: App(config))
    yield held
    held.close()


def cost(result: dict[str, Any], view: str) -> int:
    """What a client with this view pays for a result."""
    profile = profile_named("o200k")
    structured = result.get("structuredContent")
    total = 0
    if structured is not None and view in ("structured", "both"):
        total += profile.count(json.dumps(structured, ensure_ascii=False, separators=(",", ":")))
    if structured is None or view != "structured":
        for block in result["content"]:
            held = binary(block, profile)
            text = (
                block["text"]
                if block["type"] == "text"
                else json.dumps(block, ensure_ascii=False, separators=(",", ":"))
            )
            total += held.tokens if held else profile.count(text)
    return total


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=CONTENT, structured=st.none() | ROWS, tokens=BUDGETS, view=VIEWS, is_error=st.booleans())
def test_every_result_fits_is_repeatable_and_gives_a_key_for_the_rest(
    delivery: Delivery, content: list[Any], structured: Any, tokens: int, view: Any, is_error: bool
) -> None:
    result: dict[str, Any] = {"content": content, "kept": 1}
    if structured is not None:
        result["structuredContent"] = {"rows": structured}
    if is_error:
        result["isError"] = True
    text = json.dumps(result)
    rule = Rule("tool", tokens, view=view)
    outcome = fit_result(text, rule, delivery)
    if not isinstance(outcome, Fitted):
        assert cost(result, view) == outcome <= tokens
        return
    assert cost(result, view) > tokens
    fitted = json.loads(outcome.text)
    assert cost(fitted, "both") <= tokens
    assert fitted["kept"] == 1
    assert fitted.get("isError") == result.get("isError")
    again = fit_result(text, rule, delivery)
    assert isinstance(again, Fitted)
    assert again.text == outcome.text
    assert KEY.search(outcome.text.replace('\\"', '"'))


def test_a_block_shown_whole_leaves_room_for_the_way_to_the_rest(tmp_path: Path) -> None:
    config = load({"HAVERSACK_HOME": str(tmp_path), "HAVERSACK_TOKENS_PROFILE": "claude"})
    delivery = Delivery(lambda: App(config), keep_in_memory=True)
    long = {"type": "text", "text": "one very long line without an end " * 2_000}
    for words in range(20, 34):
        content = [{"type": "text", "text": "word " * words}, long]
        text = json.dumps({"content": content, "structuredContent": {"a": 1}, "kept": 1})
        outcome = fit_result(text, Rule("tool", 70, view="both"), delivery)
        assert isinstance(outcome, Fitted)
        assert outcome.tokens <= 70, words
    delivery.close()


def test_a_line_too_long_for_clients_leaves_with_its_pictures_under_keys_though_their_price_fits(
    delivery: Delivery,
) -> None:
    first, second = ({"type": "image", "data": png(8, n) + "A" * 2_400_000, "mimeType": "image/png"} for n in (8, 9))
    outcome = fit_result(json.dumps({"content": [first, second]}), Rule("tool", 8_000), delivery)
    assert isinstance(outcome, Fitted)
    assert len(outcome.text) < 4_000_000
    shown, told = json.loads(outcome.text)["content"]
    assert shown == first
    key = KEY.search(told["text"])
    assert key
    assert OwnTools(delivery, Spools()).answer("more", {"key": key[1]}, None)["content"] == [second]


@pytest.mark.parametrize("text", ["[" * 50_000, '{"a":' * 20_000, "<div>" * 20_000, "[{}," + "[" * 9_000])
def test_a_text_too_deep_for_a_shorter_form_is_cut_plainly(text: str, delivery: Delivery) -> None:
    outcome = fit_result(json.dumps({"content": [{"type": "text", "text": text}]}), Rule("tool", 300), delivery)
    assert isinstance(outcome, Fitted)
    assert cost(json.loads(outcome.text), "both") <= 300
    assert 'more(\\"' in outcome.text


def test_whichever_key_a_text_gets_both_channels_fit_together(tmp_path: Path) -> None:
    config = load({"HAVERSACK_HOME": str(tmp_path), "HAVERSACK_TOKENS_PROFILE": "claude"})
    delivery = Delivery(lambda: App(config), keep_in_memory=True)
    for number in range(150):
        # Each has a key of its own, some of which cost as much as a key can.
        text = json.dumps({"content": [], "structuredContent": {"number": number, "text": "a word " * 400}})
        outcome = fit_result(text, Rule("tool", 64, view="structured", compress=False), delivery)
        assert isinstance(outcome, Fitted)
        fitted = json.loads(outcome.text)
        measure, shown = delivery.profile.measure, fitted["structuredContent"]
        units = measure(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))
        units += sum(measure(block["text"]) for block in fitted["content"])
        assert delivery.profile.tokens(units) <= 64, fitted
    delivery.close()


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=WORDS, tokens=st.sampled_from([150, 400]), compress=st.booleans())
def test_slices_rebuild_the_text(delivery: Delivery, text: str, tokens: int, compress: bool) -> None:
    result = json.dumps({"content": [{"type": "text", "text": text}]})
    outcome = fit_result(result, Rule("tool", tokens, compress=compress), delivery)
    if not isinstance(outcome, Fitted):
        return
    key = KEY.findall(json.loads(outcome.text)["content"][0]["text"])[0]
    held = json.loads(delivery.fetch(delivery.original_of(key)))
    assert held["document"] == text
    tools = OwnTools(delivery, Spools())
    count = len(text.splitlines())
    answer = tools.answer("find_in", {"key": key, "lines": f"1-{count}", "max_tokens": 100_000}, None)
    assert answer["content"][0]["text"].rsplit("\n📏", 1)[0] == text.removesuffix("\n")


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(count=st.integers(50, 400), smaller=st.integers(64, 1_500), more=st.integers(1, 1_500))
def test_a_larger_budget_never_shows_less(delivery: Delivery, count: int, smaller: int, more: int) -> None:
    text = "\n".join(f"line {number} of a text" for number in range(count))
    result = json.dumps({"content": [{"type": "text", "text": text}]})

    def shown(tokens: int) -> int:
        outcome = fit_result(result, Rule("tool", tokens), delivery)
        return outcome.text.count("of a text") if isinstance(outcome, Fitted) else count

    assert shown(smaller) <= shown(smaller + more)


HARD_SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"], "additionalProperties": False},
    {"type": "object", "minProperties": 2},
    {"type": "object", "propertyNames": {"pattern": "^x"}},
    {"type": "object", "patternProperties": {"^h": {"type": "integer"}}},
    {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
    {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["v"]}}},
    {"type": "object", "properties": {"self": {"$ref": "#"}}, "required": ["self"], "allOf": [{"required": ["x"]}]},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "object", "unevaluatedProperties": False, "properties": {"a": {"type": "integer"}}},
    {"type": "object", "dependentRequired": {"haversack": ["nothing"]}},
    {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "not": {"required": ["haversack"]}},
    {"type": "object", "properties": {"enum": {"enum": [{"$ref": "#/not/a/reference"}]}}, "required": ["enum"]},
    {"type": "object", "const": {"a": 1}},
    {"type": "object", "properties": {"haversack": {"type": "integer"}}, "required": ["haversack"]},
    {"type": "object", "additionalProperties": {"type": "integer"}, "required": ["a"]},
]  # fmt: skip


@pytest.mark.parametrize("schema", HARD_SCHEMAS, ids=str)
def test_a_widened_schema_admits_what_was_cut(schema: dict[str, Any]) -> None:
    wide = widened(schema)
    check: Callable[..., None] = jsonschema.validate
    check({"haversack": {"text": "cut", "more": "k7f2"}}, wide)
    check({"haversack": {"more": "k7f2"}}, wide)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (HARD_SCHEMAS[0], {"rows": []}),
        (HARD_SCHEMAS[4], {"b": 1}),
        (HARD_SCHEMAS[5], {"v": 1, "next": {"v": 2}}),
        (HARD_SCHEMAS[6], {"x": 1, "self": {"x": 2, "self": None}}),
        (HARD_SCHEMAS[7], [1, 2]),
        (HARD_SCHEMAS[8], {"a": 1}),
        (HARD_SCHEMAS[11], {"enum": {"$ref": "#/not/a/reference"}}),
        (HARD_SCHEMAS[12], {"a": 1}),
        (HARD_SCHEMAS[13], {"haversack": 1}),
        (HARD_SCHEMAS[14], {"a": 1}),
    ],
    ids=str,
)
def test_a_widened_schema_admits_the_upstream_s_own_values(schema: dict[str, Any], value: Any) -> None:
    if value != {"x": 1, "self": {"x": 2, "self": None}}:
        jsonschema.validate(value, schema)
        jsonschema.validate(value, widened(schema))


def test_a_widened_schema_still_refuses_what_the_original_refuses() -> None:
    wide = widened(HARD_SCHEMAS[5])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"v": 1, "next": {}}, wide)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"rows": 3}, widened(HARD_SCHEMAS[0]))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"a": "text"}, widened(HARD_SCHEMAS[14]))


def test_widening_costs_nothing_but_what_a_hard_schema_takes() -> None:
    plain = {"type": "object", "properties": {"rows": {"type": "array"}}}
    assert widened(plain) == plain
    assert widened({**plain, "required": ["rows"], "additionalProperties": False}) == plain


def test_the_parts_of_a_store_that_is_a_file_are_readable_by_the_owner_alone(delivery: Delivery) -> None:
    path = Path(delivery.caller.config.store_path)
    fit_result(json.dumps({"content": [{"type": "text", "text": "word " * 900}]}), Rule("tool", 64), delivery)
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("view", ["content", "structured", "both"])
def test_a_structured_value_of_null_hides_no_content_from_the_count(delivery: Delivery, view: Any) -> None:
    result = {"content": [{"type": "text", "text": "some words\n" * 900}], "structuredContent": None}
    outcome = fit_result(json.dumps(result), Rule("tool", 200, view=view), delivery)
    assert isinstance(outcome, Fitted)
    fitted = json.loads(outcome.text)
    assert cost(fitted, view) <= 200
    assert fitted["structuredContent"] is None


def test_the_adversary_s_random_results_hold_in_every_profile() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attack", "gateway", "gateway-deaths", "--count", "40", "--seconds", "8"],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("everything held\n")
