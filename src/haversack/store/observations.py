"""The observations table, with its tags and revisions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from haversack.store.engine import Reader, Row, Statement, Value, Writer
from haversack.store.filters import where
from haversack.store.places import SESSION_BITS
from haversack.store.records import Filters, Observation, Revision
from haversack.values import record, replace

_COLUMNS = (
    "id, uid, position, session_id, kind, title, content, tags, importance, tool_name, project, scope, "
    "topic_key, namespace, status, verification, pinned, content_hash, bytes, units, revision_count, duplicate_count, "
    "access_count, created_at, updated_at, last_seen_at, last_accessed_at, deleted_at"
)
ALL = 2**62
"""A limit that no store reaches."""
_TAGS, _PINNED = 7, 16
_REVISION_TAGS = 5
_REVISION = "observation_id, revision, kind, title, content, tags, importance, written_at, replaced_at"
_FOREMOST = "o.pinned DESC, o.importance DESC, o.position DESC"
NEWEST: Statement = ("SELECT coalesce(max(id), 0) FROM observations", ())
"""The query of `newest_id`."""
_SELECT = f"SELECT {', '.join('o.' + name.strip() for name in _COLUMNS.split(','))} FROM observations o"


@record
class NewObservation:
    """What is needed to insert an observation; the store gives id, position and place.

    `label` says who or what it is from; `asks` is 2 for a text that ends by asking, 1 for one that asks at all.
    """

    uid: str
    session_id: str
    kind: str
    title: str
    content: str
    tags: tuple[str, ...]
    importance: float
    tool_name: str
    project: str
    project_key: str
    scope: str
    topic_key: str
    namespace: str
    status: str
    verification: str
    pinned: bool
    content_hash: str
    bytes: int
    units: int
    label: str
    asks: int
    created_at: int


def _observation(row: Row) -> Observation:
    fields: list[Any] = list(row)
    fields[_TAGS] = _split(fields[_TAGS])
    fields[_PINNED] = bool(fields[_PINNED])
    return Observation(*fields)


def _split(tags: str) -> tuple[str, ...]:
    return tuple(tags.split("\n")) if tags else ()


def insert(tx: Writer, new: NewObservation, identifier: int | None = None) -> int:
    """Add an observation at the end of its session and of the recency order, and return its id, new unless given."""
    number, turns = tx.rows(
        "UPDATE sessions SET turns = turns + 1, asking = asking + ?"
        " WHERE number = (SELECT number FROM sessions WHERE id = ? LIMIT 1) RETURNING number, turns",
        (int(new.asks > 0), new.session_id),
    )[0]
    identifier = tx.insert(
        f"""
        INSERT INTO observations (
            id, position, uid, place, label, asks, session_id, kind, title, content, tags, importance, tool_name,
            project, project_key, scope, topic_key, namespace, status, verification, pinned, content_hash, bytes,
            units, revision_count, duplicate_count, access_count, created_at, updated_at, last_seen_at
        ) VALUES (
            ?, {tx.next_position},
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, ?
        ) RETURNING id
        """,
        (
            identifier, new.uid, (number << SESSION_BITS) + turns, new.label, new.asks, new.session_id, new.kind,
            new.title, new.content, "\n".join(new.tags), new.importance, new.tool_name, new.project, new.project_key,
            new.scope, new.topic_key, new.namespace, new.status, new.verification, int(new.pinned), new.content_hash,
            new.bytes, new.units, new.created_at, new.created_at, new.created_at,
        ),
    )  # fmt: skip
    _tag(tx, identifier, new.tags)
    return identifier


def _tag(tx: Writer, identifier: int, tags: Iterable[str]) -> None:
    for tag in {tag.casefold() for tag in tags}:
        tx.run("INSERT INTO tags (tag, observation_id) VALUES (?, ?)", (tag, identifier))


def change(tx: Writer, identifier: int, values: Mapping[str, Value]) -> None:
    """Set columns of one observation; the names come from the program, never from a caller."""
    assignments = ", ".join(f"{name} = ?" for name in values)
    tx.run(f"UPDATE observations SET {assignments} WHERE id = ?", (*values.values(), identifier))


def retag(tx: Writer, identifier: int, tags: tuple[str, ...]) -> None:
    """Replace the tags of one observation."""
    change(tx, identifier, {"tags": "\n".join(tags)})
    tx.run("DELETE FROM tags WHERE observation_id = ?", (identifier,))
    _tag(tx, identifier, tags)


def move_to_end(tx: Writer, identifier: int) -> None:
    """Make an observation the most recent one."""
    tx.run(f"UPDATE observations SET position = {tx.next_position} WHERE id = ?", (identifier,))


def updated_since(tx: Reader, moment: int) -> list[tuple[int, int]]:
    """The ids and times of what was last changed at a moment or after it, in the order of recency, oldest first."""
    rows = tx.rows("SELECT id, updated_at FROM observations WHERE updated_at >= ? ORDER BY position", (moment,))
    return [(row[0], row[1]) for row in rows]


def ids_above(tx: Reader, identifier: int) -> list[int]:
    """The ids above one, in the order of recency, oldest first."""
    return [row[0] for row in tx.rows("SELECT id FROM observations WHERE id > ? ORDER BY position", (identifier,))]


def erase(tx: Writer, identifier: int) -> None:
    """Remove an observation for good, with its tags, revisions and relations."""
    tx.run("DELETE FROM observations WHERE id = ?", (identifier,))


def touch(tx: Writer, identifiers: Sequence[int], now: int) -> None:
    """Count one more reading of each observation."""
    marks = ",".join("?" * len(identifiers))
    tx.run(
        f"UPDATE observations SET access_count = access_count + 1, last_accessed_at = ? WHERE id IN ({marks})",
        (now, *identifiers),
    )


def get(tx: Reader, identifier: int) -> Observation | None:
    """One observation by id, deleted or not."""
    row = tx.row(f"{_SELECT} WHERE o.id = ?", (identifier,))
    return _observation(row) if row else None


def get_many(tx: Reader, identifiers: Sequence[int]) -> dict[int, Observation]:
    """Observations by id; ids that do not exist are left out."""
    found: dict[int, Observation] = {}
    for start in range(0, len(identifiers), 500):
        part = identifiers[start : start + 500]
        rows = tx.rows(f"{_SELECT} WHERE o.id IN ({','.join('?' * len(part))})", part)
        found.update((row[0], _observation(row)) for row in rows)
    return found


def sizes(tx: Reader, identifiers: Sequence[int]) -> list[tuple[int, int, int]]:
    """The tokens and bytes of observations' contents, and the lengths of their titles."""
    found: list[tuple[int, int, int]] = []
    for start in range(0, len(identifiers), 500):
        part = identifiers[start : start + 500]
        where = f"WHERE id IN ({','.join('?' * len(part))})"
        rows = tx.rows(f"SELECT units, bytes, length(title) FROM observations {where}", part)
        found += [(row[0], row[1], row[2]) for row in rows]
    return found


