"""Counts for callers in Python: the totals replies state, under the same filters."""

from typing import Literal

from haversack.memory import context
from haversack.memory.room import Memory
from haversack.memory.search import search


def count_observations(
    memory: Memory, *, project: str = "", scope: str = "", kind: str = "", tags: tuple[str, ...] = ()
) -> int:
    """How many observations there are, deleted ones left out; empty filters mean all."""
    chosen = search.filters(memory, project=project, scope=scope, kind=kind, tags=tags)
    return context.count_observations(memory, chosen)


def count_search_results(
    memory: Memory,
    query: str,
    *,
    project: str = "",
    scope: str = "",
    kind: str = "",
    tags: tuple[str, ...] = (),
    match: Literal["any", "all"] = "any",
) -> int:
    """How many observations a search matches before any limit."""
    chosen = search.filters(memory, project=project, scope=scope, kind=kind, tags=tags)
    return search.count_search_results(memory, query, chosen, mode=match)
