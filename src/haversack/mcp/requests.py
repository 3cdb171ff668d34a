"""A request as either era of the protocol sends it, checked before anything is done for it."""

from collections.abc import Callable, Mapping
from typing import Any

from haversack.protocol.lines import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    ProtocolError,
    RequestId,
)
from haversack.values import record

HANDSHAKE_REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
STATELESS_REVISIONS = ("2026-07-28",)
REVISIONS = (*STATELESS_REVISIONS, *HANDSHAKE_REVISIONS)
BATCHES = "2025-03-26"
"""The one revision in which a client may send several messages as an array."""

_PREFIX = "io.modelcontextprotocol/"
VERSION_KEY = f"{_PREFIX}protocolVersion"
CAPABILITIES_KEY = f"{_PREFIX}clientCapabilities"
SERVER_KEY = f"{_PREFIX}serverInfo"
LOG_LEVEL_KEY = f"{_PREFIX}logLevel"
SUBSCRIPTION_KEY = f"{_PREFIX}subscriptionId"

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

Respond = Callable[[str], None]
"""Takes the line that answers a request, or an empty one when it is to have no answer after all."""


@record
class Request:
    """A call that wants an answer; `stateless` is true for the newer era, `respond` takes the answer's line."""

    id: RequestId
    method: str
    params: Mapping[str, Any]
    stateless: bool
    respond: Respond

    @property
    def key(self) -> tuple[type, RequestId]:
        """The id as a key: 1 and "1" are different ids."""
        return type(self.id), self.id

    @property
    def meta(self) -> Mapping[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def progress_token(self) -> str | int | None:
        token = self.meta.get("progressToken")
        return token if isinstance(token, str | int) and not isinstance(token, bool) else None

    def text(self, name: str) -> str:
        """A parameter that must be there and be text."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise ProtocolError(INVALID_PARAMS, f"{self.method} needs {name}, a text")
        return value

    def object(self, name: str) -> Mapping[str, Any]:
        """A parameter that must be an object where it is given."""
        value = self.params.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ProtocolError(INVALID_PARAMS, f"{name} of {self.method} is not an object")
        return value


def request_id(message: object) -> RequestId | None:
    """The id of a message; None where it has no valid one."""
    value = message.get("id") if isinstance(message, dict) else None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def checked(message: object) -> Mapping[str, Any]:
    """The message, checked to be a JSON-RPC request or notification with named parameters."""
    if not isinstance(message, dict):
        raise ProtocolError(INVALID_REQUEST, "a message is an object")
    if message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'jsonrpc is not "2.0"')
    if not isinstance(message.get("method"), str):
        raise ProtocolError(INVALID_REQUEST, "method is not a text")
    if "id" in message and request_id(message) is None:
        raise ProtocolError(INVALID_REQUEST, "id is neither a text nor a whole number")
    if not isinstance(message.get("params", {}), dict):
        raise ProtocolError(INVALID_PARAMS, "params is not an object")
    return message


def is_stateless(method: str, params: Mapping[str, Any]) -> bool:
    """Whether a request carries its own client facts, as since 2026-07-28; wrong ones are refused."""
    meta = params.get("_meta")
    if method == "initialize" or not isinstance(meta, dict) or VERSION_KEY not in meta:
        return False
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"{VERSION_KEY} is not a text")
    if version not in STATELESS_REVISIONS:
        raise ProtocolError(
            UNSUPPORTED_VERSION,
            f"protocol version {version[:40]!r} is not spoken here",
            {"supported": list(REVISIONS), "requested": version},
        )
    if not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise ProtocolError(INVALID_PARAMS, f"_meta needs {CAPABILITIES_KEY}, an object")
    return True


def negotiated(params: Mapping[str, Any]) -> str:
    """The revision for a handshake: the one asked for, else the newest that has a handshake."""
    asked = params.get("protocolVersion")
    if not isinstance(asked, str):
        raise ProtocolError(INVALID_PARAMS, "initialize needs protocolVersion, a text")
    return asked if asked in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[0]
