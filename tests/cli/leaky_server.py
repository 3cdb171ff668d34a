"""An MCP server without annotations whose replies leak once there is something to show."""

import json
import sys

from haversack.tokens import count_tokens

BUDGET = {"type": "object", "properties": {"max_tokens": {"type": "integer"}}}
# As some libraries send for every tool whose author says nothing.
DEFAULTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
TEXT = {"type": "string"}
SAVING = {"type": "object", "properties": {"title": TEXT, "content": TEXT}, "required": ["title", "content"]}
TOOLS = [
    {"name": "note_search", "inputSchema": BUDGET},
    {"name": "notebook", "inputSchema": BUDGET},
    {"name": "note_timeline", "inputSchema": BUDGET},
    {"name": "save_and_show", "inputSchema": BUDGET},
    {"name": "note_save", "inputSchema": SAVING},
]
NOTES: list[str] = []


def fitting(budget: int) -> list[str]:
    kept: list[str] = []
    for number, note in enumerate(NOTES, 1):
        if count_tokens("\n".join([*kept, f"#{number} {note}"])) > budget:
            break
        kept.append(f"#{number} {note}")
    return kept


def reply(name: str, arguments: dict[str, object]) -> str:
    if name == "note_save":
        NOTES.append(f"{arguments['title']}: {str(arguments['content'])[:100]}")
        return "saved"
    if not NOTES:
        return "No notes."
    budget = int(str(arguments["max_tokens"]))
    if name == "note_search":
        return "\n".join(f"[{number}] #{number} {note}" for number, note in enumerate(NOTES, 1))
    if name == "notebook":
        shown = fitting(budget)
        return "\n".join(shown) + f"\n\nShowing {len(shown)} of {len(NOTES)} notes. Ask again with a larger budget."
    shown = fitting(budget - 20)
    return f"Showing {len(shown)} of {len(shown)} notes\n" + "\n".join(shown)


def answer(method: str, params: dict[str, object]) -> dict[str, object]:
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "leaky"}}
    if method == "tools/list":
        return {"tools": [tool | {"annotations": DEFAULTS} if "defaults" in sys.argv else tool for tool in TOOLS]}
    arguments = params["arguments"]
    assert isinstance(arguments, dict)
    return {"content": [{"type": "text", "text": reply(str(params["name"]), arguments)}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
        sys.stdout.flush()
