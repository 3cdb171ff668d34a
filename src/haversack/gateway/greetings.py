"""How the gateway answers a client's first words: which revision is spoken, and what is offered at the door."""

from collections.abc import Mapping
from typing import Any

from haversack.gateway.messages import Json
from haversack.mcp.requests import HANDSHAKE_REVISIONS, VERSION_KEY
from haversack.version import __version__

CAPABILITIES: Json = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "logging": {},
    "completions": {},
}


def greeting(params: Mapping[str, Any], instructions: str) -> Json:
    """The result of `initialize`: the client's revision where it is spoken here, else the newest that is."""
    asked = params.get("protocolVersion")
    result: Json = {
        "protocolVersion": asked if asked in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[0],
        "capabilities": CAPABILITIES,
        "serverInfo": {"name": "haversack-gateway", "title": "Haversack gateway", "version": __version__},
    }
    return {**result, "instructions": instructions} if instructions else result


def unspoken(params: Mapping[str, Any]) -> Json | None:
    """What a request is told whose revision has no handshake, which servers are started with; None for any other."""
    meta = params.get("_meta")
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if version is None or version in HANDSHAKE_REVISIONS:
        return None
    return {"supported": list(HANDSHAKE_REVISIONS), "requested": str(version)[:40]}
