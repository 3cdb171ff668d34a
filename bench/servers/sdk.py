"""The same three tools on the official SDK."""

import sqlite3
import sys

from mcp.server.mcpserver import MCPServer

store = sqlite3.connect(sys.argv[1], check_same_thread=False)
store.execute("PRAGMA journal_mode=WAL")
store.execute("PRAGMA synchronous=NORMAL")
store.execute("CREATE VIRTUAL TABLE IF NOT EXISTS notes USING fts5(title, content)")
server = MCPServer("sdk")


@server.tool()
async def save(title: str, content: str) -> str:
    """Save a note."""
    with store:
        row = store.execute("INSERT INTO notes VALUES (?, ?)", (title, content))
    return f"saved #{row.lastrowid}"


@server.tool()
async def echo(title: str) -> str:
    """Give back what was sent."""
    return title


@server.tool()
async def search(query: str) -> str:
    """Search the notes."""
    words = " OR ".join(query.split())
    rows = store.execute("SELECT rowid, title FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT 10", (words,))
    return "\n".join(f"#{row} {title}" for row, title in rows)


server.run("stdio")
