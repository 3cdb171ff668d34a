"""The arithmetic of relevance: what each word is worth, what neighbours lend, what a session is about.

The constants were fitted on half of a set of long dialogues and checked on the other half, on code and on
manual pages; `make bench-recall` shows what they give.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

from haversack.store.places import SESSION_BITS
from haversack.store.words import Match, Posting
from haversack.values import record

SATURATION = 1.2
LENGTH_SHARE = 0.75
TITLE = 2.0
RARITY_POWER = 0.7
SESSION_SHARE = 0.45

# A row lends this share of a word's strength to the row so many places after it. Turns of a conversation lean
# on one another (an answer seldom repeats the words of the question); notes that merely follow do so less.
CONVERSATION_SPREAD = {-2: 0.25, -1: 0.35, 0: 1.0, 1: 0.5, 2: 0.35}
NOTES_SPREAD = {-1: 0.2, 0: 1.0, 1: 0.25, 2: 0.1}


@record
class Postings:
    """Where one word of a query stands: how telling it is, and how strong it is in each place."""

    rarity: float
    strengths: Mapping[int, float]


def strengths(postings: Iterable[Posting], usual_units: float) -> dict[int, float]:
    """Place -> how a word counts there: saturating with repetition, more in short texts, more in titles."""
    found = {}
    for place, title, content, tags, units in postings:
        hits = TITLE * title + content + tags
        length = 1 - LENGTH_SHARE + LENGTH_SHARE * units / usual_units
        found[place] = hits * (SATURATION + 1) / (hits + SATURATION * length)
    return found


def strengths_of_matches(matches: Iterable[Match], usual_units: float) -> dict[int, float]:
    """The same for rows that match an expression, as if it stood in each of them once."""
    return strengths(((place, 0, 1, 0, units) for _, place, units in matches), usual_units)


def score_matches(gathered: Sequence[Postings], places: Iterable[int]) -> dict[int, float]:
    """Place -> relevance by its own words alone."""
    scores = dict.fromkeys(places, 0.0)
    for postings in gathered:
        for place in postings.strengths.keys() & scores.keys():
            scores[place] += postings.rarity * postings.strengths[place]
    return scores


def inverse_frequency(total: int, holding: int) -> float:
    """How telling it is to hold a word that so many of all hold; never negative."""
    return log(1 + max(0.5, total - holding + 0.5) / (holding + 0.5))


def rarity(rows: int, holding: int) -> float:
    """The weight of a word that stands in so many of the rows."""
    return float(inverse_frequency(rows, holding) ** RARITY_POWER)


def score_sessions(gathered: Sequence[Postings], sessions: int) -> dict[int, float]:
    """Session number -> how much the whole of it is about the query."""
    scores: dict[int, float] = {}
    for postings in gathered:
        holding = Counter([place >> SESSION_BITS for place in postings.strengths])
        weight = SESSION_SHARE * inverse_frequency(sessions, len(holding)) * (SATURATION + 1)
        for session, count in holding.items():
            scores[session] = scores.get(session, 0.0) + weight * count / (count + SATURATION)
    return scores


def most_promising(gathered: Sequence[Postings], sessions: Mapping[int, float], count: int) -> list[int]:
    """The places that score best by their own words and their session's, before neighbours are heard."""
    promise: dict[int, float] = {}
    for postings in gathered:
        weight = postings.rarity
        for place, strength in postings.strengths.items():
            promise[place] = promise.get(place, 0.0) + weight * strength
    if len(promise) <= count:
        return list(promise)
    for place in promise:
        promise[place] += sessions[place >> SESSION_BITS]
    return best_places(promise, count)


def best_places(scores: Mapping[int, float], count: int) -> list[int]:
    """The places that score best, the best first, and of equal ones the later."""
    return [place for _, place in sorted(zip(scores.values(), scores, strict=True), reverse=True)[:count]]


def score_places(
    gathered: Sequence[Postings],
    sessions: Mapping[int, float],
    promising: Iterable[int],
    conversations: frozenset[int],
) -> dict[int, float]:
    """Place -> relevance, for the promising places and, in conversations, the turns around them."""
    near = set(promising)
    for place in promising:
        if place >> SESSION_BITS in conversations:
            near.update(place + offset for offset in CONVERSATION_SPREAD)
    scores = dict.fromkeys(near, 0.0)
    for postings in gathered:
        lent: dict[int, float] = {}
        for place in postings.strengths.keys() & near:
            strength = postings.strengths[place]
            spread = CONVERSATION_SPREAD if place >> SESSION_BITS in conversations else NOTES_SPREAD
            for offset, share in spread.items():
                lent[place + offset] = lent.get(place + offset, 0.0) + share * strength
        weight = postings.rarity * (SATURATION + 1)
        for place in lent.keys() & near:
            scores[place] += weight * lent[place] / (lent[place] + SATURATION)
    return {place: score + sessions.get(place >> SESSION_BITS, 0.0) for place, score in scores.items() if score}
