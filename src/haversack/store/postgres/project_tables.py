"""The tables of projects and of what happened in sessions."""

# The rows are hidden from their owner too, unless the tables stop forcing that for the length of the statement.
_FILLED = """
ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE observations NO FORCE ROW LEVEL SECURITY;
INSERT INTO projects (key, name, short, realm)
    SELECT project_key, min(project), last_part(project_key), realm FROM
        (SELECT project_key, project, realm FROM sessions UNION SELECT project_key, project, realm FROM observations) p
    WHERE NOT EXISTS (SELECT 1 FROM projects) GROUP BY project_key, realm;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
ALTER TABLE observations FORCE ROW LEVEL SECURITY;
"""

PROJECTS = (
    """
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
"""
    + _FILLED
    + """CREATE TABLE project_changes (
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
)

# A store that came to version 2 by way of a server's first version was left without its projects.
PROJECTS_MISSED = f"""
ALTER TABLE projects NO FORCE ROW LEVEL SECURITY;
{_FILLED}
ALTER TABLE projects FORCE ROW LEVEL SECURITY;
"""
