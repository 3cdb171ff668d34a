"""The sessions and prompts tables."""

from haversack.store.engine import Reader, Value, Writer
from haversack.store.records import Prompt, Session

_SESSION = "SELECT id, project, namespace, directory, started_at, ended_at, summary FROM sessions"
_PROMPT = "SELECT id, session_id, project, namespace, content, created_at FROM prompts"


def get(tx: Reader, identifier: str) -> Session | None:
    """One session by id."""
    row = tx.row(f"{_SESSION} WHERE id = ?", (identifier,))
    return Session(*row) if row else None


def add(tx: Writer, session: Session, project_key: str) -> bool:
    """Add a session unless its id is taken; says whether it was added."""
    changed = tx.run(
        "INSERT INTO sessions (id, project, project_key, namespace, directory, started_at, ended_at, summary,"
        " turns, asking) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT DO NOTHING",
        (
            session.id, session.project, project_key, session.namespace, session.directory, session.started_at,
            session.ended_at, session.summary,
        ),
    )  # fmt: skip
    return changed > 0


def end(tx: Writer, identifier: str, ended_at: int, summary: str | None) -> None:
    """Mark a session as ended; a summary of None leaves the one it has."""
    tx.run(
        "UPDATE sessions SET ended_at = ?, summary = coalesce(?, summary) WHERE id = ?",
        (ended_at, summary, identifier),
    )


def summarise(tx: Writer, identifier: str, summary: str) -> None:
    """Set a session's summary."""
    tx.run("UPDATE sessions SET summary = ? WHERE id = ?", (summary, identifier))


def _place(project_key: str, namespace: str | None) -> tuple[str, list[Value]]:
    clauses, values = ["1 = 1"], list[Value]()
    if project_key:
        clauses.append("project_key = ?")
        values.append(project_key)
    if namespace is not None:
        clauses.append("namespace = ?")
        values.append(namespace)
    return " AND ".join(clauses), values


def latest_open(tx: Reader, project_key: str, namespace: str, since: int) -> Session | None:
    """The session under way: the last one started in a place, at `since` or later, and not ended."""
    row = tx.row(
        f"{_SESSION} WHERE project_key = ? AND namespace = ? AND ended_at IS NULL AND started_at >= ?"
        " AND substr(lower(id), 1, 6) <> 'manual' ORDER BY started_at DESC, id LIMIT 1",
        (project_key, namespace, since),
    )
    return Session(*row) if row else None


def recent(
    tx: Reader, project_key: str, namespace: str | None, limit: int, *, after: Session | None = None
) -> list[Session]:
    """The sessions started last, the newest first; `after` continues behind one."""
    condition, values = _place(project_key, namespace)
    if after is not None:
        condition += " AND (started_at < ? OR (started_at = ? AND id > ?))"
        values += [after.started_at, after.started_at, after.id]
    rows = tx.rows(f"{_SESSION} WHERE {condition} ORDER BY started_at DESC, id LIMIT ?", (*values, limit))
    return [Session(*row) for row in rows]


def count(tx: Reader, project_key: str, namespace: str | None) -> int:
    """How many sessions a place has."""
    condition, values = _place(project_key, namespace)
    total: int = tx.value(f"SELECT count(*) FROM sessions WHERE {condition}", values)
    return total


def everything(tx: Reader) -> list[Session]:
    """Every session, by id."""
    return [Session(*row) for row in tx.rows(f"{_SESSION} ORDER BY id")]


def add_prompt(tx: Writer, prompt: Prompt, project_key: str) -> int:
    """Add a prompt; the store gives the id."""
    return tx.insert(
        "INSERT INTO prompts (session_id, project, project_key, namespace, content, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
        (prompt.session_id, prompt.project, project_key, prompt.namespace, prompt.content, prompt.created_at),
    )


def has_prompt(tx: Reader, prompt: Prompt) -> bool:
    """Whether a prompt with this session, time and content is there."""
    return bool(
        tx.value(
            "SELECT 1 FROM prompts WHERE session_id = ? AND created_at = ? AND content = ?",
            (prompt.session_id, prompt.created_at, prompt.content),
        )
    )


def recent_prompts(tx: Reader, project_key: str, namespace: str | None, limit: int) -> list[Prompt]:
    """The prompts typed last, the newest first."""
    condition, values = _place(project_key, namespace)
    rows = tx.rows(f"{_PROMPT} WHERE {condition} ORDER BY id DESC LIMIT ?", (*values, limit))
    return [Prompt(*row) for row in rows]


def count_prompts(tx: Reader, project_key: str, namespace: str | None) -> int:
    """How many prompts a place has."""
    condition, values = _place(project_key, namespace)
    total: int = tx.value(f"SELECT count(*) FROM prompts WHERE {condition}", values)
    return total


def every_prompt(tx: Reader) -> list[Prompt]:
    """Every prompt, by id."""
    return [Prompt(*row) for row in tx.rows(f"{_PROMPT} ORDER BY id")]
