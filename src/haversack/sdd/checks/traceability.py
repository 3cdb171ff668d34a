"""Traceability, computed from the artifacts: every finding cites the file and the line it is about."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from haversack.patterns import pattern
from haversack.sdd.documents import markdown
from haversack.sdd.documents.ids import REQUIREMENTS, citations
from haversack.sdd.documents.requirements import Requirement, requirements_in, rules_in, unlabelled_in
from haversack.sdd.documents.task_plan import Task, TaskPlan, circles, read_plan
from haversack.sdd.flows.pipeline import Stage
from haversack.values import record

FindingKind = Literal[
    "unknown_id",
    "unknown_task",
    "duplicate_id",
    "uncovered",
    "excluded",
    "cycle",
    "wave_order",
    "no_wave",
    "placeholder",
    "no_id",
    "no_requirements",
    "missing",
    "damaged",
]
Severity = Literal["error", "warning"]

_PLACEHOLDER = pattern(
    r"\b(?:TBD|tbd|TBC|TODO|FIXME|XXX)\b|\?{3,}|\b[Tt]o be (?:determined|decided|defined|confirmed)\b"
    r"|\[(?:insert|fill in|your)\b[^\]\n]{0,80}\]|\b[Ll]orem ipsum\b"
)


@record
class Finding:
    """A contradiction or a gap in the artifacts; `stage` is the one that can mend it, if any."""

    kind: FindingKind
    severity: Severity
    file: str
    line: int
    message: str
    stage: Stage | None = None

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"


@record
class Document:
    """An artifact's text; `stage` is the project stage that writes it, None for changes and decisions.

    A `settled` document is a record of the past: its ids are known, but its text is not checked.
    """

    file: str
    text: str
    stage: Stage | None = None
    settled: bool = False


@record
class Coverage:
    """A requirement and the tasks that cover it."""

    requirement: Requirement
    tasks: tuple[str, ...]


@record
class Trace:
    """The requirements, tasks and references of the artifacts; findings are errors first, then by file and line."""

    requirements: tuple[Requirement, ...]
    tasks: tuple[Task, ...]
    coverage: tuple[Coverage, ...]
    findings: tuple[Finding, ...]


def trace(documents: Sequence[Document]) -> Trace:
    """The requirements, tasks, coverage and findings of a project's artifacts.

    Ids that a change's specification defines are known too. The validation report is not searched for
    placeholders and unknown ids, since it quotes the findings themselves.
    """
    by_stage = {document.stage: document for document in documents if document.stage}
    requirements = _requirements(by_stage)
    plan = _plan(by_stage)
    known = known_ids(documents)
    checked = [document for document in documents if document.stage != "validate" and not document.settled]
    findings = [*_duplicates(requirements), *_unlabelled(by_stage)]
    for document in checked:
        findings += placeholders(document)
        findings += unknown_ids(document, known, _families(by_stage))
    coverage: tuple[Coverage, ...] = ()
    if plan is not None:
        file = by_stage["tasks"].file
        coverage = _coverage(requirements, plan)
        findings += [*_coverage_findings(coverage), *_plan_findings(plan, file)]
    ordered = sorted(findings, key=lambda f: (f.severity != "error", f.file, f.line, f.kind, f.message))
    return Trace(requirements, plan.tasks if plan else (), coverage, tuple(ordered))


def known_ids(documents: Sequence[Document]) -> frozenset[str]:
    """The ids that the artifacts and the specifications of changes define."""
    by_stage = {document.stage: document for document in documents if document.stage}
    defined = (requirement.id for requirement in _requirements(by_stage))
    return frozenset((*defined, *_defined_by_changes(documents)))


def placeholders(document: Document) -> Iterator[Finding]:
    """The placeholders, such as TBD, in a document; code is not searched."""
    for line in markdown.lines(document.text):
        found = None if line.code else _PLACEHOLDER.search(markdown.without_code_spans(line.text))
        if found:
            message = f"placeholder {found[0]!r}"
            yield Finding("placeholder", "error", document.file, line.number, message, document.stage)


def unknown_ids(document: Document, known: Collection[str], families: Collection[str]) -> Iterator[Finding]:
    """The requirement ids of those families that a document names and that are defined nowhere."""
    for citation in citations(document.text, REQUIREMENTS):
        judged = citation.id.rpartition("-")[0] in families and not citation.implied
        if judged and citation.id not in known:
            message = f"{citation.id} is defined nowhere"
            yield Finding("unknown_id", "error", document.file, citation.line, message, document.stage)


def _requirements(by_stage: Mapping[Stage, Document]) -> tuple[Requirement, ...]:
    rules = by_stage.get("business-rules")
    stated = by_stage.get("specify")
    from_rules = rules_in(rules.text, rules.file) if rules else ()
    ruled = {rule.id for rule in from_rules}
    found = requirements_in(stated.text, stated.file) if stated else ()
    return (*(requirement for requirement in found if requirement.id not in ruled), *from_rules)


def _families(by_stage: Mapping[Stage, Document]) -> frozenset[str]:
    """The families of ids whose defining artifact is written; the others may be cited ahead of it."""
    stated = {"FR", "NFR"} if "specify" in by_stage else set()
    return frozenset(stated | ({"BRC"} if "business-rules" in by_stage else set()))


def _plan(by_stage: Mapping[Stage, Document]) -> TaskPlan | None:
    tasks = by_stage.get("tasks")
    return read_plan(tasks.text) if tasks else None


def _defined_by_changes(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        if document.stage is None and document.file.endswith("/spec.md"):
            yield from (requirement.id for requirement in requirements_in(document.text, document.file))


def _duplicates(requirements: Iterable[Requirement]) -> Iterator[Finding]:
    first: dict[str, Requirement] = {}
    for requirement in requirements:
        original = first.setdefault(requirement.id, requirement)
        if original is not requirement:
            message = f"{requirement.id} is already defined at {original.file}:{original.line}"
            stage: Stage = "business-rules" if requirement.priority == "rule" else "specify"
            yield Finding("duplicate_id", "error", requirement.file, requirement.line, message, stage)


def _unlabelled(by_stage: Mapping[Stage, Document]) -> Iterator[Finding]:
    document = by_stage.get("specify")
    if document is None:
        return
    for line in unlabelled_in(document.text):
        yield Finding("no_id", "warning", document.file, line, "a requirement without an id", "specify")
    if not any(r.priority in ("must", "unstated") for r in requirements_in(document.text, document.file)):
        message = "no must-have requirement is stated"
        yield Finding("no_requirements", "error", document.file, 1, message, "specify")


def _coverage(requirements: Iterable[Requirement], plan: TaskPlan) -> tuple[Coverage, ...]:
    tasks: dict[str, dict[str, None]] = {}
    for task in plan.tasks:
        for name in task.covers:
            tasks.setdefault(name, {})[task.id] = None
    once = {requirement.id: requirement for requirement in reversed(tuple(requirements))}
    return tuple(Coverage(requirement, tuple(tasks.get(requirement.id, ()))) for requirement in reversed(once.values()))


def _coverage_findings(coverage: Iterable[Coverage]) -> Iterator[Finding]:
    for entry in coverage:
        requirement = entry.requirement
        place = (requirement.file, requirement.line)
        if requirement.priority == "wont":
            if entry.tasks:
                message = f"{requirement.id} is a won't-have, yet {', '.join(entry.tasks)} covers it"
                yield Finding("excluded", "warning", *place, message, "tasks")
        elif not entry.tasks and requirement.priority in ("must", "unstated"):
            yield Finding("uncovered", "error", *place, f"no task covers must-have {requirement.id}", "tasks")
        elif not entry.tasks and requirement.priority in ("should", "quality"):
            yield Finding("uncovered", "warning", *place, f"no task covers {requirement.id}", "tasks")


def _plan_findings(plan: TaskPlan, file: str) -> Iterator[Finding]:
    lines: dict[str, int] = {}
    for task in plan.tasks:
        if task.id in lines:
            message = f"{task.id} is already defined at {file}:{lines[task.id]}"
            yield Finding("duplicate_id", "error", file, task.line, message, "tasks")
        lines.setdefault(task.id, task.line)
    for task_id, needed, line in plan.needs_stated:
        for name in (task_id, needed):
            if name not in lines:
                yield Finding("unknown_task", "error", file, line, f"{name} is no task of the plan", "tasks")
    for circle in circles(plan.tasks):
        message = f"tasks need each other: {' needs '.join((*circle, circle[0]))}"
        yield Finding("cycle", "error", file, lines[circle[0]], message, "tasks")
    yield from _wave_findings(plan, lines, file)


def _wave_findings(plan: TaskPlan, lines: Mapping[str, int], file: str) -> Iterator[Finding]:
    waves = {assignment.task: assignment for assignment in reversed(plan.assignments)}
    knotted = {name for circle in circles(plan.tasks) for name in circle}
    for assignment in plan.assignments:
        if assignment.task not in lines:
            message = f"{assignment.task} is no task of the plan"
            yield Finding("unknown_task", "error", file, assignment.line, message, "tasks")
    for task in plan.tasks:
        own = waves.get(task.id)
        if own is None:
            if task.id not in knotted:
                yield Finding("no_wave", "warning", file, task.line, f"{task.id} is in no wave", "tasks")
            continue
        for needed in task.needs:
            before = waves.get(needed)
            if before and needed != task.id and before.wave >= own.wave:
                message = f"{task.id} is in wave {own.wave} but needs {needed}, in wave {before.wave}"
                yield Finding("wave_order", "error", file, own.line, message, "tasks")
