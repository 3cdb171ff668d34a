"""An MCP server that takes token budgets for hints: what `fitcheck` is there to find."""

import json
import sys

LINES = [f"#{number} note {number} about the gateway and its ports" for number in range(1, 60)]
TOOLS = [
    {
        "name": "recall_notes",
        "inputSchema": {"type": "object", "properties": {"token_budget": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "get_page",
        "inputSchema": {"type": "object", "properties": {"max_tokens": {"type": "integer"}}},
    },
    {"name": "delete_notes", "inputSchema": {"type": "object", "properties": {"max_tokens": {"type": "integer"}}}},
    {"name": "list_all", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": True}},
]


def answer(method: str, params: dict[str, object]) -> dict[str, object]:
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "careless"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    arguments = params["arguments"]
    assert isinstance(arguments, dict)
    if params["name"] == "delete_notes":
        sys.exit("a tool that deletes was called")
    if params["name"] == "recall_notes":
        text = "\n".join(LINES)
    else:
        # As many peers do: cut by bytes, whatever stands there, and say nothing of it.
        size = int(arguments["max_tokens"])
        text = ("```text\n" + "数据库 " * 3_000 + "\n```").encode()[: size * 2].decode("utf-8", "replace")
    return {"content": [{"type": "text", "text": text}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
        sys.stdout.flush()
