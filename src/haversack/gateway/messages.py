"""Messages: reading and writing lines, and the facts kept about a request until it is answered."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from haversack.gateway.settings import Server
from haversack.tokens import parse_max_tokens
from haversack.tools.road.outcomes import NO_FACTS
from haversack.values import record

MAX_TOKENS_KEY = "haversack/max_tokens"
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]

Json = dict[str, Any]


@record
class Pending:
    """A request of the client that an upstream has not answered yet."""

    identifier: Any
    method: str
    server: Server
    tool: str = ""
    arguments: Mapping[str, Any] = NO_FACTS
    tokens: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is a tool call without a budget of its own."""
        return self.method == "tools/call" and self.tokens is None

    @property
    def label(self) -> str:
        """The tool's name in the account, with its server's name before it."""
        called = self.tool or self.method
        return f"{self.server.title}/{called}" if self.server.title else called


def asked_tokens(params: Mapping[str, Any]) -> int | None:
    """The budget a call names in its metadata."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or MAX_TOKENS_KEY not in meta:
        return None
    return parse_max_tokens(meta[MAX_TOKENS_KEY], name=MAX_TOKENS_KEY)


def say(message: str) -> None:
    """Print a message for the user on standard error."""
    sys.stderr.write(f"haversack: {message}\n")
    sys.stderr.flush()


def parsed(line: bytes) -> Any:
    """The JSON value on a line; bytes that are not UTF-8 do not hide what the message is."""
    try:
        # The usual line, without the detours of `loads`.
        text = line.decode()
        value, end = _scan(text, 0)
        if text[end:].isspace():
            return value
    except (ValueError, StopIteration):
        pass
    try:
        return json.loads(line)
    except UnicodeDecodeError:
        return json.loads(line.decode("utf-8", "replace"))


def encoded(message: Mapping[str, Any]) -> bytes:
    """A message as a line."""
    return as_bytes(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")


def as_bytes(text: str) -> bytes:
    """A text in UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair can only be written as the escape it came as.
        return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text).encode()
