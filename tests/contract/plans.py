"""Plans of every sort beside the stores: none, one just begun, one with everything wrong, one that is large."""

import os
from datetime import UTC, datetime
from random import Random

from haversack.sdd.documents.artifacts import BusinessRules, Decision, Design, Proposal, Requirements, Tasks, Validation
from haversack.sdd.documents.decisions import record_decision
from haversack.sdd.flows import change_steps, clarity, project

NOW = datetime(2026, 2, 2, 12, 0, tzinfo=UTC)
CLEAR = dict.fromkeys(clarity.NAMES, 90)


def begun(root: str, random: Random, sentences: tuple[str, ...]) -> None:
    project.init_project(root, name="项目 🚀 " + "long name " * 15, description=sentences[1], mode="expert", now=NOW)


def troubled(root: str, random: Random, sentences: tuple[str, ...]) -> None:
    """Every script, fences, a giant section, placeholders, unknown ids, a cycle, and a change under way."""
    _planned(root, random, sentences, requirements=24, tasks=12, trouble=True)
    with open(os.path.join(root, "AGENTS.md"), "w", encoding="utf-8") as file:
        file.write(
            "/first line begins with a slash\n\n# Rules\n\n" + "\n".join(sentences) + "\n\n## Tokens\n\nrotate them\n"
        )
    for number, each in enumerate(sentences[:4]):
        change_steps.start_change(root, change_type="fix", size="small", description=f"{number} {each}", now=NOW)
        change_steps.advance_change(root, content=f"{each}\n\nFR-00{number + 1}", now=NOW)
        change_steps.cancel_change(root, reason=each, now=NOW)
        decision = Decision(context=each, decision=sentences[-1 - number], rationale="Because of FR-002.")
        record_decision(root, title=f"Token {number}", content=decision, now=NOW)
    change_steps.start_change(root, change_type="feature", size="large", description=sentences[0], now=NOW)
    change_steps.advance_change(root, content=sentences[5], now=NOW)


def large(root: str, random: Random, sentences: tuple[str, ...]) -> None:
    """More requirements, tasks and changes than a reply shows."""
    _planned(root, random, sentences, requirements=150, tasks=60, trouble=False)
    for number in range(30):
        change_steps.start_change(root, change_type="refactor", size="small", description=f"Token {number}", now=NOW)
        change_steps.archive_change(root, reason="token", now=NOW)


def _planned(
    root: str, random: Random, sentences: tuple[str, ...], *, requirements: int, tasks: int, trouble: bool
) -> None:
    def lines(number: int) -> str:
        return "\n".join(f"- {random.choice(sentences).splitlines()[0]} {each}" for each in range(number))

    giant = "\n\n".join(random.choice(sentences) for _ in range(400)) if trouble else "none"
    project.init_project(root, name="Token keeper", description=sentences[0], now=NOW)
    proposal = Proposal(sentences[1], sentences[2], giant, "TBD" if trouble else "none", sentences[9], sentences[7])
    project.create_proposal(root, proposal, now=NOW)
    project.generate_requirements(root, Requirements(lines(requirements), lines(5), lines(5)), now=NOW)
    project.create_business_rules(root, BusinessRules(lines(3), sentences[3], lines(5)), now=NOW)
    project.clarify(root, answers=sentences[4], scores=CLEAR, now=NOW)
    design = Design(sentences[8], "Python, FR-404" if trouble else "Python", lines(9) + " FR-001", "\n".join(sentences))
    project.create_design(root, design, now=NOW)
    plan = "\n".join(f"- Token task {each}. Covers FR-{each:03d}" for each in range(1, tasks + 1))
    plan += "\n- Knot. Depends on TASK-001" if trouble else ""
    graph = f"- TASK-001 depends on TASK-{tasks + 1:03d}" if trouble else ""
    project.create_tasks(root, Tasks("two weeks", plan, graph), now=NOW)
    project.validate(root, Validation("all", "all", giant), verdict="FAIL" if trouble else "PASS", now=NOW)


PLANS = {"tiny": begun, "mixed": troubled, "many": large}
