"""Search: the observations that match a query, ranked by relevance, with exact totals."""

from collections.abc import Mapping, Sequence

from haversack.errors import InvalidArgument
from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.memory.save.checks import (
    CURRENT_STATUSES,
    SCOPES,
    STATUSES,
    VERIFICATIONS,
    check_kind,
    check_limit,
    check_member,
)
from haversack.memory.search import links, ranking
from haversack.memory.search import relevance as scoring
from haversack.memory.search.periods import Span, days_only, periods_in
from haversack.memory.search.query import Mode, Query, Sought, match_expression, parse_query, sought, spoken_words
from haversack.memory.search.ranking import Asked, Hit, Parts, Scored
from haversack.memory.search.relevance import Postings
from haversack.store import observations, places, relations, vectors
from haversack.store.engine import Reader, Statement
from haversack.store.expressions import NOTHING, Expression, Phrase, all_of, any_of
from haversack.store.places import Placed
from haversack.store.records import Filters, Observation
from haversack.store.words import Census, Posting
from haversack.text.inflections import stems
from haversack.text.times import DAY, parse_moment
from haversack.text.words import fold
from haversack.values import record, replace

RANKED = 1_000
"""How many matches are put in order when every word or a phrase is required; those beyond follow by age."""
LEAST_CANDIDATES, MOST_CANDIDATES = 40, 440
"""How many rows are looked at closely, growing with the limit."""
MOST_POSTINGS = 2_000
"""Rows read in full for a query's words, the rarest first; more common words only reorder what those found."""
MOST_FIRST = 5_000
"""Rows read in full when even the rarest word has more than that."""
NARROW = 0.9
"""Filters that leave more of the store than this do not make a common word rare."""
CONVERSATION_ASKS, CONVERSATION_TURNS = 10, 6
"""A session is a conversation when at least one in so many of its rows asks something, and it has so many."""


@record
class Found:
    """The best matches, the ids of the others in order, and how many match in all.

    `beside` are those of them that do not match but are neighbours of a match or similar in meaning: they are not part
    of the total. `newest` is the highest id at that time: a higher id was added after the search.
    """

    query: Query
    filters: Filters
    match: Expression
    hits: tuple[Hit, ...]
    others: tuple[int, ...]
    total: int
    elsewhere: tuple[tuple[str, int], ...] = ()
    newest: int = 0
    beside: frozenset[int] = frozenset()


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
    verification: str = "",
    deleted: bool = False,
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
        verification=check_member("verification", verification, VERIFICATIONS) if verification else "",
        deleted=deleted,
    )


LONGEST_QUERY = 200_000
"""Characters of a question: more than anybody asks, and quick to read."""


def search(memory: Memory, text: str, chosen: Filters, *, mode: Mode = "any", limit: int = 10) -> Found:
    """The observations that match, best first; in a conversation also the turns beside a match."""
    check_limit(limit)
    check_length(text)
    query = parse_query(text)
    if mode == "any" and (days := days_only(text, memory.now())):
        return _written_in(memory, query, days, chosen, limit)
    if not query.terms:
        raise InvalidArgument(
            "query has no word to search for", hint="give at least one word; mem_context shows what is recent"
        )
    match = match_expression(query, mode=mode)
    strict = mode == "all" or any(term.required for term in query.terms)
    with memory.database.read() as tx:
        tx.ahead(lambda: _expected(tx, query, chosen))
        ranked = (_by_whole_query if strict else _by_words)(tx, memory, query, text, match, chosen, limit)
        # Neighbours, linked notes and notes that hold a part of a word are ranked too: only matches are counted.
        doubtful = frozenset() if strict else frozenset(each.row.id for each in ranked)
        total, matching = tx.words.count_and_pick(match, chosen, doubtful)
        beside = doubtful - matching
        elsewhere: list[tuple[str, int]] = []
        if not total and chosen.project_key:
            everywhere = tx.words.projects(match, replace(chosen, project_key=""))
            elsewhere = [each for each in everywhere if project_key(each[0]) != chosen.project_key]
        held = observations.get_many(tx, [each.row.id for each in ranked[:limit]])
        newest = observations.newest_id(tx)
    hits = tuple(Hit(held[each.row.id], each.score, each.parts) for each in ranked[:limit])
    others = tuple(each.row.id for each in ranked[limit:] if each.row.id not in beside)
    return Found(query, chosen, match, hits, others, total, tuple(elsewhere), newest, beside)


def _expected(tx: Reader, query: Query, chosen: Filters) -> list[Statement]:
    """The queries every search makes first, sent ahead."""
    stems = [each.stems for each in sought(query) if each.stems]
    counted = observations.counting(_markable(chosen))
    return [*tx.words.expected(stems, chosen), counted, observations.NEWEST]


