"""The clarity gate: eight weighted dimensions, scored 0..100 by the reader, kept from round to round."""

import math
from collections.abc import Mapping

from haversack.errors import InvalidArgument
from haversack.sdd.flows.pipeline import Mode
from haversack.values import record

THRESHOLDS: Mapping[Mode, int] = {"guided": 70, "expert": 50}


@record
class Dimension:
    """One aspect of a project that has to be clear before its design."""

    name: str
    weight: int
    question: str


DIMENSIONS: tuple[Dimension, ...] = (
    Dimension("target_users", 8, "Who uses it, in which roles, and what does each of them need to get done?"),
    Dimension("core_functionality", 10, "What must it do on its first day, step by step, and how is that checked?"),
    Dimension("data_model", 7, "Which things does it keep, how do they relate, and who owns and deletes them?"),
    Dimension("integrations", 6, "Which systems does it talk to, in which formats, and what if one is away?"),
    Dimension("edge_cases", 8, "What happens on empty, huge, repeated, simultaneous or wrong input?"),
    Dimension("security", 7, "Who may see and change what, how are they known, and what must never leak?"),
    Dimension("scale_performance", 5, "How many users, how much data, how fast, and at what growth?"),
    Dimension("scope_boundaries", 9, "What is left out on purpose, and where does another system take over?"),
)
NAMES = tuple(dimension.name for dimension in DIMENSIONS)
TOTAL_WEIGHT = sum(dimension.weight for dimension in DIMENSIONS)


@record
class DimensionScore:
    """A dimension with the reader's score; None while it has none."""

    dimension: Dimension
    score: float | None


@record
class Gate:
    """The gate's verdict; `dimensions` come weakest first, the heavier of two equals before the lighter."""

    score: float
    threshold: int
    passed: bool
    dimensions: tuple[DimensionScore, ...]

    @property
    def open_questions(self) -> tuple[DimensionScore, ...]:
        """The dimensions still below the threshold, weakest first."""
        return tuple(d for d in self.dimensions if d.score is None or d.score < self.threshold)


def checked_scores(scores: Mapping[str, float]) -> dict[str, float]:
    """The scores given in a round; an unknown name or a value outside 0..100 is an error."""
    unknown = sorted(set(scores) - set(NAMES))
    if unknown:
        raise InvalidArgument(
            f"unknown clarity dimension {', '.join(map(repr, unknown))}",
            hint=f"the eight are {', '.join(NAMES)}",
        )
    for name, score in scores.items():
        number = isinstance(score, int | float) and not isinstance(score, bool)
        if not number or not math.isfinite(score) or not 0 <= score <= 100:
            raise InvalidArgument(f"the score of {name} is {score!r}", hint="give a number from 0 to 100")
    return dict(scores)


def weigh(scores: Mapping[str, float], mode: Mode) -> Gate:
    """The weighted mean of the eight against the mode's threshold; a dimension without a score counts 0."""
    total = math.fsum(scores.get(dimension.name, 0) * dimension.weight for dimension in DIMENSIONS)
    threshold = THRESHOLDS[mode]
    ranked = sorted(
        (DimensionScore(dimension, scores.get(dimension.name)) for dimension in DIMENSIONS),
        key=lambda d: (-1.0 if d.score is None else d.score, -d.dimension.weight),
    )
    # The sum is compared, not the mean: a division could round a score just below the threshold up to it.
    return Gate(total / TOTAL_WEIGHT, threshold, total >= threshold * TOTAL_WEIGHT, tuple(ranked))
