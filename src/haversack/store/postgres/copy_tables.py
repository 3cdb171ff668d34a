"""SQL functions for a copy of another store: rows as they are, in many transactions, with nobody else writing."""

# The triggers that number, place and count rows one by one are off for the length of a transaction that copies; what
# they keep is counted once, at the end. Only the program's login copies, and only into a store that nothing was saved
# in, which nobody can enter until the copy is whole.
COPIES = """
ALTER FUNCTION enter(text, int) RENAME TO admit;
REVOKE EXECUTE ON FUNCTION admit(text, int) FROM PUBLIC;
CREATE FUNCTION enter(who text, known int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    PERFORM {schema}.admit(who, known);
    IF EXISTS (SELECT 1 FROM {schema}.meta WHERE name = 'copying') THEN
        RAISE EXCEPTION 'copying' USING ERRCODE = 'HV004';
    END IF;
END $$;
CREATE FUNCTION enter_copy(who text, known int, given text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
DECLARE
    under_way text := (SELECT value FROM {schema}.meta WHERE name = 'copying');
    numbered text;
BEGIN
    PERFORM {schema}.admit(who, known);
    IF NOT EXISTS (SELECT 1 FROM {schema}.members m WHERE m.subject = session_user AND m.speaks_for_others) THEN
        RAISE EXCEPTION '%', session_user USING ERRCODE = 'HV003';
    END IF;
    IF under_way IS NULL AND EXISTS (SELECT 1 FROM {schema}.serials WHERE last > 0) THEN
        RAISE EXCEPTION 'in use' USING ERRCODE = 'HV005';
    ELSIF under_way <> given THEN
        RAISE EXCEPTION 'another' USING ERRCODE = 'HV005';
    END IF;
    IF current_setting('transaction_read_only') = 'on' THEN RETURN; END IF;
    INSERT INTO {schema}.meta VALUES ('copying', given) ON CONFLICT DO NOTHING;
    FOR numbered IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = '{schema}'::regnamespace
        AND c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
    LOOP
        EXECUTE format('ALTER TABLE {schema}.%I DISABLE TRIGGER USER', numbered);
    END LOOP;
    PERFORM set_config('statement_timeout', '0', true);
END $$;
-- What every transaction of a copy ends with: how far it came, and the triggers again; an empty text ends the copy.
CREATE FUNCTION leave_copy(told text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    numbered text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM {schema}.meta WHERE name = 'copying') THEN
        RAISE EXCEPTION 'the store is in use' USING ERRCODE = '42501';
    END IF;
    FOR numbered IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = '{schema}'::regnamespace
        AND c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
    LOOP
        EXECUTE format('ALTER TABLE {schema}.%I ENABLE TRIGGER USER', numbered);
    END LOOP;
    DELETE FROM {schema}.meta WHERE name = 'copied';
    IF told = '' THEN
        UPDATE {schema}.meta SET value = (SELECT m.value FROM {schema}.meta m WHERE m.name = 'copying')
            WHERE name = 'salt';
        DELETE FROM {schema}.meta WHERE name = 'copying';
        -- Postings that came in the order of observations leave the index by words half empty.
        REINDEX TABLE {schema}.post;
        PERFORM set_config('synchronous_commit', 'on', true);
    ELSE
        INSERT INTO {schema}.meta VALUES ('copied', told);
    END IF;
END $$;
DROP FUNCTION adopt_salt(text);
"""
