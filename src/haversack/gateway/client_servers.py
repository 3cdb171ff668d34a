"""`haversack gateway import CLIENT`: the servers a client has, as the gateway's TOML."""

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from typing import Any

from haversack.argument_parser import plain_parser
from haversack.errors import ConfigError, NotFound
from haversack.patterns import pattern

_BARE = pattern(r"^[A-Za-z0-9_-]+$")
_SECRET = pattern(r"(?i)key|token|secret|password|credential|auth")


def _files(home: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Where each client keeps its servers: the files, and the member of each that holds them."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    mac = os.path.join(home, "Library", "Application Support")
    return {
        "claude": ((os.path.join(home, ".claude.json"), "mcpServers"), (".mcp.json", "mcpServers")),
        "claude-desktop": (
            (os.path.join(mac, "Claude", "claude_desktop_config.json"), "mcpServers"),
            (os.path.join(config, "Claude", "claude_desktop_config.json"), "mcpServers"),
        ),
        "codex": ((os.path.join(home, ".codex", "config.toml"), "mcp_servers"),),
        "cursor": ((os.path.join(home, ".cursor", "mcp.json"), "mcpServers"), (".cursor/mcp.json", "mcpServers")),
        "gemini": (
            (os.path.join(home, ".gemini", "settings.json"), "mcpServers"),
            (".gemini/settings.json", "mcpServers"),
        ),
        "vscode": ((".vscode/mcp.json", "servers"),),
        "opencode": ((os.path.join(config, "opencode", "opencode.json"), "mcp"), ("opencode.json", "mcp")),
    }


def command(typed: list[str]) -> int:
    """Print a client's servers as TOML, or add them to a file with a copy of it kept."""
    home = os.path.expanduser("~")
    known = _files(home)
    parser = plain_parser(
        "gateway import",
        "Print the MCP servers of a client as TOML for the gateway.",
        "haversack gateway import claude",
        "haversack gateway import codex --write servers.toml",
    )
    parser.add_argument("client", choices=sorted(known))
    parser.add_argument("--write", metavar="FILE", help="write them to a file; one that exists is copied first")
    parsed = parser.parse_args(typed)
    servers, skipped = _read(known[parsed.client])
    if not servers:
        looked = ", ".join(path for path, _ in known[parsed.client])
        raise NotFound(f"no servers of {parsed.client} found", hint=f"looked into {looked}")
    text = as_toml(servers)
    for name in skipped:
        sys.stderr.write(f"haversack: {name} is not a command on this machine and was left out\n")
    if not parsed.write:
        sys.stdout.write(text)
        return 0
    if os.path.exists(parsed.write):
        backup = f"{parsed.write}.{time.strftime('%Y%m%d-%H%M%S')}.bak"
        shutil.copy2(parsed.write, backup)
        sys.stderr.write(f"haversack: the file as it was is in {backup}\n")
    descriptor = os.open(parsed.write, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return 0


def _read(files: tuple[tuple[str, str], ...]) -> tuple[dict[str, Any], list[str]]:
    """The servers that are commands, and the names of those that are not."""
    found: dict[str, Any] = {}
    skipped: list[str] = []
    for path, member in files:
        if not os.path.exists(path):
            continue
        held = _content(path).get(member)
        for name, given in held.items() if isinstance(held, dict) else ():
            made = _server(given)
            if made is None:
                skipped.append(str(name))
            elif name not in found:
                found[name] = made
    return found, skipped


def _content(path: str) -> dict[str, Any]:
    try:
        if path.endswith(".toml"):
            import tomllib

            with open(path, "rb") as file:
                return tomllib.load(file)
        with open(path, encoding="utf-8") as file:
            held = json.load(file)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    return held if isinstance(held, dict) else {}


def _server(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, dict):
        return None
    command = given.get("command")
    parts = command if isinstance(command, list) else [command, *(given.get("args") or [])]
    if not parts or not all(isinstance(part, str) for part in parts):
        return None
    variables = given.get("env") or given.get("environment") or {}
    return {"command": parts, "env": variables if isinstance(variables, dict) else {}}


def as_toml(servers: Mapping[str, Any]) -> str:
    """The servers as a file for the gateway; values that look secret are read from the environment instead."""
    lines = ["[gateway]", "budget = 8000", 'tools = "auto"']
    for name, server in servers.items():
        cleaned = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name).strip("-")
        lines += ["", f"[gateway.servers.{cleaned or 'server'}]", f"command = {_array(server['command'])}"]
        if server["env"]:
            pairs = ", ".join(
                f"{key if _BARE.match(key) else json.dumps(key)} = {_text(_value(key, str(value)))}"
                for key, value in server["env"].items()
            )
            lines.append(f"env = {{ {pairs} }}")
    return "\n".join(lines) + "\n"


def _value(name: str, value: str) -> str:
    return f"${{{name}}}" if _SECRET.search(name) and not value.startswith("${") else value


def _array(parts: list[str]) -> str:
    return f"[{', '.join(map(_text, parts))}]"


def _text(value: str) -> str:
    # A basic TOML string has the escapes of JSON, except for characters beyond the first plane.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
