"""What both state machines share: the state of one stage, and the step that comes next."""

from collections.abc import Sequence
from typing import Literal

from haversack.values import record, replace

Status = Literal["pending", "in_progress", "done", "stale"]
STATUSES: tuple[Status, ...] = ("pending", "in_progress", "done", "stale")


@record
class StageState:
    """How far one stage has come; times are ISO 8601 in UTC, empty while there is none."""

    status: Status = "pending"
    iterations: int = 0
    started_at: str = ""
    finished_at: str = ""


@record
class NextStep:
    """The tool to call next, for which stage, and the same as a sentence."""

    tool: str
    stage: str
    sentence: str


States = tuple[StageState, ...]


def first_open(states: Sequence[StageState]) -> int | None:
    """The index of the first stage that is not done; None when all are."""
    return next((place for place, state in enumerate(states) if state.status != "done"), None)


def written(states: States, place: int, *, status: Status, now: str) -> States:
    """The states after the stage at index `place` was written: later stages that were begun are stale."""
    changed = [replace(s, status="stale") if s.status != "pending" else s for s in states[place + 1 :]]
    state = states[place]
    this = StageState(
        status=status,
        iterations=state.iterations + 1,
        started_at=now if state.status == "done" else state.started_at or now,
        finished_at=now if status == "done" else "",
    )
    return opened((*states[:place], this, *changed), now)


def opened(states: States, now: str) -> States:
    """The states with the start time of the first open stage set."""
    place = first_open(states)
    if place is None or states[place].started_at:
        return states
    return (*states[:place], replace(states[place], started_at=now), *states[place + 1 :])