def times_updated(tx: Reader, identifiers: Sequence[int]) -> list[int]:
    """When observations were last changed."""
    found: list[int] = []
    for start in range(0, len(identifiers), 500):
        part = identifiers[start : start + 500]
        rows = tx.rows(f"SELECT updated_at FROM observations WHERE id IN ({','.join('?' * len(part))})", part)
        found += [row[0] for row in rows]
    return found


def with_uid(tx: Reader, uid: str) -> Observation | None:
    """One observation by its identity across stores."""
    row = tx.row(f"{_SELECT} WHERE o.uid = ?", (uid,))
    return _observation(row) if row else None


def live_topic(tx: Reader, topic_key: str, project_key: str, scope: str, namespace: str) -> Observation | None:
    """The live observation of a topic, of which there is at most one."""
    if not topic_key:
        return None
    row = tx.row(
        f"{_SELECT} WHERE o.topic_key = ? AND o.project_key = ? AND o.scope = ? AND o.namespace = ?"
        " AND o.topic_key <> '' AND o.deleted_at IS NULL",
        (topic_key, project_key, scope, namespace),
    )
    return _observation(row) if row else None


def same_content(tx: Reader, content_hash: str, since: int) -> Observation | None:
    """A live observation of the same content, title and place, last seen at `since` or later."""
    row = tx.row(
        f"{_SELECT} WHERE o.content_hash = ? AND o.deleted_at IS NULL AND o.last_seen_at >= ?"
        " ORDER BY o.position DESC LIMIT 1",
        (content_hash, since),
    )
    return _observation(row) if row else None


