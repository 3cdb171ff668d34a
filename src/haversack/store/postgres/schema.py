"""The schema of a team's store, its row security, and its migrations."""

from haversack.store.postgres import security

# The numbers that SQLite's AUTOINCREMENT gives: without gaps, and never given twice.
_NUMBERS = """
CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE serials (name text PRIMARY KEY, last bigint NOT NULL);
INSERT INTO serials VALUES ('sessions', 0), ('observations', 0), ('position', 0), ('prompts', 0), ('relations', 0),
    ('entries', 0);
CREATE FUNCTION next_serial(wanted text) RETURNS bigint LANGUAGE sql AS
    $$ UPDATE serials SET last = last + 1 WHERE name = wanted RETURNING last $$;
CREATE FUNCTION serial_at_least(wanted text, lowest bigint) RETURNS void LANGUAGE sql AS
    $$ UPDATE serials SET last = lowest WHERE name = wanted AND last < lowest $$;
"""

_PEOPLE = """
CREATE TABLE members (member int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, subject text UNIQUE NOT NULL,
    name text NOT NULL);
-- Realm 0 is the team's. A realm belongs to a member, to a namespace, or to neither.
CREATE TABLE realms (realm int PRIMARY KEY, name text UNIQUE NOT NULL, namespace text UNIQUE,
    member int UNIQUE REFERENCES members, sessions bigint NOT NULL DEFAULT 0);
INSERT INTO realms (realm, name) VALUES (0, 'team');
CREATE TABLE membership (member int REFERENCES members, realm int REFERENCES realms, may_write boolean NOT NULL,
    PRIMARY KEY (member, realm));

CREATE FUNCTION numbers_in(setting text) RETURNS int[] LANGUAGE sql STABLE AS
    $$ SELECT coalesce(nullif(current_setting(setting, true), ''), '{}')::int[] $$;
CREATE FUNCTION realms() RETURNS int[] LANGUAGE sql STABLE AS $$ SELECT numbers_in('haversack.realms') $$;
CREATE FUNCTION writable() RETURNS int[] LANGUAGE sql STABLE AS $$ SELECT numbers_in('haversack.writable') $$;
CREATE FUNCTION current_member() RETURNS int LANGUAGE sql STABLE AS
    $$ SELECT nullif(current_setting('haversack.member', true), '')::int $$;

-- Where a row belongs: what is personal to its author, a namespace to its realm if it has one, all else to the team.
CREATE FUNCTION home_realm(of_scope text, of_namespace text) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN of_scope = 'personal' THEN nullif(current_setting('haversack.own', true), '')::int
        ELSE coalesce((SELECT realm FROM realms WHERE of_namespace <> '' AND namespace = of_namespace), 0) END
$$;
"""

