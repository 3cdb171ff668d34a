"""The tools that save, find and change observations."""

from typing import Annotated, Literal

from haversack.memory.redaction import describe

from haversack.app import App
from haversack.memory import editing, finding, recalling, relating, saving
from haversack.memory.checks import RELATION_TYPES, SCOPES, STATUSES, VERIFICATIONS
from haversack.memory.editing import Changes
from haversack.memory.saving import Draft
from haversack.store.records import Observation
from haversack.tools import searching
from haversack.tools.declaring import Range, tool
from haversack.tools.result import Block, Document, Done, Outcome, Result
from haversack.tools.views import (
    observation_block,
    observation_facts,
    one_line,
    prompt_block,
    relation_facts,
    session_block,
    whole_observation,
)

Scope = Annotated[str, SCOPES]
Project = Annotated[str, "Project; detected when omitted"]
ProjectFilter = Annotated[str, "Only this project"]
Namespace = Annotated[str, "Isolates a sub-agent"]
NamespaceFilter = Annotated[str | None, "Only this namespace"]
Limit = Annotated[int, Range(1, 200)]


@tool(group="memory", writes=True)
def mem_save(
    app: App,
    *,
    title: Annotated[str, "Short and searchable"],
    content: Annotated[str, "What, why, where, learned"],
    kind: Annotated[str, "decision, bugfix, pattern, config, preference, ..."] = "observation",
    project: Project = "",
    scope: Scope = "project",
    topic_key: Annotated[str, "Same key updates the same memory, e.g. decision/auth"] = "",
    namespace: Namespace = "",
    tags: list[str] = [],  # noqa: B006 - a default is never changed, and None would say something else
    importance: Annotated[float, Range(0, 1)] = 0.5,
    session_id: str = "",
    relate_to: Annotated[list[int], "Ids of related memories"] = [],  # noqa: B006
) -> Outcome:
    """Remember something worth knowing next week. Says whether it was saved, updated its topic, or is a duplicate."""
    saved = saving.save(
        app.memory,
        Draft(
            title=title,
            content=content,
            kind=kind,
            project=project,
            scope=scope,
            topic_key=topic_key,
            namespace=namespace,
            tags=tuple(tags),
            importance=importance,
            session_id=session_id,
            relate_to=tuple(relate_to),
        ),
    )
    return saved_reply(saved, title)


def saved_reply(saved: saving.Saved, title: str) -> Done:
    """What became of a draft, in a sentence and as facts."""
    message = {
        "saved": f"saved #{saved.id}",
        "updated": f"updated #{saved.id} (revision {saved.revision})",
        "duplicate": f"duplicate of #{saved.id} (seen {saved.times_seen} times)",
    }[saved.outcome]
    message += f" in project {saved.project}" if saved.project else ""
    if saved.redactions:
        message += f"; {describe(saved.redactions)}"
    if saved.relation_ids:
        message += f"; relations {', '.join(map(str, saved.relation_ids))}"
    if saved.suggested_topic_key and saved.outcome == "saved":
        message += f". Suggested topic_key: {saved.suggested_topic_key}"
    facts = {
        "outcome": saved.outcome,
        "id": saved.id,
        "project": saved.project,
        "session_id": saved.session_id,
        "revision": saved.revision,
        "times_seen": saved.times_seen,
        "redacted": list(saved.redactions),
        "relation_ids": list(saved.relation_ids),
        "suggested_topic_key": saved.suggested_topic_key,
    }
    return Done(message, facts, brief=f"{saved.outcome} #{saved.id} {one_line(title, 80)}")


