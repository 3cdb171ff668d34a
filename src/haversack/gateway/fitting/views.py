"""Which channel of a tool's result a client passes to its model, by the client's name."""

from typing import Literal

from haversack.values import record

View = Literal["content", "structured", "both"]


@record
class Client:
    """What is known of a client: the channel its model sees, and whether it loads tools only when they are needed."""

    view: View = "content"
    defers_tools: bool = False


_KNOWN = (
    # Only structuredContent reaches the model where a result has it.
    ("claude-code", Client("structured", defers_tools=True)),
    ("codex", Client("structured", defers_tools=True)),
    ("visual studio code", Client("structured")),
    ("vscode", Client("structured")),
    # Both channels are pasted, and both are paid for.
    ("copilot", Client("both")),
    ("github-copilot", Client("both")),
)
UNKNOWN = Client()


def client_named(name: str) -> Client:
    """What is known of the client with this `clientInfo.name`; an unknown one shows `content`."""
    lowered = name.strip().lower()
    return next((client for known, client in _KNOWN if lowered.startswith(known)), UNKNOWN)
