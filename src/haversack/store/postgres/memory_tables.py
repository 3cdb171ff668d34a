"""The tables of memories: sessions, observations, what hangs on them, and the words they are found by."""

MEMORIES = """
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

WORDS = """
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

VECTOR_CHANGES = """
INSERT INTO serials VALUES ('vector_changes', 0);
-- The order in which vectors changed, for caches of them; each observation stands here once, under its last change.
CREATE TABLE vector_changes (number bigint PRIMARY KEY, observation_id bigint NOT NULL UNIQUE,
    realm int NOT NULL REFERENCES realms);
ALTER TABLE vectors NO FORCE ROW LEVEL SECURITY;
ALTER TABLE observations NO FORCE ROW LEVEL SECURITY;
INSERT INTO vector_changes SELECT row_number() OVER (ORDER BY o.id), o.id, o.realm
    FROM vectors v JOIN observations o ON o.id = v.observation_id;
UPDATE serials SET last = (SELECT count(*) FROM vector_changes) WHERE name = 'vector_changes';
ALTER TABLE vectors FORCE ROW LEVEL SECURITY;
ALTER TABLE observations FORCE ROW LEVEL SECURITY;
CREATE FUNCTION note_vector() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    wanted bigint := CASE TG_OP WHEN 'DELETE' THEN OLD.observation_id ELSE NEW.observation_id END;
    -- The vector of an observation that was erased goes after it, so its realm is only known from before.
    home int := coalesce((SELECT realm FROM observations WHERE id = wanted),
        (SELECT realm FROM vector_changes WHERE observation_id = wanted), 0);
BEGIN
    INSERT INTO vector_changes VALUES (next_serial('vector_changes'), wanted, home)
        ON CONFLICT (observation_id) DO UPDATE SET number = excluded.number, realm = excluded.realm;
    RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON vectors FOR EACH ROW EXECUTE FUNCTION note_vector();
"""
