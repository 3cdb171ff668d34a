"""The prompts for planning: begin a plan, and go on with one."""

from typing import Annotated

from haversack.app import Caller
from haversack.tools.prompts import prompt
from haversack.tools.road.call import call

STATUS_TOKENS = 1_000


@prompt("sdd-start", title="Plan before building")
def sdd_start(caller: Caller, *, idea: Annotated[str, "What is to be built or changed"]) -> str:
    """Take an idea through its stages before any code is written."""
    return (
        f"Plan this before writing code: {idea}\n\n"
        f"{_standing(caller)}\n\n"
        "1. sdd_explore with what is known: goals, constraints, unknowns. Ask me about what is unclear.\n"
        "2. Where no plan is kept yet: sdd_init_project, then the tool each reply names as the next one. Where one is "
        "kept: sdd_change with the type and size that sdd_explore suggests, then sdd_change_advance stage by stage.\n"
        "3. Write each artifact yourself, in full sentences and lists; cite requirement ids (FR-001) in design and "
        "tasks. Give clarity scores honestly: the gate is there to stop us.\n"
        "4. sdd_adr for each decision that would be hard to reverse.\n"
        "5. Show me each artifact before the next stage, and stop when a reply lists findings: mend those first."
    )


@prompt("sdd-status", title="Go on with the plan")
def sdd_status(caller: Caller) -> str:
    """Where the plan stands and what to do next."""
    return (
        f"{_standing(caller)}\n\n"
        "Tell me in a few lines where the plan stands, what is stale or open, and what the next step needs from me; "
        "sdd_get_context with a stage shows an artifact, sdd_change_status the active change. Then take that step."
    )


def _standing(caller: Caller) -> str:
    held = call(caller, "sdd_get_context", {"detail_level": "standard", "max_tokens": STATUS_TOKENS})
    return f"The plan as it stands:\n\n{held.text}"
