"""Marks in the FTS5 index for the project, kind, scope, namespace and status of a row."""

from functools import lru_cache

from haversack.store.records import Filters
from haversack.values import replace

CURRENT = ("active", "pending")
"""The statuses that nearly every row has and nearly every search asks for; only rows of another are marked."""
_SIGN = "\ue000"
# A character for private use begins a mark, so that no word of a text or a query is ever taken for one.


def marks(project_key: str, kind: str, scope: str, namespace: str, status: str) -> str:
    """The marks of an observation, indexed beside its words."""
    held = [_mark("p", project_key), _mark("k", kind), _mark("s", scope), _mark("n", namespace)]
    if status not in CURRENT:
        held += [_mark("t", ""), _mark("t", status)]
    return " ".join(held)


@lru_cache(512)
def _mark(sort: str, value: str) -> str:
    """A word of digits: a name could hold anything, and letters might be stemmed."""
    from haversack.digests import blake2b  # a search that nothing narrows needs no marks

    return f"{_SIGN}{sort}{int.from_bytes(blake2b(value.encode(), digest_size=8).digest())}"


def narrowed(match: str, filters: Filters) -> tuple[str, Filters]:
    """An expression narrowed by marks to the filters' project, kind and so on, and the filters still to be checked."""
    wanted = []
    if filters.project_key:
        wanted.append(_mark("p", filters.project_key))
    if filters.kind:
        wanted.append(_mark("k", filters.kind))
    if filters.scope:
        wanted.append(_mark("s", filters.scope))
    if filters.namespace is not None:
        wanted.append(_mark("n", filters.namespace))
    left = replace(filters, project_key="", kind="", scope="", namespace=None)
    expression = f"({match})"
    if len(filters.statuses) == 1 and filters.statuses[0] not in CURRENT:
        wanted.append(_mark("t", filters.statuses[0]))
        left = replace(left, statuses=())
    for mark in wanted:
        expression += f' AND marks : "{mark}"'
    if set(filters.statuses) == set(CURRENT):
        expression = f'({expression}) NOT marks : "{_mark("t", "")}"'
        left = replace(left, statuses=())
    return expression, left
