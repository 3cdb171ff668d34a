"""The entries table: the work log of every account, and each account's count of it."""

from collections.abc import Iterable

from haversack.store.engine import Reader, Writer
from haversack.store.records import Entry

_SELECT = """
    SELECT id, account, tool, arguments, brief, key, rest, before, sent, after, cost, created_at, used, evicted
    FROM entries
"""


def insert(tx: Writer, entry: Entry) -> int:
    """Add an entry as the one used last, and debit its account; the store gives the id and the time of use."""
    uses = tx.value(
        "UPDATE accounts SET uses = uses + 1, tool_results = tool_results + ?, history = history + ?,"
        " entries = entries + 1 WHERE handle = ? RETURNING uses",
        (entry.sent, entry.cost, entry.account),
    )
    return tx.insert(
        """
        INSERT INTO entries (account, tool, arguments, brief, key, rest, before, sent, after, cost, created_at, used)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
        """,
        (
            entry.account, entry.tool, entry.arguments, entry.brief, entry.key, entry.rest, entry.before, entry.sent,
            entry.after, entry.cost, entry.created_at, uses,
        ),
    )  # fmt: skip


def least_recently_used(tx: Reader, account: str) -> Entry | None:
    """The entry in an account's history whose last use is longest ago."""
    row = tx.row(f"{_SELECT} WHERE account = ? AND evicted = 0 ORDER BY used, id LIMIT 1", (account,))
    return Entry(*row) if row else None


def evict(tx: Writer, entry: Entry) -> None:
    """Take an entry out of its account's history; it stays in the table, with the use counter of its eviction."""
    tx.run(
        "UPDATE entries SET evicted = (SELECT uses FROM accounts WHERE handle = entries.account) WHERE id = ?",
        (entry.id,),
    )
    tx.run(
        "UPDATE accounts SET history = history - ?, entries = entries - 1, evicted = evicted + 1 WHERE handle = ?",
        (entry.cost, entry.account),
    )


def use(tx: Writer, account: str, identifiers: Iterable[int]) -> None:
    """Note that entries of an account's history have been used, all at the same moment."""
    uses = _next_use(tx, account)
    for identifier in identifiers:
        tx.run("UPDATE entries SET used = ? WHERE id = ? AND evicted = 0", (uses, identifier))


def with_key(tx: Reader, key: str) -> list[Entry]:
    """The entries in any history whose reply, or what it left out, has this key."""
    rows = tx.rows(
        f"{_SELECT} WHERE key = ? AND evicted = 0 UNION {_SELECT} WHERE rest = ? AND rest <> '' AND evicted = 0"
        " ORDER BY id",
        (key, key),
    )
    return [Entry(*row) for row in rows]


def newest(tx: Reader, account: str, limit: int, *, before: int) -> list[Entry]:
    """Entries of an account's history older than an id, the newest first."""
    rows = tx.rows(
        f"{_SELECT} WHERE account = ? AND id < ? AND evicted = 0 ORDER BY id DESC LIMIT ?", (account, before, limit)
    )
    return [Entry(*row) for row in rows]


def newest_since(tx: Reader, account: str, limit: int, *, before: int, since: int) -> list[Entry]:
    """As `newest`, from the history at use counter `since`: entries evicted later are included."""
    rows = tx.rows(
        f"{_SELECT} WHERE account = ? AND id < ? AND (evicted = 0 OR evicted > ?) ORDER BY id DESC LIMIT ?",
        (account, before, since, limit),
    )
    return [Entry(*row) for row in rows]


def recount(tx: Reader, account: str) -> tuple[int, int, int]:
    """Tokens and entries in an account's history and entries evicted from it, counted anew from the rows."""
    row = tx.row(
        """
        SELECT CAST(coalesce(sum(cost) FILTER (WHERE evicted = 0), 0) AS bigint), count(*) FILTER (WHERE evicted = 0),
            count(*) FILTER (WHERE evicted > 0)
        FROM entries WHERE account = ?
        """,
        (account,),
    )
    assert row is not None
    return row[0], row[1], row[2]


def of_servers(tx: Reader, account: str) -> list[tuple[str, int, int, int]]:
    """Each tool of another server that was called: its name behind that of its server, how often, and the tokens
    of its results before and after they were fitted.
    """
    rows = tx.rows(
        """
        SELECT tool, count(*), CAST(sum(before) AS bigint), CAST(sum(sent) AS bigint)
        FROM entries WHERE account = ? AND tool LIKE '%/%' GROUP BY tool ORDER BY tool
        """,
        (account,),
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def _next_use(tx: Writer, account: str) -> int:
    uses: int = tx.value("UPDATE accounts SET uses = uses + 1 WHERE handle = ? RETURNING uses", (account,))
    return uses
