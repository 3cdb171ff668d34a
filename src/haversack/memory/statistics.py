"""Figures about the memory."""

from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.store import observation_figures, observations, relations, session_events, sessions
from haversack.store.records import Filters
from haversack.values import record


@record
class Statistics:
    """Counts, sizes and ages; tokens are of the stored contents, in o200k."""

    observations: int
    deleted: int
    tokens: int
    bytes: int
    sessions: int
    prompts: int
    relations: int
    oldest: int | None
    newest: int | None
    projects: tuple[tuple[str, int], ...]
    kinds: tuple[tuple[str, int], ...]
    size_on_disk: int
    recalled: int = 0
    opened: int = 0


def statistics(memory: Memory, *, project: str = "") -> Statistics:
    """Figures over one project, or over everything."""
    key = project_key(project) if project else ""
    live = Filters(project_key=key)
    with memory.database.read() as tx:
        totals = observation_figures.totals(tx, live)
        recalled, opened = session_events.injected_and_opened(tx)
        return Statistics(
            observations=totals.observations,
            deleted=observations.count_observations(tx, Filters(project_key=key, deleted=True)),
            tokens=totals.units,
            bytes=totals.bytes,
            sessions=sessions.count(tx, key, None),
            prompts=sessions.count_prompts(tx, key, None),
            relations=relations.count(tx, key),
            oldest=totals.oldest,
            newest=totals.newest,
            projects=tuple(observation_figures.counted_by_project(tx, live)),
            kinds=tuple(observation_figures.counted_by(tx, "kind", live)),
            size_on_disk=memory.database.size(),
            recalled=recalled,
            opened=opened,
        )


@record
class Figure:
    """The observations of one project and kind in one week, which begins at `week`."""

    week: int
    kind: str
    project: str
    count: int
    tokens: int


def figures(memory: Memory, *, project: str = "") -> list[Figure]:
    """Counts and tokens by week, kind and project, the newest week first."""
    live = Filters(project_key=project_key(project) if project else "")
    with memory.database.read() as tx:
        return [Figure(*row) for row in observation_figures.by_week(tx, live)]
