"""The tools that find and show what is remembered."""

from collections.abc import Container, Sequence
from typing import Annotated, Literal

from haversack.app import Caller
from haversack.memory import context as recalling
from haversack.memory.projects import elsewhere
from haversack.memory.save.checks import SCOPES, STATUSES
from haversack.memory.search import search
from haversack.store.records import Filters, Observation, Session
from haversack.text.clipping import one_line
from haversack.tools.declaration import Command, Range, tool
from haversack.tools.memory import search_results
from haversack.tools.memory.observation_views import (
    observation_block,
    observation_facts,
    prompt_block,
    relation_facts,
    session_block,
    whole_observation,
)
from haversack.tools.memory.project_views import InProject, beside, in_project, named_rows, unnamed
from haversack.tools.road.outcomes import Block, Document, Outcome, Result
from haversack.tools.shared_parameters import Limit, NamespaceFilter, ProjectFilter
from haversack.values import replace

MEMORIES_IN_TURN = 4
"""Memories of a context to one session and one prompt."""


@tool(
    Command(
        "search",
        ("query",),
        about="Find memories by words or a question, best first; then `haversack timeline ID` or `haversack show ID`.",
        aliases=("find",),
        examples=(
            'haversack search "how did we do the jwt auth" --token-budget 300',
            "haversack search deploy --kind decision --since 30d --json",
        ),
    ),
    group="memory",
    always_loaded=True,
    level="standard",
)
def mem_search(
    caller: Caller,
    *,
    query: Annotated[str, "Words or a question; a quote alone must appear as it is; pre* is a prefix"],
    kind: str = "",
    project: ProjectFilter = "",
    scope: Annotated[str, SCOPES] = "",
    namespace: NamespaceFilter = None,
    tags: Annotated[list[str], "All of these"] = [],  # noqa: B006
    status: Annotated[str, (*STATUSES, "all")] = "",
    since: Annotated[str, "Date or age (7d)"] = "",
    until: str = "",
    match: Literal["any", "all"] = "any",
    limit: Limit = 10,
    explain: Annotated[bool, "Show the parts of each score"] = False,
) -> Outcome:
    """Find memories by words or a question, best first. Start here, then mem_timeline or mem_get_observation."""
    place = caller.memory.scope(project)
    chosen = search.filters(
        caller.memory,
        kind=kind,
        project=place,
        scope=scope,
        namespace=namespace,
        tags=tuple(tags),
        status=status,
        since=since,
        until=until,
    )
    found = search.search(caller.memory, query, chosen, mode=match, limit=limit)
    result = search_results.result(caller, found, query, place, explain=explain, names_others=not project)
    if found.hits:
        return result
    from haversack.tools.memory.unknown_filters import explain_nothing  # few searches find nothing

    unknown = explain_nothing(
        caller, chosen, kind=kind, project=project if place else "", tags=tags,
        count=lambda without: search.count_search_results(caller.memory, query, without, mode=match),
    )  # fmt: skip
    return replace(result, empty=unknown) if unknown else result


@tool(
    Command("context", examples=("haversack context --project thesis --token-budget 1500",)),
    group="memory",
    always_loaded=True,
    level="standard",
)
def mem_context(
    caller: Caller,
    *,
    project: ProjectFilter = "",
    scope: Annotated[str, SCOPES] = "",
    namespace: NamespaceFilter = None,
    limit: Limit = 20,
) -> Outcome:
    """What to know before starting: pinned rules, recent sessions, prompts and memories, with ids."""
    named, project = bool(project), caller.memory.scope(project)
    label, row = caller.memory.labels(), in_project(caller, project)
    with caller.database.read():  # one snapshot for what is shown and what comes behind it
        context = recalling.context(caller.memory, project=project, scope=scope, namespace=namespace, limit=limit)
        shown = len(context.pinned) + len(context.observations)
        place = recalling.place_filters(project=project, scope=scope, namespace=namespace)
        rest = search_results.rest_of_context(caller, context, place) if shown < context.total else None
        unknown = _unknown_project(caller, place, project) if named and not context.total else ""
    summaries = {each.content.strip() for each in (*context.pinned, *context.observations)}
    pinned = [row(observation_block(each, section="## Pinned", worth=4.0), each) for each in context.pinned]
    sessions = [
        session_block(
            _without_listed_summary(each, summaries),
            section="## Sessions",
            worth=1.5,
            counted=False,
            project=label(each.project),
        )
        for each in context.sessions
    ]
    prompts = [prompt_block(each, section="## Prompts") for each in context.prompts]
    recent = [row(observation_block(each, section="## Memories"), each) for each in context.observations]
    blocks = [*pinned, *_in_turns(sessions, recent, prompts)]
    place_name = f" for project {one_line(label(project), 60)}" if project else ""
    return Result(
        blocks=blocks,
        noun="observations",
        total=context.total,
        empty=unknown or f"Nothing is remembered yet{place_name}.",
        limit_hint="Increase limit or use mem_get_observation #ID for details.",
        items_name="items",
        rest=rest,
        brief=f"context of {project or 'all projects'}: {shown:,} of {context.total:,} observations, "
        f"{len(context.sessions)} sessions, {len(context.prompts)} prompts",
        aside=beside(caller, project, elsewhere.passing(caller.memory, place), "memories")
        if project and blocks and not named
        else None,
    )