def _written_in(memory: Memory, query: Query, days: Span, chosen: Filters, limit: int) -> Found:
    """The observations of some days, newest first: the result of a query that only names a time."""
    since, until = days.first * DAY, (days.last + 1) * DAY - 1
    within = replace(
        chosen,
        since=since if chosen.since is None else max(since, chosen.since),
        until=until if chosen.until is None else min(until, chosen.until),
    )
    with memory.database.read() as tx:
        shown = observations.recent(tx, within, limit)
        behind = observations.recent_ids(tx, within, MOST_FIRST, before=shown[-1].position) if shown else []
        total = observations.count_observations(tx, within)
        newest = observations.newest_id(tx)
    hits = tuple(Hit(each, 1.0, (("written then", 1.0),)) for each in shown)
    return Found(query, within, NOTHING, hits, tuple(each for each, _ in behind), total, newest=newest)


def _by_words(
    tx: Reader, memory: Memory, query: Query, text: str, match: Expression, chosen: Filters, limit: int
) -> list[Scored]:
    """Candidates word by word, with what neighbours and sessions add."""
    census = tx.words.census()
    reach = _reach(tx, chosen, census)
    counted = sorted(_counted(tx, query), key=lambda each: each[1])
    gathered = _gather(tx, counted, reach)
    sessions = scoring.score_sessions(gathered, census.sessions)
    wanted = min(MOST_CANDIDATES, LEAST_CANDIDATES + 2 * limit)
    pairs = _gather_pairs(tx, query, counted, reach)
    promising = scoring.most_promising(gathered, pairs, sessions, census.usual_units, wanted)
    numbers = {place >> places.SESSION_BITS for place in (*promising.turns, *promising.notes)}
    talks = places.conversations(tx, numbers, CONVERSATION_ASKS, CONVERSATION_TURNS)
    words = {place: score for place, score in promising.notes.items() if place >> places.SESSION_BITS not in talks}
    named = links.named(tx, text, words)
    scores = {place: score + named.get(place, 0.0) for place, score in words.items()}
    brevity = scoring.brevity(gathered, scores, census.usual_units)
    turns = scoring.score_turns(gathered, sessions, promising.turns, talks, census.usual_units)
    words |= turns
    scores = {place: score + brevity[place] for place, score in scores.items()} | turns
    meaning: Mapping[int, float] = {}
    if memory.settings.semantic != "off" and vectors.models(tx):
        from haversack.memory.meaning import similarity  # a store without vectors never pays for what they need

        meaning = similarity.gains(tx, memory, text, chosen, words, talks)
    for place, gain in meaning.items():
        scores[place] = scores.get(place, 0.0) + gain
    linked = links.followed(tx, scores, chosen, talks)
    for place, gain in linked.items():
        scores[place] = scores.get(place, 0.0) + gain
    rows = places.placed(tx, scoring.best_places(scores, wanted), chosen)
    parts = Parts(words, named, brevity, meaning, linked)
    return ranking.rank(rows, parts, _asked(memory, text), talks, _degrees(tx, rows))


@record
class Reach:
    """The reach of a search: the filters, figures of the store, and the share of it that passes the filters."""

    chosen: Filters
    census: Census
    share: float

    def holding(self, tx: Reader, groups: Sequence[Sequence[str]]) -> list[dict[int, Posting]]:
        """For each group of stems the rows that hold any of them, by place."""
        return [scoring.by_place(postings) for postings in tx.words.postings(groups, self.chosen)]

    def matching(self, tx: Reader, match: Expression, most: int | None = None) -> dict[int, Posting]:
        """The rows that match an expression, by place; the newest only if there are too many."""
        return scoring.as_postings(tx.words.matching(match, self.chosen, most))

    def postings(self, sought: Sought, count: int, rows: Mapping[int, Posting]) -> Postings:
        """The postings of one looked-up item that occurs in `count` rows of the store."""
        return Postings(sought.weight, scoring.inverse_frequency(self.census.rows, count), rows)


def _reach(tx: Reader, chosen: Filters, census: Census) -> Reach:
    return Reach(chosen, census, observations.count_observations(tx, _markable(chosen)) / census.rows)


def _markable(chosen: Filters) -> Filters:
    """The filters that the index can check itself, without reading rows."""
    return replace(chosen, tags=(), session_id="", since=None, until=None)


def _gather(tx: Reader, counted: Sequence[tuple[Sought, int]], reach: Reach) -> list[Postings]:
    """The postings of each thing sought, given with the rows it stands in, the rarest first.

    Beyond the limit on rows read, a word only reorders the results of rarer ones.
    """
    whole: list[int] = []
    rows: dict[int, Mapping[int, Posting]] = {}
    leaders: list[Expression] = []
    room = MOST_POSTINGS
    for number, (each, count) in enumerate(counted):
        if each.stems and count <= (room if leaders else MOST_FIRST):
            whole.append(number)
            room -= count
        elif (there := _count_there(tx, each, count, reach, room)) <= room or not leaders:
            # The first word is read in any case: if it is common even there, as far as the newest rows go.
            rows[number] = reach.matching(tx, each.expression, MOST_FIRST)
            room -= there
        else:
            rows[number] = reach.matching(tx, all_of(each.expression, any_of(*leaders)))
            continue
        leaders.append(each.expression)
    rows.update(zip(whole, reach.holding(tx, [counted[number][0].stems for number in whole]), strict=True))
    return [reach.postings(each, count, rows[number]) for number, (each, count) in enumerate(counted)]


