"""The artifacts: their fields, and how they are written as Markdown.

Every artifact is `# Title` followed by one `## Section` per parameter that was given, in the order of the
fields below. Headings inside a parameter are pushed down so that they stay inside their section, and a fence
left open is closed. Requirements are written `- **FR-001**: text`, tasks `- **TASK-001**: text` (or as
headings, when they came as headings), waves `- **Wave 1**: TASK-001, TASK-002`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Literal

from haversack.errors import InvalidArgument
from haversack.sdd.checks.traceability import Trace
from haversack.sdd.documents import markdown
from haversack.sdd.documents.ids import REQUIREMENTS, TASKS, Labeller, cited, labels
from haversack.sdd.documents.requirements import gists, requirements_in, rules_in
from haversack.sdd.documents.task_plan import TaskPlan, compute_waves, read_plan
from haversack.sdd.flows.clarity import Gate
from haversack.sdd.flows.pipeline import Verdict
from haversack.values import fields, record

AdrStatus = Literal["proposed", "accepted", "rejected", "deprecated", "superseded"]
ADR_STATUSES: tuple[AdrStatus, ...] = ("proposed", "accepted", "rejected", "deprecated", "superseded")

_TITLES = {
    "wont_have": "Won't have",
    "non_functional": "Non-functional requirements",
    "api_contracts": "API contracts",
    "wave_assignments": "Waves",
}


@record
class Proposal:
    """The proposal: the problem, its users, the solution and its limits."""

    may_be_blank = ("open_questions",)
    problem_statement: str
    target_users: str
    proposed_solution: str
    out_of_scope: str
    success_criteria: str
    open_questions: str = ""


@record
class Requirements:
    """The requirements: lists, one entry per line; entries without an id are given one."""

    may_be_blank = ("could_have", "wont_have", "constraints", "assumptions", "dependencies")
    must_have: str
    should_have: str
    non_functional: str
    could_have: str = ""
    wont_have: str = ""
    constraints: str = ""
    assumptions: str = ""
    dependencies: str = ""


@record
class BusinessRules:
    """The rules of the domain; constraints are given ids."""

    may_be_blank = ("derivations", "glossary")
    definitions: str
    facts: str
    constraints: str
    derivations: str = ""
    glossary: str = ""


@record
class Design:
    """The design: architecture, components, data and decisions."""

    may_be_blank = ("api_contracts", "infrastructure", "security", "design_decisions")
    architecture_overview: str
    tech_stack: str
    components: str
    data_model: str
    api_contracts: str = ""
    infrastructure: str = ""
    security: str = ""
    design_decisions: str = ""


@record
class Tasks:
    """The task plan; tasks without an id are given one, waves are computed when not given."""

    may_be_blank = ("dependency_graph", "wave_assignments", "acceptance_criteria")
    estimated_effort: str
    tasks: str
    dependency_graph: str = ""
    wave_assignments: str = ""
    acceptance_criteria: str = ""


@record
class Validation:
    """The caller's own judgement of the plan."""

    may_be_blank = ("risk_assessment", "recommendations")
    requirements_coverage: str
    component_coverage: str
    consistency_issues: str
    risk_assessment: str = ""
    recommendations: str = ""


@record
class Decision:
    """An architecture decision and the alternatives that were rejected."""

    may_be_blank = ("alternatives_rejected",)
    context: str
    decision: str
    rationale: str
    alternatives_rejected: str = ""


Content = Proposal | Requirements | BusinessRules | Design | Tasks | Validation | Decision


@record
class Labelled:
    """An artifact with the ids that were given while it was written."""

    text: str
    given: tuple[str, ...]


def checked(content: Content) -> dict[str, str]:
    """Each field's text, tidied; a required one that is blank is an error that names it."""
    texts = {name: markdown.tidy(getattr(content, name), name) for name in fields(content)}
    blank = [name for name, text in texts.items() if not text and name not in content.may_be_blank]
    if blank:
        raise InvalidArgument(f"{', '.join(blank)} is empty", hint='write "none" where there is nothing to say')
    return texts


def single_line(text: str, name: str, *, longest: int = 200) -> str:
    """A name or title: one line, not blank, not longer than `longest` characters."""
    line = " ".join(markdown.tidy(text, name).split())
    if not line:
        raise InvalidArgument(f"{name} is empty", hint=f"give the {name} in one line")
    if len(line) > longest:
        raise InvalidArgument(f"{name} has {len(line)} characters", hint=f"at most {longest} fit in one line")
    return line


def write_plain(title: str, content: Content) -> str:
    """An artifact whose fields are written as they are."""
    return _document(title, checked(content))


def write_requirements(project: str, content: Requirements, earlier: Sequence[str] = ()) -> Labelled:
    """The requirements with an id on each; `earlier` are the versions so far, newest first."""
    texts = checked(content)
    known = requirements_in(earlier[0], "") if earlier else ()
    return _labelled(
        f"Requirements: {project}",
        texts,
        {"must_have": "FR", "should_have": "FR", "could_have": "FR", "non_functional": "NFR"},
        earlier,
        gists(known),
    )


def write_business_rules(project: str, content: BusinessRules, earlier: Sequence[str] = ()) -> Labelled:
    """The business rules with an id on each constraint; `earlier` are the versions so far, newest first."""
    known = rules_in(earlier[0], "") if earlier else ()
    title = f"Business rules: {project}"
    return _labelled(title, checked(content), {"constraints": "BRC"}, earlier, gists(known))