def _unknown_project(caller: Caller, place: Filters, project: str) -> str:
    from haversack.tools.memory.unknown_filters import unknown_in  # most contexts hold something

    return unknown_in(caller, place, project=project)


def _without_listed_summary(session: Session, listed: Container[str]) -> Session:
    """The session without its summary where that is listed as an observation of its own."""
    return replace(session, summary="") if session.summary.strip() in listed else session


def _in_turns(sessions: list[Block], recent: list[Block], prompts: list[Block]) -> list[Block]:
    """The items of a context's sections interleaved, so that a small budget shows some of each, mostly memories."""
    ordered: list[Block] = []
    for turn in range(max(len(sessions), len(prompts), -(-len(recent) // MEMORIES_IN_TURN))):
        ordered += (*sessions[turn : turn + 1], *prompts[turn : turn + 1])
        ordered += recent[turn * MEMORIES_IN_TURN : (turn + 1) * MEMORIES_IN_TURN]
    return ordered


@tool(
    Command("timeline", ("observation_id",), examples=("haversack timeline 12 --before 3 --after 0",)),
    group="memory",
    level="standard",
)
def mem_timeline(
    caller: Caller,
    *,
    observation_id: int,
    before: Annotated[int, Range(0, 100)] = 5,
    after: Annotated[int, Range(0, 100)] = 5,
) -> Outcome:
    """What happened around a memory in its session, in time order."""
    timeline = recalling.timeline(caller.memory, observation_id, before=before, after=after)
    outward: list[tuple[Observation, int]] = [(timeline.focus, 0)]
    for distance in range(max(len(timeline.before), len(timeline.after))):
        if distance < len(timeline.before):
            outward.append((timeline.before[distance], -1 - distance))
        if distance < len(timeline.after):
            outward.append((timeline.after[distance], 1 + distance))
    row = _row_of(caller, [each for each, _ in outward])
    blocks = [
        row(
            observation_block(
                each,
                place=place,
                required=place == 0,
                note="<- focus" if place == 0 else "",
                extra={"focus": True} if place == 0 else None,
                worth=1 / (1 + abs(place)),
            ),
            each,
        )
        for each, place in outward
    ]
    return Result(
        blocks=blocks,
        sequence=True,
        noun="observations in session",
        total=timeline.total,
        items_name="observations",
        brief=f"timeline of #{observation_id}: {len(blocks):,} of {timeline.total:,} observations in session",
    )


def _row_of(caller: Caller, shown: Sequence[Observation]) -> InProject:
    """How rows name their project: only where they are of several."""
    return named_rows(caller) if len({each.project for each in shown}) > 1 else unnamed


@tool(Command("get", ("id",), aliases=("show",), examples=("haversack get 12",)), group="memory")
def mem_get_observation(caller: Caller, *, id: Annotated[int, "As in #12"]) -> Outcome:
    """Everything about one memory: full content, relations with their ids."""
    # Imported here: a search, which most starts are for, needs neither edits nor relations.
    from haversack.memory.relations import relations_of
    from haversack.memory.save.edits import state_hash

    observation = recalling.recall(caller.memory, id)
    links = relations_of(caller.memory, id)
    others = [other for link in links for other in (link.from_id, link.to_id) if other != id]
    titles = {found.id: found.title for found in search.by_ids(caller.memory, others)}
    facts = observation_facts(observation) | {"hash": state_hash(observation)}
    facts |= {"relations": [relation_facts(link) for link in links]} if links else {}
    return Document(
        whole_observation(observation, links, titles),
        name=f"#{id}",
        facts=facts,
        brief=f"#{id} [{observation.kind}] {one_line(observation.title, 100)}",
    )


@tool(
    Command("graph", ("observation_id",), examples=("haversack graph 12 --depth 3",)), group="memory", level="standard"
)
def mem_build_context(caller: Caller, *, observation_id: int, depth: Annotated[int, Range(1, 5)] = 2) -> Outcome:
    """The memories connected to one through relations, level by level."""
    from haversack.memory.relations import graph

    found = graph(caller.memory, observation_id, depth=depth)
    row = _row_of(caller, [found.focus, *(linked.observation for linked in found.linked)])
    focus = observation_block(found.focus, required=True, note="<- focus", worth=2.0, extra={"depth": 0})
    blocks: list[Block] = [row(focus, found.focus)]
    for linked in found.linked:
        link = linked.relation
        arrow = f"#{link.from_id} {link.type} #{link.to_id}"
        shown = observation_block(
            linked.observation,
            note=f"(level {linked.depth}: {arrow})",
            worth=1 / linked.depth,
            extra={"depth": linked.depth, "relation": relation_facts(link)},
        )
        blocks.append(row(shown, linked.observation))
    return Result(
        blocks=blocks,
        noun="observations",
        total=len(blocks),
        brief=f"graph of #{observation_id} to depth {depth}: {len(blocks) - 1} connected",
    )