@tool(group="memory", level="standard")
def mem_search(
    app: App,
    *,
    query: Annotated[str, 'Words or a question; "quoted phrases" must appear; pre* is a prefix'],
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
    chosen = finding.filters(
        app.memory,
        kind=kind,
        project=project,
        scope=scope,
        namespace=namespace,
        tags=tuple(tags),
        status=status,
        since=since,
        until=until,
    )
    found = finding.search(app.memory, query, chosen, mode=match, limit=limit)
    return searching.result(app, found, query, project, explain=explain)


@tool(group="memory", level="standard")
def mem_context(
    app: App,
    *,
    project: Annotated[str, "Only this project; omit for all"] = "",
    scope: Annotated[str, SCOPES] = "",
    namespace: NamespaceFilter = None,
    limit: Limit = 20,
) -> Outcome:
    """What to know before starting: pinned rules, recent sessions, prompts and memories, with ids."""
    context = recalling.context(app.memory, project=project, scope=scope, namespace=namespace, limit=limit)
    shown = len(context.pinned) + len(context.observations)
    blocks = [
        *(observation_block(each, section="## Pinned", worth=4.0) for each in context.pinned),
        *(session_block(each, section="## Sessions", worth=1.5, counted=False) for each in context.sessions),
        *(prompt_block(each, section="## Prompts") for each in context.prompts),
        *(observation_block(each, section="## Memories", worth=1.0) for each in context.observations),
    ]
    rest = searching.rest_of_context(app, context, project, scope, namespace) if shown < context.total else None
    return Result(
        blocks=blocks,
        noun="observations",
        total=context.total,
        empty="Nothing is remembered yet" + (f" for project {project}." if project else "."),
        limit_hint="Increase limit or use mem_get_observation #ID for details.",
        items_name="items",
        rest=rest,
        brief=f"context of {project or 'all projects'}: {shown} of {context.total} observations, "
        f"{len(context.sessions)} sessions, {len(context.prompts)} prompts",
    )


@tool(group="memory", level="standard")
def mem_timeline(
    app: App,
    *,
    observation_id: int,
    before: Annotated[int, Range(0, 100)] = 5,
    after: Annotated[int, Range(0, 100)] = 5,
) -> Outcome:
    """What happened around a memory in its session, in time order."""
    timeline = recalling.timeline(app.memory, observation_id, before=before, after=after)
    outward: list[tuple[Observation, int]] = [(timeline.focus, 0)]
    for distance in range(max(len(timeline.before), len(timeline.after))):
        if distance < len(timeline.before):
            outward.append((timeline.before[distance], -1 - distance))
        if distance < len(timeline.after):
            outward.append((timeline.after[distance], 1 + distance))
    blocks = [
        observation_block(
            each, place=place, required=place == 0, note="<- focus" if place == 0 else "", worth=1 / (1 + abs(place))
        )
        for each, place in outward
    ]
    return Result(
        blocks=blocks,
        noun="observations in session",
        total=timeline.total,
        items_name="observations",
        brief=f"timeline of #{observation_id}: {len(blocks)} of {timeline.total} observations in session",
    )


@tool(group="memory")
def mem_get_observation(app: App, *, id: Annotated[int, "As in #12"]) -> Outcome:
    """Everything about one memory: full content, relations with their ids."""
    observation = recalling.recall(app.memory, id)
    links = relating.relations_of(app.memory, id)
    others = [other for link in links for other in (link.from_id, link.to_id) if other != id]
    titles = {found.id: found.title for found in finding.by_ids(app.memory, others)}
    facts = observation_facts(observation) | ({"relations": [relation_facts(link) for link in links]} if links else {})
    return Document(
        whole_observation(observation, links, titles),
        name=f"#{id}",
        facts=facts,
        brief=f"#{id} [{observation.kind}] {one_line(observation.title, 100)}",
    )


@tool(group="memory", writes=True, idempotent=True)
def mem_relate(
    app: App,
    *,
    from_id: int,
    to_id: int,
    relation_type: Annotated[str, RELATION_TYPES],
    note: str = "",
    bidirectional: bool = False,
    strength: Annotated[float, Range(0, 1)] = 1.0,
) -> Outcome:
    """Link two memories; what is superseded leaves searches."""
    related = relating.relate(
        app.memory, from_id, to_id, relation_type, note=note, bidirectional=bidirectional, strength=strength
    )
    verb = "related" if related.added else "renewed"
    ids = ", ".join(str(link.id) for link in related.relations)
    message = f"{verb} #{from_id} {relation_type} #{to_id} (relation {ids})"
    if related.redactions:
        message += f"; {describe(related.redactions)}"
    return Done(
        message,
        {"relations": [relation_facts(link) for link in related.relations], "added": related.added},
        brief=message,
    )


@tool(group="memory", writes=True)
def mem_unrelate(app: App, *, id: Annotated[int, "Relation id, from mem_get_observation"]) -> Outcome:
    """Remove a relation."""
    gone = relating.unrelate(app.memory, id)
    message = f"removed relation {id}: #{gone.from_id} {gone.type} #{gone.to_id}"
    return Done(message, {"removed": relation_facts(gone)}, brief=message)


@tool(group="memory", level="standard")
def mem_build_context(app: App, *, observation_id: int, depth: Annotated[int, Range(1, 5)] = 2) -> Outcome:
    """The memories connected to one through relations, level by level."""
    graph = relating.graph(app.memory, observation_id, depth=depth)
    blocks: list[Block] = [
        observation_block(graph.focus, required=True, note="<- focus", worth=2.0, extra={"depth": 0})
    ]
    for linked in graph.linked:
        link = linked.relation
        arrow = f"#{link.from_id} {link.type} #{link.to_id}"
        blocks.append(
            observation_block(
                linked.observation,
                note=f"(level {linked.depth}: {arrow})",
                worth=1 / linked.depth,
                extra={"depth": linked.depth, "relation": relation_facts(link)},
            )
        )
    return Result(
        blocks=blocks,
        noun="observations",
        total=len(blocks),
        brief=f"graph of #{observation_id} to depth {depth}: {len(blocks) - 1} connected",
    )


@tool(group="memory", writes=True, destructive=True)
def mem_delete(
    app: App, *, id: int, hard: Annotated[bool, "For good; soft deletes can be restored"] = False
) -> Outcome:
    """Delete a memory."""
    gone = editing.delete(app.memory, id, hard=hard)
    how = "deleted for good" if hard else "deleted"
    undo = "" if hard else f". mem_update(id={id}, restore=true) brings it back"
    return Done(f"{how}: #{id} {one_line(gone.title, 100)}{undo}", {"id": id, "hard": hard}, brief=f"{how} #{id}")


@tool(group="memory", writes=True, idempotent=True)
def mem_update(
    app: App,
    *,
    id: int,
    title: str | None = None,
    content: str | None = None,
    kind: str | None = None,
    project: str | None = None,
    scope: Annotated[str | None, SCOPES] = None,
    topic_key: str | None = None,
    namespace: str | None = None,
    tags: list[str] | None = None,
    importance: Annotated[float | None, Range(0, 1)] = None,
    tool_name: str | None = None,
    status: Annotated[str | None, STATUSES] = None,
    verification: Annotated[str | None, VERIFICATIONS] = None,
    pinned: bool | None = None,
    restore: Annotated[bool, "Undo a soft delete"] = False,
) -> Outcome:
    """Change fields of a memory; an empty string clears one. Earlier texts are kept."""
    changes = Changes(
        title=title,
        content=content,
        kind=kind,
        project=project,
        scope=scope,
        topic_key=topic_key,
        namespace=namespace,
        tags=None if tags is None else tuple(tags),
        importance=importance,
        tool_name=tool_name,
        status=status,
        verification=verification,
        pinned=pinned,
        restore=restore,
    )
    updated = editing.update(app.memory, id, changes)
    what = ", ".join(updated.changed) or "nothing: it was so already"
    message = f"restored #{id}" if updated.restored else f"updated #{id}"
    if not updated.restored or updated.changed:
        message += f" (changed {what})" if not updated.revision else f" (revision {updated.revision}, changed {what})"
    if updated.redactions:
        message += f"; {describe(updated.redactions)}"
    return Done(
        message,
        {"id": id, "changed": list(updated.changed), "revision": updated.revision, "restored": updated.restored},
        brief=message,
    )