def recent(tx: Reader, filters: Filters, limit: int, *, before: int | None = None) -> list[Observation]:
    """The most recent observations first; `before` continues below a position."""
    condition, values = where(filters)
    if before is not None:
        condition += " AND o.position < ?"
        values.append(before)
    rows = tx.rows(f"{_SELECT} WHERE {condition} ORDER BY o.position DESC LIMIT ?", (*values, limit))
    return [_observation(row) for row in rows]


def recent_ids(tx: Reader, filters: Filters, limit: int, *, before: int) -> list[tuple[int, int]]:
    """The ids and positions of the observations `recent` gives below a position."""
    condition, values = where(filters)
    rows = tx.rows(
        f"SELECT o.id, o.position FROM observations o WHERE {condition} AND o.position < ?"
        " ORDER BY o.position DESC LIMIT ?",
        (*values, before, limit),
    )
    return [(row[0], row[1]) for row in rows]


def titles(tx: Reader, filters: Filters, limit: int, *, digits: str = "") -> list[tuple[int, str]]:
    """Ids with titles, the most recent first; `digits` are those an id begins with."""
    condition, values = where(filters)
    rows = tx.rows(
        f"SELECT o.id, o.title FROM observations o WHERE {condition} AND CAST(o.id AS text) LIKE ?"
        " ORDER BY o.position DESC LIMIT ?",
        (*values, f"{digits}%", limit),
    )
    return [(row[0], row[1]) for row in rows]


def with_topic_of_session(tx: Reader, topic_key: str, session_id: str) -> Observation | None:
    """The live observation of a topic within one session."""
    row = tx.row(
        f"{_SELECT} WHERE o.session_id = ? AND o.topic_key = ? AND o.deleted_at IS NULL LIMIT 1",
        (session_id, topic_key),
    )
    return _observation(row) if row else None


def newest_id(tx: Reader) -> int:
    """The highest id given so far; what is added later has a higher one."""
    found: int = tx.value(*NEWEST)
    return found


def foremost(tx: Reader, filters: Filters, limit: int) -> list[Observation]:
    """Pinned observations first, then by importance, then the most recent."""
    condition, values = where(filters)
    rows = tx.rows(
        f"{_SELECT} WHERE {condition} ORDER BY {_FOREMOST} LIMIT ?",
        (*values, limit),
    )
    return [_observation(row) for row in rows]


def foremost_ids(tx: Reader, filters: Filters, limit: int, *, after: int) -> list[int]:
    """The ids of the observations `foremost` gives after the first `after`."""
    condition, values = where(filters)
    rows = tx.rows(
        f"SELECT o.id FROM observations o WHERE {condition} ORDER BY {_FOREMOST} LIMIT ? OFFSET ?",
        (*values, limit, after),
    )
    return [row[0] for row in rows]


def pinned(tx: Reader, filters: Filters) -> list[Observation]:
    """Pinned observations, the oldest first, so that rules keep their order."""
    condition, values = where(filters)
    # Without the hint SQLite scans a whole project instead of the few pinned rows.
    rows = tx.rows(f"{_SELECT} {tx.hint('pinned')} WHERE {condition} AND o.pinned = 1 ORDER BY o.position", values)
    return [_observation(row) for row in rows]


def count_observations(tx: Reader, filters: Filters) -> int:
    """How many observations the filters let through."""
    counted: int = tx.value(*counting(filters))
    return counted


def counting(filters: Filters) -> Statement:
    """The query of `count_observations`."""
    condition, values = where(filters)
    if is_tallied(filters):
        tallied = of_each_sort(condition)
        return f"SELECT CAST(coalesce(sum(observations), 0) AS bigint) FROM tallies o WHERE {tallied}", values
    return f"SELECT count(*) FROM observations o WHERE {condition}", values


