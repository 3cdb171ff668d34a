"""The tools that look after the memory, and the lists the command line shows."""

from typing import Annotated

from haversack.app import Caller
from haversack.memory import context, sessions
from haversack.memory.save import compaction, edits
from haversack.memory.save.checks import SCOPES, STATUSES
from haversack.memory.save.pipeline import Draft
from haversack.memory.save.topics import suggest_topic_key
from haversack.memory.search import search
from haversack.memory.statistics import Statistics, statistics
from haversack.store.records import Observation, Session
from haversack.text.redaction import describe
from haversack.text.times import date
from haversack.tools.declaration import Range, resumes, tool
from haversack.tools.memory.observation_views import observation_block, one_line, revision_block, session_block
from haversack.tools.memory.search_results import rest_of_list
from haversack.tools.road.outcomes import Block, Document, Done, Outcome, Rest, Result
from haversack.tools.shared_parameters import Limit, NamespaceFilter, ProjectFilter

SESSION_PRICE, CANDIDATE_PRICE = 40, 30
"""Tokens of a session and of a candidate in a list, for pricing those not rendered."""


@tool(group="memory")
def mem_stats(caller: Caller, *, project: ProjectFilter = "") -> Outcome:
    """Counts, tokens stored, projects, size on disk."""
    figures = statistics(caller.memory, project=project)
    lines = [
        f"{figures.observations:,} observations, {figures.tokens:,} tokens, {figures.bytes:,} bytes of text",
        f"{figures.sessions:,} sessions, {figures.prompts:,} prompts, {figures.relations:,} relations, "
        f"{figures.deleted:,} deleted",
        f"{figures.size_on_disk:,} bytes on disk" + _span(figures),
        *(f"project {one_line(name, 80) or '(none)'}: {count:,}" for name, count in figures.projects),
        *(f"kind {name}: {count:,}" for name, count in figures.kinds),
    ]
    facts = {
        "observations": figures.observations,
        "deleted": figures.deleted,
        "tokens": figures.tokens,
        "bytes": figures.bytes,
        "sessions": figures.sessions,
        "prompts": figures.prompts,
        "relations": figures.relations,
        "size_on_disk": figures.size_on_disk,
        "oldest": date(figures.oldest) if figures.oldest else None,
        "newest": date(figures.newest) if figures.newest else None,
        "projects": dict(figures.projects),
        "kinds": dict(figures.kinds),
    }
    brief = f"{figures.observations:,} observations, {figures.tokens:,} tokens in {len(figures.projects)} projects"
    return Document("\n".join(lines), name="stats", facts=facts, brief=brief)


def _span(figures: Statistics) -> str:
    if figures.oldest is None or figures.newest is None:
        return ""
    return f", from {date(figures.oldest)} to {date(figures.newest)}"


@tool(group="memory")
def mem_suggest_topic_key(caller: Caller, *, title: str = "", content: str = "", kind: str = "") -> Outcome:
    """Propose a topic_key (family/slug) for mem_save."""
    key = suggest_topic_key(title, content, kind)
    return Document(key, name="topic_key", facts={"topic_key": key}, brief=key)


@tool(group="memory", writes=True, budgeted=True, level="summary")
def mem_compact(
    caller: Caller,
    *,
    older_than_days: Annotated[int, Range(0, 1_000_000)],
    project: ProjectFilter = "",
    scope: Annotated[str, SCOPES] = "",
    namespace: NamespaceFilter = None,
    ids: Annotated[list[int], "Delete these, softly; omit to list candidates"] = [],  # noqa: B006
    summary_title: str = "",
    summary_content: Annotated[str, "Saved in their place"] = "",
) -> Outcome:
    """List old memories with their token price, or softly delete given ones behind a summary."""
    filters = context.place_filters(project=project, scope=scope, namespace=namespace)
    if ids:
        summary = _summary(project, namespace, summary_title, summary_content)
        return _compacted(compaction.compact(caller.memory, filters, older_than_days, tuple(ids), summary))
    found = compaction.candidates(caller.memory, filters, older_than_days)
    # Counts are stored as o200k's; what compacting would free need not be counted again for another profile.
    price = found.units
    blocks = [_candidate(each) for each in found.observations]
    left = len(found.others)
    return Result(
        blocks=blocks,
        noun="observations",
        total=found.total,
        rest=Rest(left, left * CANDIDATE_PRICE, "candidates", {"ids": found.others}) if left else None,
        heading=f"{found.total} older than {older_than_days} days, ~{price} tokens in all." if blocks else "",
        empty=f"Nothing is older than {older_than_days} days.",
        limit_hint="Compact these first.",
        facts={"tokens_in_all": price},
        brief=f"{found.total} observations older than {older_than_days} days, ~{price} tokens",
    )


