"""`mem_compact`: listing old observations with their cost, and replacing them by a summary."""

from collections.abc import Sequence
from typing import Annotated

from haversack.app import Caller
from haversack.memory import context
from haversack.memory.save import compaction
from haversack.memory.save.checks import SCOPES
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store.records import Observation
from haversack.text.amounts import counted
from haversack.text.redaction import describe
from haversack.tools.declaration import Command, Range, resumes, samples, tool
from haversack.tools.memory.observation_views import observation_block
from haversack.tools.memory.project_views import in_project
from haversack.tools.memory.search_results import spread
from haversack.tools.road.outcomes import Block, Done, Outcome, Rest, Result
from haversack.tools.shared_parameters import NamespaceFilter, ProjectFilter, UnlistedText
from haversack.values import replace


@tool(
    Command(
        "compact",
        examples=(
            "haversack compact --older-than-days 90",
            "haversack compact --older-than-days 90 --ids 3,4,7 --summary-content 'What they said'",
        ),
    ),
    group="memory",
    writes=True,
    confirms=False,
    level="summary",
)
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
    session_id: UnlistedText = "",
) -> Outcome:
    """List old memories with their token price, or softly delete given ones behind a summary."""
    project = caller.memory.scope(project)
    filters = context.place_filters(project=project, scope=scope, namespace=namespace)
    if ids:
        summary = _summary(project, namespace, summary_title, summary_content, session_id)
        return _compacted(compaction.compact(caller.memory, filters, older_than_days, tuple(ids), summary))
    found = compaction.candidates(caller.memory, filters, older_than_days)
    # Counts are stored as o200k's; what compacting would free need not be counted again for another profile.
    price = found.units
    blocks = _candidates(caller, project, found.observations)
    left = len(found.others)
    days = counted(older_than_days, "day")
    return Result(
        blocks=blocks,
        noun="observations",
        total=found.total,
        rest=_others(caller, found.others, project) if left else None,
        heading=f"{found.total:,} older than {days}, ~{price:,} tokens in all." if blocks else "",
        empty=f"Nothing is older than {days}.",
        limit_hint="Compact these first.",
        facts={"tokens_in_all": price},
        brief=f"{found.total:,} observations older than {days}, ~{price:,} tokens",
    )


def _candidates(caller: Caller, project: str, found: Sequence[Observation]) -> list[Block]:
    row = in_project(caller, project)
    return [
        row(observation_block(each, note=f"~{each.units:,} tokens", extra={"tokens": each.units}), each)
        for each in found
    ]


@resumes("candidates")
def _more_candidates(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    ids, left = rest.state["ids"][:50], rest.state["ids"][50:]
    project = rest.state.get("project", "")
    found = search.by_ids(caller.memory, list(ids))
    return _candidates(caller, project, found), _others(caller, left, project) if left else None


def _others(caller: Caller, ids: Sequence[int], project: str) -> Rest:
    rest = Rest(len(ids), 0, "candidates", {"ids": ids, "project": project})
    return replace(rest, sample=lambda: _sample(caller, rest))


@samples("candidates")
def _sample(caller: Caller, rest: Rest) -> list[Block]:
    """Some of the observations, spread evenly, since the newest may differ from the oldest."""
    found = search.by_ids(caller.memory, spread(rest.state["ids"]))
    return _candidates(caller, rest.state.get("project", ""), found)


def _summary(project: str, namespace: str | None, title: str, content: str, session_id: str) -> Draft | None:
    if not content and not title:
        return None
    return Draft(
        title=title or "Compaction summary",
        content=content,
        project=project,
        namespace=namespace or "",
        session_id=session_id,
    )


def _compacted(done: compaction.Compacted) -> Done:
    message = f"compacted {counted(len(done.deleted), 'observation')} (soft delete)"
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
