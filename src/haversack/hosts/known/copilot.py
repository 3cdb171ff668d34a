"""GitHub Copilot CLI."""

from haversack.hosts.host import HookFile, Host, ServerEntry, Transcripts

HOST = Host(
    name="copilot",
    title="GitHub Copilot CLI",
    aliases=("copilot-cli",),
    programs=("copilot",),
    folder="~/.copilot",
    server=ServerEntry(
        file="{folder}/mcp-config.json", keys=("mcpServers", "haversack"), extra={"type": "local", "tools": ["*"]}
    ),
    hooks=HookFile(
        file="{folder}/hooks/haversack.json",
        shape="flat",
        events={
            "session-start": "sessionStart",
            "prompt": "userPromptSubmitted",
            "after-tool": "postToolUse",
            "stop": "agentStop",
            "session-end": "sessionEnd",
        },
        command_keys=("bash", "powershell"),
        timeout_key="timeoutSec",
        timeout=10,
        extra={"type": "command"},
        top={"version": 1},
        is_own=True,
    ),
    output="additionalContext",
    sends_instructions=False,
    transcripts=Transcripts("{folder}/session-state", "events.jsonl", "copilot_events"),
)
