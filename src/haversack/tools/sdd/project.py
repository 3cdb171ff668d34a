"""The tools that take a project from an idea to a validated plan, one per stage."""

from typing import Annotated

from haversack.app import Caller
from haversack.sdd.documents.artifacts import (
    BusinessRules,
    Design,
    Proposal,
    Requirements,
    Tasks,
    Validation,
    shown_score,
)
from haversack.sdd.flows import project
from haversack.sdd.flows.clarity import Gate
from haversack.sdd.flows.pipeline import MODES
from haversack.sdd.results import Receipt
from haversack.text.amounts import counted
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Done, Outcome, Result
from haversack.tools.sdd.plan_replies import (
    CONFIRMATION_TOKENS,
    confirmed,
    moment,
    spans,
    what_is_next,
    workspace,
)
from haversack.tools.shared_parameters import UnlistedNumber

Reopen = Annotated[bool, "Write a finished stage again; later ones become stale"]


@tool(
    Command("sdd init", ("name", "description"), examples=("haversack sdd init Shop 'Old books'",)),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Start a project",
)
def sdd_init_project(
    caller: Caller, *, name: str, description: str, mode: Annotated[str, MODES] = "guided", reopen: Reopen = False
) -> Outcome:
    """Start a plan kept as Markdown in sdd/. Clarity gate: 70 guided, 50 expert."""
    receipt = project.init_project(
        workspace(caller), name=name, description=description, mode=mode, reopen=reopen, now=moment(caller)
    )
    return _written(caller, receipt, "sdd_init_project", f"{mode} project {receipt.project}")


@tool(
    Command(
        "sdd propose",
        examples=(
            "haversack sdd propose --problem-statement 'Books get lost' --target-users Readers --proposed-solution - "
            "--out-of-scope Buying --success-criteria 'A book is found in a minute' < solution.md",
        ),
    ),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Write the proposal",
)
def sdd_create_proposal(
    caller: Caller,
    *,
    problem_statement: str,
    target_users: str,
    proposed_solution: str,
    out_of_scope: str,
    success_criteria: str,
    open_questions: str = "",
    reopen: Reopen = False,
) -> Outcome:
    """Write the proposal."""
    content = Proposal(
        problem_statement=problem_statement,
        target_users=target_users,
        proposed_solution=proposed_solution,
        out_of_scope=out_of_scope,
        success_criteria=success_criteria,
        open_questions=open_questions,
    )
    receipt = project.create_proposal(workspace(caller), content, reopen=reopen, now=moment(caller))
    return _written(caller, receipt, "sdd_create_proposal", "the proposal")


@tool(
    Command(
        "sdd requirements",
        examples=("haversack sdd requirements --must-have - --should-have none --non-functional none < must.md",),
    ),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Write the requirements",
)
def sdd_generate_requirements(
    caller: Caller,
    *,
    must_have: Annotated[str, "A list, as the others"],
    should_have: str,
    non_functional: str,
    could_have: str = "",
    wont_have: str = "",
    constraints: str = "",
    assumptions: str = "",
    dependencies: str = "",
    reopen: Reopen = False,
) -> Outcome:
    """Write the requirements; entries without an id are given one (FR-001, NFR-001)."""
    content = Requirements(
        must_have=must_have,
        should_have=should_have,
        non_functional=non_functional,
        could_have=could_have,
        wont_have=wont_have,
        constraints=constraints,
        assumptions=assumptions,
        dependencies=dependencies,
    )
    receipt = project.generate_requirements(workspace(caller), content, reopen=reopen, now=moment(caller))
    return _written(caller, receipt, "sdd_generate_requirements", _counted(receipt, "requirement"))


@tool(
    Command(
        "sdd rules",
        examples=("haversack sdd rules --definitions 'Loan: a book lent' --facts none --constraints - < rules.md",),
    ),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Write the business rules",
)
def sdd_create_business_rules(
    caller: Caller,
    *,
    definitions: str,
    facts: str,
    constraints: Annotated[str, "A list; ids BRC-001 are given"],
    derivations: str = "",
    glossary: str = "",
    reopen: Reopen = False,
) -> Outcome:
    """Write the rules of the domain."""
    content = BusinessRules(
        definitions=definitions, facts=facts, constraints=constraints, derivations=derivations, glossary=glossary
    )
    receipt = project.create_business_rules(workspace(caller), content, reopen=reopen, now=moment(caller))
    return _written(caller, receipt, "sdd_create_business_rules", _counted(receipt, "rule"))


