"""Remember and recall from Python, sync and async, within a budget."""

import asyncio
import tempfile

from haversack import AsyncMemory, Memory

with tempfile.TemporaryDirectory() as home, Memory(project="thesis", home=home) as memory:
    memory.save("Tokens rotate hourly", "We chose JWT with RS256.", kind="decision", tags=["auth"])
    for number in range(30):
        memory.save(f"Meeting {number}", f"We spoke about tokens and chapter {number}. " * 5)

    found = memory.search("how do the tokens rotate", max_tokens=300, limit=50)
    print(f"best: {found.items[0].title}")
    print(f"fits: {found.tokens <= 300}, {found.shown} of {found.total} shown, {found.left} left")
    page = found.more(300)
    print(f"the next page goes on: {page is not None and page.items[0].id != found.items[0].id}")
    print(f"a pack to paste: {memory.pack(max_tokens=400).tokens <= 400}")

    async def ask() -> int:
        async with AsyncMemory(project="thesis", home=home) as same:
            replies = await asyncio.gather(*(same.search(f"chapter {number}") for number in range(5)))
            return len(replies)

    print(f"asked at once: {asyncio.run(ask())}")
