"""The project pipeline: every state, every tool, and what each of them says."""

from typing import get_args

import pytest

from haversack.errors import WrongStage
from haversack.sdd.flows import pipeline
from haversack.sdd.flows.pipeline import STAGES, TOOLS, VERDICTS, Project, Stage, Verdict
from haversack.sdd.flows.stages import StageState

State = tuple[tuple[str, ...], Verdict | None] | None


def shape(project: Project | None) -> State:
    return None if project is None else (tuple(s.status for s in project.stages), project.verdict)


def outcomes(project: Project | None, stage: Stage, *, reopen: bool) -> list[Project]:
    """Every state a tool can lead to from here; WrongStage when it may not run."""
    if stage == "init":
        pipeline.permit_init(project, reopen=reopen)
        if project is None:
            return [pipeline.begin("p", "d", "guided", "t")]
        return [pipeline.finish(project, "init", "t")]
    permitted = pipeline.permit(project, stage, reopen=reopen)
    if stage == "clarify":
        return [pipeline.stay(permitted, stage, "t"), pipeline.finish(permitted, stage, "t")]
    if stage == "validate":
        back = [s for s in STAGES if 0 < STAGES.index(s) < STAGES.index("validate")]
        return [pipeline.judge(permitted, verdict, stage, "t") for verdict in VERDICTS for stage in back]
    return [pipeline.finish(permitted, stage, "t")]


def every_state() -> list[Project | None]:
    seen: dict[State, Project | None] = {None: None}
    waiting: list[Project | None] = [None]
    while waiting:
        project = waiting.pop()
        for stage in STAGES:
            for reopen in (False, True):
                try:
                    reached = outcomes(project, stage, reopen=reopen)
                except WrongStage:
                    continue
                for each in reached:
                    if shape(each) not in seen:
                        seen[shape(each)] = each
                        waiting.append(each)
    return list(seen.values())


STATES = every_state()


def test_the_walk_meets_every_stage_open_and_the_finished_project() -> None:
    currents = {state.current for state in STATES if state}
    assert currents == {*STAGES[1:], None}
    assert len(STATES) > 30


@pytest.mark.parametrize("stage", STAGES)
def test_a_tool_at_any_state_makes_progress_or_names_the_right_next_tool(stage: Stage) -> None:
    for state in STATES:
        step = pipeline.next_step(state)
        try:
            outcomes(state, stage, reopen=False)
        except WrongStage as error:
            assert step.tool in error.hint
            assert step.sentence in error.hint
            assert step.tool != TOOLS[stage]
        else:
            assert step.tool == TOOLS[stage]


def test_the_named_next_tool_always_runs_and_no_state_is_a_dead_end() -> None:
    for state in STATES:
        step = pipeline.next_step(state)
        if state is not None and state.current is None:
            assert step.tool == "sdd_change"
            continue
        stage = next(s for s in STAGES if TOOLS[s] == step.tool)
        finished = max(outcomes(state, stage, reopen=False), key=done_until)
        assert done_until(finished) > (-1 if state is None else done_until(state))


def done_until(project: Project) -> int:
    return len(STAGES) if project.current is None else STAGES.index(project.current)


def test_every_stage_before_the_open_one_can_be_reopened_and_none_after_it() -> None:
    for state in STATES:
        if state is None:
            continue
        for place, stage in enumerate(STAGES):
            if place <= done_until(state):
                assert outcomes(state, stage, reopen=True)
            else:
                with pytest.raises(WrongStage, match="not yet"):
                    outcomes(state, stage, reopen=True)


def test_reopening_makes_every_later_stage_that_was_begun_stale_and_leaves_the_others_pending() -> None:
    for state in STATES:
        if state is None:
            continue
        for place, stage in enumerate(STAGES[: done_until(state)]):
            for after in outcomes(state, stage, reopen=True):
                if stage == "validate":
                    continue
                for before, now in zip(state.stages[place + 1 :], after.stages[place + 1 :], strict=True):
                    assert now.status == ("pending" if before.status == "pending" else "stale")


def test_a_fail_leaves_the_project_open_at_the_stage_it_goes_back_to() -> None:
    project = validated("FAIL")
    assert project.current == "tasks"
    assert project.verdict == "FAIL"
    assert project.stale == ("tasks", "validate")
    assert pipeline.next_step(project).tool == "sdd_create_tasks"


def test_a_passed_project_is_done_and_its_next_step_is_a_change() -> None:
    project = validated("PASS")
    assert project.current is None
    assert pipeline.next_step(project).tool == "sdd_change"


def test_a_verdict_is_forgotten_when_an_earlier_stage_is_written_again() -> None:
    assert pipeline.finish(validated("PASS"), "design", "t").verdict is None


def test_iterations_and_times_are_kept_for_each_stage() -> None:
    project = pipeline.begin("p", "d", "guided", "t1")
    assert project.state("init") == StageState("done", 1, "t1", "t1")
    assert project.state("propose") == StageState("pending", 0, "t1", "")
    project = pipeline.finish(project, "propose", "t2")
    project = pipeline.finish(project, "propose", "t3")
    assert project.state("propose") == StageState("done", 2, "t3", "t3")
    assert project.state("specify").started_at == "t2"


def test_each_stage_has_a_tool_of_its_own() -> None:
    assert set(TOOLS) == set(STAGES) == set(get_args(Stage))
    assert len(set(TOOLS.values())) == len(STAGES)


def validated(verdict: Verdict) -> Project:
    project = pipeline.begin("p", "d", "guided", "t")
    for stage in STAGES[1:-1]:
        project = pipeline.finish(project, stage, "t")
    return pipeline.judge(project, verdict, "tasks", "t")
