"""For pydantic-ai: the memory's tools as a toolset, and a history processor that keeps a conversation within a budget.

agent = Agent(model, toolsets=[toolset(memory)], capabilities=[ProcessHistory(fitting(memory, max_tokens=20_000))])
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai import FunctionToolset
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import Tool

from haversack.adapters.function_calling import CORE, run
from haversack.library import Memory
from haversack.mcp.definitions import input_schema
from haversack.tools.registry import find
from haversack.worklog.messages import Message, fit_messages


def toolset(memory: Memory, names: Sequence[str] = CORE) -> FunctionToolset[Any]:
    """The named tools of the memory for an agent."""
    return FunctionToolset([_tool(memory, name) for name in names])


def fitting(memory: Memory, *, max_tokens: int) -> Callable[[list[ModelMessage]], list[ModelMessage]]:
    """A history processor: messages within `max_tokens`; removed content is stashed under keys for `more`."""

    def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        plain = [_plain(message) for message in messages]
        origin = {id(each): at for at, parts in enumerate(plain) for each in parts}
        fitted = fit_messages([each for parts in plain for each in parts], max_tokens, log=memory.log)
        return list(_rebuilt(messages, fitted, origin))

    return process


def _tool(memory: Memory, name: str) -> Tool[Any]:
    def invoke(**arguments: Any) -> str:
        return run(memory, name, arguments)

    declared = find(name)
    return Tool.from_schema(invoke, name, declared.about, dict(input_schema(declared)))


def _plain(message: ModelMessage) -> list[Message]:
    """A message as the chat messages it stands for: each tool result is one of its own."""
    if isinstance(message, ModelResponse):
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        said = [str(getattr(part, "content", "")) for part in message.parts if not isinstance(part, ToolCallPart)]
        listed = [
            {"id": call.tool_call_id, "function": {"name": call.tool_name, "arguments": call.args_as_json_str()}}
            for call in calls
        ]
        return [{"role": "assistant", "content": "\n".join(said), **({"tool_calls": listed} if listed else {})}]
    return [_plain_part(part) for part in message.parts]


def _plain_part(part: object) -> Message:
    match part:
        case ToolReturnPart():
            return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()}
        case RetryPromptPart(tool_name=str()):
            return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response()}
        case SystemPromptPart():
            return {"role": "system", "content": part.content}
        case UserPromptPart(content=str(content)):
            return {"role": "user", "content": content}
        case _:
            return {"role": "user", "content": str(getattr(part, "content", part))}


def _rebuilt(messages: list[ModelMessage], fitted: list[Message], origin: dict[int, int]) -> Iterator[ModelMessage]:
    """The remaining messages with shortened results, and a note in place of those that were removed."""
    returns = {part.tool_call_id: at for at, message in enumerate(messages) for part in _returns(message)}
    shorter: dict[str, str] = {}
    left: dict[int, str] = {}
    for each in fitted:
        at = origin.get(id(each), -1)
        if at < 0 and each.get("role") == "tool":
            at = returns[each["tool_call_id"]]
            shorter[each["tool_call_id"]] = each["content"]
        # Anything else is the note about removed messages.
        left.setdefault(at, each["content"] if at < 0 else "")
    for at, note in left.items():
        yield ModelRequest([UserPromptPart(note)]) if at < 0 else _with_shorter(messages[at], shorter)


def _returns(message: ModelMessage) -> Iterator[ToolReturnPart | RetryPromptPart]:
    if isinstance(message, ModelRequest):
        yield from (part for part in message.parts if isinstance(part, ToolReturnPart | RetryPromptPart))


def _with_shorter(message: ModelMessage, shorter: dict[str, str]) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    parts = [
        replace(part, content=shorter[part.tool_call_id])  # type: ignore[arg-type] # any text is a result's content
        if isinstance(part, ToolReturnPart) and part.tool_call_id in shorter
        else part
        for part in message.parts
    ]
    return replace(message, parts=parts)