def _candidate(observation: Observation) -> Block:
    return observation_block(observation, note=f"~{observation.units} tokens", extra={"tokens": observation.units})


@resumes("candidates")
def _more_candidates(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    ids, left = rest.state["ids"][:50], rest.state["ids"][50:]
    further = Rest(len(left), len(left) * CANDIDATE_PRICE, rest.resume, {"ids": left}) if left else None
    return [_candidate(each) for each in search.by_ids(caller.memory, list(ids))], further


def _summary(project: str, namespace: str | None, title: str, content: str) -> Draft | None:
    if not content and not title:
        return None
    return Draft(title=title or "Compaction summary", content=content, project=project, namespace=namespace or "")


def _compacted(done: compaction.Compacted) -> Done:
    message = f"compacted {len(done.deleted)} observations (soft delete)"
    if done.refused:
        listed = ", ".join(f"#{each}" for each in done.refused[:20])
        message += f"; {len(done.refused)} left alone because they do not match: {listed}"
        message += f" and {len(done.refused) - 20} more" if len(done.refused) > 20 else ""
    if done.summary:
        message += f"; summary {done.summary.outcome} #{done.summary.id}"
        message += f"; {describe(done.summary.redactions)}" if done.summary.redactions else ""
    facts = {
        "deleted": [each.id for each in done.deleted],
        "refused": list(done.refused),
        "summary_id": done.summary.id if done.summary else None,
    }
    return Done(message, facts, brief=message)


@tool(group="terminal", level="summary", title="List memories")
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
    limit: Limit = 20,
) -> Outcome:
    """Memories by recency, the newest first."""
    chosen = search.filters(
        caller.memory, kind=kind, project=project, scope=scope, namespace=namespace, tags=tuple(tags),
        status=status, since=since, until=until,
    )  # fmt: skip
    with caller.database.read():  # one snapshot for the list, its total and what comes behind it
        found = context.recent(caller.memory, chosen, limit)
        total = context.count_observations(caller.memory, chosen)
        rest = rest_of_list(caller, chosen, found, total) if len(found) < total else None
    return Result(
        blocks=[observation_block(each) for each in found],
        noun="observations",
        total=total,
        empty="Nothing matches.",
        limit_hint="Increase limit or use mem_get_observation #ID for details.",
        rest=rest,
        brief=f"{len(found)} of {total} observations",
    )


@tool(group="terminal", level="summary", title="Earlier texts of a memory")
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


@tool(group="terminal", level="standard", title="List sessions")
def list_sessions(
    caller: Caller, *, project: ProjectFilter = "", namespace: NamespaceFilter = None, limit: Limit = 20
) -> Outcome:
    """Sessions, the newest first."""
    found, total = sessions.recent(caller.memory, project=project, namespace=namespace, limit=limit)
    return Result(
        blocks=[session_block(each) for each in found],
        noun="sessions",
        total=total,
        empty="No session yet.",
        limit_hint="Increase limit for more.",
        rest=_rest_of_sessions(project, namespace, found, total - len(found)),
        brief=f"{len(found)} of {total} sessions",
    )


def _rest_of_sessions(project: str, namespace: str | None, shown: list[Session], left: int) -> Rest | None:
    if left <= 0 or not shown:
        return None
    state = {"project": project, "namespace": namespace, "after": shown[-1].id}
    return Rest(left, left * SESSION_PRICE, "sessions", state)


@resumes("sessions")
def _more_sessions(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    state = dict(rest.state)
    found, _ = sessions.recent(
        caller.memory, project=state["project"], namespace=state["namespace"], limit=50, after=state["after"]
    )
    further = _rest_of_sessions(state["project"], state["namespace"], found, rest.items - len(found))
    return [session_block(each) for each in found], further
