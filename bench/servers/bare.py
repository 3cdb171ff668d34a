"""The least a Python program can do: a loop over lines, json, and sqlite3 with full-text search. The floor."""

import json
import sqlite3
import sys

store = sqlite3.connect(sys.argv[1])
store.execute("PRAGMA journal_mode=WAL")
store.execute("PRAGMA synchronous=NORMAL")
store.execute("CREATE VIRTUAL TABLE IF NOT EXISTS notes USING fts5(title, content)")


def called(name: str, arguments: dict[str, str]) -> str:
    if name == "save":
        with store:
            row = store.execute("INSERT INTO notes VALUES (?, ?)", (arguments["title"], arguments["content"]))
        return f"saved #{row.lastrowid}"
    if name == "echo":
        return arguments["title"]
    query = " OR ".join(arguments["query"].split())
    rows = store.execute("SELECT rowid, title FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10", (query,))
    return "\n".join(f"#{row} {title}" for row, title in rows)


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result: dict[str, object] = {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "bare", "version": "0"},
        }  # fmt: skip
    else:
        text = called(message["params"]["name"], message["params"]["arguments"])
        result = {"content": [{"type": "text", "text": text}]}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
    sys.stdout.flush()
