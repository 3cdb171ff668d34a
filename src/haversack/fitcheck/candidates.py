"""Which tools of a server are called: those whose annotations or names say they read, and those asked for."""

from collections.abc import Mapping, Sequence
from typing import Any

from haversack.errors import InvalidArgument, NotFound
from haversack.fitcheck.arguments import BUDGET_NAMES, budget_parameter
from haversack.patterns import pattern
from haversack.values import record

PAGER = "more"
_READS = pattern(
    r"get|list|search|find|read|query|fetch|recall|context|timeline|show|status|history|log|diff|blame|progress|stats"
)
_CHANGES = pattern(r"delete|remove|write|update|create|reset|insert|upsert|purge|execute|forget|rename|register|import")
_CHANGING_WORDS = {
    "save", "set", "add", "edit", "move", "put", "post", "send", "run", "exec", "start", "end", "open", "close",
    "drop", "clear", "store", "merge", "apply", "archive", "capture", "commit", "push", "stop", "kill", "cancel",
    "relate", "unrelate", "remember", "ingest", "upload", "install", "compact", "restore",
}  # fmt: skip
"""Words that change something, but stand inside others that do not: `set` in `dataset`, `end` in `calendar`."""
_WORD = pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# The default annotations of the specification say nothing; some libraries send them for every tool.
_DEFAULTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}

Tool = Mapping[str, Any]


@record
class Candidates:
    """The tools to call, those of them that were chosen by name alone, and those with a budget that are left out."""

    checked: tuple[str, ...]
    by_name: tuple[str, ...]
    left_out: tuple[str, ...]
    without_budget: tuple[str, ...]


def candidates(tools: Sequence[Tool], added: Sequence[str] = ()) -> Candidates:
    """The tools of a server to call, including those `added` whatever their names and annotations say."""
    known = {tool["name"]: tool for tool in tools}
    for name in added:
        if name not in known:
            raise NotFound(f"the server has no tool {name!r}", hint=f"it has {', '.join(known)}"[:500])
        if not budget_parameter(known[name]):
            raise InvalidArgument(
                f"{name} takes no token budget", hint=f"budgets are looked for under {', '.join(BUDGET_NAMES)}"
            )
    silent = says_nothing(tools)
    budgeted = [tool for tool in tools if budget_parameter(tool) and tool["name"] != PAGER]
    checked = [tool for tool in budgeted if tool["name"] in added or is_reading(tool, ignore_defaults=silent)]
    return Candidates(
        checked=tuple(tool["name"] for tool in checked),
        by_name=tuple(
            tool["name"] for tool in checked if tool["name"] not in added and not _hints(tool, ignore_defaults=silent)
        ),
        left_out=tuple(tool["name"] for tool in budgeted if tool not in checked),
        without_budget=tuple(
            tool["name"] for tool in tools if not budget_parameter(tool) and is_reading(tool, ignore_defaults=silent)
        ),
    )


def says_nothing(tools: Sequence[Tool]) -> bool:
    """Whether no tool is annotated as reading, so that default annotations carry no information."""
    return not any((tool.get("annotations") or {}).get("readOnlyHint") for tool in tools)


def is_reading(tool: Tool, *, ignore_defaults: bool = False) -> bool:
    """Whether a tool only reads, by its annotations or, without any, by its name.

    A tool with a token budget counts as reading unless its name says otherwise.
    """
    hints = _hints(tool, ignore_defaults=ignore_defaults)
    if hints:
        return hints.get("readOnlyHint", False)
    name = tool["name"]
    words = {word.lower() for word in _WORD.findall(name)}
    if _CHANGES.search(name.lower()) or words & _CHANGING_WORDS:
        return False
    return bool(budget_parameter(tool) or _READS.search(name.lower()))


def _hints(tool: Tool, *, ignore_defaults: bool) -> dict[str, bool]:
    """The annotations of a tool that concern reading; empty without any."""
    given = tool.get("annotations") or {}
    hints = {name: bool(given[name]) for name in _DEFAULTS if name in given}
    is_default = len(hints) > 1 and all(_DEFAULTS[name] == value for name, value in hints.items())
    if ignore_defaults and is_default:
        return {}
    return hints if "readOnlyHint" in hints or hints.get("destructiveHint") else {}
