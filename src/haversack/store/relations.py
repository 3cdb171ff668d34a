"""The relations table."""

from collections.abc import Sequence

from haversack.store.engine import Reader, Writer
from haversack.store.records import Relation

_SELECT = "SELECT r.id, r.from_id, r.to_id, r.type, r.note, r.strength, r.created_at FROM relations r"


def put(tx: Writer, relation: Relation) -> tuple[int, bool]:
    """Add a relation, or renew note and strength of the one with the same ends and type: (id, added)."""
    held = tx.value(
        "SELECT id FROM relations WHERE from_id = ? AND to_id = ? AND type = ?",
        (relation.from_id, relation.to_id, relation.type),
    )
    if held is not None:
        tx.run("UPDATE relations SET note = ?, strength = ? WHERE id = ?", (relation.note, relation.strength, held))
        return held, False
    return (
        tx.insert(
            "INSERT INTO relations (from_id, to_id, type, note, strength, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (
                relation.from_id, relation.to_id, relation.type, relation.note, relation.strength,
                relation.created_at,
            ),
        ),
        True,
    )  # fmt: skip


def get(tx: Reader, identifier: int) -> Relation | None:
    """One relation by id."""
    row = tx.row(f"{_SELECT} WHERE r.id = ?", (identifier,))
    return Relation(*row) if row else None


def has(tx: Reader, relation: Relation) -> bool:
    """Whether there is a relation with these ends and this type."""
    return bool(
        tx.value(
            "SELECT 1 FROM relations WHERE from_id = ? AND to_id = ? AND type = ?",
            (relation.from_id, relation.to_id, relation.type),
        )
    )


def erase(tx: Writer, identifier: int) -> None:
    """Remove one relation."""
    tx.run("DELETE FROM relations WHERE id = ?", (identifier,))


def touching(tx: Reader, identifiers: Sequence[int]) -> list[Relation]:
    """The relations that have any of these observations at either end, both ends alive, by id."""
    marks = ",".join("?" * len(identifiers))
    rows = tx.rows(
        f"{_SELECT} WHERE r.from_id IN ({marks}) OR r.to_id IN ({marks}) ORDER BY r.id", (*identifiers, *identifiers)
    )
    if not rows:
        return []
    # A separate query: without row statistics a server would join every observation with every other.
    condition, ends = tx.among("id", {end for row in rows for end in (row[1], row[2])})
    alive = {
        row[0] for row in tx.rows(f"SELECT id FROM observations WHERE {condition} AND deleted_at IS NULL", (ends,))
    }
    return [Relation(*row) for row in rows if row[1] in alive and row[2] in alive]


def superseded_among(tx: Reader, identifiers: Sequence[int]) -> set[int]:
    """Those of the given observations that a live observation supersedes."""
    marks = ",".join("?" * len(identifiers))
    rows = tx.rows(
        "SELECT DISTINCT r.to_id FROM relations r JOIN observations a ON a.id = r.from_id"
        f" WHERE r.type = 'supersedes' AND a.deleted_at IS NULL AND r.to_id IN ({marks})",
        identifiers,
    )
    return {row[0] for row in rows}


def degrees(tx: Reader, identifiers: Sequence[int]) -> dict[int, int]:
    """How many relations each of the given observations has."""
    marks = ",".join("?" * len(identifiers))
    rows = tx.rows(
        f"SELECT observation, count(*) FROM (SELECT from_id AS observation FROM relations WHERE from_id IN ({marks})"
        f" UNION ALL SELECT to_id FROM relations WHERE to_id IN ({marks})) ends GROUP BY observation",
        (*identifiers, *identifiers),
    )
    return {row[0]: row[1] for row in rows}


def count(tx: Reader, project_key: str = "") -> int:
    """How many relations there are, or how many begin in a project."""
    if not project_key:
        total: int = tx.value("SELECT count(*) FROM relations")
        return total
    inside: int = tx.value(
        "SELECT count(*) FROM relations r JOIN observations o ON o.id = r.from_id WHERE o.project_key = ?",
        (project_key,),
    )
    return inside


def everything(tx: Reader) -> list[Relation]:
    """Every relation, by id."""
    return [Relation(*row) for row in tx.rows(f"{_SELECT} ORDER BY r.id")]
