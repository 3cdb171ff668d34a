"""Finding: a query as a person would type it, ranked by relevance, with true totals."""

from haversack.errors import InvalidArgument
from haversack.memory import ranking
from haversack.memory.checks import CURRENT_STATUSES, SCOPES, STATUSES, check_kind, check_limit, check_member
from haversack.memory.indexing import WEIGHTS
from haversack.memory.projects import project_key
from haversack.memory.queries import Mode, Query, match_expression, parse_query
from haversack.memory.ranking import Hit
from haversack.memory.room import Memory
from haversack.memory.times import parse_moment
from haversack.store import observations, relations
from haversack.store import search as index
from haversack.store.records import Filters, Observation
from haversack.values import record, replace

RANKED = 1_000
"""How many matches are put in order; those beyond follow by age."""
RERANKED = 200
"""How many of them are looked at more closely."""


@record
class Found:
    """The best matches, the ids of the others in order, and how many there are in all."""

    query: Query
    filters: Filters
    match: str
    hits: tuple[Hit, ...]
    others: tuple[int, ...]
    total: int
    elsewhere: tuple[tuple[str, int], ...] = ()


def filters(
    memory: Memory,
    *,
    kind: str = "",
    project: str = "",
    scope: str = "",
    namespace: str | None = None,
    tags: tuple[str, ...] = (),
    status: str = "",
    since: str = "",
    until: str = "",
) -> Filters:
    """A caller's filters, checked; archived and superseded observations are out unless a status asks for them."""
    if scope:
        check_member("scope", scope, SCOPES)
    if status:
        check_member("status", status, (*STATUSES, "all"))
    now = memory.now()
    return Filters(
        kind=check_kind(kind) if kind else "",
        project_key=project_key(project) if project else "",
        scope=scope,
        namespace=namespace,
        tags=tags,
        statuses=() if status == "all" else (status,) if status else CURRENT_STATUSES,
        since=parse_moment(since, "since", now) if since else None,
        until=parse_moment(until, "until", now, end_of_day=True) if until else None,
    )


def search(memory: Memory, text: str, chosen: Filters, *, mode: Mode = "any", limit: int = 10) -> Found:
    """The observations that match, best first."""
    check_limit(limit)
    query = parse_query(text)
    if not query.terms:
        raise InvalidArgument(
            "query has no word to search for", hint="give at least one word; mem_context shows what is recent"
        )
    match = match_expression(query, mode=mode)
    with memory.database.read() as tx:
        scored = index.search(tx, match, chosen, WEIGHTS, RANKED)
        total = len(scored)
        if total == RANKED:
            total = index.count_search_results(tx, match, chosen)
        elsewhere: list[tuple[str, int]] = []
        if not scored and chosen.project_key:
            elsewhere = index.projects_matching(tx, match, _anywhere(chosen))
        near = [identifier for identifier, _ in scored[:RERANKED]]
        held = observations.get_many(tx, near)
        degrees = relations.degrees(tx, near) if near else {}
    ranked = ranking.rank(query, scored[:RERANKED], held, degrees, now=memory.now())
    others = [hit.observation.id for hit in ranked[limit:]] + [identifier for identifier, _ in scored[RERANKED:]]
    return Found(query, chosen, match, tuple(ranked[:limit]), tuple(others), total, tuple(elsewhere))


def count_search_results(memory: Memory, text: str, chosen: Filters, *, mode: Mode = "any") -> int:
    """How many observations match, under the same conditions as `search`."""
    query = parse_query(text)
    if not query.terms:
        return 0
    with memory.database.read() as tx:
        return index.count_search_results(tx, match_expression(query, mode=mode), chosen)


def by_ids(memory: Memory, identifiers: list[int]) -> list[Observation]:
    """Observations in the order of the ids; those deleted since are left out."""
    with memory.database.read() as tx:
        held = observations.get_many(tx, identifiers)
    return [held[each] for each in identifiers if each in held and held[each].deleted_at is None]


def matches_below(memory: Memory, match: str, chosen: Filters, below: int, limit: int) -> list[int]:
    """Ids of matches below an id, the newest first."""
    with memory.database.read() as tx:
        return index.matches_below(tx, match, chosen, limit, below=below)


def _anywhere(chosen: Filters) -> Filters:
    return replace(chosen, project_key="")
