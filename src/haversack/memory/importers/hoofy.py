"""Hoofy: one SQLite file."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from haversack.memory.importers import observation_tables

PLACES = ("~/.hoofy/memory.db", "~/.sdd-hoffy/memory.db")


def records(path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    """Its sessions, observations and prompts."""
    return observation_tables.records("hoofy", path, left)
