"""Figures over the observations table: totals, and counts by project, kind, tag and week."""

from haversack.store.engine import Reader
from haversack.store.filters import where
from haversack.store.records import Filters
from haversack.values import record

WEEK = 7 * 24 * 3_600_000_000
_MONDAY = 4 * 24 * 3_600_000_000
"""1970 began on a Thursday: the first Monday was the fifth of January."""


@record
class Totals:
    """Figures over the observations that are not deleted."""

    observations: int
    units: int
    bytes: int
    oldest: int | None
    newest: int | None


def totals(tx: Reader, filters: Filters) -> Totals:
    """Counts and sizes under the filters."""
    condition, values = where(filters)
    row = tx.row(
        "SELECT count(*), CAST(coalesce(sum(o.units), 0) AS bigint), CAST(coalesce(sum(o.bytes), 0) AS bigint),"
        " min(o.created_at), max(o.updated_at)"
        f" FROM observations o WHERE {condition}",
        values,
    )
    assert row is not None
    return Totals(*row)


def counted_by_project(tx: Reader, filters: Filters) -> list[tuple[str, int]]:
    """How many observations each project has, the most first; a name written in several ways is one project."""
    condition, values = where(filters)
    rows = tx.rows(
        f"SELECT min(o.project), count(*) AS many FROM observations o WHERE {condition}"
        " GROUP BY o.project_key ORDER BY many DESC, o.project_key",
        values,
    )
    return [(row[0], row[1]) for row in rows]


def counted_by(tx: Reader, column: str, filters: Filters) -> list[tuple[str, int]]:
    """How many observations each value of a column has, the most first; the column is the program's choice."""
    condition, values = where(filters)
    return [
        (row[0], row[1])
        for row in tx.rows(
            f"SELECT o.{column}, count(*) AS many FROM observations o WHERE {condition}"
            f" GROUP BY o.{column} ORDER BY many DESC, o.{column}",
            values,
        )
    ]


def by_week(tx: Reader, filters: Filters) -> list[tuple[int, str, str, int, int]]:
    """The beginning of a week (Monday), kind, project, how many observations were made and their tokens."""
    condition, values = where(filters)
    rows = tx.rows(
        f"SELECT (o.created_at - {_MONDAY}) / {WEEK} AS week, o.kind, min(o.project), count(*),"
        " CAST(coalesce(sum(o.units), 0) AS bigint)"
        f" FROM observations o WHERE {condition}"
        " GROUP BY 1, o.kind, o.project_key ORDER BY week DESC, o.kind, o.project_key",
        values,
    )
    return [(row[0] * WEEK + _MONDAY, row[1], row[2], row[3], row[4]) for row in rows]


def counted_by_tag(tx: Reader) -> list[tuple[str, int]]:
    """Every tag with how many observations carry it, the most used first."""
    return [
        (tag, count)
        for tag, count in tx.rows(
            "SELECT t.tag, count(*) AS n FROM tags t JOIN observations o ON o.id = t.observation_id "
            "WHERE o.deleted_at IS NULL GROUP BY t.tag ORDER BY n DESC, t.tag"
        )
    ]
