"""The vectors table: one embedding per observation."""

from collections.abc import Iterable, Iterator, Mapping

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
    """An observation that lacks a vector: its id, the hash of its text, and the text."""

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
    """How many observations lack a vector of the model."""
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
    """Place -> vector, where there is one for the present text of the observation there."""
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


def fit_within(tx: Reader, filters: Filters, most: int) -> bool:
    """Whether at most `most` observations pass the filters."""
    condition, values = where(filters)
    counted: int = tx.value(
        f"SELECT count(*) FROM (SELECT 1 FROM observations o WHERE {condition} LIMIT ?) counted", (*values, most + 1)
    )
    return counted <= most


def of_observations(tx: Reader, model: str, filters: Filters, identifiers: Iterable[int]) -> Mapping[int, bytes]:
    """Place -> vector of those of the observations that have one of the model and pass the filters."""
    condition, values = where(filters)
    among, wanted = tx.among("o.id", identifiers)
    return dict(
        tx.rows(
            f"SELECT o.place, v.vector FROM observations o {tx.hint('in order')} JOIN vectors v"
            f" ON v.observation_id = o.id WHERE {among} AND {condition}"
            " AND v.model = ? AND v.content_hash = o.content_hash",
            (wanted, *values, model),
        )
    )


def changed_since(tx: Reader, change: int, most: int) -> list[int]:
    """The observations whose vectors were put or removed after a change, the last first."""
    rows = tx.rows(
        "SELECT observation_id FROM vector_changes WHERE number > ? ORDER BY number DESC LIMIT ?", (change, most)
    )
    return [row[0] for row in rows]


def last_change(tx: Reader) -> int:
    """The number of the last change of any vector."""
    number: int = tx.value("SELECT coalesce(max(number), 0) FROM vector_changes")
    return number


def in_batches(tx: Reader, model: str, size: int) -> Iterator[list[tuple[int, bytes]]]:
    """Every vector of a model with its observation's id, by id."""
    last = 0
    while rows := tx.rows(
        "SELECT observation_id, vector FROM vectors WHERE observation_id > ? AND model = ?"
        " ORDER BY observation_id LIMIT ?",
        (last, model, size),
    ):
        yield rows
        last = rows[-1][0]


def clear(tx: Writer) -> None:
    """Forget every vector."""
    tx.run("DELETE FROM vectors")
