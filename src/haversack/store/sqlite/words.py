"""Full-text search over the observations."""

from collections.abc import Collection

from haversack.store.filters import marks, narrowed, where
from haversack.store.records import Filters
from haversack.store.sqlite.engine import Reader, Row, Value, Writer
from haversack.values import record


@record
class IndexEntry:
    """The words under which an observation is found, one text per column of the index."""

    title: str
    content: str
    tags: str


@record
class Weights:
    """What a match in each column counts."""

    title: float
    content: float
    tags: float


def put(tx: Writer, identifier: int, entry: IndexEntry) -> None:
    """Index an observation, in place of what was indexed for it before.

    Beside its words stand marks of its project, kind and the like, so that the index alone can tell which matches
    are of them: whoever changes one of those indexes the observation anew.
    """
    remove(tx, identifier)
    tx.run(
        "INSERT INTO search_index (rowid, title, content, tags, marks) VALUES (?, ?, ?, ?, ?)",
        (identifier, entry.title, entry.content, entry.tags, _marks_of(tx, identifier)),
    )


def _marks_of(tx: Reader, identifier: int) -> str:
    row = tx.row("SELECT project_key, kind, scope, namespace, status FROM observations WHERE id = ?", (identifier,))
    assert row is not None
    return marks(*row)


def remove(tx: Writer, identifier: int) -> None:
    """Take an observation out of the index."""
    tx.run("DELETE FROM search_index WHERE rowid = ?", (identifier,))


def clear(tx: Writer) -> None:
    """Empty the index."""
    tx.run("DELETE FROM search_index")


def search(tx: Reader, match: str, filters: Filters, weights: Weights, limit: int) -> list[tuple[int, int, float]]:
    """The best matches first, as (id, place, score); a larger score is better."""
    expression, left = narrowed(match, filters)
    condition, values = where(left)
    rows = tx.rows(
        "SELECT o.id, o.place, -bm25(search_index, ?, ?, ?, 0) AS score"
        " FROM search_index JOIN observations o ON o.id = search_index.rowid"
        f" WHERE search_index MATCH ? AND {condition} ORDER BY score DESC, o.id DESC LIMIT ?",
        (weights.title, weights.content, weights.tags, expression, *values, limit),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def count_search_results(tx: Reader, match: str, filters: Filters) -> int:
    """How many observations match, under the same conditions as `search`."""
    counted: int = _counted(tx, "count(*)", (), match, filters)[0]
    return counted


def count_and_pick(tx: Reader, match: str, filters: Filters, among: Collection[int]) -> tuple[int, set[int]]:
    """How many observations match, and which of some do, in one reading of the index."""
    if not among:
        return count_search_results(tx, match, filters), set()
    picked = "group_concat(search_index.rowid) FILTER (WHERE search_index.rowid IN (SELECT value FROM json_each(?)))"
    asked = f"[{','.join(map(str, among))}]"
    total, found = _counted(tx, f"count(*), {picked}", (asked,), match, filters)
    return total, set(map(int, found.split(","))) if found else set()


def _counted(tx: Reader, figures: str, asked: tuple[Value, ...], match: str, filters: Filters) -> Row:
    expression, left = narrowed(match, filters)
    condition, values = where(left)
    # The index holds no deleted rows; where it can tell all that was asked, no row needs to be looked up.
    looked_up = "" if left == Filters() else " JOIN observations o ON o.id = search_index.rowid"
    also = f" AND {condition}" if looked_up else ""
    row = tx.row(
        f"SELECT {figures} FROM search_index{looked_up} WHERE search_index MATCH ?{also}",
        (*asked, expression, *(values if looked_up else ())),
    )
    assert row is not None
    return row


def rows_matching(tx: Reader, expression: str) -> int:
    """How many rows match an expression, before any filter."""
    total: int = tx.value("SELECT count(*) FROM search_index WHERE search_index MATCH ?", (expression,))
    return total


def matches_below(tx: Reader, match: str, filters: Filters, limit: int, *, below: int) -> list[int]:
    """Ids of matches under an id, the highest first: the unranked tail of a long result."""
    expression, left = narrowed(match, filters)
    condition, values = where(left)
    rows = tx.rows(
        "SELECT search_index.rowid FROM search_index JOIN observations o ON o.id = search_index.rowid"
        f" WHERE search_index MATCH ? AND search_index.rowid < ? AND {condition}"
        " ORDER BY search_index.rowid DESC LIMIT ?",
        (expression, below, *values, limit),
    )
    return [row[0] for row in rows]


def projects_matching(tx: Reader, match: str, filters: Filters) -> list[tuple[str, int]]:
    """Which projects have matches, and how many, the most first."""
    expression, left = narrowed(match, filters)
    condition, values = where(left)
    bound: list[Value] = [expression, *values]
    rows = tx.rows(
        "SELECT min(o.project), count(*) AS many FROM search_index JOIN observations o ON o.id = search_index.rowid"
        f" WHERE search_index MATCH ? AND {condition} GROUP BY o.project_key ORDER BY many DESC, 1",
        bound,
    )
    return [(row[0], row[1]) for row in rows]


def check(tx: Reader) -> str:
    """An empty string when index and observations agree, else what is wrong."""
    missing = tx.value(
        "SELECT count(*) FROM observations o WHERE o.deleted_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM search_index_docsize d WHERE d.id = o.id)"
    )
    stray = tx.value(
        "SELECT count(*) FROM search_index_docsize d WHERE NOT EXISTS"
        " (SELECT 1 FROM observations o WHERE o.id = d.id AND o.deleted_at IS NULL)"
    )
    if missing or stray:
        return f"the search index lacks {missing} observations and holds {stray} that are gone"
    return ""
