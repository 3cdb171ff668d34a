"""The stash table: full results and remainders under short keys.

A row stays when its body is dropped: it says which call to make again, and its key is
never given to another text.
"""

from haversack.store.engine import Reader, Writer
from haversack.values import record


@record
class Stashed:
    """A row: the text's digest, the call it came from, when it expires, and the body unless that is gone."""

    digest: bytes
    origin: str
    expires_at: int
    body: bytes | None


def salt(tx: Reader) -> str:
    """The store's own secret, from which keys are derived."""
    value: str = tx.value("SELECT value FROM meta WHERE name = 'salt'")
    return value


def get(tx: Reader, key: str) -> Stashed | None:
    """The row of a key."""
    row = tx.row("SELECT digest, origin, expires_at, body FROM stash WHERE key = ?", (key,))
    return Stashed(*row) if row else None


def digest(tx: Reader, key: str) -> bytes | None:
    """The digest of the text of a key, also after its body was dropped."""
    found: bytes | None = tx.value("SELECT digest FROM stash WHERE key = ?", (key,))
    return found


def renew(tx: Writer, key: str, expires_at: int) -> bool:
    """Keep a body longer; False where there is none under the key."""
    return bool(tx.run("UPDATE stash SET expires_at = ? WHERE key = ? AND body IS NOT NULL", (expires_at, key)))


def put(tx: Writer, key: str, stashed: Stashed) -> None:
    """Keep a body under a key; the same text is stored once and kept longer."""
    if renew(tx, key, stashed.expires_at):
        return
    values = stashed.origin, stashed.expires_at, len(stashed.body or b""), stashed.body
    if tx.run("UPDATE stash SET origin = ?, expires_at = ?, size = ?, body = ? WHERE key = ?", (*values, key)):
        return
    insert(tx, key, stashed)


def insert(tx: Writer, key: str, stashed: Stashed) -> None:
    """Keep a body under a free key."""
    values = stashed.origin, stashed.expires_at, len(stashed.body or b""), stashed.body
    tx.run(
        "INSERT INTO stash (key, digest, origin, expires_at, size, body) VALUES (?, ?, ?, ?, ?, ?)",
        (key, stashed.digest, *values),
    )


def expire(tx: Writer, now: int, forget: int) -> None:
    """Drop the bodies that have expired, and the rows that expired at `forget` or before."""
    tx.run("UPDATE stash SET body = NULL, size = 0 WHERE expires_at <= ? AND body IS NOT NULL", (now,))
    tx.run("DELETE FROM stash WHERE expires_at <= ?", (forget,))


def total_size(tx: Reader) -> int:
    """The bytes the bodies take."""
    size: int = tx.value("SELECT CAST(coalesce(sum(bytes), 0) AS bigint) FROM stash_size")
    return size


def drop_oldest(tx: Writer, excess: int) -> None:
    """Drop bodies until `excess` bytes are free, those first that were stored or renewed longest ago."""
    freed = 0
    while freed < excess:
        oldest = tx.row("SELECT key, size FROM stash WHERE body IS NOT NULL ORDER BY expires_at, key LIMIT 1")
        if oldest is None:
            return
        tx.run("UPDATE stash SET body = NULL, size = 0 WHERE key = ?", (oldest[0],))
        freed += oldest[1]
