"""The written reference is the one the declarations give."""

from pathlib import Path

from haversack.tools.prompts import prompts
from haversack.tools.reference import reference
from haversack.tools.registry import tools
from haversack.tools.resources import resources

WRITTEN = Path(__file__).parents[2] / "docs" / "tool-reference.md"


def test_the_reference_on_disk_is_the_one_the_declarations_give() -> None:
    assert WRITTEN.read_text(encoding="utf-8") == reference(), "run `make docs`"


def test_every_tool_prompt_and_resource_is_in_the_reference() -> None:
    text = reference()
    for name in tools():
        assert f"### `{name}`\n" in text
    for name in prompts():
        assert f"**{name}**" in text
    for each in resources():
        assert each.address in text


def test_every_parameter_of_a_tool_is_in_its_section() -> None:
    sections = dict(part.split("`\n", 1) for part in reference().split("### `")[1:])
    for tool in tools().values():
        for parameter in tool.parameters:
            assert f"`{parameter.name}`" in sections[tool.name] or parameter.name == "format"
