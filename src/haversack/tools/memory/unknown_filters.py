"""The message when nothing was found because a filter names an unknown kind, tag or project."""

from collections.abc import Callable

from haversack.app import Caller
from haversack.memory.context import count_observations
from haversack.memory.known_values import UnknownValue, unknown_values
from haversack.store.records import Filters
from haversack.text.clipping import one_line
from haversack.values import replace


def explain_nothing(
    caller: Caller, chosen: Filters, *, kind: str, project: str, tags: list[str], count: Callable[[Filters], int]
) -> str:
    """Which filter is unknown, what is near it and what would match without it; empty when all are known."""
    unknown = unknown_values(caller.memory, kind=kind, project=project, tags=tuple(tags))
    if not unknown:
        return ""
    names = {each.name for each in unknown}
    known_tags = tuple(tag for tag in chosen.tags if tag.casefold() not in {each.value.casefold() for each in unknown})
    without = replace(
        chosen,
        kind="" if "kind" in names else chosen.kind,
        project_key="" if "project" in names else chosen.project_key,
        tags=known_tags if "tag" in names else chosen.tags,
    )
    matched = count(without)
    pronoun = "it" if len(unknown) == 1 else "them"
    return f"{' '.join(map(_as_text, unknown))} Without {pronoun} {matched:,} match{'es' if matched == 1 else ''}."


def unknown_in(caller: Caller, chosen: Filters, *, project: str, kind: str = "", tags: list[str] | None = None) -> str:
    """As `explain_nothing`, for lists of whatever the filters let through."""
    return explain_nothing(
        caller, chosen, kind=kind, project=project, tags=tags or [],
        count=lambda without: count_observations(caller.memory, without),
    )  # fmt: skip


def _as_text(unknown: UnknownValue) -> str:
    near = f"; there is {', '.join(one_line(each, 40) for each in unknown.near)}" if unknown.near else ""
    return f"No memory has {unknown.name} {one_line(unknown.value, 60)!r}{near}."
