"""The schema and its migrations, each applied whole or not at all."""

import os

import apsw

from haversack.errors import StoreDamaged, StoreTooNew

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        project TEXT NOT NULL,
        project_key TEXT NOT NULL,
        namespace TEXT NOT NULL,
        directory TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER,
        summary TEXT NOT NULL,
        turns INTEGER NOT NULL,
        asking INTEGER NOT NULL
    );
    CREATE INDEX sessions_by_project ON sessions (project_key, started_at);
    CREATE INDEX sessions_by_start ON sessions (started_at);

    CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uid TEXT NOT NULL UNIQUE,
        position INTEGER NOT NULL UNIQUE,
        place INTEGER NOT NULL UNIQUE,
        label TEXT NOT NULL,
        asks INTEGER NOT NULL,
        session_id TEXT NOT NULL REFERENCES sessions (id),
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        content TEXT NOT NULL,
        tags TEXT NOT NULL,
        importance REAL NOT NULL,
        tool_name TEXT NOT NULL,
        project TEXT NOT NULL,
        project_key TEXT NOT NULL,
        scope TEXT NOT NULL,
        topic_key TEXT NOT NULL,
        namespace TEXT NOT NULL,
        status TEXT NOT NULL,
        verification TEXT NOT NULL,
        pinned INTEGER NOT NULL,
        content_hash TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        units INTEGER NOT NULL,
        revision_count INTEGER NOT NULL,
        duplicate_count INTEGER NOT NULL,
        access_count INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        last_seen_at INTEGER NOT NULL,
        last_accessed_at INTEGER,
        deleted_at INTEGER
    );
    CREATE UNIQUE INDEX observations_live_topic ON observations (topic_key, project_key, scope, namespace)
        WHERE topic_key <> '' AND deleted_at IS NULL;
    CREATE INDEX observations_by_hash ON observations (content_hash) WHERE deleted_at IS NULL;
    CREATE INDEX observations_by_session ON observations (session_id, position);
    CREATE INDEX observations_by_project ON observations (project_key, position) WHERE deleted_at IS NULL;
    CREATE INDEX observations_pinned ON observations (position) WHERE pinned = 1 AND deleted_at IS NULL;
    -- All that weighing a word needs of a row, in a tenth of the pages that the rows themselves take.
    CREATE INDEX observations_in_brief ON observations (id, place, units, project_key, status, deleted_at);
    CREATE INDEX observations_foremost ON observations (pinned, importance, position) WHERE deleted_at IS NULL;
    CREATE INDEX observations_foremost_of_project ON observations (project_key, pinned, importance, position)
        WHERE deleted_at IS NULL;

    -- How many live observations there are of each sort, kept by triggers: to count them would grow with the store.
    CREATE TABLE tallies (
        project_key TEXT NOT NULL,
        namespace TEXT NOT NULL,
        scope TEXT NOT NULL,
        kind TEXT NOT NULL,
        status TEXT NOT NULL,
        observations INTEGER NOT NULL,
        PRIMARY KEY (project_key, namespace, scope, kind, status)
    ) WITHOUT ROWID;
    CREATE TRIGGER tallies_grow AFTER INSERT ON observations WHEN new.deleted_at IS NULL BEGIN
        INSERT INTO tallies VALUES (new.project_key, new.namespace, new.scope, new.kind, new.status, 1)
        ON CONFLICT DO UPDATE SET observations = observations + 1;
    END;
    CREATE TRIGGER tallies_shrink AFTER DELETE ON observations WHEN old.deleted_at IS NULL BEGIN
        UPDATE tallies SET observations = observations - 1
        WHERE project_key = old.project_key AND namespace = old.namespace AND scope = old.scope
            AND kind = old.kind AND status = old.status;
    END;
    CREATE TRIGGER tallies_leave AFTER UPDATE OF project_key, namespace, scope, kind, status, deleted_at
    ON observations WHEN old.deleted_at IS NULL BEGIN
        UPDATE tallies SET observations = observations - 1
        WHERE project_key = old.project_key AND namespace = old.namespace AND scope = old.scope
            AND kind = old.kind AND status = old.status;
    END;
    CREATE TRIGGER tallies_enter AFTER UPDATE OF project_key, namespace, scope, kind, status, deleted_at
    ON observations WHEN new.deleted_at IS NULL BEGIN
        INSERT INTO tallies VALUES (new.project_key, new.namespace, new.scope, new.kind, new.status, 1)
        ON CONFLICT DO UPDATE SET observations = observations + 1;
    END;

    CREATE TABLE tags (
        tag TEXT NOT NULL,
        observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
        PRIMARY KEY (tag, observation_id)
    ) WITHOUT ROWID;
    CREATE INDEX tags_by_observation ON tags (observation_id);

    CREATE TABLE revisions (
        observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
        revision INTEGER NOT NULL,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        content TEXT NOT NULL,
        tags TEXT NOT NULL,
        importance REAL NOT NULL,
        written_at INTEGER NOT NULL,
        replaced_at INTEGER NOT NULL,
        PRIMARY KEY (observation_id, revision)
    ) WITHOUT ROWID;

    CREATE TABLE prompts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL REFERENCES sessions (id),
        project TEXT NOT NULL,
        project_key TEXT NOT NULL,
        namespace TEXT NOT NULL,
        content TEXT NOT NULL,
        created_at INTEGER NOT NULL
    );
    CREATE INDEX prompts_by_project ON prompts (project_key, id);

    CREATE TABLE relations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        from_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
        to_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
        type TEXT NOT NULL,
        note TEXT NOT NULL,
        strength REAL NOT NULL,
        created_at INTEGER NOT NULL,
        UNIQUE (from_id, to_id, type)
    );
    CREATE INDEX relations_by_target ON relations (to_id);

    CREATE VIRTUAL TABLE search_index USING fts5 (
        title, content, tags, marks,
        content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
    );

    CREATE TABLE vectors (
        observation_id INTEGER PRIMARY KEY REFERENCES observations (id) ON DELETE CASCADE,
        model TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        vector BLOB NOT NULL
    );

    CREATE TABLE stash (
        key TEXT PRIMARY KEY,
        digest BLOB NOT NULL,
        origin TEXT NOT NULL,
        expires_at INTEGER NOT NULL,
        size INTEGER NOT NULL,
        body BLOB
    );
    CREATE INDEX stash_by_expiry ON stash (expires_at);
    CREATE INDEX stash_held ON stash (expires_at) WHERE body IS NOT NULL;

    -- Kept by triggers, since adding up every size at every call would take longer than the call.
    CREATE TABLE stash_size (bytes INTEGER NOT NULL);
    INSERT INTO stash_size VALUES (0);
    CREATE TRIGGER stash_grows AFTER INSERT ON stash
        BEGIN UPDATE stash_size SET bytes = bytes + new.size; END;
    CREATE TRIGGER stash_changes AFTER UPDATE OF size ON stash
        BEGIN UPDATE stash_size SET bytes = bytes + new.size - old.size; END;
    CREATE TRIGGER stash_shrinks AFTER DELETE ON stash
        BEGIN UPDATE stash_size SET bytes = bytes - old.size; END;

    CREATE TABLE accounts (
        handle TEXT PRIMARY KEY,
        parent TEXT REFERENCES accounts (handle),
        total INTEGER NOT NULL,
        system_limit INTEGER NOT NULL,
        history_limit INTEGER NOT NULL,
        tool_results_limit INTEGER NOT NULL,
        user_limit INTEGER NOT NULL,
        reserve INTEGER NOT NULL,
        warning INTEGER NOT NULL,
        critical INTEGER NOT NULL,
        server INTEGER NOT NULL DEFAULT 0,
        system INTEGER NOT NULL DEFAULT 0,
        history INTEGER NOT NULL DEFAULT 0,
        tool_results INTEGER NOT NULL DEFAULT 0,
        user INTEGER NOT NULL DEFAULT 0,
        leased INTEGER NOT NULL DEFAULT 0,
        entries INTEGER NOT NULL DEFAULT 0,
        evicted INTEGER NOT NULL DEFAULT 0,
        uses INTEGER NOT NULL DEFAULT 0,
        opened_at INTEGER NOT NULL,
        closed_at INTEGER
    ) WITHOUT ROWID;
    CREATE INDEX accounts_by_parent ON accounts (parent) WHERE parent IS NOT NULL;
    CREATE INDEX accounts_by_opening ON accounts (opened_at);

    CREATE TABLE entries (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        account TEXT NOT NULL REFERENCES accounts (handle),
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        brief TEXT NOT NULL,
        key TEXT NOT NULL,
        rest TEXT NOT NULL,
        before INTEGER NOT NULL,
        sent INTEGER NOT NULL,
        after INTEGER NOT NULL,
        cost INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        used INTEGER NOT NULL,
        evicted INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX entries_in_history ON entries (account, used, id) WHERE evicted = 0;
    CREATE INDEX entries_by_account ON entries (account, id);
    CREATE INDEX entries_by_key ON entries (key);
    CREATE INDEX entries_by_rest ON entries (rest) WHERE rest <> '';

    CREATE TABLE packs (
        id TEXT PRIMARY KEY,
        created_at INTEGER NOT NULL,
        items TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
    # In other databases a column `user` is the name of the user who is logged in.
    "ALTER TABLE accounts RENAME COLUMN user TO user_message",
    """
    -- Every project anything was ever stored under; `short` is its key's last part. A project that was renamed or
    -- merged names the key it went to, so that its folder's later memories follow.
    CREATE TABLE projects (
        key TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        short TEXT NOT NULL,
        moved_to TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID;
    CREATE INDEX projects_by_short ON projects (short);
    CREATE TRIGGER projects_of_sessions AFTER INSERT ON sessions BEGIN
        INSERT OR IGNORE INTO projects (key, name, short) VALUES (new.project_key, new.project, coalesce(
            nullif(replace(new.project_key, rtrim(new.project_key, replace(new.project_key, '/', '')), ''), ''),
            new.project_key));
    END;
    CREATE TRIGGER projects_of_observations AFTER INSERT ON observations BEGIN
        INSERT OR IGNORE INTO projects (key, name, short) VALUES (new.project_key, new.project, coalesce(
            nullif(replace(new.project_key, rtrim(new.project_key, replace(new.project_key, '/', '')), ''), ''),
            new.project_key));
    END;
    CREATE TRIGGER projects_of_edits AFTER UPDATE OF project_key ON observations BEGIN
        INSERT OR IGNORE INTO projects (key, name, short) VALUES (new.project_key, new.project, coalesce(
            nullif(replace(new.project_key, rtrim(new.project_key, replace(new.project_key, '/', '')), ''), ''),
            new.project_key));
    END;
    INSERT OR IGNORE INTO projects (key, name, short)
        SELECT project_key, min(project), coalesce(
            nullif(replace(project_key, rtrim(project_key, replace(project_key, '/', '')), ''), ''), project_key)
        FROM (SELECT project_key, project FROM sessions UNION SELECT project_key, project FROM observations)
        GROUP BY project_key;

    -- What changed a project as a whole, with all that is needed to take it back.
    CREATE TABLE project_changes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        action TEXT NOT NULL,
        project TEXT NOT NULL,
        target TEXT NOT NULL,
        detail TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        undone_at INTEGER
    );
    CREATE INDEX prompts_by_session ON prompts (session_id);
    ALTER TABLE sessions ADD COLUMN forgotten_at INTEGER;
    ALTER TABLE prompts ADD COLUMN forgotten_at INTEGER;

    -- What a host reported of a session beside its prompts: files written, commands, tests, commits, token use, and
    -- which observations were put into its context.
    CREATE TABLE session_events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_id TEXT NOT NULL REFERENCES sessions (id),
        kind TEXT NOT NULL,
        detail TEXT NOT NULL,
        created_at INTEGER NOT NULL
    );
    CREATE INDEX session_events_by_session ON session_events (session_id, kind);
    CREATE INDEX session_events_by_kind ON session_events (kind, id);
    """,
    """
    -- The order in which vectors changed, for caches of them; each observation stands here once, under its last change.
    CREATE TABLE vector_changes (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        observation_id INTEGER NOT NULL UNIQUE
    );
    INSERT INTO vector_changes (observation_id) SELECT observation_id FROM vectors ORDER BY observation_id;
    CREATE TRIGGER vectors_come AFTER INSERT ON vectors BEGIN
        DELETE FROM vector_changes WHERE observation_id = new.observation_id;
        INSERT INTO vector_changes (observation_id) VALUES (new.observation_id);
    END;
    CREATE TRIGGER vectors_change AFTER UPDATE ON vectors BEGIN
        DELETE FROM vector_changes WHERE observation_id = new.observation_id;
        INSERT INTO vector_changes (observation_id) VALUES (new.observation_id);
    END;
    CREATE TRIGGER vectors_go AFTER DELETE ON vectors BEGIN
        DELETE FROM vector_changes WHERE observation_id = old.observation_id;
        INSERT INTO vector_changes (observation_id) VALUES (old.observation_id);
    END;
    """,
)

VERSION = len(MIGRATIONS)

# The index read word by word; a connection's own tables, since they hold nothing.
VOCABULARY = """
    CREATE VIRTUAL TABLE temp.word_rows USING fts5vocab (main, search_index, row);
    CREATE VIRTUAL TABLE temp.word_places USING fts5vocab (main, search_index, instance);
"""


def migrate(connection: apsw.Connection, *, is_new: bool = False) -> None:
    """Bring the store to this program's version; a store from a newer program is refused, untouched.

    A file that is not new and has no version is not a store, or no longer one: it is refused as damaged.
    """
    found: int = connection.pragma("user_version")
    if found == VERSION:
        return
    if not found and not is_new:
        raise StoreDamaged(
            f"the store {connection.filename} is damaged (it has no schema version)",
            hint="put a backup back with `haversack restore-backup FILE --force`, or move the file away to begin anew",
        )
    refuse_newer(found)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        found = connection.pragma("user_version")
        refuse_newer(found)
        for number in range(found, VERSION):
            connection.execute(MIGRATIONS[number])
        if found == 0:
            # Continuation keys are derived with it, so that they cannot be guessed from the text they stand for.
            # Nobody else can reach a store in memory, and there the same history should give the same keys.
            salt = os.urandom(16).hex() if connection.filename else "in memory"
            connection.execute("INSERT INTO meta VALUES ('salt', ?)", (salt,))
        connection.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def refuse_newer(found: int) -> None:
    """Raise StoreTooNew for a schema version that this program does not know."""
    if found > VERSION:
        raise StoreTooNew(
            f"the store has schema version {found}, this program knows {VERSION}",
            hint="upgrade haversack, or set HAVERSACK_HOME to another folder; the store was not touched",
        )
