"""The project pipeline's operations: load the state, ask the machine, write the artifact, save the state.

Each runs under the folder's lock, so that of two callers at once the second sees what the first has done.
Times are aware; they are kept in UTC. A step that may not be taken writes nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from haversack.errors import DamagedFile, InvalidArgument
from haversack.sdd.checks.traceability import Finding, Trace
from haversack.sdd.documents import artifacts, markdown
from haversack.sdd.documents.artifacts import BusinessRules, Design, Proposal, Requirements, Tasks, Validation
from haversack.sdd.documents.disk import STATE_FILE, Folder, Written
from haversack.sdd.documents.library import load_project, located, read_trace, save_project
from haversack.sdd.documents.requirements import requirements_in, rules_in
from haversack.sdd.documents.slugs import slugify
from haversack.sdd.flows import clarity, pipeline
from haversack.sdd.flows.pipeline import ARTIFACTS, MODES, STAGES, VERDICTS, Project, Stage, Verdict
from haversack.sdd.results import ClarityRound, ObservationText, Receipt, ValidationReceipt
from haversack.values import record, replace

Word = TypeVar("Word", bound=str)


@record
class _Composed:
    text: str
    given_ids: tuple[str, ...] = ()
    count: int | None = None
    waves: int | None = None


_Compose = Callable[[Folder, Project], _Composed]


def init_project(
    workspace: str, *, name: str, description: str, mode: str = "guided", reopen: bool = False, now: datetime
) -> Receipt:
    """Start a project; with `reopen`, give the one that is there another name, description or mode."""
    name = artifacts.single_line(name, "name")
    description = markdown.tidy(description, "description")
    if not description:
        raise InvalidArgument("description is empty", hint="say in a sentence or two what the project is for")
    chosen = one_of(mode, MODES, "mode")
    folder = located(workspace)
    pipeline.permit_init(load_project(folder), reopen=reopen)
    with folder.locked():
        project = load_project(folder)
        pipeline.permit_init(project, reopen=reopen)
        if project is None:
            _refuse_orphans(folder)
            project = pipeline.begin(name, description, chosen, stamp(now))
        else:
            renamed = replace(project, name=name, description=description, mode=chosen)
            project = pipeline.finish(renamed, "init", stamp(now))
        written = save_project(folder, project)
    return _receipt(project, "init", written, _Composed(f"{description}\n\nMode: {chosen}"), ())


def create_proposal(workspace: str, content: Proposal, *, reopen: bool = False, now: datetime) -> Receipt:
    """Write the proposal."""
    return _write(workspace, "propose", _plain("Proposal", content), reopen=reopen, now=now)


def generate_requirements(workspace: str, content: Requirements, *, reopen: bool = False, now: datetime) -> Receipt:
    """Write the requirements, with an id on each; one worded as before keeps its id."""

    def compose(folder: Folder, project: Project) -> _Composed:
        earlier = folder.versions(ARTIFACTS["specify"])
        labelled = artifacts.write_requirements(project.name, content, earlier)
        return _Composed(labelled.text, labelled.given, len(requirements_in(labelled.text, "")))

    return _write(workspace, "specify", compose, reopen=reopen, now=now)


def create_business_rules(workspace: str, content: BusinessRules, *, reopen: bool = False, now: datetime) -> Receipt:
    """Write the business rules, with an id on each constraint."""

    def compose(folder: Folder, project: Project) -> _Composed:
        earlier = folder.versions(ARTIFACTS["business-rules"])
        labelled = artifacts.write_business_rules(project.name, content, earlier)
        return _Composed(labelled.text, labelled.given, len(rules_in(labelled.text, "")))

    return _write(workspace, "business-rules", compose, reopen=reopen, now=now)


def create_design(workspace: str, content: Design, *, reopen: bool = False, now: datetime) -> Receipt:
    """Write the design."""
    return _write(workspace, "design", _plain("Design", content), reopen=reopen, now=now)


def create_tasks(workspace: str, content: Tasks, *, reopen: bool = False, now: datetime) -> Receipt:
    """Write the task plan, counted, with ids and waves."""

    def compose(folder: Folder, project: Project) -> _Composed:
        labelled, plan = artifacts.write_tasks(project.name, content)
        waves = len({assignment.wave for assignment in plan.assignments})
        return _Composed(labelled.text, labelled.given, len(plan.tasks), waves)

    return _write(workspace, "tasks", compose, reopen=reopen, now=now)


def clarify(
    workspace: str,
    *,
    answers: str = "",
    scores: Mapping[str, float] | None = None,
    reopen: bool = False,
    now: datetime,
) -> ClarityRound:
    """One round before the clarity gate; scores add to those of earlier rounds.

    With neither answers nor scores nothing is written, unless the scores kept already pass the gate.
    """
    said = markdown.tidy(answers, "answers")
    new_scores = clarity.checked_scores(scores or {})
    folder = located(workspace)
    pipeline.permit(load_project(folder), "clarify", reopen=reopen)
    with folder.locked():
        project = pipeline.permit(load_project(folder), "clarify", reopen=reopen)
        gate = clarity.weigh({**project.scores, **new_scores}, project.mode)
        rounds = artifacts.rounds_in(folder.read(ARTIFACTS["clarify"]) or "")
        if not (said or new_scores or reopen or gate.passed):
            return ClarityRound(gate, len(rounds), pipeline.next_step(project), None)
        if said or new_scores:
            scored = ", ".join(f"{name} {score:g}" for name, score in new_scores.items())
            parts = (f"Scores: {scored}." if scored else "", said)
            text = "\n\n".join(part for part in parts if part)
            rounds = (*rounds, artifacts.write_round(len(rounds) + 1, stamp(now)[:10], text))
        composed = _Composed(artifacts.write_clarifications(project.name, gate, rounds))
        written = folder.write(ARTIFACTS["clarify"], composed.text)
        step = pipeline.finish if gate.passed else pipeline.stay
        project = step(replace(project, scores={**project.scores, **new_scores}), "clarify", stamp(now))
        save_project(folder, project)
        findings = _findings_of("clarify", written, read_trace(folder, project))
    receipt = _receipt(project, "clarify", written, composed, findings)
    return ClarityRound(gate, len(rounds), receipt.next_step, receipt)


def validate(
    workspace: str, content: Validation, *, verdict: str, reopen: bool = False, now: datetime
) -> ValidationReceipt:
    """Write the validation with the computed findings beside the caller's own; a computed error makes it a FAIL.

    A FAIL reopens the project at the earliest stage that an error concerns, at the tasks when none does.
    """
    given = one_of("_".join(verdict.upper().replace("-", " ").replace("_", " ").split()), VERDICTS, "verdict")
    artifacts.checked(content)
    folder = located(workspace)
    pipeline.permit(load_project(folder), "validate", reopen=reopen)
    with folder.locked():
        project = pipeline.permit(load_project(folder), "validate", reopen=reopen)
        trace = read_trace(folder, project)
        errors = [finding for finding in trace.findings if finding.severity == "error"]
        # An error is a contradiction in the plan itself; no verdict of the caller's outweighs it.
        recorded: Verdict = "FAIL" if errors else given
        composed = _Composed(artifacts.write_validation(project.name, content, given, recorded, trace))
        written = folder.write(ARTIFACTS["validate"], composed.text)
        back_to = _earliest(errors)
        project = pipeline.judge(project, recorded, back_to, stamp(now))
        save_project(folder, project)
    receipt = _receipt(project, "validate", written, composed, trace.findings)
    reopened = back_to if recorded == "FAIL" else None
    return ValidationReceipt(receipt, given, recorded, trace.findings, trace.coverage, reopened)


def stamp(now: datetime) -> str:
    """A time as it is kept: ISO 8601, UTC, to the second."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def one_of(value: str, allowed: tuple[Word, ...], name: str) -> Word:
    """`value` as one of the allowed words; any other is an error that lists them."""
    for word in allowed:
        if word == value.strip():
            return word
    raise InvalidArgument(f"{name} is {value!r}", hint=f"one of: {', '.join(allowed)}")


