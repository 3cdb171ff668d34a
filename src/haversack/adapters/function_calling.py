"""The tools as function-calling schemas of three providers, and running what a model calls.

tools = schemas("anthropic")
reply = run(memory, name, arguments)  # text within its budget, also when the call was wrong
"""

from collections.abc import Mapping, Sequence
from json import JSONDecodeError, loads
from typing import Any, Literal

from haversack.errors import HaversackError
from haversack.library import Memory
from haversack.mcp.definitions import input_schema
from haversack.tools.declaration import Tool
from haversack.tools.registry import find

Provider = Literal["openai", "anthropic", "gemini"]
Schema = dict[str, Any]
CORE = ("mem_search", "mem_save", "mem_context", "mem_session_summary", "more")
"""The tools an agent needs to remember and to recall."""


def schemas(provider: Provider, tools: Sequence[str] = CORE) -> list[Schema]:
    """The named tools as the provider's interface takes them."""
    written = {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini}
    if provider not in written:
        raise ValueError(f"provider is {provider!r}; it must be one of {', '.join(written)}")
    return [written[provider](find(name)) for name in tools]


def run(memory: Memory, name: str, arguments: Mapping[str, object] | str) -> str:
    """The text for the model: the tool's reply, or what was wrong with the call and what to do about it."""
    try:
        given = loads(arguments) if isinstance(arguments, str) else arguments
        if not isinstance(given, Mapping):
            return f"Error: the arguments of {name} must be a JSON object"
        return memory.call(name, given).text
    except JSONDecodeError as error:
        return f"Error: the arguments of {name} are not JSON: {error.msg} at character {error.pos}"
    except HaversackError as error:
        return f"Error: {error}"


def _openai(tool: Tool) -> Schema:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.about, "parameters": dict(input_schema(tool))},
    }


def _anthropic(tool: Tool) -> Schema:
    return {"name": tool.name, "description": tool.about, "input_schema": dict(input_schema(tool))}


def _gemini(tool: Tool) -> Schema:
    return {"name": tool.name, "description": tool.about, "parameters": _without_additional(input_schema(tool))}


def _without_additional(schema: Any) -> Any:
    """The schema without `additionalProperties`, which Gemini's subset of OpenAPI does not know."""
    if isinstance(schema, dict):
        return {name: _without_additional(part) for name, part in schema.items() if name != "additionalProperties"}
    return [_without_additional(part) for part in schema] if isinstance(schema, list) else schema