_MEMORIES = """
CREATE TABLE sessions (
    number bigint PRIMARY KEY,
    id text COLLATE "C" NOT NULL,
    project text NOT NULL,
    project_key text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    directory text NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint,
    summary text NOT NULL,
    turns bigint NOT NULL,
    asking bigint NOT NULL,
    realm int NOT NULL REFERENCES realms,
    UNIQUE (realm, id)
);
CREATE INDEX sessions_by_id ON sessions (id);
CREATE INDEX sessions_by_project ON sessions (project_key, started_at);
CREATE INDEX sessions_by_start ON sessions (started_at);
CREATE FUNCTION settle_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.number IS NULL THEN NEW.number := next_serial('sessions');
    ELSE PERFORM serial_at_least('sessions', NEW.number); END IF;
    NEW.realm := home_realm('', NEW.namespace);
    RETURN NEW;
END $$;
CREATE TRIGGER settle BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION settle_session();
-- After the insertion, since one that meets a conflict inserts nothing.
CREATE FUNCTION count_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE realms SET sessions = sessions + 1 WHERE realm = NEW.realm;
    RETURN NULL;
END $$;
CREATE TRIGGER count AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION count_session();

-- What filters ask for, with its count, under one number that every posting carries.
CREATE TABLE sorts (
    sort int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    realm int NOT NULL REFERENCES realms,
    project_key text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    observations bigint NOT NULL,
    UNIQUE (realm, project_key, namespace, scope, kind, status)
) WITH (fillfactor = 50);
CREATE VIEW tallies WITH (security_invoker = true) AS
    SELECT project_key, namespace, scope, kind, status, observations FROM sorts;

CREATE TABLE observations (
    id bigint PRIMARY KEY,
    uid text COLLATE "C" NOT NULL,
    position bigint NOT NULL UNIQUE,
    place bigint NOT NULL UNIQUE,
    label text NOT NULL,
    asks bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL,
    tags text NOT NULL,
    importance double precision NOT NULL,
    tool_name text NOT NULL,
    project text COLLATE "C" NOT NULL,
    project_key text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    topic_key text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    verification text COLLATE "C" NOT NULL,
    pinned bigint NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    units bigint NOT NULL,
    revision_count bigint NOT NULL,
    duplicate_count bigint NOT NULL,
    access_count bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    last_accessed_at bigint,
    deleted_at bigint,
    realm int NOT NULL REFERENCES realms,
    sort int NOT NULL REFERENCES sorts,
    author int NOT NULL REFERENCES members,
    UNIQUE (realm, uid)
) WITH (fillfactor = 90);
CREATE UNIQUE INDEX observations_live_topic ON observations (topic_key, project_key, scope, namespace, realm)
    WHERE topic_key <> '' AND deleted_at IS NULL;
CREATE INDEX observations_by_uid ON observations (uid);
CREATE INDEX observations_by_hash ON observations (content_hash) WHERE deleted_at IS NULL;
CREATE INDEX observations_by_session ON observations (session_id, position);
CREATE INDEX observations_by_project ON observations (project_key, position) WHERE deleted_at IS NULL;
CREATE INDEX observations_pinned ON observations (position) WHERE pinned = 1 AND deleted_at IS NULL;
CREATE INDEX observations_foremost ON observations (pinned, importance, position) WHERE deleted_at IS NULL;
CREATE INDEX observations_foremost_of_project ON observations (project_key, pinned, importance, position)
    WHERE deleted_at IS NULL;

CREATE FUNCTION tally(o observations, change int) RETURNS int LANGUAGE sql AS $$
    INSERT INTO sorts AS s (realm, project_key, namespace, scope, kind, status, observations)
    VALUES (o.realm, o.project_key, o.namespace, o.scope, o.kind, o.status,
        CASE WHEN o.deleted_at IS NULL THEN change ELSE 0 END)
    ON CONFLICT (realm, project_key, namespace, scope, kind, status)
    DO UPDATE SET observations = s.observations + excluded.observations RETURNING sort
$$;
CREATE FUNCTION settle_observation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.id IS NULL THEN NEW.id := next_serial('observations');
        ELSE PERFORM serial_at_least('observations', NEW.id); END IF;
        PERFORM serial_at_least('position', NEW.position);
        NEW.realm := home_realm(NEW.scope, NEW.namespace);
        NEW.author := current_member();
    ELSE
        IF OLD.scope <> NEW.scope OR OLD.namespace <> NEW.namespace THEN
            NEW.realm := home_realm(NEW.scope, NEW.namespace);
        END IF;
        PERFORM tally(OLD, -1);
    END IF;
    NEW.sort := tally(NEW, 1);
    RETURN NEW;
END $$;
CREATE TRIGGER settle BEFORE INSERT OR UPDATE OF project_key, namespace, scope, kind, status, deleted_at
    ON observations FOR EACH ROW EXECUTE FUNCTION settle_observation();
CREATE FUNCTION leave_tally() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tally(OLD, -1);
    RETURN NULL;
END $$;
CREATE TRIGGER leave_tally AFTER DELETE ON observations FOR EACH ROW EXECUTE FUNCTION leave_tally();

CREATE TABLE tags (
    tag text COLLATE "C" NOT NULL,
    observation_id bigint NOT NULL REFERENCES observations ON DELETE CASCADE,
    PRIMARY KEY (tag, observation_id)
);
CREATE INDEX tags_by_observation ON tags (observation_id);

CREATE TABLE revisions (
    observation_id bigint NOT NULL REFERENCES observations ON DELETE CASCADE,
    revision bigint NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    content text NOT NULL,
    tags text NOT NULL,
    importance double precision NOT NULL,
    written_at bigint NOT NULL,
    replaced_at bigint NOT NULL,
    PRIMARY KEY (observation_id, revision)
);

CREATE TABLE prompts (
    id bigint PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,
    project text NOT NULL,
    project_key text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    content text NOT NULL,
    created_at bigint NOT NULL,
    realm int NOT NULL REFERENCES realms
);
CREATE INDEX prompts_by_project ON prompts (project_key, id);
CREATE FUNCTION settle_prompt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id IS NULL THEN NEW.id := next_serial('prompts');
    ELSE PERFORM serial_at_least('prompts', NEW.id); END IF;
    NEW.realm := home_realm('', NEW.namespace);
    RETURN NEW;
END $$;
CREATE TRIGGER settle BEFORE INSERT ON prompts FOR EACH ROW EXECUTE FUNCTION settle_prompt();

-- Without this, a text could name a session that nobody ever began; by hand, since ids are unique in a realm only.
CREATE FUNCTION has_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM sessions WHERE id = NEW.session_id) THEN
        RAISE EXCEPTION 'FOREIGN KEY constraint failed' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER session BEFORE INSERT OR UPDATE OF session_id ON observations
    FOR EACH ROW EXECUTE FUNCTION has_session();
CREATE TRIGGER session BEFORE INSERT OR UPDATE OF session_id ON prompts FOR EACH ROW EXECUTE FUNCTION has_session();

CREATE TABLE relations (
    id bigint PRIMARY KEY,
    from_id bigint NOT NULL REFERENCES observations ON DELETE CASCADE,
    to_id bigint NOT NULL REFERENCES observations ON DELETE CASCADE,
    type text COLLATE "C" NOT NULL,
    note text NOT NULL,
    strength double precision NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (from_id, to_id, type)
);
CREATE INDEX relations_by_target ON relations (to_id);
CREATE FUNCTION settle_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id IS NULL THEN NEW.id := next_serial(TG_ARGV[0]);
    ELSE PERFORM serial_at_least(TG_ARGV[0], NEW.id); END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER settle BEFORE INSERT ON relations FOR EACH ROW EXECUTE FUNCTION settle_numbered('relations');

CREATE TABLE vectors (
    observation_id bigint PRIMARY KEY REFERENCES observations ON DELETE CASCADE,
    model text COLLATE "C" NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    vector bytea NOT NULL
);
"""

