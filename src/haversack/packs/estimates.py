"""Quick estimates of what memories cost, at four bytes per token; packs count exactly."""

from collections.abc import Sequence
from typing import Protocol

from haversack.tokens import estimate_tokens

MEMORY_DETAILS, INDEX_DETAILS = 20, 15
"""Tokens of the kind, date and id beside a memory, and beside its line in a list."""


class Titled(Protocol):
    """The fields an estimate of a memory's list line needs."""

    @property
    def title(self) -> str: ...
    @property
    def tags(self) -> Sequence[str]: ...


class Detailed(Titled, Protocol):
    """The fields an estimate of a full memory needs."""

    @property
    def content(self) -> str: ...


def estimate_memory_tokens(memory: Detailed) -> int:
    """About what a memory costs in full: title, content, tags and details."""
    return estimate_tokens(memory.content) + _head(memory) + MEMORY_DETAILS


def estimate_index_tokens(memory: Titled) -> int:
    """About what a memory costs as a line of a list: title, tags and details."""
    return _head(memory) + INDEX_DETAILS


def _head(memory: Titled) -> int:
    return estimate_tokens(memory.title) + estimate_tokens(", ".join(memory.tags))
