"""The vectors table: what each observation means to a model, one blob for each."""

from collections.abc import Iterable, Mapping

from haversack.store.filters import where
from haversack.store.records import Filters
from haversack.store.sqlite.engine import Reader, Writer
from haversack.values import record

_LACKING = (
    "FROM observations o LEFT JOIN vectors v ON v.observation_id = o.id WHERE o.deleted_at IS NULL"
    " AND (v.model IS NOT ? OR v.content_hash IS NOT o.content_hash)"
)


@record
class Wordless:
    """An observation that lacks a vector: its id, what makes its text the same, and the text."""

    id: int
    content_hash: str
    title: str
    content: str


def put(tx: Writer, identifier: int, model: str, content_hash: str, vector: bytes) -> None:
    """Keep an observation's vector, unless the observation is gone."""
    tx.run(
        "INSERT OR REPLACE INTO vectors SELECT id, ?, ?, ? FROM observations WHERE id = ?",
        (model, content_hash, vector, identifier),
    )


def lacking(tx: Reader, model: str, limit: int, *, after: int = 0) -> list[Wordless]:
    """Live observations above an id without a vector of the model for the text they have now, the oldest first."""
    rows = tx.rows(
        f"SELECT o.id, o.content_hash, o.title, o.content {_LACKING} AND o.id > ? ORDER BY o.id LIMIT ?",
        (model, after, limit),
    )
    return [Wordless(*row) for row in rows]


def lacking_of(tx: Reader, model: str, identifiers: Iterable[int]) -> list[Wordless]:
    """Those of the observations that lack such a vector."""
    rows = tx.rows(
        f"SELECT o.id, o.content_hash, o.title, o.content {_LACKING} AND o.id IN (SELECT value FROM json_each(?))",
        (model, f"[{','.join(map(str, identifiers))}]"),
    )
    return [Wordless(*row) for row in rows]


def count_lacking(tx: Reader, model: str) -> int:
    """How many `lacking` has in all."""
    total: int = tx.value(f"SELECT count(*) {_LACKING}", (model,))
    return total


def models(tx: Reader) -> list[str]:
    """The model of the vectors kept last, if there are any."""
    return [row[0] for row in tx.rows("SELECT model FROM vectors ORDER BY observation_id DESC LIMIT 1")]


def at_places(tx: Reader, model: str, places: Iterable[int]) -> Mapping[int, bytes]:
    """Place -> vector, where there is one for the text that stands there."""
    array = f"[{','.join(map(str, places))}]"
    return dict(
        tx.rows(
            "SELECT o.place, v.vector FROM json_each(?) j CROSS JOIN observations o ON o.place = j.value"
            " JOIN vectors v ON v.observation_id = o.id WHERE v.model = ? AND v.content_hash = o.content_hash",
            (array, model),
        )
    )


def newest(tx: Reader, model: str, filters: Filters, limit: int) -> Mapping[int, bytes]:
    """Place -> vector of the newest observations that pass the filters."""
    condition, values = where(filters)
    return dict(
        tx.rows(
            "SELECT o.place, v.vector FROM observations o CROSS JOIN vectors v ON v.observation_id = o.id"
            f" WHERE {condition} AND v.model = ? AND v.content_hash = o.content_hash"
            " ORDER BY o.position DESC LIMIT ?",
            (*values, model, limit),
        )
    )


def clear(tx: Writer) -> None:
    """Forget every vector."""
    tx.run("DELETE FROM vectors")
