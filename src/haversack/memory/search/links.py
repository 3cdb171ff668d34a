"""What the best notes lead to: notes they are related to, notes they name, matches that share their rare words.

A question often names one note while the answer stands in another that the first one mentions. Only notes lead
further: the turns of a conversation have their neighbours instead.
"""

from collections.abc import Mapping, Sequence

from haversack.memory.search import relevance as scoring
from haversack.store import observations, places, relations
from haversack.store.engine import Reader
from haversack.store.places import SESSION_BITS
from haversack.store.records import Filters, Observation
from haversack.store.words import Census
from haversack.text.stems import stem, stems_in
from haversack.text.words import fold, index_text, words_in
from haversack.values import record

LINK_SOURCES = 3
"""How many of the best notes lead to the notes they mention or are related to."""
LINK = 0.7
"""Share of a note's score that a note earns whose title it mentions, or that it is related to (times the strength)."""
LINK_CEILING = 0.95
"""Share of a note's score that no note it mentions rises above: what was asked for stays ahead of what it leads to."""
HOP_SOURCES = 2
"""How many of the best notes lend their rare words to the query."""
HOP_WORDS = 12
"""How many words each of them lends."""
HOP = 0.3
"""Weight of a lent word beside a word of the query."""
HOP_CEILING = 0.7
"""Like LINK_CEILING for lent words. At 0.95 look-alikes of the best note passed better matches of the query."""
LOOKED_UP = 32
"""Words of a note whose frequency is looked up: names and numbers first, then the longest."""
RARE_ROWS = 200
"""A word in more rows than this leads nowhere in particular."""
COMMON_TITLES = 3
"""A title that more notes than this share names none of them."""


@record
class _Step:
    """What one source gives a place: how much, and up to which score."""

    gain: float
    ceiling: float


def followed(
    tx: Reader, scores: Mapping[int, float], chosen: Filters, census: Census, conversations: frozenset[int]
) -> dict[int, float]:
    """Place -> gain, for what the best notes among the scored places lead to."""
    notes = {place: score for place, score in scores.items() if place >> SESSION_BITS not in conversations}
    best = scoring.best_places(notes, LINK_SOURCES)
    if not best:
        return {}
    ids = {row.place: row.id for row in places.placed(tx, best, chosen)}
    sources = observations.get_many(tx, list(ids.values()))
    steps: dict[int, list[_Step]] = {}
    for rank, place in enumerate(best):
        if place in ids:
            source = sources[ids[place]]
            _follow(tx, source, place, rank, scores, chosen, census, steps)
    _follow_relations(tx, {ids[place]: notes[place] for place in best if place in ids}, chosen, steps)
    return {place: gain for place in steps if (gain := _gain(scores.get(place, 0.0), steps[place])) > 0}


def _gain(score: float, steps: Sequence[_Step]) -> float:
    ceiling = max(step.ceiling for step in steps)
    return max(0.0, min(sum(step.gain for step in steps), ceiling - score))


def _follow(
    tx: Reader,
    source: Observation,
    place: int,
    rank: int,
    scores: Mapping[int, float],
    chosen: Filters,
    census: Census,
    steps: dict[int, list[_Step]],
) -> None:
    """Add what one source gives by its words: lent words to what matches already, and links to titles it mentions."""
    score = scores[place]
    words = _rare_words(tx, source)
    named: set[int] = set()
    for (_, holding), postings in zip(words, tx.words.postings([[word] for word, _ in words], chosen), strict=True):
        weight = HOP * scoring.NOTE_SCALE * scoring.inverse_frequency(census.rows, holding) ** scoring.NOTE_RARITY_POWER
        for posting in postings:
            other = posting[0]
            if other == place:
                continue
            if posting[1]:
                named.add(other)
            if rank < HOP_SOURCES and other in scores:
                gain = weight * scoring.strength(posting, census.usual_units, scoring.NOTE_TITLE)
                steps.setdefault(other, []).append(_Step(gain, HOP_CEILING * score))
    for other in _mentioned(tx, source, named):
        steps.setdefault(other, []).append(_Step(LINK * score, LINK_CEILING * score))


def _rare_words(tx: Reader, source: Observation) -> list[tuple[str, int]]:
    """The rarest stems of a note that some other row holds too, with the number of rows."""
    typed = dict.fromkeys(words_in(f"{source.title}\n{source.content}"))
    telling = sorted(typed, key=lambda word: (word == word.lower() and word.isalpha(), -len(word)))[:LOOKED_UP]
    stems = list(dict.fromkeys(stem(fold(word)) for word in telling))
    counted = zip(stems, tx.words.rows_with_stems([[each] for each in stems]), strict=True)
    shared = [(word, rows) for word, rows in counted if 1 < rows <= RARE_ROWS]
    return sorted(shared, key=lambda each: (each[1], each[0]))[:HOP_WORDS]


def _mentioned(tx: Reader, source: Observation, named: set[int]) -> list[int]:
    """Those of the places whose whole title the source mentions, word for word, in any order."""
    if not named:
        return []
    held = set(stems_in(index_text(source.content)))
    titles = {place: tuple(stems_in(index_text(title))) for place, title in places.titles(tx, named).items()}
    shared: dict[tuple[str, ...], int] = {}
    for title in titles.values():
        shared[title] = shared.get(title, 0) + 1
    return [
        place for place, title in titles.items() if title and shared[title] <= COMMON_TITLES and held.issuperset(title)
    ]


def _follow_relations(tx: Reader, sources: Mapping[int, float], chosen: Filters, steps: dict[int, list[_Step]]) -> None:
    """Add what the sources give along the relations of the graph."""
    ends: dict[int, list[_Step]] = {}
    for relation in relations.touching(tx, list(sources)) if sources else ():
        for here, there in ((relation.from_id, relation.to_id), (relation.to_id, relation.from_id)):
            if here in sources:
                step = _Step(LINK * relation.strength * sources[here], LINK_CEILING * sources[here])
                ends.setdefault(there, []).append(step)
    for identifier, place in places.of(tx, list(ends), chosen).items():
        steps.setdefault(place, []).extend(ends[identifier])
