"""The tables of a member's trail: accounts, work log, stash and packs; and who changed what."""

TRAIL = """
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
AUDIT = """
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

# An export is noted in every realm that it was made from, also by somebody who may only read there.
EXPORTS = """
ALTER TABLE audit ALTER COLUMN observation_id DROP NOT NULL, ALTER COLUMN uid DROP NOT NULL,
    ADD COLUMN detail text NOT NULL DEFAULT '';
CREATE POLICY administered ON audit FOR INSERT TO CURRENT_USER WITH CHECK (true);
CREATE FUNCTION note_export(told text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    INSERT INTO {schema}.audit (member, realm, act, detail)
        SELECT {schema}.current_member(), r, 'exported', told FROM unnest({schema}.realms()) r;
END $$;
-- Only an owner may have tables counted, and a copy fills them faster than the server counts them by itself.
CREATE FUNCTION count_rows() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    ANALYZE {schema}.observations, {schema}.sessions, {schema}.post, {schema}.lexicon, {schema}.search_text,
        {schema}.tags, {schema}.relations;
END $$;
"""
