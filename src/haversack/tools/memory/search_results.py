"""Search results and recent lists as blocks, and how they continue beyond the rendered items."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from haversack.app import Caller
from haversack.memory import context as recalling
from haversack.memory.context import Context
from haversack.memory.projects.elsewhere import matching
from haversack.memory.search import search
from haversack.memory.search.query import Query, parse_query
from haversack.memory.search.ranking import Hit
from haversack.memory.search.search import Found
from haversack.store import observations
from haversack.store.expressions import freeze, thaw
from haversack.store.records import Filters, Observation
from haversack.text import times
from haversack.text.amounts import counted
from haversack.text.clipping import one_line
from haversack.tools.declaration import resumes, samples
from haversack.tools.memory.observation_views import found_block, gone_block, observation_block, weight_at
from haversack.tools.memory.project_views import InProject, beside, in_project, listed
from haversack.tools.road.outcomes import LEVELS, Block, Rest, Result
from haversack.tools.road.prices import likely_kinds
from haversack.values import asdict, replace

PAGE = 50
SNAPSHOT = 2_000
"""How many ids of a list are kept for its further pages; later items are read when asked for."""
SAMPLED = 32
"""How many observations of a rest may be rendered to learn what a weight costs."""
FEW = 8
"""A rest of no more observations than this is priced exactly."""
WEIGHED = 150
"""How many observations of a rest are read to price it."""


def result(caller: Caller, found: Found, text: str, project: str, *, explain: bool, names_others: bool) -> Result:
    """A search's hits as blocks, with the other matches one call away, and those of other projects named if asked."""
    best = found.hits[0].score if found.hits else 1.0
    named = in_project(caller, project)
    blocks = [_block(found, hit, best, named, explain=explain) for hit in found.hits]
    rest = None
    if left := found.total - sum(block.counted for block in blocks):
        state = {"text": text, "match": freeze(found.match), "filters": asdict(found.filters), "ids": found.others,
                 "ranked": [hit.observation.id for hit in found.hits] if left > len(found.others) else [],
                 "below": found.newest + 1}  # fmt: skip
        ids = [*found.others, *(_others(caller, found) if left > len(found.others) else ())]
        rest = _of_matches(caller, left, state, ids, found.query)
    state = {"text": text, "match": freeze(found.match), "filters": asdict(found.filters), "ids": found.others,
             "ranked": [], "below": 0, "beside": sorted(found.beside)} | (dict(rest.state) if rest else {})  # fmt: skip

    def refer(left_out: Sequence[Block]) -> Rest:
        ids = [*(int(block.name.removeprefix("#")) for block in left_out), *found.others]
        items = len(left_out) + (rest.items if rest else 0)
        return Rest(items, 0, "search", state | {"ids": ids})

    return Result(
        blocks=blocks,
        noun="results",
        total=found.total,
        empty=_nothing(caller, found, project),
        limit_hint="Use limit or mem_get_observation #ID for more.",
        rest=rest,
        refer=None if explain else refer,
        brief=_brief(found, text),
        aside=beside(caller, project, matching(caller.memory, found), "matches")
        if names_others and project and blocks
        else None,
    )


def _block(found: Found, hit: Hit, best: float, named: InProject, *, explain: bool) -> Block:
    note, extra = "", None
    if explain:
        parts = ", ".join(f"{name} {value:.3f}" for name, value in hit.parts)
        note = f"[score {hit.score:.3f}: {parts}]"
        extra = {"score": round(hit.score, 4), "parts": {name: round(value, 4) for name, value in hit.parts}}
    worth = hit.score / best if best > 0 else 1.0
    shown = found_block(hit.observation, found.query, note=note, extra=extra, worth=worth)
    return replace(named(shown, hit.observation), counted=hit.observation.id not in found.beside)


def _nothing(caller: Caller, found: Found, project: str) -> str:
    if not found.elsewhere:
        return "No memory matches. Try fewer or other words, or mem_context for what is recent."
    where = listed(caller, found.elsewhere)
    here = one_line(caller.memory.labels()(project), 60)
    return f'No match in project {here}. Other projects have matches: {where}. project="all" reads them too.'


