"""Gemini CLI."""

from haversack.hosts.host import HookFile, Host, ServerEntry, Transcripts

HOST = Host(
    name="gemini",
    title="Gemini CLI",
    aliases=("gemini-cli",),
    programs=("gemini",),
    folder="~/.gemini",
    server=ServerEntry(file="{folder}/settings.json", keys=("mcpServers", "haversack")),
    hooks=HookFile(
        file="{folder}/settings.json",
        events={
            "session-start": "SessionStart",
            "prompt": "BeforeAgent",
            "after-tool": "AfterTool",
            "stop": "AfterAgent",
            "session-end": "SessionEnd",
        },
        # Milliseconds. Its PreCompress is no sign that anything was compacted, so it is left alone.
        timeout=10_000,
        extra={"name": "haversack"},
    ),
    after_install="Gemini CLI uses no server in a folder you have not trusted: start `gemini` in it and type "
    "`/permissions`, or answer its question with `Trust folder`.",
    transcripts=Transcripts("{folder}/tmp", "session-*.json*", "gemini_chats"),
)