def write_tasks(project: str, content: Tasks) -> tuple[Labelled, TaskPlan]:
    """The task plan, counted, with an id on each task and with waves, and the same as it is read back."""
    texts = checked(content)
    labeller = Labeller(TASKS, taken=labels((texts["tasks"],), TASKS))
    texts["tasks"] = labeller.label(texts["tasks"], "TASK")
    title = f"Tasks: {project}"
    plan = read_plan(_document(title, texts))
    if not plan.tasks:
        raise InvalidArgument("tasks holds no task", hint="give a list with one task per entry")
    if not texts["wave_assignments"]:
        waves = enumerate(compute_waves(plan.tasks), 1)
        texts["wave_assignments"] = "\n".join(f"- **Wave {n}**: {', '.join(names)}" for n, names in waves)
    text = _document(title, texts, preamble=_counted(len(plan.tasks), "task"))
    return Labelled(text, tuple(labeller.given)), read_plan(text)


def write_clarifications(project: str, gate: Gate, rounds: Sequence[str]) -> str:
    """The clarifications artifact: the gate's state, the scores, and the answers of every round."""
    verdict = "passed" if gate.passed else "not passed"
    standing = f"Clarity {shown_score(gate.score)} of 100, threshold {gate.threshold}: {verdict}."
    rows = [
        f"| {d.dimension.name} | {d.dimension.weight} | {'-' if d.score is None else f'{d.score:g}'} |"
        for d in gate.dimensions
    ]
    scores = "\n".join(("| Dimension | Weight | Score |", "|---|---|---|", *rows))
    answers = "".join(f"\n{text}\n" for text in rounds)
    return f"# Clarifications: {project}\n\n{standing}\n\n## Scores\n\n{scores}\n{answers}"


def write_round(number: int, day: str, answers: str) -> str:
    """One round of answers as a section of the clarifications."""
    return f"## Round {number} ({day})\n\n{markdown.demote(answers, 2)}"


def rounds_in(text: str) -> tuple[str, ...]:
    """The rounds in a clarifications artifact, unchanged."""
    starts = [s.line for s in markdown.sections(text) if s.level == 2 and s.title.startswith("Round ")]
    rows = text.split("\n")
    bounds = pairwise((*starts, len(rows) + 1))
    return tuple("\n".join(rows[start - 1 : end - 1]).strip() for start, end in bounds)


def write_validation(project: str, content: Validation, given: Verdict, recorded: Verdict, trace: Trace) -> str:
    """The reader's judgement, followed by the computed findings."""
    findings = [f"- {f.severity}: {f.where}: {f.message}" for f in trace.findings] or ["None."]
    covered = [f"- {c.requirement.id}: {', '.join(c.tasks) or 'no task'}" for c in trace.coverage] or ["None."]
    verdict = recorded if given == recorded else f"{recorded} (given as {given}; computed findings stand)"
    texts = {"verdict": verdict, **checked(content)}
    texts |= {"computed_findings": "\n".join(findings), "computed_coverage": "\n".join(covered)}
    return _document(f"Validation: {project}", texts)


def write_decision(
    number: int, title: str, content: Decision, *, status: str, day: str, supersedes: Iterable[int] = ()
) -> str:
    """An architecture decision record."""
    facts = [f"- Status: {status}", f"- Date: {day}"]
    facts += [f"- Supersedes: ADR-{old:03d}" for old in supersedes]
    return _document(f"ADR-{number:03d}: {title}", checked(content), preamble="\n".join(facts))


def write_change_stage(title: str, content: str) -> str:
    """One stage of a change."""
    return f"# {title}\n\n{markdown.demote(content, 1)}\n"


def shown_score(score: float) -> str:
    """A score with one decimal, rounded down, so that none below the threshold reads as if it reached it."""
    return f"{math.floor(score * 10) / 10:g}"


def outline(text: str, *, most_lines: int = 60, most_characters: int = 20_000) -> str:
    """The headings of an artifact, each with the first line and the entries under it, in whole lines."""
    kept: list[str] = []
    for section in markdown.sections(text):
        kept += [f"{'#' * section.level} {section.title}"] if section.level else []
        rows = [row for row in markdown.lines(section.text) if row.text.strip() and not row.code]
        kept += [row.text for place, row in enumerate(rows) if not place or row.text[0] in "-*+|0123456789"]
    lengths = accumulate(len(line) + 1 for line in kept)
    fitting = [line for line, length in zip(kept, lengths, strict=True) if length <= most_characters]
    return "\n".join(fitting[:most_lines])


def _labelled(
    title: str,
    texts: dict[str, str],
    prefixes: Mapping[str, str],
    earlier: Sequence[str],
    known: Mapping[str, str],
) -> Labelled:
    own = set(labels((texts[name] for name in prefixes), REQUIREMENTS))
    ever = {name for text in (*texts.values(), *earlier) for name in cited(text, REQUIREMENTS)}
    kept = {wording: name for wording, name in known.items() if name not in own}
    labeller = Labeller(REQUIREMENTS, taken=own | ever, earlier=kept)
    for name, prefix in prefixes.items():
        texts[name] = labeller.label(texts[name], prefix)
    return Labelled(_document(title, texts), tuple(labeller.given))


def _document(title: str, texts: Mapping[str, str], *, preamble: str = "") -> str:
    parts = [f"# {title}", *([preamble] if preamble else [])]
    for name, text in texts.items():
        if text:
            heading = _TITLES.get(name, name.replace("_", " ").capitalize())
            parts.append(f"## {heading}\n\n{markdown.demote(text, 2)}")
    return "\n\n".join(parts) + "\n"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}."
