"""What it costs to have the server connected: the tokens of its tool list and instructions, set by set."""

import argparse
import json

from haversack.mcp.definitions import definition
from haversack.mcp.instructions import instructions
from haversack.mcp.tool_sets import DEFAULT_SETS, SETS, select_tools
from haversack.tokens import count_tokens
from haversack.tools.declaration import Tool

MEMORY_LIMIT = 2_500
INSTRUCTIONS_LIMIT = 600


def sent(tools: list[Tool]) -> list[str]:
    """Each definition as it goes over the wire."""
    return [json.dumps(definition(tool), ensure_ascii=False, separators=(",", ":")) for tool in tools]


def row(name: str, texts: list[str], limit: int | None = None) -> str:
    """A line of the table: how many, bytes, both counts, and the share of the limit where there is one."""
    size = sum(len(text.encode()) for text in texts)
    exact = sum(count_tokens(text, "o200k") for text in texts)
    share = f"{size / 4 / limit:6.2f} of {limit:,}" if limit else ""
    return f"  {name:34} {len(texts):5} {size:8,} {size / 4:9,.0f} {exact:8,} {share}"


def main() -> None:
    """Print the figures; they are the same in every run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no difference: it is quick")
    parser.parse_args()
    print(f"  {'':34} {'count':>5} {'bytes':>8} {'bytes/4':>9} {'o200k':>8}")
    memory = [tool for tool in select_tools(["memory"]) if tool.name.startswith("mem_")]
    print(row("the mem_* tools", sent(memory), MEMORY_LIMIT))
    for name in (*SETS, "all"):
        print(row(f"set {name}, with more", sent(select_tools([name]))))
    print(row(f"default ({' + '.join(DEFAULT_SETS)})", sent(select_tools([]))))
    print(row("instructions, default", [instructions(DEFAULT_SETS)], INSTRUCTIONS_LIMIT))
    print(row("instructions, all sets", [instructions(SETS)], INSTRUCTIONS_LIMIT))
    tokens = sum(len(text.encode()) for text in sent(memory)) / 4
    print(f"claim: the mem_* tools in a client's context | {tokens:.0f} | at most {MEMORY_LIMIT} | tokens (bytes4)")
    tokens = len(instructions(SETS).encode()) / 4
    print(f"claim: the instructions, all sets | {tokens:.0f} | at most {INSTRUCTIONS_LIMIT} | tokens (bytes4)")
    print("dearest tools:")
    for text in sorted(sent(select_tools(["all"])), key=len, reverse=True)[:5]:
        print(row(json.loads(text)["name"], [text]))


if __name__ == "__main__":
    main()
