"""Ranking: relevance leads; everything else may only reorder near-equals."""

from collections.abc import Mapping
from math import exp
from types import MappingProxyType

from haversack.memory.search.periods import When, nearness
from haversack.store.places import SESSION_BITS, Placed
from haversack.store.records import Observation
from haversack.values import record

MONTH = 30 * 86_400_000_000
_VERIFIED = {"verified": 1.0, "unverified": 0.5, "disputed": 0.0, "outdated": 0.0}

# The shares of what may reorder near-equals; together they move a score by no more than a tenth.
RECENCY, IMPORTANCE, VERIFICATION, ACCESS, LINKS = 0.03, 0.03, 0.02, 0.01, 0.01
_BEYOND_WORDS = ("named", "brevity", "meaning", "links to it")
_BOOSTS = ("recency", "importance", "verification", "access", "links")

# What a row earns beside its words, in the unit of relevance (a word in one row of 400 counts 3.5): who it is from,
# when it was written, its part in a conversation.
NAMED = 1.2
WRITTEN_THEN = {"day": 6.0, "period": 3.0, "month": 1.5, "": 0.0}
ENDS_ASKING, ANSWERS, OPENS = -0.9, 0.7, 1.4


@record
class Asked:
    """The parts of a query beside its terms: all its words, for names; the dates it names; the time it was asked."""

    spoken: frozenset[str]
    periods: tuple[When, ...]
    now: int


NOTHING: Mapping[int, float] = MappingProxyType({})


@record
class Parts:
    """Place -> relevance by words, by being named, by being short, by meaning, and by notes that lead to it."""

    words: Mapping[int, float]
    named: Mapping[int, float] = NOTHING
    brevity: Mapping[int, float] = NOTHING
    meaning: Mapping[int, float] = NOTHING
    linked: Mapping[int, float] = NOTHING

    def at(self, place: int) -> tuple[float, ...]:
        """The parts of one place."""
        return (
            self.words.get(place, 0.0),
            self.named.get(place, 0.0),
            self.brevity.get(place, 0.0),
            self.meaning.get(place, 0.0),
            self.linked.get(place, 0.0),
        )


@record
class Scored:
    """A candidate with its score, and the parts of the score."""

    row: Placed
    score: float
    relevance: tuple[float, ...]
    hints: float
    boosts: tuple[float, ...]

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """The parts of the score by name; what leads beyond words only where it added something."""
        words, *beyond = self.relevance
        extra = [each for each in zip(_BEYOND_WORDS, beyond, strict=True) if each[1]]
        return ("words", words), *extra, ("hints", self.hints), *zip(_BOOSTS, self.boosts, strict=True)


@record
class Hit:
    """A match as it is shown: the observation, its score, and the parts of the score."""

    observation: Observation
    score: float
    parts: tuple[tuple[str, float], ...]


def rank(
    rows: list[Placed],
    parts: Parts,
    asked: Asked,
    conversations: frozenset[int],
    degrees: Mapping[int, int],
) -> list[Scored]:
    """Candidates in their final order; ties go to the more recent."""
    named = {row.label for row in rows if row.label and asked.spoken.issuperset(row.label.split())}
    # A question that names two people asks about both, so neither is preferred.
    label = named.pop() if len(named) == 1 else None
    scored = []
    for row in rows:
        hints = WRITTEN_THEN[nearness(row.created_at, asked.periods)] if asked.periods else 0.0
        if row.place >> SESSION_BITS in conversations:
            hints += _part_in_conversation(row) + (NAMED if label is not None and row.label == label else 0.0)
        scored.append(_scored(row, parts.at(row.place), hints, degrees.get(row.id, 0), asked.now))
    return sorted(scored, key=lambda each: (-each.score, -each.row.position))


def _part_in_conversation(row: Placed) -> float:
    """Answers and opening news are worth more than questions."""
    hint = ENDS_ASKING if row.asks == 2 else 0.0
    if row.asks_before is None:
        return hint + OPENS
    return hint + ANSWERS if row.asks_before else hint


def _scored(row: Placed, relevance: tuple[float, ...], hints: float, links: int, now: int) -> Scored:
    age = max(0, now - row.updated_at) / MONTH
    boosts = (
        RECENCY * exp(-age),
        IMPORTANCE * row.importance,
        VERIFICATION * _VERIFIED[row.verification],
        ACCESS * min(row.access_count, 10) / 10,
        LINKS * min(links, 5) / 5,
    )
    return Scored(row, max(sum(relevance) + hints, 0.0) * (1 + sum(boosts)), relevance, hints, boosts)
