"""`context_pack`: the best of the memory within a budget, as text to paste."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from haversack.app import Caller
from haversack.memory.save.checks import SCOPES
from haversack.memory.search import search
from haversack.packs import candidates as gathering
from haversack.packs import context_pack as building
from haversack.store.expressions import freeze, thaw
from haversack.store.records import Filters, Observation
from haversack.text.clipping import one_line
from haversack.text.redaction import redact
from haversack.text.times import date
from haversack.tools.declaration import Command, Range, resumes, samples, tool
from haversack.tools.memory.observation_views import SNIPPET_WIDTH, TITLE_WIDTH, weight_at
from haversack.tools.memory.project_views import project_names
from haversack.tools.memory.search_results import WEIGHED, filters_from, spread, weights
from haversack.tools.memory.unknown_filters import unknown_in
from haversack.tools.road.outcomes import Block, Facts, Outcome, Rest, Result
from haversack.tools.road.quoting import excerpt, field, passage
from haversack.tools.shared_parameters import NamespaceFilter, ProjectFilter
from haversack.values import asdict, replace

DEFAULT_TOKENS = 2_000
MOST_GONE = 20
PAGE = 50


@tool(
    Command(
        "context-pack",
        ("query",),
        heading="packs and budget",
        paste=True,
        examples=(
            "haversack context-pack --project thesis --tokens 2000 -o context.md",
            "haversack context-pack 'auth flow' --tokens 400 --json -o context.json",
        ),
    ),
    group="memory",
    level="full",
    default_tokens=DEFAULT_TOKENS,
    title="Context pack",
)
def context_pack(
    caller: Caller,
    *,
    query: Annotated[str, "What it is for; omit for the most important"] = "",
    project: ProjectFilter = "",
    kind: str = "",
    tags: Annotated[list[str], "All of these"] = [],  # noqa: B006
    scope: Annotated[str, SCOPES] = "",
    namespace: NamespaceFilter = None,
    candidates: Annotated[int, Range(1, 200)] = gathering.CANDIDATES,
    scrub: Annotated[bool, "Take out secrets"] = False,
    since: Annotated[str, "pack_id: only what changed since"] = "",
    first: Annotated[list[int], "Ids to put first"] = [],  # noqa: B006
    without: Annotated[list[int], "Ids to leave out"] = [],  # noqa: B006
) -> Outcome:
    """The best memories in full within a budget (2000 tokens), as Markdown ready to paste elsewhere."""
    named, project = project, caller.memory.scope(project)
    name = caller.memory.labels()(project)
    filters = search.filters(
        caller.memory, kind=kind, project=project, scope=scope, namespace=namespace, tags=tuple(tags)
    )
    gathered = gathering.gather(
        caller.memory, query, filters, candidates=candidates, since=since, first=first, without=without
    )
    chosen = tuple(_scrubbed(each) if scrub else each for each in gathered.candidates)
    day = building.date_of_all(chosen)
    place = project_names(caller, project)
    blocks = [pack_block(each, 1 / (1 + rank / 10), project, day, place(each)) for rank, each in enumerate(chosen)]
    by_name = {f"#{each.id}": each for each in gathered.candidates}
    left = gathered.total - len(gathered.duplicates) - len(blocks)
    is_kept = gathering.can_remember(caller.memory)

    unknown = "" if blocks else unknown_in(caller, filters, project=project if named else "", kind=kind, tags=tags)
    reason = "" if blocks else unknown or _why_empty(query, project, since)

    def items(names: Sequence[str]) -> dict[int, str]:
        return gathering.items_of((by_name[name] for name in names), gathered.known)

    def heading(shown: int, tokens: int) -> str:
        return building.title(name, shown, tokens, day if shown else "") + _farewell(gathered, shown)

    def lean_heading(shown: int, is_small: bool) -> str:
        # Whoever asked for a few lines knows of what; a pack that shows nothing says where it looked.
        where = "" if is_small and shown else name or building.EVERYWHERE
        return building.lean_title(where, day if shown else "") + _farewell(gathered, shown)

    def facts(names: Sequence[str]) -> Facts:
        return _facts(gathered, project, gathering.pack_id(items(names)) if is_kept else None)

    return Result(
        blocks=blocks,
        noun="memories",
        total=len(blocks) + left,
        rest=_rest(caller, gathered, filters, left, scrub=scrub) if left else None,
        heading=heading,
        lean_heading=lean_heading,
        empty=reason,
        separator=building.SEPARATOR,
        lists_omitted=True,
        tokens_name="total_tokens",
        facts=facts,
        brief=f"pack of {project or 'all projects'}: {len(blocks)} candidates of {gathered.total}",
        on_sent=(lambda names: gathering.remember(caller.memory, items(names))) if is_kept else None,
    )


def _rest(caller: Caller, gathered: gathering.Gathered, filters: Filters, left: int, *, scrub: bool) -> Rest:
    state: dict[str, Any] = {"ids": gathered.others, "scrub": scrub, "project": filters.project_key}
    if left > len(gathered.others):
        looked_at = (*gathered.candidates, *(each.observation for each in gathered.duplicates))
        seen = [*(each.id for each in looked_at), *gathered.known, *gathered.others, *gathered.set_aside]
        match = freeze(gathered.match) if gathered.match else None
        state |= {"match": match, "filters": asdict(filters), "seen": seen}
    return _behind(caller, left, state)


def _behind(caller: Caller, left: int, state: dict[str, Any]) -> Rest:
    """The remaining memories from a state on, priced by those whose ids are known and by a sample of the others."""
    ids = list(state["ids"])
    if left > len(ids) and "seen" in state:
        ids += _further(caller, state, 2 * WEIGHED)
    sample = _sample(caller, ids, state.get("project", ""), scrub=state["scrub"])
    return Rest(left, weights(caller, ids, left), "pack", state, sample)


def _further(caller: Caller, state: Mapping[str, Any], count: int) -> list[int]:
    match = thaw(state["match"]) if state["match"] else None
    return gathering.further(caller.memory, match, filters_from(state["filters"]), {*state["seen"]}, count)


@resumes("pack")
def _more_of_pack(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    state = dict(rest.state)
    ids, state["ids"] = list(state["ids"][:PAGE]), state["ids"][PAGE:]
    if not ids and "seen" in state:
        ids = _further(caller, state, PAGE)
        state["seen"] = [*state["seen"], *ids]
    held = search.by_ids(caller.memory, ids)
    place = project_names(caller, state.get("project", ""))
    blocks = [pack_block(_scrubbed(each) if state["scrub"] else each, 1.0, place=place(each)) for each in held]
    left = max(len(state["ids"]), rest.items - len(ids)) if ids else 0
    goes_on = state["ids"] or (left and "seen" in state)
    return blocks, _behind(caller, left, state) if goes_on else None


@samples("pack")
def _sample_of_pack(caller: Caller, rest: Rest) -> Sequence[Block]:
    sample = _behind(caller, rest.items, dict(rest.state)).sample
    return sample() if sample else ()


def _sample(caller: Caller, ids: Sequence[int], project: str, *, scrub: bool) -> Callable[[], Sequence[Block]]:
    """Some of the memories, spread evenly, as blocks."""

    def sample() -> list[Block]:
        held, place = (
            search.by_ids(caller.memory, spread(ids)),
            project_names(caller, project),
        )
        return [pack_block(_scrubbed(each) if scrub else each, 1.0, place=place(each)) for each in held]

    return sample


def _facts(gathered: gathering.Gathered, project: str, pack_id: str | None) -> Facts:
    facts: dict[str, object] = {"project_id": project or None, "pack_id": pack_id}
    if gathered.duplicates:
        facts["near_duplicates"] = [{"id": each.observation.id, "of": each.of} for each in gathered.duplicates[:20]]
    if gathered.unchanged:
        facts["unchanged"] = gathered.unchanged
    if gathered.gone:
        facts["gone"] = list(gathered.gone[:MOST_GONE])
    return facts


def _why_empty(query: str, project: str, since: str) -> str:
    """Why a pack has no candidate at all."""
    if since:
        return "Nothing has changed since that pack."
    where = f" in project {one_line(project, 60)}" if project else ""
    if query.strip():
        return f"No memory matches {one_line(query, 60)!r}{where}."
    return f"No memory matches: nothing is remembered{where} yet, or the filters leave nothing."


def _farewell(gathered: gathering.Gathered, shown: int) -> str:
    """The memories a reader should forget, in a pack that builds on another; or why the pack is empty."""
    if gathered.candidates and not shown:
        return f"\nNothing fits: each of the {len(gathered.candidates)} candidates is larger than this budget.\n"
    if not gathered.gone:
        return ""
    listed = ", ".join(f"#{each}" for each in gathered.gone[:MOST_GONE])
    more = f" and {len(gathered.gone) - MOST_GONE} more" if len(gathered.gone) > MOST_GONE else ""
    return f"\nNo longer current: {listed}{more}\n"


def _scrubbed(observation: Observation) -> Observation:
    return replace(observation, title=redact(observation.title).text, content=redact(observation.content).text)


def pack_block(
    observation: Observation, worth: float, project: str = "", usual_date: str = "", place: str = ""
) -> Block:
    """An observation as an item of a pack; JSON names its project where it is not the one asked for.

    Text names it where `place` does, and leaves out the date that the pack states for all.
    """
    kind = "" if observation.kind == building.PLAIN_KIND else f"[{field(observation.kind)}] "
    behind = f"#{observation.id}, {place}" if place else f"#{observation.id}"
    short = f"## {kind}{one_line(observation.title, TITLE_WIDTH)} ({behind})"

    def text(level: str) -> str:
        if level == "summary":
            return short
        if level == "standard":
            return f"{short}\n{excerpt(one_line(observation.content, SNIPPET_WIDTH))}"
        # A pack is pasted elsewhere, where a memory must not pass for several.
        title = " ".join(observation.title.split())
        names = {"kind": field(observation.kind), "tags": tuple(map(field, observation.tags))}
        written = replace(observation, title=title, content=passage(observation.content), **names)
        return building.entry(written, usual_date=usual_date, project=place)

    def facts(level: str) -> Facts:
        title = one_line(observation.title, TITLE_WIDTH) if level == "summary" else observation.title
        shown: dict[str, object] = {"id": observation.id, "kind": observation.kind, "title": title}
        if level == "standard":
            shown["snippet"] = one_line(observation.content, SNIPPET_WIDTH)
        if level == "full":
            shown |= {
                "content": observation.content,
                "date": date(observation.updated_at),
                "importance": None if observation.importance == building.USUAL_IMPORTANCE else observation.importance,
                "project": None if observation.project == project else observation.project,
                "tags": list(observation.tags),
            }
        return {name: value for name, value in shown.items() if value not in ("", [], None)}

    weight = partial(weight_at, observation.units, observation.bytes, len(observation.title))
    return Block(f"#{observation.id}", text, facts, worth=worth, weight=weight)
