"""Who sees and changes which rows: a policy for every table, also for its owner."""

_OPEN, _WRITABLE = "realm = ANY ((SELECT realms())::int[])", "realm = ANY ((SELECT writable())::int[])"
_OF_OBSERVATION = "EXISTS (SELECT 1 FROM observations o WHERE o.id = {column}{also})"
_MINE = "member = (SELECT current_member())"
_WRITABLE_TOO = " AND o.realm = ANY ((SELECT writable())::int[])"


def _secured(table: str, seen: str, changed: str) -> str:
    """Row security for a table; a change of a row one may see but not change is an error, not a change of no rows."""
    return f"""
        ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY seen ON {table} FOR SELECT USING ({seen});
        CREATE POLICY added ON {table} FOR INSERT WITH CHECK ({changed});
        CREATE POLICY changed ON {table} FOR UPDATE USING ({seen}) WITH CHECK ({changed});
        CREATE POLICY removed ON {table} FOR DELETE USING ({changed});
    """


def _administered(table: str, seen: str) -> str:
    """Row security for a table that only the owner changes."""
    return f"""
        ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY seen ON {table} FOR SELECT USING ({seen});
        CREATE POLICY administered ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
    """


def _of(column: str) -> tuple[str, str]:
    return (
        _OF_OBSERVATION.format(column=column, also=""),
        _OF_OBSERVATION.format(column=column, also=_WRITABLE_TOO),
    )


_ENDS = _of("from_id"), _of("to_id")

POST_POLICIES = _secured(
    "post",
    "sort IN (SELECT s.sort FROM sorts s)",
    "sort IN (SELECT s.sort FROM sorts s WHERE s.realm = ANY ((SELECT writable())::int[]))",
)

POLICIES = "".join(
    (
        *(_secured(table, _OPEN, _WRITABLE) for table in ("sessions", "sorts", "observations", "prompts", "lexicon",
                                                          "search_text")),
        POST_POLICIES,
        *(_secured(table, *_of("observation_id")) for table in ("tags", "revisions", "vectors")),
        _secured("relations", " AND ".join(end[0] for end in _ENDS), " AND ".join(end[1] for end in _ENDS)),
        *(_secured(table, _MINE, _MINE) for table in ("accounts", "entries", "stash", "stash_size", "packs")),
        # Numbers are given in one row for all; a number says nothing of the row that has it.
        _secured("serials", "true", "true"),
        _administered("meta", "true"),
        _administered("members", _MINE),
        _administered("membership", _MINE),
        _administered("realms", "true"),
        "CREATE POLICY counted ON realms FOR UPDATE USING (realm = ANY ((SELECT writable())::int[]));",
        """
        ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
        ALTER TABLE audit FORCE ROW LEVEL SECURITY;
        """
        f"CREATE POLICY seen ON audit FOR SELECT USING ({_OPEN});"
        f"CREATE POLICY added ON audit FOR INSERT WITH CHECK ({_MINE} AND {_WRITABLE});",
    )
)  # fmt: skip

PROJECT_POLICIES = "".join(
    (
        _secured("projects", _OPEN, _WRITABLE),
        *(_secured(table, _MINE, _MINE) for table in ("project_changes", "session_events")),
    )
)

# A vector whose observation came to another realm is seen there too.
VECTOR_POLICIES = _secured("vector_changes", f"{_OPEN} OR {_of('observation_id')[0]}", _WRITABLE)

GRANTS = """
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions, sorts, observations, tags, revisions, prompts, relations, vectors,
    lexicon, post, search_text, accounts, entries, stash, stash_size, packs, serials, projects,
    project_changes, session_events, vector_changes TO {role};
GRANT SELECT ON meta, members, membership, realms, tallies TO {role};
GRANT UPDATE (sessions) ON realms TO {role};
GRANT SELECT, INSERT ON audit TO {role};
"""