def _gather_pairs(tx: Reader, query: Query, counted: Sequence[tuple[Sought, int]], reach: Reach) -> list[Postings]:
    """The postings of adjacent words of the query, unless both are common."""
    rows = {each.stems: count for each, count in counted if each.stems}
    gathered = []
    for pair in query.pairs:
        first, second = (rows.get(stems(fold(word)), 0) for word in pair)
        if first and second and min(first, second) <= MOST_POSTINGS:
            found = reach.matching(tx, Phrase(pair))
            frequency = scoring.inverse_frequency(max(1, round(reach.share * reach.census.rows)), len(found))
            gathered.append(Postings(scoring.PAIR_WEIGHT, frequency, found))
    return gathered


def _count_there(tx: Reader, each: Sought, count: int, reach: Reach, room: int) -> int:
    """How many rows within the filters hold a word: a word that is common in the store may be rare there."""
    # Counting has a cost too, so it is skipped where a word is likely too common.
    if count > room and reach.share < NARROW and count * reach.share <= 2 * room:
        return tx.words.count(each.expression, _markable(reach.chosen))
    return count


def _counted(tx: Reader, query: Query) -> list[tuple[Sought, int]]:
    """Each thing sought and in how many rows it stands, without those that stand in none."""
    wanted = sought(query)
    by_stems = iter(tx.words.rows_with_stems([each.stems for each in wanted if each.stems]))
    counted = [(each, next(by_stems) if each.stems else tx.words.rows_matching(each.expression)) for each in wanted]
    return [(each, count) for each, count in counted if count]


def _by_whole_query(
    tx: Reader, memory: Memory, query: Query, text: str, match: Expression, chosen: Filters, limit: int
) -> list[Scored]:
    """Candidates that fulfil every condition of the query, by their own words; none of them is a mere neighbour.

    Of very many, only the last added are ranked.
    """
    reach = Reach(chosen, tx.words.census(), 1.0)
    matches = tx.words.matching(match, chosen, MOST_FIRST)
    gathered = []
    for each, count in _counted(tx, query):
        if each.stems and count <= MOST_FIRST:
            (rows,) = reach.holding(tx, [each.stems])
        elif each.expression == match:
            rows = scoring.as_postings(matches)
        else:
            rows = reach.matching(tx, all_of(each.expression, match))
        gathered.append(reach.postings(each, count, rows))
    found = {place for _, place, _ in matches}
    scored = scoring.score_notes(gathered, reach.census.usual_units)
    scores = {place: scored.get(place, 0.0) for place in found}
    words = {place: scores[place] for place in scoring.best_places(scores, max(RANKED, limit))}
    placed = places.placed(tx, words, chosen)
    return ranking.rank(placed, Parts(words), _asked(memory, text), frozenset(), _degrees(tx, placed))


def _asked(memory: Memory, text: str) -> Asked:
    now = memory.now()
    return Asked(frozenset(spoken_words(text)), periods_in(text, now), now)


def _degrees(tx: Reader, rows: list[Placed]) -> dict[int, int]:
    return relations.degrees(tx, [row.id for row in rows]) if rows else {}


def check_length(text: str) -> None:
    """Refuse a text that is too long for a query: only 64 of its words would be searched."""
    if len(text) > LONGEST_QUERY:
        raise InvalidArgument(
            f"query has {len(text):,} characters", hint=f"use at most {LONGEST_QUERY:,}: the words that matter"
        )


def count_search_results(memory: Memory, text: str, chosen: Filters, *, mode: Mode = "any") -> int:
    """How many observations match, under the same conditions as `search`."""
    check_length(text)
    query = parse_query(text)
    if not query.terms:
        return 0
    with memory.database.read() as tx:
        return tx.words.count(match_expression(query, mode=mode), chosen)


def by_ids(memory: Memory, identifiers: list[int], *, deleted: bool = False) -> list[Observation]:
    """Observations in the order of the ids; those deleted since are left out, or those restored since."""
    with memory.database.read() as tx:
        held = observations.get_many(tx, identifiers)
    return [held[each] for each in identifiers if each in held and (held[each].deleted_at is not None) == deleted]


def by_topic(memory: Memory, topic_key: str, *, project: str, scope: str = "project") -> Observation | None:
    """The observation that holds a topic of a project, if there is one."""
    with memory.database.read() as tx:
        return observations.live_topic(tx, topic_key, project_key(project), scope, "")


def matches_below(memory: Memory, match: Expression, chosen: Filters, below: int, limit: int) -> list[int]:
    """Ids of matches below an id, the newest first."""
    with memory.database.read() as tx:
        return tx.words.below(match, chosen, limit, below=below)
