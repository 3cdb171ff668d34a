"""Ranking: relevance leads; everything else may only reorder near-equals."""

from math import exp

from haversack.memory.queries import Query
from haversack.store.records import Observation
from haversack.values import record

MONTH = 30 * 86_400_000_000
_VERIFIED = {"verified": 1.0, "unverified": 0.5, "disputed": 0.0, "outdated": 0.0}

# The shares of what may reorder near-equals; together they move a score by no more than a tenth.
RECENCY, IMPORTANCE, VERIFICATION, ACCESS, LINKS = 0.03, 0.03, 0.02, 0.01, 0.01


@record
class Hit:
    """A match with its score, and the parts the score is made of."""

    observation: Observation
    score: float
    parts: tuple[tuple[str, float], ...]


def rank(
    query: Query,
    scored: list[tuple[int, float]],
    held: dict[int, Observation],
    degrees: dict[int, int],
    *,
    now: int,
) -> list[Hit]:
    """Matches in their final order; ties go to the more recent."""
    hits = [
        _hit(held[identifier], relevance, degrees.get(identifier, 0), now)
        for identifier, relevance in scored
        if identifier in held
    ]
    return sorted(hits, key=lambda hit: (-hit.score, -hit.observation.position))


def _hit(observation: Observation, relevance: float, links: int, now: int) -> Hit:
    age = max(0, now - observation.updated_at) / MONTH
    parts = (
        ("relevance", relevance),
        ("recency", RECENCY * exp(-age)),
        ("importance", IMPORTANCE * observation.importance),
        ("verification", VERIFICATION * _VERIFIED[observation.verification]),
        ("access", ACCESS * min(observation.access_count, 10) / 10),
        ("links", LINKS * min(links, 5) / 5),
    )
    boost = 1 + sum(value for _, value in parts[1:])
    return Hit(observation, relevance * boost, parts)
