"""The vectors table: what each observation means to a model, one blob for each."""

from collections.abc import Iterable, Mapping

from haversack.store.engine import Reader, Writer
from haversack.store.filters import where
from haversack.store.records import Filters
from haversack.values import record

_LACKING = (
    "FROM observations o LEFT JOIN vectors v ON v.observation_id = o.id WHERE o.deleted_at IS NULL"
    " AND (v.model IS DISTINCT FROM ? OR v.content_hash IS DISTINCT FROM o.content_hash)"
)


@record
class MissingEmbedding:
    """An observation that lacks a vector: its id, what makes its text the same, and the text."""

    id: int
    content_hash: str
    title: str
    content: str


def put(tx: Writer, identifier: int, model: str, content_hash: str, vector: bytes) -> None:
    """Keep an observation's vector, unless the observation is gone."""
    tx.run(
        "INSERT INTO vectors (observation_id, model, content_hash, vector)"
        " SELECT id, ?, ?, ? FROM observations WHERE id = ? ON CONFLICT (observation_id) DO UPDATE"
        " SET model = excluded.model, content_hash = excluded.content_hash, vector = excluded.vector",
        (model, content_hash, vector, identifier),
    )


def lacking(tx: Reader, model: str, limit: int, *, after: int = 0) -> list[MissingEmbedding]:
    """Live observations above an id without a vector of the model for the text they have now, the oldest first."""
    rows = tx.rows(
        f"SELECT o.id, o.content_hash, o.title, o.content {_LACKING} AND o.id > ? ORDER BY o.id LIMIT ?",
        (model, after, limit),
    )
    return [MissingEmbedding(*row) for row in rows]


def lacking_of(tx: Reader, model: str, identifiers: Iterable[int]) -> list[MissingEmbedding]:
    """Those of the observations that lack such a vector."""
    condition, wanted = tx.among("o.id", identifiers)
    rows = tx.rows(
        f"SELECT o.id, o.content_hash, o.title, o.content {_LACKING} AND {condition} ORDER BY o.id", (model, wanted)
    )
    return [MissingEmbedding(*row) for row in rows]


def count_lacking(tx: Reader, model: str) -> int:
    """How many `lacking` has in all."""
    total: int = tx.value(f"SELECT count(*) {_LACKING}", (model,))
    return total


def count_wanted(tx: Reader) -> int:
    """How many observations should have a vector: all that are not deleted."""
    total: int = tx.value("SELECT count(*) FROM observations WHERE deleted_at IS NULL")
    return total


def models(tx: Reader) -> list[str]:
    """The model of the vectors kept last, if there are any."""
    return [row[0] for row in tx.rows("SELECT model FROM vectors ORDER BY observation_id DESC LIMIT 1")]


def at_places(tx: Reader, model: str, places: Iterable[int]) -> Mapping[int, bytes]:
    """Place -> vector, where there is one for the text that stands there."""
    condition, wanted = tx.among("o.place", places)
    return dict(
        tx.rows(
            f"SELECT o.place, v.vector FROM observations o {tx.hint('in order')} JOIN vectors v"
            f" ON v.observation_id = o.id WHERE {condition} AND v.model = ? AND v.content_hash = o.content_hash",
            (wanted, model),
        )
    )


def newest(tx: Reader, model: str, filters: Filters, limit: int) -> Mapping[int, bytes]:
    """Place -> vector of the newest observations that pass the filters."""
    condition, values = where(filters)
    return dict(
        tx.rows(
            f"SELECT o.place, v.vector FROM observations o {tx.hint('in order')} JOIN vectors v"
            " ON v.observation_id = o.id"
            f" WHERE {condition} AND v.model = ? AND v.content_hash = o.content_hash"
            " ORDER BY o.position DESC LIMIT ?",
            (*values, model, limit),
        )
    )


def clear(tx: Writer) -> None:
    """Forget every vector."""
    tx.run("DELETE FROM vectors")