_WORDS = """
CREATE TABLE lexicon (realm int NOT NULL REFERENCES realms, stem text COLLATE "C" NOT NULL, rows bigint NOT NULL,
    PRIMARY KEY (realm, stem)) WITH (fillfactor = 70);
CREATE INDEX lexicon_by_stem ON lexicon (stem);
CREATE TABLE post (
    stem text COLLATE "C" NOT NULL, id bigint NOT NULL, place bigint NOT NULL, units int NOT NULL, sort int NOT NULL,
    content int NOT NULL, title smallint NOT NULL, tags smallint NOT NULL,
    PRIMARY KEY (stem, id) INCLUDE (place, units, sort, content, title, tags)
);
-- The stems in order between spaces, a line per column: where phrases are looked for, and what was indexed.
CREATE TABLE search_text (id bigint PRIMARY KEY REFERENCES observations ON DELETE CASCADE,
    realm int NOT NULL REFERENCES realms, body text COLLATE "C" NOT NULL);

CREATE FUNCTION remove_words(wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held search_text;
    stems text[];
BEGIN
    DELETE FROM search_text WHERE id = wanted RETURNING * INTO held;
    IF NOT FOUND THEN RETURN; END IF;
    stems := ARRAY(SELECT DISTINCT s FROM regexp_split_to_table(held.body, '[ \\n]+') s WHERE s <> '');
    DELETE FROM post WHERE stem = ANY (stems) AND id = wanted;
    UPDATE lexicon SET rows = rows - 1 WHERE realm = held.realm AND stem = ANY (stems);
END $$;
-- Before the row goes, since its stems go with it.
CREATE FUNCTION forget_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM remove_words(OLD.id);
    RETURN OLD;
END $$;
CREATE TRIGGER forget_words BEFORE DELETE ON observations FOR EACH ROW EXECUTE FUNCTION forget_words();
CREATE FUNCTION put_words(wanted bigint, stems text[], titles int[], contents int[], tags int[], body text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held observations;
BEGIN
    PERFORM remove_words(wanted);
    SELECT * INTO held FROM observations WHERE id = wanted;
    INSERT INTO search_text VALUES (wanted, held.realm, body);
    INSERT INTO post (stem, id, place, units, sort, content, title, tags)
        SELECT s, wanted, held.place, held.units, held.sort, c, least(t, 32767), least(g, 32767)
        FROM unnest(stems, titles, contents, tags) AS word (s, t, c, g);
    INSERT INTO lexicon AS l SELECT held.realm, s, 1 FROM unnest(stems) s
        ON CONFLICT (realm, stem) DO UPDATE SET rows = l.rows + 1;
END $$;
"""

