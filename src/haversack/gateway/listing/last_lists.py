"""The tools each server listed last time, so that a list need not wait for slow servers."""

import json
import os
import threading
from contextlib import suppress
from typing import Any

from haversack.digests import blake2b
from haversack.gateway.settings import Server

FILE = "gateway-lists.json"
Json = dict[str, Any]


class LastLists:
    """A file in the home folder, readable by its owner alone; without it every start waits for every server."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, FILE)
        self._lock = threading.Lock()
        self._held: dict[str, Json] = {}
        with suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
            held = json.load(file)
            self._held = held if isinstance(held, dict) else {}

    def tools(self, server: Server) -> list[Json]:
        """The tools a server had, under the same command."""
        tools = self._entry(server).get("tools")
        return [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []

    def instructions(self, server: Server) -> str:
        """The instructions a server had, under the same command."""
        return str(self._entry(server).get("instructions") or "")

    def keep(self, server: Server, tools: list[Json], instructions: str) -> None:
        """Remember a server's tools for the next start."""
        entry = {"command": _digest(server), "tools": tools, "instructions": instructions}
        with self._lock:
            if self._held.get(server.name) == entry:
                return
            self._held[server.name] = entry
            with suppress(OSError):
                self._write()

    def _write(self) -> None:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        beside = f"{self._path}.{os.getpid()}"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(self._held, file)
        os.replace(beside, self._path)

    def _entry(self, server: Server) -> Json:
        entry = self._held.get(server.name)
        return entry if isinstance(entry, dict) and entry.get("command") == _digest(server) else {}


def _digest(server: Server) -> str:
    # Arguments may hold secrets, so only their digest is kept.
    return blake2b("\0".join(server.command).encode(), digest_size=16).hexdigest()
