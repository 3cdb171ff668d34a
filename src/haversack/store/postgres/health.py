"""Whether a team's store is sound: its server, its rights, its counts and its search index."""

from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.schema import VERSION
from haversack.values import record


@record
class Health:
    """The findings about a store; an empty text or tuple means that nothing is wrong."""

    server: str
    version: int
    unsecured: tuple[str, ...]
    miscounted: str
    index: str


def examine(store: PostgresStore) -> Health:
    """Examine the rows of a store that the member sees, without changing it."""
    with store.read() as tx:
        unsecured = tx.rows(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = ? AND c.relkind = 'r' AND NOT (c.relrowsecurity AND c.relforcerowsecurity)"
            " ORDER BY c.relname",
            (store.address.schema,),
        )
        sorts = tx.value(
            "SELECT count(*) FROM sorts s WHERE s.observations <>"
            " (SELECT count(*) FROM observations o WHERE o.sort = s.sort AND o.deleted_at IS NULL)"
        )
        words = tx.value(
            """
            SELECT count(*) FROM lexicon l FULL JOIN (SELECT word, count(*) AS held FROM post GROUP BY word) p
            USING (word) WHERE coalesce(l.rows, 0) <> coalesce(p.held, 0)
            """
        )
        stray = tx.value("SELECT count(*) FROM post p WHERE NOT EXISTS (SELECT 1 FROM search_text t WHERE t.id = p.id)")
        index = tx.words.check()
        if stray and not index:
            index = f"the search index holds {stray} postings of observations that are gone"
        server = str(tx.value("SHOW server_version"))
    wrong = [f"{sorts} counts of observations are wrong"] if sorts else []
    if words:
        index = index or f"{words} counts of words are wrong"
    return Health(server, VERSION, tuple(row[0] for row in unsecured), "; ".join(wrong), index)
