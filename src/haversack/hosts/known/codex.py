"""Codex."""

from haversack.hosts.host import HookFile, Host, ServerEntry, Transcripts

HOST = Host(
    name="codex",
    title="Codex",
    programs=("codex",),
    folder="~/.codex",
    folder_variable="CODEX_HOME",
    server=ServerEntry(
        file="{folder}/config.toml", keys=("mcp_servers", "haversack"), format="toml", passes_environment=False
    ),
    hooks=HookFile(
        file="{folder}/hooks.json",
        events={
            "session-start": "SessionStart",
            "prompt": "UserPromptSubmit",
            "after-tool": "PostToolUse",
            "before-compact": "PreCompact",
            "after-compact": "PostCompact",
            "stop": "Stop",
            "session-end": "SessionEnd",
            "usage": "PostModelRequest",
        },
        matchers={"session-start": "startup|resume|clear|compact"},
        # A longer time for the end of a session is cut to three seconds, with a warning.
        timeout=3,
    ),
    # Text over about 2,500 tokens of four bytes is cut in its middle.
    most_characters=9_900,
    strips=("environment_context", "user_instructions", "user_shell_command", "turn_aborted"),
    after_install="Codex runs no hook that you have not trusted: start `codex`, type `/hooks`, and trust the entries "
    "that run `haversack hook`.",
    check_trust="codex",
    transcripts=Transcripts("{folder}/sessions", "rollout-*.jsonl", "codex_rollouts"),
)
