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
    clauses, values = ["forgotten_at IS NULL"], list[Value]()
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
        " AND forgotten_at IS NULL AND substr(lower(id), 1, 6) <> 'manual' ORDER BY started_at DESC, id LIMIT 1",
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


def everything(tx: Reader, *, forgotten: bool = True) -> list[Session]:
    """Every session, by id; those of forgotten projects only if asked for."""
    condition = "1 = 1" if forgotten else "forgotten_at IS NULL"
    return [Session(*row) for row in tx.rows(f"{_SESSION} WHERE {condition} ORDER BY id")]


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


def prompts_of_session(tx: Reader, session_id: str, limit: int = 200) -> list[Prompt]:
    """The prompts of a session, the oldest first; of very many the first and the last ones."""
    first = tx.rows(f"{_PROMPT} WHERE session_id = ? ORDER BY id LIMIT 1", (session_id,))
    last = tx.rows(f"{_PROMPT} WHERE session_id = ? ORDER BY id DESC LIMIT ?", (session_id, limit))
    rows = dict.fromkeys([*first, *reversed(last)])
    return [Prompt(*row) for row in rows]


def last_prompt_of_session(tx: Reader, session_id: str) -> Prompt | None:
    """The prompt a session had last."""
    row = tx.row(f"{_PROMPT} WHERE session_id = ? ORDER BY id DESC LIMIT 1", (session_id,))
    return Prompt(*row) if row else None


def count_prompts(tx: Reader, project_key: str, namespace: str | None) -> int:
    """How many prompts a place has."""
    condition, values = _place(project_key, namespace)
    total: int = tx.value(f"SELECT count(*) FROM prompts WHERE {condition}", values)
    return total


def every_prompt(tx: Reader, *, forgotten: bool = True) -> list[Prompt]:
    """Every prompt, by id; those of forgotten projects only if asked for."""
    condition = "1 = 1" if forgotten else "forgotten_at IS NULL"
    return [Prompt(*row) for row in tx.rows(f"{_PROMPT} WHERE {condition} ORDER BY id")]
