"""Recalling without a query: the context of a project, and the neighbourhood of an observation."""

from haversack.errors import InvalidArgument, StoreUnwritable
from haversack.memory.lookup import get
from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.memory.save.checks import CURRENT_STATUSES, SCOPES, check_limit, check_member
from haversack.store import observations
from haversack.store import sessions as session_table
from haversack.store.records import Filters, Observation, Prompt, Session
from haversack.values import record

SESSIONS_SHOWN = 5
PROMPTS_SHOWN = 5


@record
class Context:
    """The context of a project: pinned and recent observations, sessions and prompts."""

    project: str
    pinned: tuple[Observation, ...]
    sessions: tuple[Session, ...]
    prompts: tuple[Prompt, ...]
    observations: tuple[Observation, ...]
    total: int


@record
class Timeline:
    """An observation between its neighbours in the session; both sides nearest first."""

    focus: Observation
    before: tuple[Observation, ...]
    after: tuple[Observation, ...]
    total: int


def place_filters(*, project: str = "", scope: str = "", namespace: str | None = None) -> Filters:
    """The current observations of a place."""
    if scope:
        check_member("scope", scope, SCOPES)
    return Filters(
        project_key=project_key(project) if project else "",
        scope=scope,
        namespace=namespace,
        statuses=CURRENT_STATUSES,
    )


def context(
    memory: Memory, *, project: str = "", scope: str = "", namespace: str | None = None, limit: int = 20
) -> Context:
    """Pinned observations, recent sessions, recent prompts, recent observations."""
    check_limit(limit)
    filters = place_filters(project=project, scope=scope, namespace=namespace)
    with memory.database.read() as tx:
        pinned = observations.pinned(tx, filters)
        shown = {observation.id for observation in pinned}
        recent = observations.recent(tx, filters, limit + len(pinned))
        return Context(
            project=project,
            pinned=tuple(pinned),
            sessions=tuple(session_table.recent(tx, filters.project_key, namespace, SESSIONS_SHOWN)),
            prompts=tuple(session_table.recent_prompts(tx, filters.project_key, namespace, PROMPTS_SHOWN)),
            observations=tuple([found for found in recent if found.id not in shown][:limit]),
            total=observations.count_observations(tx, filters),
        )


def recent(memory: Memory, filters: Filters, limit: int, *, before: int | None = None) -> list[Observation]:
    """The most recent observations; `before` continues below a position."""
    with memory.database.read() as tx:
        return observations.recent(tx, filters, limit, before=before)


def behind(memory: Memory, filters: Filters, before: int, limit: int) -> tuple[list[int], int]:
    """The ids of the observations below a position, and the position of the last of them."""
    with memory.database.read() as tx:
        found = observations.recent_ids(tx, filters, limit, before=before)
    return [identifier for identifier, _ in found], found[-1][1] if found else 0


def count_observations(memory: Memory, filters: Filters) -> int:
    """How many observations the filters let through."""
    with memory.database.read() as tx:
        return observations.count_observations(tx, filters)


def timeline(memory: Memory, identifier: int, *, before: int = 5, after: int = 5) -> Timeline:
    """An observation with its neighbours in the same session."""
    for name, value in (("before", before), ("after", after)):
        if not 0 <= value <= 100:
            raise InvalidArgument(f"{name} is {value}, not between 0 and 100")
    with memory.database.read() as tx:
        focus = get(tx, identifier)
        filters = Filters(session_id=focus.session_id)
        earlier, later = observations.neighbours(tx, focus, filters, before, after)
        total = observations.count_observations(tx, filters)
    return Timeline(focus, tuple(earlier), tuple(later), total)


def recall(memory: Memory, identifier: int) -> Observation:
    """One observation, counted as read where that can be written."""
    try:
        with memory.database.write() as tx:
            found = get(tx, identifier)
            observations.touch(tx, [identifier], memory.now())
            return found
    except StoreUnwritable:
        with memory.database.read() as tx:
            return get(tx, identifier)