@tool(
    Command(
        "sdd clarify",
        examples=(
            "haversack sdd clarify",
            "haversack sdd clarify --answers - --dimension-scores '{\"security\": 80}' < answers.md",
        ),
    ),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="A round of clarification",
)
def sdd_clarify(
    caller: Caller,
    *,
    answers: str = "",
    dimension_scores: Annotated[
        dict[str, float],
        "0-100 for target_users, core_functionality, data_model, integrations, edge_cases, security, "
        "scale_performance, scope_boundaries",
    ] = {},  # noqa: B006 - a default is never changed
    reopen: Reopen = False,
) -> Outcome:
    """One round before the clarity gate: keeps answers and your scores; gives the open questions, weakest first."""
    held = project.clarify(
        workspace(caller), answers=answers, scores=dimension_scores, reopen=reopen, now=moment(caller)
    )
    gate, receipt = held.gate, held.receipt
    facts = _gate_facts(gate, held.rounds)
    if receipt is None:
        message = "\n".join((f"{_verdict(gate)}.", *_questions(gate), what_is_next(caller, held.next_step)))
        facts |= {"next_tool": held.next_step.tool, "next_stage": held.next_step.stage}
        return Done(message, facts, brief=f"{_verdict(gate)}, {counted(held.rounds, 'round')}")
    questions = () if gate.passed else _questions(gate)
    return confirmed(
        caller,
        receipt,
        "sdd_clarify",
        f"round {held.rounds}. {_verdict(gate)}",
        more_lines=(*_stale(receipt), *questions),
        facts=_stage_facts(receipt) | facts,
    )


@tool(
    Command(
        "sdd design",
        examples=(
            "haversack sdd design --architecture-overview - --tech-stack Python --components 'Shelf (FR-001)' "
            "--data-model 'Book, Loan' < overview.md",
        ),
    ),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Write the design",
)
def sdd_create_design(
    caller: Caller,
    *,
    architecture_overview: str,
    tech_stack: str,
    components: Annotated[str, "Each citing the requirement ids it serves"],
    data_model: str,
    api_contracts: str = "",
    infrastructure: str = "",
    security: str = "",
    design_decisions: str = "",
    reopen: Reopen = False,
) -> Outcome:
    """Write the design."""
    content = Design(
        architecture_overview=architecture_overview,
        tech_stack=tech_stack,
        components=components,
        data_model=data_model,
        api_contracts=api_contracts,
        infrastructure=infrastructure,
        security=security,
        design_decisions=design_decisions,
    )
    receipt = project.create_design(workspace(caller), content, reopen=reopen, now=moment(caller))
    return _written(caller, receipt, "sdd_create_design", "the design")


@tool(
    Command("sdd tasks", examples=("haversack sdd tasks --tasks - --estimated-effort 'two weeks' < tasks.md",)),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Write the tasks",
)
def sdd_create_tasks(
    caller: Caller,
    *,
    tasks: Annotated[str, 'A list: "Record loans. Covers FR-002. Depends on TASK-001"'],
    estimated_effort: str,
    dependency_graph: str = "",
    wave_assignments: Annotated[str, "Computed when omitted"] = "",
    acceptance_criteria: str = "",
    reopen: Reopen = False,
    total_tasks: UnlistedNumber = None,
) -> Outcome:
    """Write the task plan; tasks are counted and given ids (TASK-001)."""
    content = Tasks(
        estimated_effort=estimated_effort,
        tasks=tasks,
        dependency_graph=dependency_graph,
        wave_assignments=wave_assignments,
        acceptance_criteria=acceptance_criteria,
    )
    receipt = project.create_tasks(workspace(caller), content, reopen=reopen, now=moment(caller))
    waves = "" if not receipt.waves else f" in {counted(receipt.waves, 'wave')}"
    if total_tasks is not None and total_tasks != receipt.count:
        waves += f" (total_tasks says {total_tasks:,})"
    return _written(caller, receipt, "sdd_create_tasks", _counted(receipt, "task", waves))


