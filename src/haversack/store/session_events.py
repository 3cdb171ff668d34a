"""The session events table: reports of hosts about a session beside its prompts."""

from haversack.store.engine import Reader, Writer
from haversack.store.records import SessionEvent

_SELECT = "SELECT id, session_id, kind, detail, created_at FROM session_events"


def add(tx: Writer, session_id: str, kind: str, detail: str, now: int) -> None:
    """Add one event."""
    tx.run(
        "INSERT INTO session_events (session_id, kind, detail, created_at) VALUES (?, ?, ?, ?)",
        (session_id, kind, detail, now),
    )


def of_session(tx: Reader, session_id: str, kind: str = "", *, limit: int = 5_000) -> list[SessionEvent]:
    """A session's events, of one kind if given, the oldest first; of very many only the last."""
    condition, values = "session_id = ?", [session_id]
    if kind:
        condition += " AND kind = ?"
        values.append(kind)
    rows = tx.rows(f"{_SELECT} WHERE {condition} ORDER BY id DESC LIMIT ?", (*values, limit))
    return [SessionEvent(*row) for row in reversed(rows)]


def beginning_with(tx: Reader, kind: str, beginning: str, *, limit: int = 1_000) -> list[SessionEvent]:
    """The last events of a kind, of whatever session, whose detail begins with a word, the newest first."""
    rows = tx.rows(
        f"{_SELECT} WHERE kind = ? AND substr(detail, 1, ?) = ? ORDER BY id DESC LIMIT ?",
        (kind, len(beginning), beginning, limit),
    )
    return [SessionEvent(*row) for row in rows]


def forget(tx: Writer, session_id: str, kind: str) -> None:
    """Remove a session's events of one kind."""
    tx.run("DELETE FROM session_events WHERE session_id = ? AND kind = ?", (session_id, kind))


def injected_and_opened(tx: Reader) -> tuple[int, int]:
    """How many observations were put into contexts, and how many of them were opened afterwards."""
    row = tx.row(
        """
        SELECT count(*), coalesce(sum(CASE WHEN o.last_accessed_at > e.created_at THEN 1 ELSE 0 END), 0)
        FROM session_events e JOIN observations o ON o.id = CAST(e.detail AS INTEGER) WHERE e.kind = 'injected'
        """
    )
    assert row is not None
    return row[0], row[1]