def _brief(found: Found, text: str) -> str:
    top = ", ".join(f"#{hit.observation.id} {one_line(hit.observation.title, 50)}" for hit in found.hits[:3])
    return f"{counted(found.total, 'result')} for '{one_line(text, 80)}'" + (f": {top}" if top else "")


def _others(caller: Caller, found: Found) -> list[int]:
    """Some of the matches that are not ranked."""
    seen = {*(hit.observation.id for hit in found.hits), *found.others}
    below = search.matches_below(caller.memory, found.match, found.filters, found.newest + 1, len(seen) + 2 * WEIGHED)
    return [each for each in below if each not in seen]


def _sample(
    caller: Caller, ids: Sequence[int], project: str, query: Query | None = None
) -> Callable[[], Sequence[Block]]:
    """Some of the observations, spread evenly, as blocks."""

    def sample() -> list[Block]:
        held, named = search.by_ids(caller.memory, spread(ids)), in_project(caller, project)
        return [named(found_block(each, query) if query else observation_block(each), each) for each in held]

    return sample


def spread(ids: Sequence[int]) -> list[int]:
    """An evenly spread sample of the ids, for pricing."""
    wanted = len(ids) if len(ids) <= FEW else min(SAMPLED, max(FEW, len(ids) // 2))
    return [ids[place * len(ids) // wanted] for place in range(wanted)]


def _of_matches(caller: Caller, items: int, state: dict[str, Any], ids: Sequence[int], query: Query | None) -> Rest:
    """The matches behind those rendered; they stand under their dates."""
    with caller.database.read() as tx:
        dates = Counter(map(times.date, observations.times_updated(tx, ids[:: max(1, len(ids) // WEIGHED)])))
    sections = likely_kinds(dates, items) if dates else None
    return Rest(
        items, weights(caller, ids, items), "search", state, _sample(caller, ids, _project(state), query), sections
    )


def weights(caller: Caller, ids: Sequence[int], items: int) -> dict[str, int] | int:
    """The weight of so many observations at each level, by those of them whose ids are known, or some of those."""
    some = ids[:: max(1, len(ids) // WEIGHED)]
    with caller.database.read() as tx:
        sizes = observations.sizes(tx, some)
    if not sizes:
        return 0
    return {level: sum(weight_at(*each, level) for each in sizes) * items // len(sizes) for level in LEVELS}


@resumes("search")
def _more_matches(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    state = dict(rest.state)
    ids, state["ids"] = state["ids"][:PAGE], state["ids"][PAGE:]
    goes_on = bool(state["ids"])
    if state["ranked"]:
        # Behind the ranked matches come the others by age, as far as they were there when the search was made.
        seen = {*state["ranked"], *ids}
        wanted = PAGE - len(ids)
        chosen = filters_from(state["filters"])
        further = search.matches_below(
            caller.memory, thaw(state["match"]), chosen, state["below"], wanted + len(seen) + 1
        )
        fresh = [each for each in further if each not in seen]
        goes_on = goes_on or len(fresh) > wanted
        ids = [*ids, *fresh[:wanted]]
        state["below"] = ids[-1] if fresh and wanted else state["below"]
        state["ranked"] = sorted({*seen, *ids})
    query = parse_query(state["text"])
    beside = frozenset(state.get("beside", ()))
    blocks = [
        replace(block, counted=identifier not in beside)
        for identifier, block in _blocks(caller, ids, _project(state), lambda each: found_block(each, query))
    ]
    return blocks, _further(caller, rest, len(ids), state) if goes_on else None


def _project(state: Mapping[str, Any]) -> str:
    """The project a list was narrowed to, from the state of its rest; empty for all of them."""
    return str(state["filters"]["project_key"])


def _blocks(
    caller: Caller, ids: Sequence[int], project: str, render: Callable[[Observation], Block], *, deleted: bool = False
) -> Iterator[tuple[int, Block]]:
    """Observations by id, in their present state; deleted ones are shown as gone."""
    held = {each.id: each for each in search.by_ids(caller.memory, list(ids), deleted=deleted)}
    named = in_project(caller, project)
    for identifier in ids:
        found = held.get(identifier)
        yield identifier, named(render(found), found) if found else gone_block(identifier)


def _further(caller: Caller, rest: Rest, taken: int, state: dict[str, Any]) -> Rest:
    """The rest after some items were taken; its size is the one known before, since others may write meanwhile."""
    remaining = max(1, rest.items - taken)
    query = parse_query(state["text"]) if "text" in state else None
    ids = state["ids"]
    if state.get("ranked") and len(ids) < remaining:
        chosen, seen = filters_from(state["filters"]), {*state["ranked"], *ids}
        wanted = len(seen) + 2 * WEIGHED
        below = search.matches_below(caller.memory, thaw(state["match"]), chosen, state["below"], wanted)
        ids = [*ids, *(each for each in below if each not in seen)]
    if rest.resume == "search":
        return _of_matches(caller, remaining, state, ids, query)
    return Rest(
        remaining, weights(caller, ids, remaining), rest.resume, state, _sample(caller, ids, _project(state), query)
    )


@samples("search")
def _sample_of_matches(caller: Caller, rest: Rest) -> Sequence[Block]:
    sample = _further(caller, rest, 0, dict(rest.state)).sample
    return sample() if sample else ()


@samples("list")
def _sample_of_list(caller: Caller, rest: Rest) -> Sequence[Block]:
    return _sample(caller, rest.state["ids"], _project(rest.state))()


def filters_from(held: Mapping[str, object]) -> Filters:
    """Filters as they were frozen in the state of a rest."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in held.items()}
    return Filters(**values)  # type: ignore[arg-type]


def rest_of_context(caller: Caller, context: Context, filters: Filters) -> Rest:
    """The observations older than those a context holds."""
    shown = [*context.pinned, *context.observations]
    oldest = min((each.position for each in context.observations), default=2**62)
    left = context.total - len(shown)
    state = {**_behind(caller, filters, oldest), "seen": [each.id for each in context.pinned], "section": "## Memories"}
    return Rest(
        left, weights(caller, state["ids"], left), "list", state, _sample(caller, state["ids"], _project(state))
    )


def rest_of_list(caller: Caller, filters: Filters, shown: list[Observation], total: int) -> Rest:
    """The observations older than those a list holds."""
    left = total - len(shown)
    state = {**_behind(caller, filters, shown[-1].position), "seen": [], "section": ""}
    return Rest(
        left, weights(caller, state["ids"], left), "list", state, _sample(caller, state["ids"], _project(state))
    )


def _behind(caller: Caller, filters: Filters, before: int) -> dict[str, Any]:
    """The observations after a position, by id: a topic's new text changes its position, never its id."""
    ids, before = recalling.behind(caller.memory, filters, before, SNAPSHOT)
    return {"filters": asdict(filters), "ids": ids, "before": before}


@resumes("list")
def _more_of_list(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    state = dict(rest.state)
    if not state["ids"]:
        state["ids"], state["before"] = recalling.behind(
            caller.memory, filters_from(state["filters"]), state["before"], SNAPSHOT
        )
    ids, state["ids"] = state["ids"][:PAGE], state["ids"][PAGE:]
    new = [each for each in ids if each not in state["seen"]]
    section, chosen = state["section"], filters_from(state["filters"])
    shown = _blocks(
        caller, new, chosen.project_key, lambda each: observation_block(each, section=section), deleted=chosen.deleted
    )  # fmt: skip
    blocks = [block for _, block in shown]
    goes_on = state["ids"] or recalling.behind(caller.memory, chosen, state["before"], 1)[0]
    return blocks, _further(caller, rest, len(new), state) if goes_on else None