def is_tallied(filters: Filters) -> bool:
    """Whether the tallies can answer the filters."""
    return replace(filters, project_key="", namespace=None, scope="", kind="", statuses=()) == Filters()


def of_each_sort(condition: str) -> str:
    """A condition on live observations as one on their tallies."""
    return condition.replace("o.deleted_at IS NULL", "1 = 1")


def older_than(tx: Reader, filters: Filters, moment: int, limit: int) -> list[Observation]:
    """Observations last seen before `moment`, the oldest first; pinned ones never."""
    condition, values = where(filters)
    rows = tx.rows(
        f"{_SELECT} WHERE {condition} AND o.last_seen_at < ? AND o.pinned = 0 ORDER BY o.position LIMIT ?",
        (*values, moment, limit),
    )
    return [_observation(row) for row in rows]


def ids_older_than(tx: Reader, filters: Filters, moment: int, *, after: int) -> list[int]:
    """The ids of the observations `older_than` gives after the first `after`."""
    condition, values = where(filters)
    rows = tx.rows(
        f"SELECT o.id FROM observations o WHERE {condition} AND o.last_seen_at < ? AND o.pinned = 0"
        " ORDER BY o.position LIMIT ? OFFSET ?",
        (*values, moment, ALL, after),
    )
    return [row[0] for row in rows]


def total_older_than(tx: Reader, filters: Filters, moment: int) -> tuple[int, int]:
    """How many observations `older_than` has in all, and their units."""
    condition, values = where(filters)
    row = tx.row(
        f"SELECT count(*), CAST(coalesce(sum(o.units), 0) AS bigint) FROM observations o"
        f" WHERE {condition} AND o.last_seen_at < ? AND o.pinned = 0",
        (*values, moment),
    )
    assert row is not None
    return row[0], row[1]


def neighbours(
    tx: Reader, focus: Observation, filters: Filters, before: int, after: int
) -> tuple[list[Observation], list[Observation]]:
    """The observations just before and just after one, nearest first."""
    condition, values = where(filters)
    earlier = tx.rows(
        f"{_SELECT} WHERE {condition} AND o.position < ? ORDER BY o.position DESC LIMIT ?",
        (*values, focus.position, before),
    )
    later = tx.rows(
        f"{_SELECT} WHERE {condition} AND o.position > ? ORDER BY o.position LIMIT ?",
        (*values, focus.position, after),
    )
    return [_observation(row) for row in earlier], [_observation(row) for row in later]


def everything(tx: Reader) -> Iterable[Observation]:
    """Every observation, deleted ones too, in order of id."""
    last = 0
    while rows := tx.rows(f"{_SELECT} WHERE o.id > ? ORDER BY o.id LIMIT 500", (last,)):
        yield from map(_observation, rows)
        last = rows[-1][0]


def add_revision(tx: Writer, old: Observation, now: int) -> int:
    """Keep the present text of an observation as its next revision and return that revision's number."""
    number: int = tx.value("SELECT coalesce(max(revision), 0) + 1 FROM revisions WHERE observation_id = ?", (old.id,))
    tx.run(
        f"INSERT INTO revisions ({_REVISION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            old.id, number, old.kind, old.title, old.content, "\n".join(old.tags), old.importance,
            old.updated_at, now,
        ),
    )  # fmt: skip
    return number


def put_revision(tx: Writer, revision: Revision) -> bool:
    """Add a revision as it is, unless that number is taken; says whether it was added."""
    changed = tx.run(
        f"INSERT INTO revisions ({_REVISION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            revision.observation_id, revision.revision, revision.kind, revision.title, revision.content,
            "\n".join(revision.tags), revision.importance, revision.written_at, revision.replaced_at,
        ),
    )  # fmt: skip
    return changed > 0


def revisions(tx: Reader, identifier: int) -> list[Revision]:
    """Every earlier text of an observation, the newest first."""
    rows = tx.rows(f"SELECT {_REVISION} FROM revisions WHERE observation_id = ? ORDER BY revision DESC", (identifier,))
    return [_revision(row) for row in rows]


def _revision(row: Row) -> Revision:
    cells: list[Any] = list(row)
    cells[_REVISION_TAGS] = _split(cells[_REVISION_TAGS])
    return Revision(*cells)
