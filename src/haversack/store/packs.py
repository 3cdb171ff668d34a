"""The packs table: the items of each context pack, so that a later one can show the difference."""

from haversack.store.engine import Reader, Writer

MOST = 1_000
"""How many packs are remembered; the oldest go first."""


def put(tx: Writer, identifier: str, now: int, items: str) -> None:
    """Remember a pack's items (`id:hash` separated by spaces)."""
    if not tx.run("UPDATE packs SET created_at = ?, items = ? WHERE id = ?", (now, items, identifier)):
        tx.run("INSERT INTO packs (id, created_at, items) VALUES (?, ?, ?)", (identifier, now, items))
    tx.run(
        "DELETE FROM packs WHERE created_at < (SELECT created_at FROM packs ORDER BY created_at DESC LIMIT 1 OFFSET ?)",
        (MOST - 1,),
    )


def get(tx: Reader, identifier: str) -> str | None:
    """The items of a pack."""
    found: str | None = tx.value("SELECT items FROM packs WHERE id = ?", (identifier,))
    return found
