"""VS Code."""

from haversack.hosts.host import Host, ServerEntry

# Its sessions run the hooks of their harness (Copilot, Claude Code, Codex), which are installed with those hosts.
HOST = Host(
    name="vscode",
    title="VS Code",
    aliases=("code", "vs-code"),
    programs=("code",),
    folder="{user-settings}/Code/User",
    server=ServerEntry(file="{folder}/mcp.json", keys=("servers", "haversack"), extra={"type": "stdio"}),
    injects_at=("session-start",),
    after_install="VS Code runs the hooks of the agent it hosts: `haversack install copilot` adds those of Copilot.",
)
