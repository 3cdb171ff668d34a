"""Unique names for the tools, prompts and tasks of several servers."""

from collections import Counter
from collections.abc import Iterable, Sequence

from haversack.digests import blake2b

LONGEST = 48
"""Characters of a tool's name: with the prefix a client puts before it, at most 64."""


def door_names(tools: Sequence[tuple[str, str]], taken: Iterable[str]) -> list[str]:
    """The name of each tool (given as server and name): its own, or behind the server's where two would collide."""
    reserved = set(taken)
    counted = Counter(name for _, name in tools)
    return [
        shortened(name if counted[name] == 1 and name not in reserved else prefixed(server, name))
        for server, name in tools
    ]


def prefixed(server: str, name: str) -> str:
    """A name behind its server's."""
    return f"{server}_{name}"


def shortened(name: str) -> str:
    """The name, or its beginning and a digest where it is too long for clients."""
    if len(name) <= LONGEST:
        return name
    digest = blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{name[: LONGEST - 9]}_{digest}"
