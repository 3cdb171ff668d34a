"""Resources, prompts and completions: replies under an address, and what a person picks by name."""

import pytest

from haversack.app import Caller
from haversack.errors import InvalidArgument, NotFound
from haversack.tokens import count_tokens
from haversack.tools import prompts, resources
from haversack.tools.completions import complete
from haversack.tools.registry import find
from haversack.tools.road.call import call


@pytest.fixture
def some(caller: Caller) -> Caller:
    for number in range(12):
        arguments = {
            "title": f"note {number}",
            "content": f"key rotation {number} " * 10,
            "project": f"Project {number % 3}",
        }
        call(caller, "mem_save", arguments)
    return caller


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("haversack://context?project=all", "## Memories"),
        ("haversack://stats", "12 observations"),
        ("haversack://observation/3", "#3 [observation] note 2"),
        ("haversack://context/Project%201", "note 1"),
        ("haversack://search/key%20rotation?project=all", "key rotation"),
    ],
)
def test_an_address_gives_the_reply_of_its_tool(some: Caller, address: str, shown: str) -> None:
    assert shown in resources.read(some, address).text


def test_arguments_follow_a_question_mark(some: Caller) -> None:
    reply = resources.read(some, "haversack://search/key%20rotation?max_tokens=100&limit=3")
    assert count_tokens(reply.text) <= 100
    with pytest.raises(InvalidArgument, match="colour"):
        resources.read(some, "haversack://stats?colour=red")


@pytest.mark.parametrize("address", ["haversack://nothing", "https://example.org", "", "haversack://observation/"])
def test_an_unknown_address_is_an_error_that_lists_the_known_ones(some: Caller, address: str) -> None:
    with pytest.raises(NotFound) as caught:
        resources.read(some, address)
    assert "haversack://context" in caught.value.hint


def test_every_resource_belongs_to_a_reading_tool_and_its_variable_to_a_parameter() -> None:
    for resource in resources.resources():
        tool = find(resource.tool)
        assert not tool.writes
        assert not resource.variable or resource.variable in {parameter.name for parameter in tool.parameters}


def test_recalling_brings_what_is_known_within_its_budget(some: Caller) -> None:
    text = prompts.written(some, "recall", {"topic": "key rotation"})
    assert "#" in text and "key rotation" in text
    assert count_tokens(text) < 2_200


@pytest.mark.parametrize(
    ("name", "arguments", "named"),
    [
        ("none", {}, "none"),
        ("recall", {}, "topic"),
        ("recall", {"topic": "x", "colour": "red"}, "colour"),
        ("recall", {"topic": 7}, "topic"),
    ],
)
def test_a_wrong_prompt_is_an_error_that_names_what_is_wrong(
    some: Caller, name: str, arguments: dict[str, object], named: str
) -> None:
    with pytest.raises(InvalidArgument, match=named):
        prompts.written(some, name, arguments)


def test_every_prompt_can_be_written(some: Caller) -> None:
    for prompt in prompts.prompts().values():
        arguments = {argument.name: "key rotation" for argument in prompt.arguments}
        assert prompts.written(some, prompt.name, arguments)
        assert prompt.about and prompt.title


def test_projects_are_completed_whatever_their_case(some: Caller) -> None:
    assert complete(some, "project", "proj") == (["Project 0", "Project 1", "Project 2"], 3)
    assert complete(some, "project", "x") == ([], 0)
    assert complete(some, "topic", "p") == ([], 0)
