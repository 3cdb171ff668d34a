"""The lists the command line shows: observations, sessions and the earlier texts of an observation."""

from collections.abc import Mapping
from typing import Annotated, Any

from haversack.app import Caller
from haversack.memory import context, sessions
from haversack.memory.save import edits
from haversack.memory.save.checks import SCOPES, STATUSES, VERIFICATIONS
from haversack.memory.search import search
from haversack.store.records import Filters, Session
from haversack.text.clipping import one_line
from haversack.tools.declaration import Command, resumes, samples, tool
from haversack.tools.memory.observation_views import observation_block, revision_block, session_block
from haversack.tools.memory.project_views import in_project
from haversack.tools.memory.search_results import PAGE, SAMPLED, rest_of_list
from haversack.tools.memory.unknown_filters import unknown_in
from haversack.tools.road.outcomes import Block, Outcome, Rest, Result
from haversack.tools.shared_parameters import Limit, NamespaceFilter, ProjectFilter
from haversack.values import replace

MOST_LOOKED_AT = 2_000
"""Sessions behind a page that are read to price them."""


@tool(
    Command(
        "list",
        aliases=("ls",),
        table=("id", "kind", "date", "title"),
        examples=("haversack list --kind decision --limit 50",),
    ),
    group="terminal",
    level="summary",
    title="List memories",
)
def list_observations(
    caller: Caller,
    *,
    kind: str = "",
    project: ProjectFilter = "",
    scope: Annotated[str, SCOPES] = "",
    namespace: NamespaceFilter = None,
    tags: Annotated[list[str], "All of these"] = [],  # noqa: B006
    status: Annotated[str, (*STATUSES, "all")] = "",
    since: Annotated[str, "Date or age (7d)"] = "",
    until: str = "",
    verification: Annotated[str, VERIFICATIONS] = "",
    deleted: Annotated[bool, "Those that were deleted softly"] = False,
    limit: Limit = 20,
) -> Outcome:
    """Memories by recency, the newest first."""
    named, project = project, caller.memory.scope(project)
    chosen = search.filters(
        caller.memory, kind=kind, project=project, scope=scope, namespace=namespace, tags=tuple(tags),
        status=status, since=since, until=until, verification=verification, deleted=deleted,
    )  # fmt: skip
    with caller.database.read():  # one snapshot for the list, its total and what comes behind it
        found = context.recent(caller.memory, chosen, limit)
        total = context.count_observations(caller.memory, chosen)
        rest = rest_of_list(caller, chosen, found, total) if len(found) < total else None
    nothing = "" if found else _why_nothing(caller, chosen, named=named, kind=kind, tags=tags)
    row = in_project(caller, project)
    return Result(
        blocks=[row(observation_block(each), each) for each in found],
        noun="observations",
        total=total,
        empty=nothing,
        limit_hint="Increase limit or use mem_get_observation #ID for details.",
        rest=rest,
        brief=f"{len(found):,} of {total:,} observations",
    )


def _why_nothing(caller: Caller, chosen: Filters, *, named: str, kind: str, tags: list[str]) -> str:
    """The message of an empty list: an unknown filter, an empty place, or just that nothing matches."""
    if unknown := unknown_in(caller, chosen, project=named, kind=kind, tags=tags):
        return unknown
    place = Filters(project_key=chosen.project_key)
    if context.count_observations(caller.memory, place):
        return "Nothing matches."
    label = caller.memory.labels()
    of = f" for project {one_line(label(chosen.project_key), 60)}" if chosen.project_key else ""
    return f"Nothing is remembered yet{of}. mem_save keeps the first."


@tool(
    Command("history", ("id",), examples=("haversack history 12 --detail full",)),
    group="terminal",
    level="summary",
    title="Earlier texts of a memory",
)
def observation_history(caller: Caller, *, id: Annotated[int, "As in #12"]) -> Outcome:
    """The earlier texts of a memory, the newest first."""
    observation, revisions = edits.history(caller.memory, id)
    blocks: list[Block] = [revision_block(each, each.revision) for each in revisions]
    return Result(
        blocks=blocks,
        noun="revisions",
        total=len(blocks),
        heading=f"#{id} [{observation.kind}] {one_line(observation.title, 100)}, now revision {len(blocks) + 1}",
        empty="It has no earlier text.",
        facts={"id": id, "revision": len(blocks) + 1},
        brief=f"{len(blocks)} earlier texts of #{id}",
    )


@tool(
    Command("sessions", examples=("haversack sessions --limit 5",)),
    group="terminal",
    level="standard",
    title="List sessions",
)
def list_sessions(
    caller: Caller, *, project: ProjectFilter = "", namespace: NamespaceFilter = None, limit: Limit = 20
) -> Outcome:
    """Sessions, the newest first."""
    project = caller.memory.scope(project)
    found, total = sessions.recent(caller.memory, project=project, namespace=namespace, limit=limit)
    return Result(
        blocks=_blocks_of(caller, found),
        noun="sessions",
        total=total,
        empty="No session yet.",
        limit_hint="Increase limit for more.",
        rest=_rest_of_sessions(caller, project, namespace, found, total - len(found)),
        brief=f"{len(found):,} of {total:,} sessions",
    )


def _rest_of_sessions(
    caller: Caller, project: str, namespace: str | None, shown: list[Session], left: int
) -> Rest | None:
    if left <= 0 or not shown:
        return None
    rest = Rest(left, 0, "sessions", {"project": project, "namespace": namespace, "after": shown[-1].id})
    return replace(rest, sample=lambda: _sample_of_sessions(caller, rest))


@samples("sessions")
def _sample_of_sessions(caller: Caller, rest: Rest) -> list[Block]:
    """Some of the sessions, spread evenly, since those shown may differ from the remaining ones."""
    found = _sessions_after(caller, rest.state, min(rest.items, MOST_LOOKED_AT))
    return _blocks_of(caller, found[:: max(1, len(found) // SAMPLED)])


@resumes("sessions")
def _more_sessions(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    state = dict(rest.state)
    found = _sessions_after(caller, state, PAGE)
    further = _rest_of_sessions(caller, state["project"], state["namespace"], found, rest.items - len(found))
    return _blocks_of(caller, found), further


def _sessions_after(caller: Caller, state: Mapping[str, Any], count: int) -> list[Session]:
    found, _ = sessions.recent(
        caller.memory, project=state["project"], namespace=state["namespace"], limit=count, after=state["after"]
    )
    return found


def _blocks_of(caller: Caller, found: list[Session]) -> list[Block]:
    label = caller.memory.labels()
    return [session_block(each, project=label(each.project)) for each in found]
