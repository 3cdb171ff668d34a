"""Claude Code."""

from haversack.hosts.host import HookFile, Host, PluginCommands, ServerEntry, Transcripts

# Its `~/.claude.json` is rewritten by running sessions, and hooks in its settings file are also run by other hosts:
# so its own program installs a plugin, which brings server and hooks.
HOST = Host(
    name="claude-code",
    title="Claude Code",
    aliases=("claude",),
    programs=("claude",),
    folder="~/.claude",
    folder_variable="CLAUDE_CONFIG_DIR",
    project_servers=ServerEntry(file=".mcp.json", keys=("mcpServers", "haversack")),
    plugin=PluginCommands(
        add=(
            ("claude", "plugin", "marketplace", "add", "{folder}"),
            ("claude", "plugin", "install", "haversack@haversack"),
        ),
        remove=(
            ("claude", "plugin", "uninstall", "haversack@haversack"),
            ("claude", "plugin", "marketplace", "remove", "haversack"),
        ),
        changed_files=("{folder}/settings.json",),
        hooks=HookFile(
            file="hooks/hooks.json",
            events={
                "session-start": "SessionStart",
                "prompt": "UserPromptSubmit",
                "after-tool": "PostToolUse",
                "after-compact": "PostCompact",
                "stop": "Stop",
                "session-end": "SessionEnd",
            },
            matchers={"session-start": "startup|resume|clear|compact", "after-tool": "Bash|Edit|Write|NotebookEdit"},
            timeout=10,
        ),
    ),
    # Text of 10,001 characters is replaced by a path and its first 2 KB.
    most_characters=10_000,
    strips=(
        "command-message",
        "command-name",
        "command-args",
        "local-command-stdout",
        "local-command-caveat",
        "ide_opened_file",
        "ide_selection",
        "ide_diagnostics",
    ),
    transcripts=Transcripts("{folder}/projects", "*.jsonl", "claude_sessions"),
)
