"""Change flows as a pure state machine: which stages a change has, which is open, how it ends.

A change is `active` until its last stage is written (`completed`), or it is `cancelled`. An active or a
completed change can be `archived`. Naming an earlier stage writes it again and makes the later ones stale.
"""

from collections.abc import Mapping
from typing import Literal

from haversack.errors import InvalidArgument, WrongStage
from haversack.sdd.flows.stages import NextStep, StageState, States, first_open, opened, written
from haversack.values import record, replace

ChangeType = Literal["fix", "feature", "enhancement", "refactor"]
Size = Literal["small", "medium", "large"]
ChangeStage = Literal["describe", "propose", "scope", "context-check", "spec", "clarify", "design", "tasks", "verify"]
ChangeStatus = Literal["active", "completed", "cancelled", "archived"]

TYPES: tuple[ChangeType, ...] = ("fix", "feature", "enhancement", "refactor")
SIZES: tuple[Size, ...] = ("small", "medium", "large")
CHANGE_STATUSES: tuple[ChangeStatus, ...] = ("active", "completed", "cancelled", "archived")

Flow = tuple[ChangeStage, ...]
_ADDITION: Mapping[Size, Flow] = {
    "small": ("describe", "context-check", "tasks", "verify"),
    "medium": ("propose", "context-check", "spec", "tasks", "verify"),
    "large": ("propose", "context-check", "spec", "clarify", "design", "tasks", "verify"),
}
FLOWS: Mapping[ChangeType, Mapping[Size, Flow]] = {
    "fix": {
        "small": ("describe", "context-check", "tasks", "verify"),
        "medium": ("describe", "context-check", "spec", "tasks", "verify"),
        "large": ("describe", "context-check", "spec", "design", "tasks", "verify"),
    },
    "feature": _ADDITION,
    "enhancement": _ADDITION,
    "refactor": {
        "small": ("scope", "context-check", "tasks", "verify"),
        "medium": ("scope", "context-check", "design", "tasks", "verify"),
        "large": ("scope", "context-check", "spec", "design", "tasks", "verify"),
    },
}


@record
class Change:
    """One change; `stages` follow its flow, `checked_at` is when its context was checked."""

    slug: str
    description: str
    type: ChangeType
    size: Size
    status: ChangeStatus
    created_at: str
    stages: States
    checked_at: str = ""
    closed_at: str = ""
    reason: str = ""

    @property
    def flow(self) -> Flow:
        return FLOWS[self.type][self.size]

    @property
    def current(self) -> ChangeStage | None:
        """The open stage; None when the change is no longer active."""
        place = first_open(self.stages)
        return None if place is None or self.status != "active" else self.flow[place]

    @property
    def stale(self) -> tuple[ChangeStage, ...]:
        return tuple(stage for stage, state in zip(self.flow, self.stages, strict=True) if state.status == "stale")


def permit_start(active: Change | None) -> None:
    """Raise WrongStage while another change is active."""
    if active is not None:
        raise WrongStage(
            f"the change {active.slug} is active, at {active.current}",
            hint=f"{next_step(active).sentence}; sdd_change with action=cancel or action=archive closes it",
        )


def start(slug: str, description: str, change_type: ChangeType, size: Size, now: str) -> Change:
    """A new active change, open at its first stage."""
    states = opened(tuple(StageState() for _ in FLOWS[change_type][size]), now)
    return Change(slug, description, change_type, size, "active", now, states)


def to_write(active: Change | None, asked: str = "") -> tuple[Change, ChangeStage]:
    """The change and the stage that content given now belongs to: the open one, or the earlier one asked for.

    Raises WrongStage when no change is active, when the stage asked for is not yet open, or when the
    context has not been checked; InvalidArgument when the flow has no such stage.
    """
    if active is None or active.current is None:
        raise WrongStage("no change is active", hint=next_step(None).sentence)
    current = active.current
    if asked and asked not in active.flow:
        raise InvalidArgument(
            f"a {active.size} {active.type} has no stage {asked!r}",
            hint=f"its stages: {', '.join(active.flow)}",
        )
    stage = next((known for known in active.flow if known == asked), current)
    if active.flow.index(stage) > active.flow.index(current):
        raise WrongStage(
            f"the change {active.slug} is at {current}, not yet at {stage}", hint=next_step(active).sentence
        )
    if stage == "context-check" and not active.checked_at:
        raise WrongStage(f"the context of {active.slug} has not been checked", hint=next_step(active).sentence)
    return active, stage


def advance(active: Change, stage: ChangeStage, now: str) -> Change:
    """The change after `stage` was written; the last stage completes it."""
    place = active.flow.index(stage)
    rewritten = active.stages[place].iterations > 0
    changed = replace(active, stages=written(active.stages, place, status="done", now=now))
    if rewritten and place < active.flow.index("context-check"):
        # The change has a new content, so the earlier context check no longer counts.
        changed = replace(changed, checked_at="")
    if first_open(changed.stages) is None:
        return replace(changed, status="completed", closed_at=now)
    return changed


def record_check(active: Change, now: str) -> Change:
    """The change with its context checked."""
    return replace(active, checked_at=now)


def cancel(active: Change | None, reason: str, now: str) -> Change:
    """The active change as cancelled; its artifacts stay."""
    if active is None:
        raise WrongStage("no change is active, so there is none to cancel", hint=next_step(None).sentence)
    return replace(active, status="cancelled", closed_at=now, reason=reason)


def archive(change: Change | None, reason: str, now: str) -> Change:
    """The active or last completed change as archived."""
    if change is None or change.status not in ("active", "completed"):
        raise WrongStage("no change is active or completed, so there is none to archive", hint=next_step(None).sentence)
    return replace(change, status="archived", closed_at=change.closed_at or now, reason=reason)


def next_step(change: Change | None) -> NextStep:
    """The step that moves the active change on."""
    stage = None if change is None else change.current
    if change is None or stage is None:
        return NextStep("sdd_change", "", "sdd_change starts a change")
    if stage == "context-check" and not change.checked_at:
        return NextStep("sdd_context_check", stage, f"sdd_context_check is next, for {change.slug}")
    again = " again" if stage in change.stale else ""
    return NextStep("sdd_change_advance", stage, f"sdd_change_advance writes {stage}{again}, for {change.slug}")
