"""Arguments as callers send them."""

import json
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.errors import HaversackError, InvalidArgument, UnknownTool
from haversack.tools.declaration import Range, Tool
from haversack.tools.registry import tools
from haversack.tools.road.call import call
from haversack.tools.road.outcomes import Done, Outcome
from haversack.tools.road.validation import validate
from tests.conftest import START, examples, fresh_store


def sample(
    caller: Caller,
    *,
    text: Annotated[str, "Some text"],
    count: Annotated[int, Range(1, 10)] = 5,
    share: float = 0.5,
    sure: bool = False,
    names: list[str] = [],  # noqa: B006
    ids: list[int] = [],  # noqa: B006
    scope: Annotated[str, ("project", "personal")] = "",
    kind: str | None = None,
) -> Outcome:
    """A tool with a parameter of every kind."""
    return Done("done")


SAMPLE = Tool(
    sample,
    group="test",
    writes=True,
    destructive=False,
    idempotent=False,
    level="",
    confirms=True,
    default_tokens=0,
    title="Sample",
)


def values(**arguments: object) -> dict[str, object]:
    return validate(SAMPLE, {"text": "t", **arguments})


def test_what_is_not_given_has_its_default() -> None:
    found = values()
    assert (found["count"], found["share"], found["sure"], found["names"], found["kind"]) == (5, 0.5, False, [], None)


def test_null_means_not_given() -> None:
    assert values(count=None, scope=None)["count"] == 5


@pytest.mark.parametrize(
    ("name", "sent", "meant"),
    [
        ("count", "7", 7), ("count", " 7 ", 7), ("count", "#7", 7), ("count", 7.0, 7), ("share", "0.25", 0.25), ("share", 1, 1.0),
        ("sure", True, True), ("sure", "false", False), ("sure", "FALSE", False), ("sure", "yes", True), ("sure", 0, False),
        ("names", ["a", "b"], ["a", "b"]), ("names", "a, b", ["a", "b"]), ("names", '["a, b"]', ["a, b"]), ("names", "", []),
        ("ids", ["1", 2, "#3"], [1, 2, 3]), ("ids", "1,2", [1, 2]), ("ids", 4, [4]), ("ids", "[1, 2]", [1, 2]),
        ("scope", "personal", "personal"), ("scope", "", ""), ("kind", "", ""),
    ],
)  # fmt: skip
def test_values_as_models_send_them_are_taken(name: str, sent: object, meant: object) -> None:
    assert values(**{name: sent})[name] == meant


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("count", "seven"), ("count", 7.5), ("count", True), ("count", ""), ("count", [7]), ("count", 0), ("count", 11),
        ("count", 10**30), ("count", "9" * 400), ("count", float("nan")), ("count", float("inf")), ("share", "half"),
        ("share", float("nan")), ("share", "1e999"), ("share", True), ("sure", "maybe"), ("sure", 2), ("sure", "falsch"),
        ("names", 7.5), ("names", {"a": 1}), ("names", [1]), ("names", "[broken"), ("ids", ["a"]), ("ids", [1.5]),
        ("scope", "world"), ("text", 7), ("text", None), ("text", ["t"]), ("format", "xml"),
    ],
)  # fmt: skip
def test_wrong_values_are_errors_that_name_the_parameter(name: str, sent: object) -> None:
    with pytest.raises(InvalidArgument, match=name) as caught:
        values(**{name: sent})
    assert len(str(caught.value)) < 400


def test_a_missing_parameter_is_named_with_what_it_is() -> None:
    with pytest.raises(InvalidArgument, match="sample needs text") as caught:
        validate(SAMPLE, {})
    assert caught.value.hint == "Some text"


def test_an_unknown_parameter_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(InvalidArgument, match="no parameter 'colour'") as caught:
        values(colour="red")
    assert "count" in caught.value.hint


def test_an_unknown_choice_is_an_error_that_lists_what_is_allowed() -> None:
    with pytest.raises(InvalidArgument) as caught:
        values(scope="world")
    assert caught.value.hint == "allowed: project, personal"


def test_another_name_for_a_parameter_is_taken_but_not_both(caller: Caller) -> None:
    saved = {"title": "t", "content": "c"}
    call(caller, "mem_save", saved | {"type": "decision"})
    assert json.loads(call(caller, "mem_get_observation", {"id": 1, "format": "json"}).text)["kind"] == "decision"
    with pytest.raises(InvalidArgument, match="kind is given twice"):
        call(caller, "mem_save", saved | {"type": "decision", "kind": "fact"})


def test_an_unknown_tool_is_an_error_that_suggests_the_nearest(caller: Caller) -> None:
    with pytest.raises(UnknownTool, match="mem_serach") as caught:
        call(caller, "mem_serach", {})
    assert "mem_search" in caught.value.hint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@examples(150)
@given(data=st.data())
def test_whatever_is_sent_the_answer_is_a_reply_or_an_error_that_can_be_read(data: st.DataObject) -> None:
    tool = data.draw(
        st.sampled_from([each for each in tools().values() if each.group in ("memory", "core", "terminal", "budget")])
    )
    names = st.sampled_from([parameter.name for parameter in tool.parameters]) | st.text(max_size=8)
    arguments = data.draw(st.dictionaries(names, JSON | st.sampled_from([1, "1", "p", "text"]), max_size=6))
    caller = open_caller(Config(home="unused"), directory="/somewhere", now=lambda: START)
    caller.app.__dict__["database"] = fresh_store()
    call(caller, "mem_save", {"title": "t", "content": "c"})
    try:
        call(caller, tool.name, arguments).text.encode()
    except HaversackError as error:
        str(error).encode()
    caller.app.close()
