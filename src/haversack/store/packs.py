"""The packs table: what went into each context pack, so that the next one can tell what changed."""

from haversack.store.database import Reader, Writer


def put(tx: Writer, identifier: str, now: int, items: str) -> None:
    """Remember a pack's items (`id:hash` separated by spaces)."""
    tx.run("INSERT OR REPLACE INTO packs VALUES (?, ?, ?)", (identifier, now, items))


def get(tx: Reader, identifier: str) -> str | None:
    """The items of a pack."""
    found: str | None = tx.value("SELECT items FROM packs WHERE id = ?", (identifier,))
    return found
