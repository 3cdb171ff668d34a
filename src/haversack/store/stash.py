"""The stash table: full results and remainders under short keys, until they expire."""

from haversack.store.database import Reader, Writer


def salt(tx: Reader) -> str:
    """The store's own secret, from which keys are derived."""
    value: str = tx.value("SELECT value FROM meta WHERE name = 'salt'")
    return value


def get(tx: Reader, key: str, now: int) -> tuple[str, bytes] | None:
    """What a key stands for: the call it came from, and the body; None when unknown or expired."""
    row = tx.row("SELECT origin, body FROM stash WHERE key = ? AND expires_at > ?", (key, now))
    return (row[0], row[1]) if row else None


def put(tx: Writer, key: str, origin: str, body: bytes, now: int, expires_at: int) -> None:
    """Keep a body under a key, or keep the same body longer."""
    tx.run(
        "INSERT INTO stash VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
        " origin = excluded.origin, body = excluded.body, size = excluded.size, expires_at = excluded.expires_at",
        (key, origin, now, expires_at, len(body), body),
    )


def expire(tx: Writer, now: int) -> int:
    """Drop what has expired, and say how many."""
    return tx.run("DELETE FROM stash WHERE expires_at <= ?", (now,))


def total_size(tx: Reader) -> int:
    """The bytes the stash holds."""
    size: int = tx.value("SELECT coalesce(sum(size), 0) FROM stash")
    return size


def drop_oldest(tx: Writer, excess: int) -> int:
    """Drop the oldest entries until `excess` bytes are free, and say how many were dropped."""
    dropped, freed = 0, 0
    for key, size in tx.rows("SELECT key, size FROM stash ORDER BY created_at, key"):
        if freed >= excess:
            break
        tx.run("DELETE FROM stash WHERE key = ?", (key,))
        dropped, freed = dropped + 1, freed + size
    return dropped
