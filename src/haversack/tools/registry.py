"""Where the tools are declared, so that a call loads only the module of its tool."""

from collections.abc import Mapping
from importlib import import_module

from haversack.tools.declaration import Tool, declared, unknown_tool

HOMES: dict[str, tuple[str, ...]] = {
    "memory.recall": ("mem_search", "mem_context", "mem_timeline", "mem_get_observation", "mem_build_context"),
    "memory.observations": ("mem_save", "mem_update", "mem_delete", "mem_relate", "mem_unrelate"),
    "memory.sessions": (
        "mem_session_start",
        "mem_session_end",
        "mem_session_summary",
        "mem_save_prompt",
        "mem_capture_passive",
        "mem_progress",
    ),
    "upkeep.memory_upkeep": (
        "mem_stats",
        "mem_suggest_topic_key",
        "mem_compact",
        "list_observations",
        "observation_history",
        "list_sessions",
    ),
    "memory.packs": ("context_pack",),
    "workspace.workspace_tools": (
        "project_files",
        "search_content",
        "read_file",
        "file_info",
        "vcs_status",
        "vcs_diff",
        "vcs_log",
        "vcs_blame",
    ),
    "sdd.project": (
        "sdd_init_project",
        "sdd_create_proposal",
        "sdd_generate_requirements",
        "sdd_create_business_rules",
        "sdd_clarify",
        "sdd_create_design",
        "sdd_create_tasks",
        "sdd_validate",
    ),
    "sdd.changes": ("sdd_explore", "sdd_change", "sdd_change_advance", "sdd_change_status", "sdd_adr"),
    "sdd.plan_context": ("sdd_get_context", "sdd_context_check"),
    "road.paging": ("more",),
    "budget.account": ("budget_status", "budget_open", "budget_reset", "work_log"),
}
"""Every module of tools with the tools it declares, in the order in which clients see them."""


def find(name: str) -> Tool:
    """The tool called `name`; an unknown name is an error that suggests the nearest ones."""
    for module, names in HOMES.items():
        if name in names:
            import_module(f"haversack.tools.{module}")
            return declared()[name]
    raise unknown_tool(name, [name for names in HOMES.values() for name in names])


def tools() -> Mapping[str, Tool]:
    """Every tool of the program, by name."""
    for module in HOMES:
        import_module(f"haversack.tools.{module}")
    known = declared()
    return {name: known[name] for names in HOMES.values() for name in names}