_TRAIL = """
CREATE TABLE accounts (
    member int NOT NULL DEFAULT current_member() REFERENCES members,
    handle text COLLATE "C" NOT NULL,
    parent text COLLATE "C",
    total bigint NOT NULL,
    system_limit bigint NOT NULL,
    history_limit bigint NOT NULL,
    tool_results_limit bigint NOT NULL,
    user_limit bigint NOT NULL,
    reserve bigint NOT NULL,
    warning bigint NOT NULL,
    critical bigint NOT NULL,
    server bigint NOT NULL DEFAULT 0,
    system bigint NOT NULL DEFAULT 0,
    history bigint NOT NULL DEFAULT 0,
    tool_results bigint NOT NULL DEFAULT 0,
    user_message bigint NOT NULL DEFAULT 0,
    leased bigint NOT NULL DEFAULT 0,
    entries bigint NOT NULL DEFAULT 0,
    evicted bigint NOT NULL DEFAULT 0,
    uses bigint NOT NULL DEFAULT 0,
    opened_at bigint NOT NULL,
    closed_at bigint,
    PRIMARY KEY (member, handle),
    FOREIGN KEY (member, parent) REFERENCES accounts (member, handle)
) WITH (fillfactor = 50);
CREATE INDEX accounts_by_parent ON accounts (member, parent) WHERE parent IS NOT NULL;
CREATE INDEX accounts_by_opening ON accounts (opened_at);

CREATE TABLE entries (
    member int NOT NULL DEFAULT current_member() REFERENCES members,
    id bigint PRIMARY KEY,
    account text COLLATE "C" NOT NULL,
    tool text NOT NULL,
    arguments text NOT NULL,
    brief text NOT NULL,
    key text COLLATE "C" NOT NULL,
    rest text COLLATE "C" NOT NULL,
    before bigint NOT NULL,
    sent bigint NOT NULL,
    after bigint NOT NULL,
    cost bigint NOT NULL,
    created_at bigint NOT NULL,
    used bigint NOT NULL,
    evicted bigint NOT NULL DEFAULT 0,
    FOREIGN KEY (member, account) REFERENCES accounts (member, handle)
);
CREATE INDEX entries_in_history ON entries (account, used, id) WHERE evicted = 0;
CREATE INDEX entries_by_account ON entries (account, id);
CREATE INDEX entries_by_key ON entries (key);
CREATE INDEX entries_by_rest ON entries (rest) WHERE rest <> '';
CREATE TRIGGER settle BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION settle_numbered('entries');

CREATE TABLE stash (
    member int NOT NULL DEFAULT current_member() REFERENCES members,
    key text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    origin text NOT NULL,
    expires_at bigint NOT NULL,
    size bigint NOT NULL,
    body bytea,
    PRIMARY KEY (member, key)
);
CREATE INDEX stash_by_expiry ON stash (expires_at);
CREATE INDEX stash_held ON stash (expires_at) WHERE body IS NOT NULL;
CREATE TABLE stash_size (member int PRIMARY KEY REFERENCES members, bytes bigint NOT NULL) WITH (fillfactor = 50);
CREATE FUNCTION weigh_stash() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change bigint := 0;
BEGIN
    IF TG_OP <> 'DELETE' THEN change := change + NEW.size; END IF;
    IF TG_OP <> 'INSERT' THEN change := change - OLD.size; END IF;
    INSERT INTO stash_size AS s VALUES (coalesce(NEW.member, OLD.member), change)
        ON CONFLICT (member) DO UPDATE SET bytes = s.bytes + change;
    RETURN NULL;
END $$;
CREATE TRIGGER weigh AFTER INSERT OR DELETE OR UPDATE OF size ON stash FOR EACH ROW EXECUTE FUNCTION weigh_stash();

CREATE TABLE packs (
    member int NOT NULL DEFAULT current_member() REFERENCES members,
    id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    items text NOT NULL,
    PRIMARY KEY (member, id)
);
"""

