"""The adapters with the real frameworks and models that answer by script."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from haversack import Memory
from haversack.adapters.function_calling import CORE, run, schemas
from haversack.tokens import count_tokens
from haversack.worklog.messages import count_messages


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("HAVERSACK_HOME", str(tmp_path / "unused"))
    with Memory(project="thesis", home=str(tmp_path / "home")) as held:
        yield held


LONG = "A line of a log that goes on and on.\n" * 300


@pytest.mark.parametrize(
    ("provider", "place"), [("openai", "parameters"), ("anthropic", "input_schema"), ("gemini", "parameters")]
)
def test_schemas_name_every_tool_with_its_parameters(provider: Any, place: str) -> None:
    written = schemas(provider)
    flat = [each.get("function", each) for each in written]
    assert [each["name"] for each in flat] == list(CORE)
    for each in flat:
        assert each["description"] and each[place]["type"] == "object"
    assert "query" in flat[0][place]["properties"]
    assert provider != "gemini" or "additionalProperties" not in json.dumps(written)


def test_a_models_call_is_run_and_a_wrong_one_is_answered(memory: Memory) -> None:
    assert "saved #1" in run(memory, "mem_save", '{"title": "Port", "content": "The port is 6543."}')
    assert "6543" in run(memory, "mem_search", {"query": "port", "max_tokens": 200})
    assert run(memory, "mem_search", "{oops").startswith("Error: the arguments of mem_search are not JSON")
    assert run(memory, "mem_search", "[]").startswith("Error: the arguments")
    assert "no tool called" in run(memory, "mem_serach", {})


def test_the_openai_agents_sdk_runs_tools_and_keeps_its_history_within_a_budget(memory: Memory) -> None:
    agents = pytest.importorskip("agents")
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from haversack.adapters.openai_agents import FittedSession, tools

    seen: list[list[Any]] = []

    class Scripted(Model):
        async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append(list(input) if isinstance(input, list) else [input])
            if len(seen) == 1:
                arguments = json.dumps({"title": "Port", "content": "The port is 6543."})
                output: Any = ResponseFunctionToolCall(
                    type="function_call", call_id="c1", name="mem_save", arguments=arguments
                )
            else:
                text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
                output = ResponseOutputMessage(
                    id="m1", type="message", role="assistant", status="completed", content=[text]
                )
            return agents.ModelResponse(output=[output], usage=agents.Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    async def session() -> None:
        inner = agents.SQLiteSession("chat")
        held = FittedSession(inner, memory, max_tokens=2_000)
        await inner.add_items([{"role": "user", "content": "Look at the log"}])
        for number in range(6):
            await inner.add_items(
                [
                    {"type": "function_call", "call_id": f"t{number}", "name": "read", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": f"t{number}", "output": LONG},
                ]
            )
        agent = agents.Agent(name="Helper", model=Scripted(), tools=tools(memory))
        settings = agents.RunConfig(tracing_disabled=True)
        result = await agents.Runner.run(agent, "Remember the port", session=held, run_config=settings)
        assert result.final_output == "Done."
        assert len(await inner.get_items()) > 13
        assert count_messages([dict(each) for each in await held.get_items()]) <= 2_000

    asyncio.run(session())
    assert memory.search("port").total == 1
    told = json.dumps(seen[0], default=str)
    assert count_tokens(told) < 3_000 and "more(" in told
    key = told.split('more(\\"')[1].split("\\")[0]
    assert "A line of a log" in memory.more(key).text


def test_pydantic_ai_runs_tools_and_fits_its_history(memory: Memory) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from haversack.adapters.pydantic_ai import fitting, toolset

    seen: list[list[ModelMessage]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(messages)
        if len(seen) == 1:
            return ModelResponse([ToolCallPart("mem_save", {"title": "Port", "content": "The port is 6543."})])
        return ModelResponse([TextPart("Done.")])

    history: list[ModelMessage] = [ModelRequest([UserPromptPart("Look at the log")])]
    for number in range(6):
        history.append(ModelResponse([ToolCallPart("read", {}, tool_call_id=f"t{number}")]))
        history.append(ModelRequest([ToolReturnPart("read", LONG, tool_call_id=f"t{number}")]))
    agent = Agent(
        FunctionModel(answer),
        toolsets=[toolset(memory)],
        capabilities=[ProcessHistory(fitting(memory, max_tokens=2_000))],
    )
    result = agent.run_sync("Remember the port", message_history=history)
    assert result.output == "Done."
    assert memory.search("port").total == 1
    told = str(seen[0])
    assert told.count("A line of a log") < 300 and "more(" in told
    calls = {part.tool_call_id for each in seen[0] for part in each.parts if isinstance(part, ToolCallPart)}
    answers = {part.tool_call_id for each in seen[0] for part in each.parts if isinstance(part, ToolReturnPart)}
    assert calls == answers, "every call keeps its result"


def test_langchain_messages_fit_and_the_middleware_leaves_the_state_whole(memory: Memory) -> None:
    pytest.importorskip("langchain")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    from haversack.adapters.langchain import FitMessages, fit_messages

    history: list[Any] = [SystemMessage("Be brief."), HumanMessage("Look at the log")]
    for number in range(6):
        call = {"id": f"t{number}", "name": "read", "args": {}}
        history += [AIMessage("", tool_calls=[call]), ToolMessage(LONG, tool_call_id=f"t{number}")]
    history.append(HumanMessage("And now?"))
    fitted = fit_messages(history, 2_000, memory=memory)
    assert fitted[0] is history[0] and fitted[-1] is history[-1]
    assert sum(count_tokens(str(each.content)) for each in fitted) < 2_000
    short = next(each for each in fitted if isinstance(each, ToolMessage) and each.content != LONG)
    assert "A line of a log" in memory.more(str(short.content).split('more("')[1].split('"')[0]).text

    seen: list[Any] = []

    class Scripted(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append(messages)
            return super()._generate(messages, *args, **kwargs)

    model = Scripted(messages=iter([AIMessage("Done.")]))
    agent = create_agent(model, [], middleware=[FitMessages(memory, max_tokens=2_000)])
    state = agent.invoke({"messages": history})
    assert state["messages"][-1].content == "Done."
    assert len(state["messages"]) == len(history) + 1
    assert sum(count_tokens(str(each.content)) for each in seen[0]) < 2_000


def test_langgraphs_store_keeps_finds_and_forgets_items(memory: Memory) -> None:
    pytest.importorskip("langgraph")
    from haversack.adapters.langchain import MemoryStore

    store = MemoryStore(memory)
    store.put(("users", "ada"), "likes", {"food": "aubergine", "drink": "tea"})
    store.put(("users", "ada"), "likes", {"food": "aubergine", "drink": "coffee"})
    store.put(("users", "bob"), "likes", {"food": "fennel"})
    store.put(("a/b",), "c", {"n": 1})
    store.put(("a",), "b/c", {"n": 2})
    held = store.get(("users", "ada"), "likes")
    assert held is not None and held.value == {"food": "aubergine", "drink": "coffee"}
    assert store.search(("users",), query="aubergine")[0].namespace == ("users", "ada")
    assert [item.key for item in store.search(("users",), filter={"food": "fennel"})] == ["likes"]
    assert {item.value["n"] for item in store.search((), limit=50) if "n" in item.value} == {1, 2}
    assert store.list_namespaces(prefix=("users",)) == [("users", "ada"), ("users", "bob")]
    assert asyncio.run(store.aget(("users", "bob"), "likes")) is not None
    store.delete(("users", "bob"), "likes")
    assert store.get(("users", "bob"), "likes") is None
