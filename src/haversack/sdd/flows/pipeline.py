"""The project pipeline as a pure state machine: which stage is open, and what each step changes.

A project is open at its first stage that is not `done`. Writing a stage marks every later stage that was
begun as `stale`; a stale stage keeps its artifact and is written again when its turn comes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from haversack.errors import WrongStage
from haversack.sdd.flows.stages import NextStep, StageState, States, first_open, opened, written
from haversack.values import record, replace

Stage = Literal["init", "propose", "specify", "business-rules", "clarify", "design", "tasks", "validate"]
Mode = Literal["guided", "expert"]
Verdict = Literal["PASS", "PASS_WITH_WARNINGS", "FAIL"]

STAGES: tuple[Stage, ...] = (
    "init",
    "propose",
    "specify",
    "business-rules",
    "clarify",
    "design",
    "tasks",
    "validate",
)
MODES: tuple[Mode, ...] = ("guided", "expert")
VERDICTS: tuple[Verdict, ...] = ("PASS", "PASS_WITH_WARNINGS", "FAIL")
TOOLS: Mapping[Stage, str] = {
    "init": "sdd_init_project",
    "propose": "sdd_create_proposal",
    "specify": "sdd_generate_requirements",
    "business-rules": "sdd_create_business_rules",
    "clarify": "sdd_clarify",
    "design": "sdd_create_design",
    "tasks": "sdd_create_tasks",
    "validate": "sdd_validate",
}
ARTIFACTS: Mapping[Stage, str] = {
    "propose": "proposal.md",
    "specify": "requirements.md",
    "business-rules": "business-rules.md",
    "clarify": "clarifications.md",
    "design": "design.md",
    "tasks": "tasks.md",
    "validate": "validation.md",
}

NO_SCORES: Mapping[str, float] = MappingProxyType({})


@record
class Project:
    """A project's state; `stages` follow the order of STAGES, `scores` are the clarity scores so far."""

    name: str
    description: str
    mode: Mode
    created_at: str
    stages: States
    scores: Mapping[str, float] = NO_SCORES
    verdict: Verdict | None = None

    @property
    def current(self) -> Stage | None:
        """The open stage; None when the project is validated."""
        place = first_open(self.stages)
        return None if place is None else STAGES[place]

    @property
    def stale(self) -> tuple[Stage, ...]:
        return tuple(stage for stage in STAGES if self.state(stage).status == "stale")

    def state(self, stage: Stage) -> StageState:
        return self.stages[STAGES.index(stage)]


def begin(name: str, description: str, mode: Mode, now: str) -> Project:
    """A new project, open at its proposal."""
    fresh = (StageState(), *(StageState() for _ in STAGES[1:]))
    return Project(name, description, mode, now, written(fresh, 0, status="done", now=now))


def permit_init(project: Project | None, *, reopen: bool = False) -> None:
    """Raise WrongStage, naming the next tool, when a project is there already and is not to be reopened."""
    if project is not None:
        permit(project, "init", reopen=reopen)


def permit(project: Project | None, stage: Stage, *, reopen: bool = False) -> Project:
    """The project, when `stage` may be written now: the open stage may, an earlier one with `reopen`.

    Else WrongStage says where the project is and names the right tool.
    """
    upcoming = next_step(project)
    if project is None:
        raise WrongStage(f"{TOOLS[stage]} needs a project and none is started", hint=upcoming.sentence)
    current = project.current
    if stage == current:
        return project
    here = f"is at {current}" if current else "is validated"
    if current and STAGES.index(stage) > STAGES.index(current):
        raise WrongStage(f"the project {here}, not yet at {stage}", hint=upcoming.sentence)
    if not reopen:
        rewrite = f"{TOOLS[stage]} with reopen=true writes {stage} again"
        raise WrongStage(f"{stage} is done and the project {here}", hint=f"{upcoming.sentence}; {rewrite}")
    return project


def finish(project: Project, stage: Stage, now: str) -> Project:
    """The project after `stage` was written and is done."""
    place = STAGES.index(stage)
    verdict = None if stage != "validate" else project.verdict
    return replace(project, stages=written(project.stages, place, status="done", now=now), verdict=verdict)


def stay(project: Project, stage: Stage, now: str) -> Project:
    """The project after a round of `stage` that did not finish it."""
    stages = written(project.stages, STAGES.index(stage), status="in_progress", now=now)
    return replace(project, stages=stages, verdict=None)


def judge(project: Project, verdict: Verdict, back_to: Stage, now: str) -> Project:
    """The project after validation: done, or, on FAIL, open again from `back_to` on."""
    done = replace(finish(project, "validate", now), verdict=verdict)
    if verdict != "FAIL":
        return done
    start = STAGES.index(back_to)
    reopened = tuple(
        replace(state, status="stale", started_at="" if place == start else state.started_at)
        if place >= start
        else state
        for place, state in enumerate(done.stages)
    )
    return replace(done, stages=opened(reopened, now))


def next_step(project: Project | None) -> NextStep:
    """The step that moves a project on from where it is."""
    if project is None:
        return NextStep(TOOLS["init"], "init", f"{TOOLS['init']} starts a project")
    stage = project.current
    if stage is None:
        return NextStep("sdd_change", "", "every stage is done: sdd_change starts a change")
    tool = TOOLS[stage]
    status = project.state(stage).status
    if status == "stale":
        return NextStep(tool, stage, f"{tool} writes {stage} again, which is stale")
    if status == "in_progress":
        return NextStep(tool, stage, f"{tool} goes on with {stage}")
    return NextStep(tool, stage, f"{tool} is next, for {stage}")
