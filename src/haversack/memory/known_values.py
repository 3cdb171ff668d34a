"""The kinds, tags and projects in use, and filters that name others."""

from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.store import observation_figures
from haversack.store.records import Filters
from haversack.values import record

FEW = 3


@record
class UnknownValue:
    """A filter value that no observation has, and similar known values."""

    name: str
    value: str
    near: tuple[str, ...]


def known_values(memory: Memory, name: str) -> list[str]:
    """The values in use for `kind`, `tag` or `project`, the most used first."""
    with memory.database.read() as tx:
        if name == "kind":
            return [str(kind) for kind, _ in observation_figures.counted_by(tx, "kind", Filters())]
        if name == "tag":
            return [tag for tag, _ in observation_figures.counted_by_tag(tx)]
        return [project for project, _ in observation_figures.counted_by_project(tx, Filters()) if project]


def unknown_values(memory: Memory, *, kind: str, project: str, tags: tuple[str, ...]) -> list[UnknownValue]:
    """The given filters whose values no observation has."""
    found = []
    if kind and kind.strip().casefold() not in (known := known_values(memory, "kind")):
        found.append(_unknown("kind", kind, known))
    if project:
        known = known_values(memory, "project")
        if project_key(project) not in map(project_key, known):
            found.append(_unknown("project", project, known))
    if tags:
        known = known_values(memory, "tag")
        found += [_unknown("tag", tag, known) for tag in tags if tag.casefold() not in known]
    return found


def _unknown(name: str, value: str, known: list[str]) -> UnknownValue:
    from difflib import get_close_matches

    folded = {each.casefold(): each for each in reversed(known)}
    near = get_close_matches(value.casefold(), folded, n=FEW, cutoff=0.5)
    return UnknownValue(name, value, tuple(folded[each] for each in near) or tuple(known[:FEW]))
