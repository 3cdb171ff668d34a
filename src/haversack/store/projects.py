"""The projects table, and moving what a project holds to another."""

from collections.abc import Sequence

from haversack.store.engine import Reader, Writer
from haversack.store.filters import where
from haversack.store.observations import is_tallied, of_each_sort
from haversack.store.records import Filters, Project, ProjectChange

_SELECT = "SELECT key, name, short, moved_to FROM projects"
_CHANGE = "SELECT id, action, project, target, detail, created_at, undone_at FROM project_changes"
_AT_ONCE = 500


def get(tx: Reader, key: str) -> Project | None:
    """One project by its key, also one that was renamed or merged."""
    row = tx.row(f"{_SELECT} WHERE key = ?", (key,))
    return Project(*row) if row else None


def with_short(tx: Reader, short: str) -> list[Project]:
    """The projects whose key ends in a name, by key; renamed and merged ones are left out."""
    found = [Project(*row) for row in tx.rows(f"{_SELECT} WHERE short = ? AND moved_to = '' ORDER BY key", (short,))]
    return list({each.key: each for each in found}.values())


def shared_shorts(tx: Reader) -> set[str]:
    """The short names that stand for more than one project."""
    rows = tx.rows("SELECT short FROM projects WHERE moved_to = '' GROUP BY short HAVING count(DISTINCT key) > 1")
    return {row[0] for row in rows}


def everything(tx: Reader) -> list[tuple[Project, int]]:
    """Every project that was not renamed or merged with its live observations, the most first."""
    rows = tx.rows(
        """
        SELECT p.key, min(p.name), min(p.short), min(p.moved_to),
            coalesce((SELECT sum(observations) FROM tallies WHERE project_key = p.key), 0) AS many
        FROM projects p WHERE p.moved_to = '' GROUP BY p.key ORDER BY many DESC, p.key
        """
    )
    return [(Project(*row[:4]), int(row[4])) for row in rows]


def count_by_project(tx: Reader, filters: Filters) -> list[tuple[str, int]]:
    """How many observations of each project the filters let through, the most first; projects without any are out."""
    condition, values = where(filters)
    figure, table = "count(*)", "observations"
    if is_tallied(filters):
        figure, table, condition = "sum(o.observations)", "tallies", of_each_sort(condition)
    rows = tx.rows(
        f"SELECT coalesce((SELECT min(p.name) FROM projects p WHERE p.key = o.project_key), o.project_key),"
        f" CAST({figure} AS bigint) AS many FROM {table} o WHERE {condition} GROUP BY o.project_key"
        f" HAVING {figure} > 0 ORDER BY many DESC, o.project_key",
        values,
    )
    return [(name, int(many)) for name, many in rows]


def put(tx: Writer, project: Project) -> None:
    """Add a project or replace the row of its key."""
    remove(tx, project.key)
    tx.run(
        "INSERT INTO projects (key, name, short, moved_to) VALUES (?, ?, ?, ?)",
        (project.key, project.name, project.short, project.moved_to),
    )


def remove(tx: Writer, key: str) -> None:
    """Drop a project's row; what is stored under it stays."""
    tx.run("DELETE FROM projects WHERE key = ?", (key,))


def observation_ids(tx: Reader, key: str) -> list[int]:
    """The ids of a project's observations, deleted ones too."""
    return [row[0] for row in tx.rows("SELECT id FROM observations WHERE project_key = ? ORDER BY id", (key,))]


def live_ids(tx: Reader, key: str) -> list[int]:
    """The ids of a project's observations that are not deleted."""
    rows = tx.rows("SELECT id FROM observations WHERE project_key = ? AND deleted_at IS NULL ORDER BY id", (key,))
    return [row[0] for row in rows]


def session_ids(tx: Reader, key: str) -> list[str]:
    """The ids of a project's sessions."""
    return [row[0] for row in tx.rows("SELECT id FROM sessions WHERE project_key = ? ORDER BY id", (key,))]


def session_folders(tx: Reader, key: str) -> dict[str, list[str]]:
    """The sessions of a project by the folder they ran in."""
    folders: dict[str, list[str]] = {}
    for identifier, folder in tx.rows("SELECT id, directory FROM sessions WHERE project_key = ? ORDER BY id", (key,)):
        folders.setdefault(folder, []).append(identifier)
    return folders


def prompt_ids(tx: Reader, key: str) -> list[int]:
    """The ids of a project's prompts."""
    return [row[0] for row in tx.rows("SELECT id FROM prompts WHERE project_key = ? ORDER BY id", (key,))]


def observations_outside(tx: Reader, key: str, sessions: Sequence[str]) -> list[int]:
    """The ids of a project's observations that belong to none of some sessions."""
    left = set(sessions)
    rows = tx.rows("SELECT id, session_id FROM observations WHERE project_key = ? ORDER BY id", (key,))
    return [row[0] for row in rows if row[1] not in left]


def prompts_outside(tx: Reader, key: str, sessions: Sequence[str]) -> list[int]:
    """The ids of a project's prompts that belong to none of some sessions."""
    left = set(sessions)
    rows = tx.rows("SELECT id, session_id FROM prompts WHERE project_key = ? ORDER BY id", (key,))
    return [row[0] for row in rows if row[1] not in left]


def move_sessions(tx: Writer, identifiers: Sequence[str], name: str, key: str) -> None:
    """Put sessions under another project."""
    _update(tx, "sessions", "project = ?, project_key = ?", (name, key), identifiers)


def move_prompts(tx: Writer, identifiers: Sequence[int], name: str, key: str) -> None:
    """Put prompts under another project."""
    _update(tx, "prompts", "project = ?, project_key = ?", (name, key), identifiers)


def hide(tx: Writer, sessions: Sequence[str], prompts: Sequence[int], moment: int | None) -> None:
    """Leave sessions and prompts out of every list from a moment on, or show them again."""
    _update(tx, "sessions", "forgotten_at = ?", (moment,), sessions)
    _update(tx, "prompts", "forgotten_at = ?", (moment,), prompts)


def _update(
    tx: Writer, table: str, assignments: str, values: tuple[str | int | None, ...], ids: Sequence[str] | Sequence[int]
) -> None:
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        tx.run(f"UPDATE {table} SET {assignments} WHERE id IN ({','.join('?' * len(some))})", (*values, *some))


def note_change(tx: Writer, change: ProjectChange) -> int:
    """Store what undoing a change needs; the store gives its number."""
    return tx.insert(
        "INSERT INTO project_changes (action, project, target, detail, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
        (change.action, change.project, change.target, change.detail, change.created_at),
    )


def last_change(tx: Reader) -> ProjectChange | None:
    """The last change that was not undone."""
    row = tx.row(f"{_CHANGE} WHERE undone_at IS NULL ORDER BY id DESC LIMIT 1")
    return ProjectChange(*row) if row else None


def mark_undone(tx: Writer, identifier: int, moment: int) -> None:
    """Mark a change as undone; its detail is no longer needed."""
    tx.run("UPDATE project_changes SET undone_at = ?, detail = '' WHERE id = ?", (moment, identifier))
