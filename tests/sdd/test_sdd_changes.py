"""Change flows: the stages by type and size, and every tool at every state."""

import pytest

from haversack.errors import InvalidArgument, WrongStage
from haversack.sdd.flows import changes
from haversack.sdd.flows.changes import FLOWS, SIZES, TYPES, Change, ChangeType, Size

CC = "context-check"
TABLE = {
    ("fix", "small"): ("describe", CC, "tasks", "verify"),
    ("fix", "medium"): ("describe", CC, "spec", "tasks", "verify"),
    ("fix", "large"): ("describe", CC, "spec", "design", "tasks", "verify"),
    ("feature", "small"): ("describe", CC, "tasks", "verify"),
    ("feature", "medium"): ("propose", CC, "spec", "tasks", "verify"),
    ("feature", "large"): ("propose", CC, "spec", "clarify", "design", "tasks", "verify"),
    ("refactor", "small"): ("scope", CC, "tasks", "verify"),
    ("refactor", "medium"): ("scope", CC, "design", "tasks", "verify"),
    ("refactor", "large"): ("scope", CC, "spec", "design", "tasks", "verify"),
}
ALL_KINDS = [(kind, size) for kind in TYPES for size in SIZES]


@pytest.mark.parametrize(("kind", "size"), ALL_KINDS)
def test_the_flow_of_each_type_and_size_is_the_one_promised(kind: ChangeType, size: Size) -> None:
    listed = "feature" if kind == "enhancement" else kind
    assert FLOWS[kind][size] == TABLE[listed, size]


def shape(change: Change | None) -> object:
    return change and (change.status, tuple(s.status for s in change.stages), bool(change.checked_at))


def steps(change: Change | None) -> list[Change]:
    """Every state one call can lead to."""
    reached: list[Change] = []
    for asked in ("", *(change.flow if change else ())):
        try:
            active, stage = changes.to_write(change, asked)
        except WrongStage:
            continue
        reached.append(changes.advance(active, stage, "t"))
    for end in (changes.cancel, changes.archive):
        try:
            reached.append(end(change, "why", "t"))
        except WrongStage:
            continue
    if change and change.status == "active":
        reached.append(changes.record_check(change, "t"))
    return reached


def every_state(kind: ChangeType, size: Size) -> list[Change]:
    first = changes.start("slug", "text", kind, size, "t")
    seen: dict[object, Change] = {shape(first): first}
    waiting = [first]
    while waiting:
        for reached in steps(waiting.pop()):
            # Only an active change takes further steps; the tools look for the active one.
            if shape(reached) not in seen:
                seen[shape(reached)] = reached
                if reached.status == "active":
                    waiting.append(reached)
    return list(seen.values())


@pytest.mark.parametrize(("kind", "size"), ALL_KINDS)
def test_the_named_next_tool_always_works_and_leads_to_the_end(kind: ChangeType, size: Size) -> None:
    for state in every_state(kind, size):
        current: Change = state
        for _ in range(3 * len(current.flow)):
            step = changes.next_step(current)
            if step.tool == "sdd_change":
                break
            if step.tool == "sdd_context_check":
                current = changes.record_check(current, "t")
                continue
            active, stage = changes.to_write(current)
            assert stage == step.stage
            current = changes.advance(active, stage, "t")
        assert current.status in ("completed", "cancelled", "archived")


@pytest.mark.parametrize(("kind", "size"), ALL_KINDS)
def test_every_refused_stage_names_the_right_next_tool(kind: ChangeType, size: Size) -> None:
    for state in every_state(kind, size):
        active = state if state.status == "active" else None
        for asked in ("", *state.flow):
            try:
                changes.to_write(active, asked)
            except WrongStage as error:
                assert changes.next_step(active).tool in error.hint


@pytest.mark.parametrize(("kind", "size"), ALL_KINDS)
def test_an_active_change_can_be_cancelled_and_archived_at_every_stage(kind: ChangeType, size: Size) -> None:
    for state in every_state(kind, size):
        if state.status == "active":
            assert changes.cancel(state, "too much", "t").status == "cancelled"
            assert changes.archive(state, "", "t").status == "archived"
            with pytest.raises(WrongStage, match="is active") as refusal:
                changes.permit_start(state)
            assert changes.next_step(state).tool in refusal.value.hint
            assert "action=cancel" in refusal.value.hint


def test_the_context_must_have_been_checked_before_that_stage_is_written() -> None:
    change = changes.advance(changes.start("s", "d", "fix", "small", "t"), "describe", "t")
    with pytest.raises(WrongStage) as refusal:
        changes.to_write(change)
    assert "sdd_context_check" in refusal.value.hint
    assert changes.to_write(changes.record_check(change, "t"))[1] == "context-check"


def test_a_check_made_before_the_description_was_written_counts() -> None:
    change = changes.record_check(changes.start("s", "d", "fix", "small", "t"), "t")
    assert changes.to_write(changes.advance(change, "describe", "t"))[1] == "context-check"


def test_describing_a_change_anew_asks_for_a_new_check_and_makes_later_stages_stale() -> None:
    change = changes.record_check(changes.start("s", "d", "fix", "small", "t"), "t")
    for stage in ("describe", "context-check", "tasks"):
        change = changes.advance(*changes.to_write(change, stage), "t")
    change = changes.advance(*changes.to_write(change, "describe"), "t")
    assert change.stale == ("context-check", "tasks")
    assert changes.next_step(change).tool == "sdd_context_check"


def test_a_stage_that_the_flow_does_not_have_is_an_error_that_lists_the_flow() -> None:
    change = changes.start("s", "d", "fix", "small", "t")
    with pytest.raises(InvalidArgument, match="describe, context-check, tasks, verify"):
        changes.to_write(change, "design")


def test_a_later_stage_cannot_be_written_ahead() -> None:
    change = changes.start("s", "d", "fix", "small", "t")
    with pytest.raises(WrongStage, match="not yet at verify"):
        changes.to_write(change, "verify")


def test_without_a_change_there_is_nothing_to_cancel_or_archive() -> None:
    for refuse in (changes.cancel, changes.archive):
        with pytest.raises(WrongStage, match="sdd_change starts a change"):
            refuse(None, "", "t")
