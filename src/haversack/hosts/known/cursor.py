"""Cursor."""

from haversack.hosts.host import HookFile, Host, ServerEntry

HOST = Host(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    folder="~/.cursor",
    server=ServerEntry(file="{folder}/mcp.json", keys=("mcpServers", "haversack")),
    hooks=HookFile(
        file="{folder}/hooks.json",
        shape="flat",
        events={
            "session-start": "sessionStart",
            "prompt": "beforeSubmitPrompt",
            "before-compact": "preCompact",
            "stop": "stop",
            "session-end": "sessionEnd",
        },
        timeout=10,
        top={"version": 1},
    ),
    output="additional_context",
    # Before a prompt it takes only `continue` and `user_message`.
    injects_at=("session-start",),
)
