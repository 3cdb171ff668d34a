"""A pydantic-ai agent with a memory and a history that fits; here the model is a script."""

import tempfile

from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from haversack import Memory
from haversack.adapters.pydantic_ai import fitting, toolset


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Save what the user said, then answer."""
    last = messages[-1].parts[-1]
    if isinstance(last, UserPromptPart):
        return ModelResponse([ToolCallPart("mem_save", {"title": "Port", "content": str(last.content)})])
    return ModelResponse([TextPart(f"Noted; the model saw {len(messages)} messages.")])


with tempfile.TemporaryDirectory() as home, Memory(project="thesis", home=home) as memory:
    agent = Agent(
        FunctionModel(script),
        toolsets=[toolset(memory)],
        capabilities=[ProcessHistory(fitting(memory, max_tokens=1_000))],
    )
    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart(f"Message {number}. " + "Many words. " * 50)]) for number in range(40)
    ]
    print(agent.run_sync("The port is 6543.", message_history=history).output)
    print(f"remembered: {memory.search('which port').total}")
