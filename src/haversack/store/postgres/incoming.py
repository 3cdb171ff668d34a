"""A copy of another store into a schema."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from haversack.store.copying import PROJECTS, Table, is_empty
from haversack.store.postgres.failures import in_use
from haversack.store.postgres.words import PostgresWords
from haversack.store.words import IndexEntry

if TYPE_CHECKING:
    from haversack.store.engine import Row
    from haversack.store.postgres.engine import PostgresStore, Writer

# What a row has beside its columns in a file, and the tables it is taken from.
_REALM = "home_realm('', incoming.namespace)"
_SORTS = """
INSERT INTO sorts AS s (realm, project_key, namespace, scope, kind, status, observations)
    SELECT home_realm(scope, namespace), project_key, namespace, scope, kind, status,
        count(*) FILTER (WHERE deleted_at IS NULL)
    FROM incoming GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (realm, project_key, namespace, scope, kind, status)
    DO UPDATE SET observations = s.observations + excluded.observations
"""
_OBSERVATIONS = """
INSERT INTO observations ({columns}, realm, sort, author)
    SELECT {incoming}, s.realm, s.sort, current_member() FROM incoming JOIN sorts s
        USING (project_key, namespace, scope, kind, status)
    WHERE s.realm = home_realm(incoming.scope, incoming.namespace) ORDER BY incoming.id
"""
_AUDIT = "INSERT INTO audit (realm, act, observation_id, uid) SELECT realm, 'saved', id, uid FROM observations"
# A project is in every realm that holds something of it; one whose memories were erased is the team's.
_PROJECTS = (
    """
    INSERT INTO projects (key, name, short, moved_to, realm) SELECT i.key, i.name, i.short, i.moved_to, r.realm
        FROM incoming i JOIN (
            SELECT project_key, realm FROM sessions UNION SELECT project_key, realm FROM observations
        ) r ON r.project_key = i.key
    """,
    """
    INSERT INTO projects (key, name, short, moved_to) SELECT i.key, i.name, i.short, i.moved_to FROM incoming i
        WHERE NOT EXISTS (SELECT 1 FROM projects p WHERE p.key = i.key)
    """,
)
_COUNTED = (
    "UPDATE realms r SET sessions = (SELECT count(*) FROM sessions s WHERE s.realm = r.realm)"
    " WHERE realm = ANY (writable())",
    "INSERT INTO stash_size SELECT member, sum(size) FROM stash GROUP BY member",
    "INSERT INTO vector_changes SELECT row_number() OVER (ORDER BY o.id), o.id, o.realm"
    " FROM vectors v JOIN observations o ON o.id = v.observation_id",
    "SELECT serial_at_least('vector_changes', (SELECT coalesce(max(number), 0) FROM vector_changes))",
    "SELECT serial_at_least('position', (SELECT coalesce(max(position), 0) FROM observations))",
    _AUDIT,
)
_FILLED = ("session_events", "project_changes", "projects", "packs", "stash", "entries", "accounts", "search_text",
           "post", "lexicon", "vectors", "relations", "prompts", "revisions", "tags", "observations", "sorts",
           "sessions")  # fmt: skip


class PostgresBatch:
    """One transaction of a copy."""

    def __init__(self, tx: "Writer") -> None:
        self.tx = tx

    def put(self, table: Table, rows: "Sequence[Row]") -> None:
        columns = ", ".join(table.columns)
        self.tx.execute(f"CREATE TEMP TABLE incoming ON COMMIT DROP AS SELECT {columns} FROM {table.name} WITH NO DATA")
        self.tx.stream(f"COPY incoming ({columns}) FROM STDIN", rows)
        if table.name == "observations":
            self.tx.execute(_SORTS)
            incoming = ", ".join(f"incoming.{name}" for name in table.columns)
            self.tx.execute(_OBSERVATIONS.format(columns=columns, incoming=incoming))
        elif table.name == PROJECTS:
            for statement in _PROJECTS:
                self.tx.execute(statement)
        elif table.name in ("sessions", "prompts"):
            self.tx.execute(f"INSERT INTO {table.name} ({columns}, realm) SELECT {columns}, {_REALM} FROM incoming")
        else:
            self.tx.execute(f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM incoming")
        self.tx.execute("DROP TABLE incoming")

    def index(self, entries: Sequence[tuple[int, IndexEntry]]) -> None:
        PostgresWords(self.tx).add_many(entries)

    def settle(self, numbers: dict[str, int]) -> None:
        for statement in _COUNTED:
            self.tx.execute(statement)
        for name, last in numbers.items():
            self.tx.execute("SELECT serial_at_least(?, ?)", (name, last))
        self.tx.execute("SELECT count_rows()")

    def clear(self) -> None:
        for table in _FILLED:
            self.tx.execute(f"DELETE FROM {table}")


class PostgresIncoming:
    """A schema that is being filled, as the member who copies sees it."""

    def __init__(self, store: "PostgresStore", salt: str) -> None:
        self.engine = store.for_copy(salt)
        with self.engine.read() as tx:
            is_new = not tx.value("SELECT 1 FROM meta WHERE name = 'copying'")
            if is_new and not is_empty(tx):
                raise in_use(store.address)

    def progress(self) -> str:
        with self.engine.read() as tx:
            return tx.value("SELECT value FROM meta WHERE name = 'copied'") or ""

    @contextmanager
    def batch(self, progress: str) -> Iterator[PostgresBatch]:
        with self.engine.write() as tx:
            self.engine.enter_copy(tx)
            yield PostgresBatch(tx)
            tx.execute("SELECT leave_copy(?)", (progress,))

    def close(self) -> None:
        """Does nothing: the connections belong to the store."""
