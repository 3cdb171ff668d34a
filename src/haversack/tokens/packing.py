"""Packing: many candidates, one budget.

Two ways. `pack` is first-fit in rank order: what does not fit is skipped, later and smaller candidates still
get in. `pack_auto` chooses a rendering for each candidate (a multiple-choice knapsack): it takes the upgrade
with the largest gain per unit, again and again, and skips those that no longer fit.
"""

from collections.abc import Sequence
from heapq import heappop, heappush

from haversack.values import record


@record
class Choice:
    """One rendering of a candidate: what it costs in units, and what it is worth."""

    cost: int
    worth: float = 1.0


@record
class Candidate:
    """An item to pack: its renderings, and the cost of the heading it needs if it is the first of its group."""

    choices: tuple[Choice, ...]
    group: str = ""
    group_cost: int = 0


@record
class Pack:
    """For each candidate the rendering chosen (None: left out), and the units used in all."""

    chosen: tuple[int | None, ...]
    used: int

    @property
    def shown(self) -> int:
        return sum(choice is not None for choice in self.chosen)


def pack(candidates: Sequence[Candidate], room: int, *, level: int = 0) -> Pack:
    """First-fit in rank order at one rendering; the group headings of what enters are paid for too."""
    used = 0
    open_groups = {""}
    chosen: list[int | None] = []
    for candidate in candidates:
        cost = candidate.choices[level].cost
        if candidate.group not in open_groups:
            cost += candidate.group_cost
        if used + cost > room:
            chosen.append(None)
            continue
        used += cost
        open_groups.add(candidate.group)
        chosen.append(level)
    return Pack(tuple(chosen), used)


def pack_auto(candidates: Sequence[Candidate], room: int) -> Pack:
    """The best mixture of renderings found by greedy upgrades; total worth never falls as `room` grows.

    Steps are taken in order of gain per unit; one that does not fit gives way to the next best rendering of
    the same candidate. At the first step where a larger room differs from a smaller one it takes a step the
    other cannot afford, and nothing left is better per unit, so the smaller room never catches up.
    Groups are not priced here: a caller that prints headings pays for them before.
    """
    chosen: list[int | None] = [None] * len(candidates)
    steps: list[tuple[float, int, int]] = []
    for index, candidate in enumerate(candidates):
        _offer(steps, candidate, index, None, below=None)
    used = 0
    while steps:
        _, index, choice = heappop(steps)
        candidate = candidates[index]
        cost = candidate.choices[choice].cost - _cost(candidate, chosen[index])
        if used + cost > room:
            _offer(steps, candidate, index, chosen[index], below=candidate.choices[choice].cost)
            continue
        used += cost
        chosen[index] = choice
        _offer(steps, candidate, index, choice, below=None)
    return Pack(tuple(chosen), used)


def _offer(
    steps: list[tuple[float, int, int]], candidate: Candidate, index: int, held: int | None, below: int | None
) -> None:
    """Add the candidate's best next step per unit, among renderings that cost more than the current one.

    `below` bounds the cost of the rendering: the one of that cost was tried and did not fit.
    """
    floor = _cost(candidate, held)
    worth = candidate.choices[held].worth if held is not None else 0.0
    best: tuple[float, int, int] | None = None
    for choice, rendering in enumerate(candidate.choices):
        if rendering.cost <= floor or rendering.worth <= worth or (below is not None and rendering.cost >= below):
            continue
        step = (-(rendering.worth - worth) / (rendering.cost - floor), index, choice)
        best = step if best is None else min(best, step)
    if best is not None:
        heappush(steps, best)


def _cost(candidate: Candidate, choice: int | None) -> int:
    return candidate.choices[choice].cost if choice is not None else 0
