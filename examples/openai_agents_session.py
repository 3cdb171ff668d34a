"""An OpenAI Agents SDK session whose history fits; what is taken out comes back by its key."""

import asyncio
import json
import tempfile

from agents import SQLiteSession

from haversack import Memory
from haversack.adapters.openai_agents import FittedSession, tools
from haversack.worklog import count_messages


async def main(memory: Memory) -> None:
    """Fill a session with long tool results and read it within 2,000 tokens."""
    inner = SQLiteSession("chat")
    await inner.add_items([{"role": "user", "content": "Which line of the log is wrong?"}])
    for number in range(8):
        await inner.add_items(
            [
                {"type": "function_call", "call_id": f"c{number}", "name": "read_log", "arguments": "{}"},
                {"type": "function_call_output", "call_id": f"c{number}", "output": f"{number}: all is well\n" * 200},
            ]
        )
    session = FittedSession(inner, memory, max_tokens=2_000)
    whole, fitted = await inner.get_items(), await session.get_items()
    print(f"kept: {len(whole)} items; fits: {count_messages([dict(item) for item in fitted]) <= 2_000}")
    key = json.dumps(fitted).split('more(\\"')[1].split("\\")[0]
    print(f"read back: {'all is well' in memory.more(key).text}")
    print(f"tools: {', '.join(tool.name for tool in tools(memory))}")


with tempfile.TemporaryDirectory() as home, Memory(project="thesis", home=home) as memory:
    asyncio.run(main(memory))
