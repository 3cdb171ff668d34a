"""Where words stand: the index read word by word, for a ranking that looks beyond single rows.

An observation's `place` is its session's number and its turn in it, so that the turns around it are the
places around it.
"""

from collections.abc import Iterable, Sequence

from haversack.store.filters import narrowed, where
from haversack.store.records import Filters
from haversack.store.sqlite.engine import Reader
from haversack.values import record

SESSION_BITS = 32


@record
class Census:
    """What a ranking needs to know of the whole store; a slightly stale figure does no harm."""

    rows: int
    sessions: int
    usual_units: float


@record
class Strength:
    """How a word counts in a row: saturating with repetition, more in short texts, more in titles."""

    saturation: float
    length_share: float
    title: float

    def sql(self, hits: str) -> str:
        length = f"({1 - self.length_share} + {self.length_share} * o.units / ?)"
        return f"{hits} * {self.saturation + 1} / ({hits} + {self.saturation} * {length})"


@record
class Placed:
    """What a ranking knows of one observation beside its words."""

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


def census(tx: Reader) -> Census:
    """Figures for weighing words, read without counting the whole store."""
    rows = tx.value("SELECT coalesce(max(id), 0) FROM observations")
    sessions = tx.value("SELECT coalesce(max(number), 0) FROM sessions")
    usual = tx.value("SELECT avg(units) FROM (SELECT units FROM observations ORDER BY id DESC LIMIT 500)")
    return Census(max(rows, 1), max(sessions, 1), max(usual or 1.0, 1.0))


def rows_with_stems(tx: Reader, stems: Sequence[str]) -> int:
    """In how many rows any of the stems stands, before any filter."""
    marks = ",".join("?" * len(stems))
    total: int = tx.value(f"SELECT coalesce(sum(doc), 0) FROM temp.word_rows WHERE term IN ({marks})", stems)
    return total


def strengths_of_stems(
    tx: Reader, stems: Sequence[str], filters: Filters, strength: Strength, usual_units: float
) -> dict[int, float]:
    """Place -> strength, for every row that holds any of the stems and passes the filters."""
    condition, values = where(filters)
    marks = ",".join("?" * len(stems))
    sql = f"""
        SELECT o.place, {strength.sql("w.hits")}
        FROM (SELECT doc, sum(CASE col WHEN 'title' THEN {strength.title} ELSE 1.0 END) AS hits
              FROM temp.word_places WHERE term IN ({marks}) GROUP BY doc) w
        CROSS JOIN observations o INDEXED BY observations_in_brief ON o.id = w.doc
        WHERE {condition}"""
    return dict(tx.rows(sql, (usual_units, *stems, *values)))


def strengths_of_match(
    tx: Reader, match: str, filters: Filters, strength: Strength, usual_units: float, most: int = -1
) -> dict[int, float]:
    """Place -> strength, for every row that matches an expression and passes the filters, as if once.

    Of more than `most` such rows, those are taken that were added last.
    """
    # A few rows are sooner looked up than a whole project's marks are read through.
    expression, left = narrowed(match, filters) if most >= 0 else (match, filters)
    condition, values = where(left)
    sql = f"""
        SELECT o.place, {strength.sql("1.0")}
        FROM search_index CROSS JOIN observations o INDEXED BY observations_in_brief ON o.id = search_index.rowid
        WHERE search_index MATCH ? AND {condition} ORDER BY search_index.rowid DESC LIMIT ?"""
    return dict(tx.rows(sql, (usual_units, expression, *values, most)))


def conversations(tx: Reader, sessions: Iterable[int], one_in: int, least: int) -> frozenset[int]:
    """Those of the sessions, given by number, in which at least one row in so many asks something."""
    rows = tx.rows(
        "SELECT s.number FROM json_each(?) j CROSS JOIN sessions s ON s.number = j.value"
        " WHERE s.turns >= ? AND s.asking * ? >= s.turns",
        (_array(sessions), least, one_in),
    )
    return frozenset(row[0] for row in rows)


def placed(tx: Reader, places: Iterable[int], filters: Filters) -> list[Placed]:
    """What stands at the places and passes the filters."""
    condition, values = where(filters)
    rows = tx.rows(
        "SELECT o.id, o.place, o.position, o.created_at, o.updated_at, o.label, o.asks, before.asks, o.importance,"
        " o.verification, o.access_count"
        " FROM json_each(?) j CROSS JOIN observations o ON o.place = j.value"
        f" LEFT JOIN observations before ON before.place = o.place - 1 WHERE {condition}",
        (_array(places), *values),
    )
    return [Placed(*row) for row in rows]


def _array(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
