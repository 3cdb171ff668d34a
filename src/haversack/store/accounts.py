"""The accounts table."""

from haversack.store.engine import Reader, Writer
from haversack.store.records import Account

_SELECT = """
    SELECT handle, parent, total, system_limit, history_limit, tool_results_limit, user_limit, reserve, warning,
        critical, server, system, history, tool_results, user_message, leased, entries, evicted, uses,
        opened_at, closed_at
    FROM accounts
"""


def get(tx: Reader, handle: str) -> Account | None:
    """One account by handle."""
    row = tx.row(f"{_SELECT} WHERE handle = ?", (handle,))
    return Account(*row) if row else None


def insert(tx: Writer, account: Account) -> None:
    """Add an account whose tiers are empty."""
    tx.run(
        """
        INSERT INTO accounts (
            handle, parent, total, system_limit, history_limit, tool_results_limit, user_limit, reserve, warning,
            critical, opened_at
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            account.handle, account.parent, account.total, account.system_limit, account.history_limit,
            account.tool_results_limit, account.user_limit, account.reserve, account.warning, account.critical,
            account.opened_at,
        ),
    )  # fmt: skip


def add_tool_results(tx: Writer, handle: str, tokens: int) -> None:
    """Add tokens to the tool results of an account."""
    tx.run("UPDATE accounts SET tool_results = tool_results + ? WHERE handle = ?", (tokens, handle))


def add_user(tx: Writer, handle: str, tokens: int) -> None:
    """Add tokens to the user messages of an account."""
    tx.run("UPDATE accounts SET user_message = user_message + ? WHERE handle = ?", (tokens, handle))


def add_system(tx: Writer, handle: str, tokens: int) -> None:
    """Add declared tokens to the system prompt of an account."""
    tx.run("UPDATE accounts SET system = system + ? WHERE handle = ?", (tokens, handle))


def add_leased(tx: Writer, handle: str, tokens: int) -> None:
    """Add tokens to those held by open leases; a negative number returns them."""
    tx.run("UPDATE accounts SET leased = leased + ? WHERE handle = ?", (tokens, handle))


def set_server(tx: Writer, handle: str, tokens: int) -> None:
    """Set the measured tokens of the server's own share of the system prompt."""
    tx.run("UPDATE accounts SET server = ? WHERE handle = ?", (tokens, handle))


def set_user(tx: Writer, handle: str, tokens: int) -> None:
    """Set the tokens of the user messages of an account."""
    tx.run("UPDATE accounts SET user_message = ? WHERE handle = ?", (tokens, handle))


def clear_tool_results(tx: Writer, handle: str) -> None:
    """Set the tool results of an account to 0."""
    tx.run("UPDATE accounts SET tool_results = 0 WHERE handle = ?", (handle,))


def close(tx: Writer, handle: str, now: int) -> None:
    """Mark an account as closed."""
    tx.run("UPDATE accounts SET closed_at = ? WHERE handle = ?", (now, handle))


def open_leases(tx: Reader, handle: str) -> list[Account]:
    """The accounts leased from one and not closed, the oldest first."""
    rows = tx.rows(f"{_SELECT} WHERE parent = ? AND closed_at IS NULL ORDER BY opened_at, handle", (handle,))
    return [Account(*row) for row in rows]


def recent(tx: Reader, limit: int) -> list[Account]:
    """The open accounts, those opened last first."""
    rows = tx.rows(f"{_SELECT} WHERE closed_at IS NULL ORDER BY opened_at DESC, handle LIMIT ?", (limit,))
    return [Account(*row) for row in rows]


def count_open(tx: Reader) -> int:
    """How many accounts are open."""
    total: int = tx.value("SELECT count(*) FROM accounts WHERE closed_at IS NULL")
    return total


def forget_idle(tx: Writer, before: int, most: int) -> int:
    """Remove accounts with their logs that were last used before a time, `most` at once; how many were removed.

    When an account without a log was debited is not known, so it stays until it is closed. One that another was
    leased from stays as long as that one does.
    """
    rows = tx.rows(
        """
        SELECT handle FROM accounts a WHERE opened_at < ?
            AND coalesce(
                closed_at,
                (SELECT created_at FROM entries WHERE account = a.handle ORDER BY id DESC LIMIT 1),
                CASE WHEN tool_results <> 0 THEN ? ELSE 0 END
            ) < ?
            AND NOT EXISTS (SELECT 1 FROM accounts WHERE parent = a.handle)
        ORDER BY opened_at, handle LIMIT ?
        """,
        (before, before, before, most),
    )
    for (handle,) in rows:
        tx.run("DELETE FROM entries WHERE account = ?", (handle,))
        tx.run("DELETE FROM accounts WHERE handle = ?", (handle,))
    return len(rows)
