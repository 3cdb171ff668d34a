"""`plan_doctor`: the damage in the plan of the current folder, and its repair."""

from datetime import UTC, datetime
from typing import Annotated

from haversack.app import Caller
from haversack.sdd.checks import repair
from haversack.sdd.checks.repair import Mended, Problem
from haversack.sdd.documents.disk import find
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Block, Facts, Outcome, Result
from haversack.values import asdict


@tool(
    Command("sdd doctor", heading="plan", examples=("haversack sdd doctor", "haversack sdd doctor --mend")),
    group="upkeep",
    writes=True,
    idempotent=True,
    confirms=False,
)
def plan_doctor(
    caller: Caller, *, mend: Annotated[bool, "Rebuild what is damaged; the damaged files are kept"] = False
) -> Outcome:
    """Say what is damaged in the plan kept here, and mend it."""
    root = caller.workspace.root
    mended = repair.mend(root, now=datetime.now(UTC)) if mend else ()
    problems = repair.diagnose(root)
    caller.console.exit_code = 1 if problems else 0
    folder = find(root)
    well = f"ok   {folder.path()}: nothing is damaged" if folder else f"ok   no plan is kept in {root}"
    blocks = [*map(_mended_block, mended), *map(_problem_block, problems)]
    return Result(
        blocks=blocks,
        noun="findings",
        total=len(blocks),
        heading="" if problems else well,
        empty=well,
        facts={"root": root, "damaged": len(problems), "mended": len(mended)},
        brief=f"{len(problems)} files of the plan damaged, {len(mended)} mended",
    )


def damage(caller: Caller) -> tuple[Problem, ...]:
    """The damage in the plan of the caller's folder; empty without a plan."""
    return repair.diagnose(caller.workspace.root)


def _mended_block(mended: Mended) -> Block:
    kept = f" ({mended.kept})" if mended.kept else ""
    text = f"done {_as_text(mended.problem)}\n     {mended.problem.remedy}{kept}"

    def facts(level: str) -> Facts:
        return asdict(mended.problem) | {"mended": True, "kept": mended.kept}

    return Block(f"mended {mended.problem.file}", lambda level: text, facts)


def _problem_block(problem: Problem) -> Block:
    text = f"BAD  {_as_text(problem)}\n     `haversack sdd doctor --mend` will {problem.remedy}"
    return Block(problem.file, lambda level: text, lambda level: asdict(problem) | {"mended": False})


def _as_text(problem: Problem) -> str:
    named = problem.message.startswith(problem.file)
    return problem.message if named else f"{problem.file}: {problem.message}"