@tool(
    Command(
        "sdd validate",
        examples=(
            "haversack sdd validate --requirements-coverage all --component-coverage all --consistency-issues none "
            "--verdict PASS",
        ),
    ),
    group="sdd",
    writes=True,
    default_tokens=2 * CONFIRMATION_TOKENS,
    title="Validate the plan",
)
def sdd_validate(
    caller: Caller,
    *,
    requirements_coverage: str,
    component_coverage: str,
    consistency_issues: str,
    verdict: Annotated[str, "PASS, PASS_WITH_WARNINGS or FAIL"],
    risk_assessment: str = "",
    recommendations: str = "",
    reopen: Reopen = False,
) -> Outcome:
    """Judge the plan beside computed findings: unknown ids, uncovered must-haves, task cycles, placeholders. \
FAIL reopens it."""
    content = Validation(
        requirements_coverage=requirements_coverage,
        component_coverage=component_coverage,
        consistency_issues=consistency_issues,
        risk_assessment=risk_assessment,
        recommendations=recommendations,
    )
    held = project.validate(workspace(caller), content, verdict=verdict, reopen=reopen, now=moment(caller))
    rules = [entry for entry in held.coverage if entry.requirement.priority == "rule"]
    requirements = [entry for entry in held.coverage if entry.requirement.priority != "rule"]
    covered = sum(1 for entry in requirements if entry.tasks)
    errors = sum(1 for finding in held.findings if finding.severity == "error")
    coverage = f"{covered:,} of {counted(len(requirements), 'requirement')}"
    if rules:
        coverage += f" and {sum(1 for entry in rules if entry.tasks):,} of {counted(len(rules), 'rule')}"
    said = f"{held.recorded}, {coverage} covered by tasks, {counted(errors, 'error')} found"
    lines = []
    if held.recorded != held.given:
        lines.append(f"Given as {held.given}; recorded as {held.recorded}, since errors stand.")
    if held.reopened:
        lines.append(f"The plan is open again from {held.reopened} on.")
    facts = _stage_facts(held.receipt) | {
        "verdict": held.recorded,
        "given": held.given,
        "covered": covered,
        "requirements": len(requirements),
        "rules": len(rules),
        "errors": errors,
        "reopened": held.reopened,
    }
    lines += _stale(held.receipt)
    return confirmed(caller, held.receipt, "sdd_validate", said, more_lines=lines, facts=facts)


def _written(caller: Caller, receipt: Receipt, tool_name: str, said: str) -> Result:
    facts = _stage_facts(receipt)
    if receipt.count is not None:
        facts |= {"count": receipt.count, "given_ids": list(receipt.given_ids)}
    if receipt.waves is not None:
        facts["waves"] = receipt.waves
    return confirmed(caller, receipt, tool_name, said, more_lines=_stale(receipt), facts=facts)


def _stage_facts(receipt: Receipt) -> dict[str, object]:
    return {"stage": receipt.stage, "stale": list(receipt.stale)}


def _counted(receipt: Receipt, noun: str, where: str = "") -> str:
    """`5 requirements, ids given: FR-001 to FR-004, NFR-001`."""
    given = f", ids given: {spans(receipt.given_ids)}" if receipt.given_ids else ""
    return f"{counted(receipt.count or 0, noun)}{where}{given}"


def _stale(receipt: Receipt) -> tuple[str, ...]:
    return (f"Stale, to be written again: {', '.join(receipt.stale)}.",) if receipt.stale else ()


def _verdict(gate: Gate) -> str:
    passed = "passed" if gate.passed else "not passed"
    return f"Clarity {shown_score(gate.score)} of 100, {gate.threshold} needed: {passed}"


def _questions(gate: Gate) -> tuple[str, ...]:
    scores = ("no score" if each.score is None else f"{each.score:g}" for each in gate.open_questions)
    asked = (each.dimension for each in gate.open_questions)
    return tuple(f"- {each.name} ({score}): {each.question}" for each, score in zip(asked, scores, strict=True))


def _gate_facts(gate: Gate, rounds: int) -> dict[str, object]:
    return {
        "clarity": float(shown_score(gate.score)),
        "threshold": gate.threshold,
        "passed": gate.passed,
        "rounds": rounds,
        "open_questions": [
            {"dimension": each.dimension.name, "score": each.score, "question": each.dimension.question}
            for each in gate.open_questions
        ],
    }