# Who saved, changed and deleted what. The program may add to it, and nothing else.
_AUDIT = """
CREATE TABLE audit (
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    member int NOT NULL DEFAULT current_member() REFERENCES members,
    realm int NOT NULL REFERENCES realms,
    act text NOT NULL,
    observation_id bigint NOT NULL,
    uid text NOT NULL
);
CREATE INDEX audit_by_observation ON audit (observation_id);
CREATE FUNCTION write_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    act text := CASE TG_OP WHEN 'INSERT' THEN 'saved' WHEN 'DELETE' THEN 'erased' ELSE 'changed' END;
BEGIN
    -- What is remembered must outlast a crash of the server; ledger, log and stash need not.
    PERFORM set_config('synchronous_commit', 'on', true);
    IF TG_OP = 'UPDATE' THEN
        IF OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL THEN act := 'deleted'; END IF;
        IF OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL THEN act := 'restored'; END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN
        INSERT INTO audit (realm, act, observation_id, uid) VALUES (OLD.realm, act, OLD.id, OLD.uid);
    ELSE
        INSERT INTO audit (realm, act, observation_id, uid) VALUES (NEW.realm, act, NEW.id, NEW.uid);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE OF kind, title, content, tags, importance, project, scope,
    topic_key, namespace, status, verification, pinned, deleted_at ON observations
    FOR EACH ROW EXECUTE FUNCTION write_audit();
"""

