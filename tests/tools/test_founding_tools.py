"""The tools the product was founded on: all there, under their names, at a price that is kept."""

import json

from haversack.mcp.definitions import definition
from haversack.tools.registry import tools

MEMORY = (
    "mem_build_context",
    "mem_capture_passive",
    "mem_compact",
    "mem_context",
    "mem_delete",
    "mem_get_observation",
    "mem_progress",
    "mem_relate",
    "mem_save",
    "mem_save_prompt",
    "mem_search",
    "mem_session_end",
    "mem_session_start",
    "mem_session_summary",
    "mem_stats",
    "mem_suggest_topic_key",
    "mem_timeline",
    "mem_unrelate",
    "mem_update",
)
PLANNING = {
    "sdd_init_project": "name* description* mode reopen",
    "sdd_create_proposal": "problem_statement* target_users* proposed_solution* out_of_scope* success_criteria* "
    "open_questions reopen",
    "sdd_generate_requirements": "must_have* should_have* non_functional* could_have wont_have constraints assumptions "
    "dependencies reopen",
    "sdd_create_business_rules": "definitions* facts* constraints* derivations glossary reopen",
    "sdd_clarify": "answers dimension_scores reopen",
    "sdd_create_design": "architecture_overview* tech_stack* components* data_model* api_contracts infrastructure "
    "security design_decisions reopen",
    "sdd_create_tasks": "tasks* estimated_effort* dependency_graph wave_assignments acceptance_criteria reopen",
    "sdd_validate": "requirements_coverage* component_coverage* consistency_issues* verdict* risk_assessment "
    "recommendations reopen",
    "sdd_get_context": "stage detail_level max_tokens",
    "sdd_explore": "title* goals constraints preferences unknowns decisions context",
    "sdd_change": "type* size* description* action",
    "sdd_context_check": "change_description* project_name detail_level max_tokens",
    "sdd_change_advance": "content* stage",
    "sdd_change_status": "slug max_tokens",
    "sdd_adr": "title* context* decision* rationale* alternatives_rejected status supersedes",
}


def price(names: tuple[str, ...]) -> float:
    """What a client pays for having the tools listed, in tokens of four bytes."""
    known = tools()
    sent = (json.dumps(definition(known[name]), ensure_ascii=False, separators=(",", ":")) for name in names)
    return sum(len(each.encode()) for each in sent) / 4


def test_all_thirty_four_are_there() -> None:
    assert (len(MEMORY), len(PLANNING)) == (19, 15)
    assert {name for name in tools() if name.startswith(("mem_", "sdd_"))} == {*MEMORY, *PLANNING}


def test_the_planning_tools_have_the_parameters_they_are_known_by() -> None:
    for name, expected in PLANNING.items():
        # Every tool takes a budget; those that only confirm a write do not spend schema on it.
        told = {"format", "max_tokens"} if tools()[name].confirms else {"format"}
        parameters = [each for each in tools()[name].parameters if each.listed and each.name not in told]
        assert " ".join(each.name + "*" * each.required for each in parameters) == expected, name


def test_plans_are_read_as_a_summary_and_checks_in_snippets_by_default() -> None:
    assert tools()["sdd_get_context"].level == "summary"
    assert tools()["sdd_context_check"].level == "standard"


def test_all_thirty_four_cost_at_most_5000_tokens_and_those_of_memory_at_most_2500() -> None:
    assert price((*MEMORY, *PLANNING)) <= 5_000
    assert price(MEMORY) <= 2_500
