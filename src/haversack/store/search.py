"""Full-text search over the observations."""

from haversack.store.database import Reader, Value, Writer
from haversack.store.filters import where
from haversack.store.records import Filters
from haversack.values import record

EVERY_CURRENT = Filters(statuses=("active", "pending"))
"""What a search asks for when nothing narrows it."""


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
    """Index an observation, in place of what was indexed for it before."""
    remove(tx, identifier)
    tx.run(
        "INSERT INTO search_index (rowid, title, content, tags) VALUES (?, ?, ?, ?)",
        (identifier, entry.title, entry.content, entry.tags),
    )


def remove(tx: Writer, identifier: int) -> None:
    """Take an observation out of the index."""
    tx.run("DELETE FROM search_index WHERE rowid = ?", (identifier,))


def clear(tx: Writer) -> None:
    """Empty the index."""
    tx.run("DELETE FROM search_index")


def search(tx: Reader, match: str, filters: Filters, weights: Weights, limit: int) -> list[tuple[int, int, float]]:
    """The best matches first, as (id, place, score); a larger score is better."""
    condition, values = where(filters)
    rows = tx.rows(
        "SELECT o.id, o.place, -bm25(search_index, ?, ?, ?) AS score"
        " FROM search_index JOIN observations o ON o.id = search_index.rowid"
        f" WHERE search_index MATCH ? AND {condition} ORDER BY score DESC, o.id DESC LIMIT ?",
        (weights.title, weights.content, weights.tags, match, *values, limit),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def count_search_results(tx: Reader, match: str, filters: Filters) -> int:
    """How many observations match, under the same conditions as `search`."""
    if filters == EVERY_CURRENT:
        # The index holds no deleted rows, so only those of another status must be taken off: far fewer look-ups.
        total: int = tx.value("SELECT count(*) FROM search_index WHERE search_index MATCH ?", (match,))
        others: int = tx.value(
            "SELECT count(*) FROM search_index WHERE search_index MATCH ? AND rowid IN"
            " (SELECT id FROM observations WHERE status NOT IN ('active', 'pending'))",
            (match,),
        )
        return total - others
    condition, values = where(filters)
    counted: int = tx.value(
        "SELECT count(*) FROM search_index JOIN observations o ON o.id = search_index.rowid"
        f" WHERE search_index MATCH ? AND {condition}",
        (match, *values),
    )
    return counted


def matches_below(tx: Reader, match: str, filters: Filters, limit: int, *, below: int) -> list[int]:
    """Ids of matches under an id, the highest first: the unranked tail of a long result."""
    condition, values = where(filters)
    rows = tx.rows(
        "SELECT search_index.rowid FROM search_index JOIN observations o ON o.id = search_index.rowid"
        f" WHERE search_index MATCH ? AND search_index.rowid < ? AND {condition}"
        " ORDER BY search_index.rowid DESC LIMIT ?",
        (match, below, *values, limit),
    )
    return [row[0] for row in rows]


def projects_matching(tx: Reader, match: str, filters: Filters) -> list[tuple[str, int]]:
    """Which projects have matches, and how many, the most first."""
    condition, values = where(filters)
    bound: list[Value] = [match, *values]
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