# What every transaction begins with. It speaks for one member until the transaction ends, and for nobody else.
_ENTER = """
CREATE FUNCTION enter(who text, known int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    found int := (SELECT value::int FROM {schema}.meta WHERE name = 'version');
    admitted int := (SELECT m.member FROM {schema}.members m WHERE m.subject = coalesce(who, session_user::text));
BEGIN
    IF found <> known THEN RAISE EXCEPTION '%', found USING ERRCODE = 'HV001'; END IF;
    IF admitted IS NULL THEN RAISE EXCEPTION '%', coalesce(who, session_user) USING ERRCODE = 'HV002'; END IF;
    PERFORM set_config('search_path', '{schema}', true),
        set_config('haversack.member', admitted::text, true),
        set_config('haversack.own', (SELECT r.realm::text FROM {schema}.realms r WHERE r.member = admitted), true),
        set_config('haversack.realms', (SELECT coalesce(array_agg(s.realm ORDER BY s.realm), '{{}}')::text
            FROM {schema}.membership s WHERE s.member = admitted), true),
        set_config('haversack.writable', (SELECT coalesce(array_agg(s.realm ORDER BY s.realm), '{{}}')::text
            FROM {schema}.membership s WHERE s.member = admitted AND s.may_write), true),
        set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('lock_timeout', '30s', true),
        set_config('statement_timeout', '30s', true);
END $$;
-- A copy of another store keeps that store's keys; afterwards the salt never changes.
CREATE FUNCTION adopt_salt(given text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM {schema}.serials WHERE last > 0) THEN
        RAISE EXCEPTION 'the store is in use' USING ERRCODE = '42501';
    END IF;
    UPDATE {schema}.meta SET value = given WHERE name = 'salt';
END $$;
"""

_PROJECTS = """
INSERT INTO serials VALUES ('project_changes', 0), ('session_events', 0);
CREATE FUNCTION last_part(key text) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT coalesce(nullif(regexp_replace(key, '^.*/', ''), ''), key) $$;
CREATE TABLE projects (
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    short text COLLATE "C" NOT NULL,
    moved_to text COLLATE "C" NOT NULL DEFAULT '',
    realm int NOT NULL DEFAULT 0 REFERENCES realms,
    PRIMARY KEY (realm, key)
);
CREATE INDEX projects_by_key ON projects (key);
CREATE INDEX projects_by_short ON projects (short);
CREATE FUNCTION note_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO projects (key, name, short, realm)
        VALUES (NEW.project_key, NEW.project, last_part(NEW.project_key), NEW.realm) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER project AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION note_project();
CREATE TRIGGER project AFTER INSERT OR UPDATE OF project_key ON observations
    FOR EACH ROW EXECUTE FUNCTION note_project();
INSERT INTO projects (key, name, short, realm)
    SELECT project_key, min(project), last_part(project_key), realm FROM
        (SELECT project_key, project, realm FROM sessions UNION SELECT project_key, project, realm FROM observations) p
    GROUP BY project_key, realm;
CREATE TABLE project_changes (
    member int NOT NULL DEFAULT current_member() REFERENCES members,
    id bigint PRIMARY KEY,
    action text NOT NULL,
    project text NOT NULL,
    target text NOT NULL,
    detail text NOT NULL,
    created_at bigint NOT NULL,
    undone_at bigint
);
CREATE TRIGGER settle BEFORE INSERT ON project_changes
    FOR EACH ROW EXECUTE FUNCTION settle_numbered('project_changes');
CREATE INDEX prompts_by_session ON prompts (session_id);
ALTER TABLE sessions ADD COLUMN forgotten_at bigint;
ALTER TABLE prompts ADD COLUMN forgotten_at bigint;
CREATE TABLE session_events (
    member int NOT NULL DEFAULT current_member() REFERENCES members,
    id bigint PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    detail text NOT NULL,
    created_at bigint NOT NULL
);
CREATE INDEX session_events_by_session ON session_events (session_id, kind);
CREATE INDEX session_events_by_kind ON session_events (kind, id);
CREATE TRIGGER settle BEFORE INSERT ON session_events FOR EACH ROW EXECUTE FUNCTION settle_numbered('session_events');
CREATE TRIGGER session BEFORE INSERT ON session_events FOR EACH ROW EXECUTE FUNCTION has_session();
"""

MIGRATIONS: tuple[str, ...] = (
    _NUMBERS + _PEOPLE + _MEMORIES + _WORDS + _TRAIL + _AUDIT + security.POLICIES + _ENTER,
    _PROJECTS + security.PROJECT_POLICIES,
)
"""`{schema}` stands for the schema's name in `_ENTER` alone; see `upgrade`."""

VERSION = len(MIGRATIONS)
