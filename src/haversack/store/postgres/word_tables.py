"""The search index by numbers: a stem has one in each realm, which takes less room in its postings than its letters."""

# Postings are most of a store: the columns are in the order that leaves no gaps between them.
WORD_NUMBERS = """
ALTER TABLE lexicon NO FORCE ROW LEVEL SECURITY;
ALTER TABLE post NO FORCE ROW LEVEL SECURITY;
ALTER TABLE search_text NO FORCE ROW LEVEL SECURITY;
ALTER TABLE lexicon ADD COLUMN word int GENERATED ALWAYS AS IDENTITY;
ALTER TABLE lexicon DROP CONSTRAINT lexicon_pkey, ADD PRIMARY KEY (stem, realm);
DROP INDEX lexicon_by_stem;
ALTER TABLE post RENAME TO old_post;
CREATE TABLE post (
    word int NOT NULL, id int NOT NULL, place bigint NOT NULL, units int NOT NULL, sort int NOT NULL,
    content int NOT NULL, title smallint NOT NULL, tags smallint NOT NULL
);
INSERT INTO post SELECT l.word, p.id, p.place, p.units, p.sort, p.content, p.title, p.tags
    FROM old_post p JOIN search_text t ON t.id = p.id JOIN lexicon l ON l.realm = t.realm AND l.stem = p.stem;
DROP TABLE old_post;
ALTER TABLE post ADD PRIMARY KEY (word, id) INCLUDE (place, units, sort, content, title, tags);
ALTER TABLE lexicon FORCE ROW LEVEL SECURITY;
ALTER TABLE search_text FORCE ROW LEVEL SECURITY;
-- One index serves both to find a text in every realm and to keep it single in one.
ALTER TABLE observations DROP CONSTRAINT observations_realm_uid_key, ADD UNIQUE (uid, realm);
DROP INDEX observations_by_uid;

DROP FUNCTION put_words(bigint, text[], int[], int[], int[], text);
CREATE OR REPLACE FUNCTION remove_words(wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held search_text;
    gone int[];
BEGIN
    DELETE FROM search_text WHERE id = wanted RETURNING * INTO held;
    IF NOT FOUND THEN RETURN; END IF;
    WITH changed AS (UPDATE lexicon SET rows = rows - 1 WHERE realm = held.realm AND stem = ANY (ARRAY(
        SELECT DISTINCT s FROM regexp_split_to_table(held.body, '[ \\n]+') s WHERE s <> '')) RETURNING word)
    SELECT array_agg(word) INTO gone FROM changed;
    DELETE FROM post WHERE word = ANY (gone) AND id = wanted;
END $$;
-- A body is the stems of one observation in order between spaces, a line for its title, content and tags each.
CREATE FUNCTION counted_words(body text, OUT stem text, OUT title bigint, OUT content bigint, OUT tags bigint)
RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $$
    SELECT s COLLATE "C", count(*) FILTER (WHERE line = 1), count(*) FILTER (WHERE line = 2),
        count(*) FILTER (WHERE line = 3)
    FROM unnest(string_to_array(body, E'\n')) WITH ORDINALITY AS l (text, line), unnest(string_to_array(l.text, ' ')) s
    WHERE s <> '' GROUP BY 1
$$;
-- A server that has not counted the lexicon yet would rather read all of it.
CREATE FUNCTION add_words(wanted bigint, body text) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    held observations;
    stems text[];
    known text[];
BEGIN
    SELECT * INTO held FROM observations WHERE id = wanted;
    INSERT INTO search_text VALUES (wanted, held.realm, body);
    stems := ARRAY(SELECT c.stem FROM counted_words(body) c);
    WITH changed AS (UPDATE lexicon l SET rows = l.rows + 1 WHERE l.stem = ANY (stems) AND l.realm = held.realm
        RETURNING l.stem)
    SELECT array_agg(stem) INTO known FROM changed;
    -- One that is known is not tried: a number would be spent on it.
    INSERT INTO lexicon (realm, stem, rows) SELECT held.realm, s, 1 FROM unnest(stems) s
        WHERE s <> ALL (coalesce(known, ARRAY[]::text[]));
    INSERT INTO post (word, id, place, units, sort, content, title, tags)
        SELECT w.word, wanted, held.place, held.units, held.sort, c.content, least(c.title, 32767),
            least(c.tags, 32767)
        FROM (SELECT l.stem, l.word FROM lexicon l WHERE l.stem = ANY (stems) AND l.realm = held.realm) w
        JOIN counted_words(body) c USING (stem);
END $$;
-- The same for many observations, by whole tables instead of row by row.
CREATE FUNCTION add_all_words(wanted bigint[], bodies text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_text SELECT g.id, o.realm, g.body FROM unnest(wanted, bodies) AS g (id, body)
        JOIN observations o ON o.id = g.id;
    WITH counted AS MATERIALIZED (
        SELECT o.realm, o.id, o.place, o.units, o.sort, c.stem, c.title, c.content, c.tags
        FROM unnest(wanted, bodies) AS g (id, body) JOIN observations o ON o.id = g.id
        CROSS JOIN LATERAL counted_words(g.body) c
    ), stems AS MATERIALIZED (
        SELECT realm, stem, count(*) AS rows FROM counted GROUP BY 1, 2
    ), known AS (
        UPDATE lexicon l SET rows = l.rows + n.rows FROM stems n WHERE l.stem = n.stem AND l.realm = n.realm
        RETURNING l.realm, l.stem, l.word
    ), new AS (
        INSERT INTO lexicon (realm, stem, rows) SELECT n.realm, n.stem, n.rows FROM stems n
            WHERE NOT EXISTS (SELECT 1 FROM lexicon l WHERE l.stem = n.stem AND l.realm = n.realm)
        RETURNING realm, stem, word
    )
    INSERT INTO post (word, id, place, units, sort, content, title, tags)
        SELECT w.word, c.id, c.place, c.units, c.sort, c.content, least(c.title, 32767), least(c.tags, 32767)
        FROM counted c JOIN (SELECT * FROM known UNION ALL SELECT * FROM new) w USING (stem, realm);
END $$;
"""
