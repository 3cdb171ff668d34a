"""For the OpenAI Agents SDK: a session whose history fits a budget, and the memory's tools.

session = FittedSession(SQLiteSession("chat-7"), memory, max_tokens=20_000)
agent = Agent(name="Helper", tools=tools(memory))
result = await Runner.run(agent, "Which port do we use?", session=session)
"""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from agents import FunctionTool
from agents.items import TResponseInputItem
from agents.memory.session import Session
from agents.memory.session_settings import SessionSettings
from agents.tool_context import ToolContext

from haversack.adapters.function_calling import CORE, run
from haversack.library import Memory
from haversack.mcp.definitions import input_schema
from haversack.tools.registry import find
from haversack.worklog.messages import fit_messages


class FittedSession:
    """Another session with its history kept within a budget; the other session keeps every item.

    What does not fit becomes a line with a key, which the tool `more` gives back in full.
    """

    def __init__(self, session: Session, memory: Memory, *, max_tokens: int) -> None:
        self._session = session
        self._memory = memory
        self.max_tokens = max_tokens
        self.session_id = session.session_id
        self.session_settings: SessionSettings | None = session.session_settings

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The history, oldest first, within the budget."""
        items = cast("list[dict[str, Any]]", await self._session.get_items(limit))
        if not items:
            return []
        fitted = await asyncio.to_thread(fit_messages, items, self.max_tokens, log=self._memory.log)
        return cast("list[TResponseInputItem]", fitted)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep items in the other session."""
        await self._session.add_items(items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item out of the other session."""
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        """Empty the other session; what was saved in the memory stays."""
        await self._session.clear_session()


def tools(memory: Memory, names: Sequence[str] = CORE) -> list[FunctionTool]:
    """The named tools of the memory for an agent."""
    return [_tool(memory, name) for name in names]


def _tool(memory: Memory, name: str) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        return await asyncio.to_thread(run, memory, name, arguments or "{}")

    declared = find(name)
    return FunctionTool(
        name=name,
        description=declared.about,
        params_json_schema=dict(input_schema(declared)),
        on_invoke_tool=invoke,
        # Strict schemas demand every parameter; ours have defaults.
        strict_json_schema=False,
    )
