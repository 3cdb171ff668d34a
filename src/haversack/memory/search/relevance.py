"""The arithmetic of relevance, one for notes and one for the turns of a conversation.

A note says what it is about itself, so its own words decide (BM25F). A turn also depends on neighbouring turns and on
the topic of its session. Which arithmetic applies is decided for each row by the session it belongs to.

The weights for notes were chosen on samples of five sets (linked notes, rules, commit messages), and tried on three
others (a code base, manual pages, another change log) by which none was chosen; those for turns on half of a set of
long dialogues. `make bench-recall` shows what they give.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

from haversack.store.places import SESSION_BITS
from haversack.store.words import Match, Posting
from haversack.values import record

SATURATION = 1.2
"""Occurrences at which a word has reached half of the most it can count (BM25's k1)."""
LENGTH_SHARE = 0.75
"""How far the length of a text reduces what a word counts in it: 0 not at all, 1 in proportion (BM25's b)."""
NOTE_TITLE, TURN_TITLE = 3.0, 2.0
"""Occurrences that one occurrence in the title counts as. A turn's title is its speaker, which says less."""
NOTE_RARITY_POWER, TURN_RARITY_POWER = 1.1, 0.7
"""Power of the inverse document frequency. In a dialogue common words tell more, because turns are short."""
PAIR_WEIGHT = 0.3
"""What two words that stand side by side in the question and in a note count as, beside one word that stands in as
many rows."""
NOTE_BREVITY = 0.25
"""Power by which a note gains where it is shorter than usual and loses where it is longer: in a reply of so many
tokens a short note leaves room for others. Turns are all short, and among them it prefers what says nothing."""
BREVITY_CEILING = 0.99
"""Share of the best note's score above which no note rises by being short: the best one stays first however long."""
NOTE_FRAME = 100.0
"""Tokens added to both lengths before they are compared: notes well below that are all cheap, and among commit
messages the shorter one mostly says less."""
NOTE_SCALE = 0.49
"""Factor that puts both kinds on one scale: a word in one row of 400, once in a text of usual length, then counts
the same in a note as in a turn."""
SESSION_SHARE = 0.45
"""Weight of a word's occurrences in the whole session beside those in the turn."""
CONVERSATION_SPREAD = {-2: 0.25, -1: 0.35, 0: 1.0, 1: 0.5, 2: 0.35}
"""Share of a word's strength that a turn lends to the turn so many places after it: an answer seldom repeats the
words of its question."""


@record
class Postings:
    """The occurrences of one looked-up item: its weight in the query, its inverse frequency, and its rows by place."""

    weight: float
    frequency: float
    rows: Mapping[int, Posting]


@record
class Promising:
    """Candidates before neighbouring turns are considered: places to score as turns, and places scored as notes."""

    turns: tuple[int, ...]
    notes: Mapping[int, float]


def strength(posting: Posting, usual_units: float, title_weight: float) -> float:
    """How much a word counts in a row: saturating with repetition, more in short texts, more in titles."""
    _, title, content, tags, units = posting
    hits = title_weight * title + content + tags
    length = 1 - LENGTH_SHARE + LENGTH_SHARE * units / usual_units
    return hits * (SATURATION + 1) / (hits + SATURATION * length)


def by_place(postings: Iterable[Posting]) -> dict[int, Posting]:
    """Postings by the place of their row."""
    return {posting[0]: posting for posting in postings}


def as_postings(matches: Iterable[Match]) -> dict[int, Posting]:
    """Rows that match an expression, as if it stood in the content of each of them once."""
    return {place: (place, 0, 1, 0, units) for _, place, units in matches}


def inverse_frequency(total: int, holding: int) -> float:
    """The inverse document frequency of a word that `holding` of `total` rows have; never negative."""
    return log(1 + max(0.5, total - holding + 0.5) / (holding + 0.5))


def score_notes(gathered: Sequence[Postings], usual_units: float) -> dict[int, float]:
    """Place -> relevance of the row as a note, by its own words alone (BM25F)."""
    scores: dict[int, float] = {}
    # `strength` for every row of every word, written out: this is the innermost loop of a search.
    fixed, growing = SATURATION * (1 - LENGTH_SHARE), SATURATION * LENGTH_SHARE / usual_units
    for postings in gathered:
        weight = NOTE_SCALE * postings.weight * postings.frequency**NOTE_RARITY_POWER * (SATURATION + 1)
        for place, title, content, tags, units in postings.rows.values():
            hits = NOTE_TITLE * title + content + tags
            scores[place] = scores.get(place, 0.0) + weight * hits / (hits + fixed + growing * units)
    return scores


def brevity(gathered: Sequence[Postings], scores: Mapping[int, float], usual_units: float) -> dict[int, float]:
    """Place -> what a scored note gains by being shorter than usual, or loses by being longer; the best neither."""
    if not scores:
        return {}
    units = {place: posting[4] for postings in gathered for place, posting in postings.rows.items()}
    usual = usual_units + NOTE_FRAME
    (best,) = best_places(scores, 1)
    ceiling = BREVITY_CEILING * scores[best]
    gains = {
        place: min(score * (usual / (units[place] + NOTE_FRAME)) ** NOTE_BREVITY, max(score, ceiling)) - score
        for place, score in scores.items()
    }
    return gains | {best: 0.0}


def score_sessions(gathered: Sequence[Postings], sessions: int) -> dict[int, float]:
    """Session number -> relevance of the whole session."""
    scores: dict[int, float] = {}
    for postings in gathered:
        holding = Counter([place >> SESSION_BITS for place in postings.rows])
        weight = SESSION_SHARE * inverse_frequency(sessions, len(holding)) * (SATURATION + 1)
        for session, count in holding.items():
            scores[session] = scores.get(session, 0.0) + weight * count / (count + SATURATION)
    return scores


def most_promising(
    gathered: Sequence[Postings],
    pairs: Sequence[Postings],
    sessions: Mapping[int, float],
    usual_units: float,
    count: int,
) -> Promising:
    """The best places of either kind; the kind of a row is looked up only for these."""
    notes = score_notes(gathered, usual_units)
    turns = {place: score / NOTE_SCALE + sessions[place >> SESSION_BITS] for place, score in notes.items()}
    for place, score in score_notes(pairs, usual_units).items():
        if place in notes:
            notes[place] += score
    if len(notes) <= count:
        return Promising(tuple(notes), notes)
    return Promising(tuple(best_places(turns, count)), {place: notes[place] for place in best_places(notes, count)})


def best_places(scores: Mapping[int, float], count: int) -> list[int]:
    """The places that score best, the best first, and of equal ones the later."""
    return [place for _, place in sorted(zip(scores.values(), scores, strict=True), reverse=True)[:count]]


def score_turns(
    gathered: Sequence[Postings],
    sessions: Mapping[int, float],
    promising: Iterable[int],
    conversations: frozenset[int],
    usual_units: float,
) -> dict[int, float]:
    """Place -> relevance of promising turns of conversations and of the turns around them."""
    turns = [place for place in promising if place >> SESSION_BITS in conversations]
    near = {place + offset for place in turns for offset in CONVERSATION_SPREAD}
    scores = dict.fromkeys(near, 0.0)
    for postings in gathered if near else ():
        lent: dict[int, float] = {}
        for place in postings.rows.keys() & near:
            own = strength(postings.rows[place], usual_units, TURN_TITLE)
            for offset, share in CONVERSATION_SPREAD.items():
                lent[place + offset] = lent.get(place + offset, 0.0) + share * own
        weight = postings.weight * postings.frequency**TURN_RARITY_POWER * (SATURATION + 1)
        for place in lent.keys() & near:
            scores[place] += weight * lent[place] / (lent[place] + SATURATION)
    return {place: score + sessions.get(place >> SESSION_BITS, 0.0) for place, score in scores.items() if score}
