"""The tables of numbers and of people, and what a transaction begins with."""

# The numbers that SQLite's AUTOINCREMENT gives: without gaps, and never given twice.
NUMBERS = """
CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE serials (name text PRIMARY KEY, last bigint NOT NULL);
INSERT INTO serials VALUES ('sessions', 0), ('observations', 0), ('position', 0), ('prompts', 0), ('relations', 0),
    ('entries', 0);
CREATE FUNCTION next_serial(wanted text) RETURNS bigint LANGUAGE sql AS
    $$ UPDATE serials SET last = last + 1 WHERE name = wanted RETURNING last $$;
CREATE FUNCTION serial_at_least(wanted text, lowest bigint) RETURNS void LANGUAGE sql AS
    $$ UPDATE serials SET last = lowest WHERE name = wanted AND last < lowest $$;
"""

PEOPLE = """
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

# What every transaction begins with. It speaks for one member until the transaction ends, and for nobody else.
ENTER = """
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

# A setting can be changed by anybody who types SQL, so what a transaction may see is believed only under a seal, which
# is made from a secret of the owner's, for one transaction of one connection. Nobody but the program's login speaks
# for others; any other login enters as itself.
SEALS = """
CREATE TABLE secrets (name text PRIMARY KEY, value bytea NOT NULL);
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE secrets FORCE ROW LEVEL SECURITY;
CREATE POLICY administered ON secrets TO CURRENT_USER USING (true) WITH CHECK (true);
INSERT INTO secrets SELECT 'seal', decode(replace(gen_random_uuid()::text || gen_random_uuid(), '-', ''), 'hex');
ALTER TABLE members ADD COLUMN speaks_for_others boolean NOT NULL DEFAULT false;

CREATE FUNCTION seal() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    secret bytea := (SELECT value FROM {schema}.secrets WHERE name = 'seal');
    said text := concat(current_setting('haversack.member', true), '|', current_setting('haversack.realms', true), '|',
        current_setting('haversack.writable', true), '|', session_user, '|', pg_backend_pid(), '|',
        extract(epoch FROM transaction_timestamp()));
BEGIN
    RETURN encode(sha256(secret || sha256(secret || convert_to(said, 'UTF8'))), 'hex');
END $$;
-- A setting, where its seal is right; the rights are the owner's, who alone reads the secret.
CREATE FUNCTION sealed(setting text) RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    IF current_setting('haversack.seal', true) = {schema}.seal() THEN
        RETURN nullif(current_setting(setting, true), '');
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION realms() RETURNS int[] LANGUAGE sql STABLE AS
    $$ SELECT coalesce({schema}.sealed('haversack.realms'), '{{}}')::int[] $$;
CREATE OR REPLACE FUNCTION writable() RETURNS int[] LANGUAGE sql STABLE AS
    $$ SELECT coalesce({schema}.sealed('haversack.writable'), '{{}}')::int[] $$;
CREATE OR REPLACE FUNCTION current_member() RETURNS int LANGUAGE sql STABLE AS
    $$ SELECT {schema}.sealed('haversack.member')::int $$;

CREATE OR REPLACE FUNCTION enter(who text, known int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
DECLARE
    found int := (SELECT value::int FROM {schema}.meta WHERE name = 'version');
    chosen text := coalesce(who, session_user::text);
    admitted int := (SELECT m.member FROM {schema}.members m WHERE m.subject = chosen);
BEGIN
    IF found <> known THEN RAISE EXCEPTION '%', found USING ERRCODE = 'HV001'; END IF;
    IF chosen <> session_user AND NOT EXISTS (SELECT 1 FROM {schema}.members m WHERE m.subject = session_user
        AND m.speaks_for_others) THEN RAISE EXCEPTION '%', session_user USING ERRCODE = 'HV003'; END IF;
    IF admitted IS NULL THEN RAISE EXCEPTION '%', chosen USING ERRCODE = 'HV002'; END IF;
    PERFORM set_config('haversack.member', admitted::text, true),
        set_config('haversack.own', (SELECT r.realm::text FROM {schema}.realms r WHERE r.member = admitted), true),
        set_config('haversack.realms', (SELECT coalesce(array_agg(s.realm ORDER BY s.realm), '{{}}')::text
            FROM {schema}.membership s WHERE s.member = admitted), true),
        set_config('haversack.writable', (SELECT coalesce(array_agg(s.realm ORDER BY s.realm), '{{}}')::text
            FROM {schema}.membership s WHERE s.member = admitted AND s.may_write), true),
        set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('lock_timeout', '30s', true),
        set_config('statement_timeout', '30s', true);
    PERFORM set_config('haversack.seal', {schema}.seal(), true);
END $$;
ALTER FUNCTION adopt_salt(text) SET search_path = pg_catalog;
"""