def _write(workspace: str, stage: Stage, compose: _Compose, *, reopen: bool, now: datetime) -> Receipt:
    folder = located(workspace)
    # Asked once before the lock too, so that a wrong step does not even make the folder.
    pipeline.permit(load_project(folder), stage, reopen=reopen)
    with folder.locked():
        project = pipeline.permit(load_project(folder), stage, reopen=reopen)
        composed = compose(folder, project)
        written = folder.write(ARTIFACTS[stage], composed.text)
        project = pipeline.finish(project, stage, stamp(now))
        save_project(folder, project)
        findings = _findings_of(stage, written, read_trace(folder, project))
    return _receipt(project, stage, written, composed, findings)


def _earliest(errors: Iterable[Finding]) -> Stage:
    """The stage where mending starts: the earliest that an error concerns, else the tasks."""
    concerned = {finding.stage for finding in errors}
    return next((stage for stage in STAGES if stage in concerned), "tasks")


def _plain(title: str, content: Proposal | Design) -> _Compose:
    return lambda _, project: _Composed(artifacts.write_plain(f"{title}: {project.name}", content))


def _refuse_orphans(folder: Folder) -> None:
    """Raise an error when there are artifacts without a state: a new project would replace them."""
    orphans = [name for name in ARTIFACTS.values() if folder.exists(name)]
    if orphans:
        raise DamagedFile(
            f"{folder.shown()} holds {', '.join(orphans)} but no {STATE_FILE}",
            hint="restore it from version control, or let `haversack sdd doctor --mend` rebuild it from the artifacts",
        )


def _findings_of(stage: Stage, written: Written, trace: Trace) -> tuple[Finding, ...]:
    return tuple(f for f in trace.findings if f.file == written.path or (f.stage == stage == "tasks"))


def _receipt(
    project: Project, stage: Stage, written: Written, composed: _Composed, findings: tuple[Finding, ...]
) -> Receipt:
    observation = ObservationText(
        title=f"{project.name}: {stage}",
        content=f"{written.path}\n\n{artifacts.outline(composed.text)}",
        kind="decision",
        topic_key=f"sdd/{slugify(project.name)}/{stage}",
    )
    return Receipt(
        project=project.name,
        stage=stage,
        written=written,
        next_step=pipeline.next_step(project),
        stale=project.stale,
        findings=findings,
        observation=observation,
        given_ids=composed.given_ids,
        count=composed.count,
        waves=composed.waves,
    )
