"""The places of observations, for a ranking that uses neighbouring rows.

An observation's `place` is its session's number and its turn in it, so that neighbouring turns have neighbouring
places.
"""

from collections.abc import Iterable

from haversack.store.engine import Reader
from haversack.store.filters import where
from haversack.store.records import Filters
from haversack.values import record

SESSION_BITS = 32


@record
class Placed:
    """The facts about one observation that the ranking uses beside its words."""

    id: int
    place: int
    position: int
    created_at: int
    updated_at: int
    label: str
    asks: int
    asks_before: int | None
    importance: float
    verification: str
    access_count: int


def conversations(tx: Reader, sessions: Iterable[int], one_in: int, least: int) -> frozenset[int]:
    """Those of the sessions, given by number, in which at least one row in `one_in` asks something."""
    condition, wanted = tx.among("number", sessions)
    rows = tx.rows(
        f"SELECT number FROM sessions WHERE {condition} AND turns >= ? AND asking * ? >= turns",
        (wanted, least, one_in),
    )
    return frozenset(row[0] for row in rows)


def placed(tx: Reader, places: Iterable[int], filters: Filters) -> list[Placed]:
    """The observations at the places that pass the filters."""
    asked = list(places)
    condition, values = where(filters)
    within, wanted = tx.among("o.place", asked)
    standing = (
        "SELECT o.id, o.place, o.position, o.created_at, o.updated_at, o.label, o.asks, o.importance,"
        f" o.verification, o.access_count FROM observations o WHERE {within} AND {condition}",
        (wanted, *values),
    )
    # Two queries: a self-join is slow where row security checks every row.
    within, wanted = tx.among("place", [place - 1 for place in asked])
    before = f"SELECT place, asks FROM observations WHERE {within}", (wanted,)
    tx.ahead(lambda: [standing, before])
    rows = tx.rows(*standing)
    asks: dict[int, int] = dict(tx.rows(*before))
    return [Placed(*(*row[:7], asks.get(row[1] - 1), *row[7:])) for row in rows]


def titles(tx: Reader, places: Iterable[int]) -> dict[int, str]:
    """Place -> title of the observation there."""
    within, wanted = tx.among("place", places)
    return dict(tx.rows(f"SELECT place, title FROM observations WHERE {within}", (wanted,)))


def of(tx: Reader, identifiers: Iterable[int], filters: Filters) -> dict[int, int]:
    """Id -> place, for the observations that pass the filters."""
    condition, values = where(filters)
    within, wanted = tx.among("o.id", identifiers)
    return dict(tx.rows(f"SELECT o.id, o.place FROM observations o WHERE {within} AND {condition}", (wanted, *values)))
