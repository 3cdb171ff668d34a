"""The programs whose memories can be imported, by the name that is typed."""

import os
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from haversack.errors import InvalidArgument, NotFound

SOURCES = ("engram", "hoofy", "claude-mem", "basic-memory", "shabka", "server-memory", "mem0")


def records(source: str, path: str, left: Counter[str]) -> Iterator[dict[str, Any]]:
    """The records of a program, from `path` or its default location; `left` counts what is not imported."""
    if source not in SOURCES:
        raise InvalidArgument(f"nothing is known of {source[:60]!r}", hint=f"known: {', '.join(SOURCES)}")
    module = import_module(f"haversack.memory.importers.{source.replace('-', '_')}")
    places = [path] if path else [os.path.expanduser(each) for each in module.PLACES]
    found = next((each for each in places if os.path.exists(each)), "")
    if not found:
        looked = f"nothing of {source} at {' or '.join(places)}" if places else f"{source} keeps no usual place"
        raise NotFound(looked, hint=f"name its file: haversack import --from {source} PATH")
    carried: Iterator[dict[str, Any]] = module.records(found, left)
    return carried
