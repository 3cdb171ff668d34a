"""`pack_candidates`: every candidate of a pack with its price, whether it is in, and why not."""

from typing import Annotated

from haversack.app import Caller
from haversack.memory.save.checks import SCOPES
from haversack.memory.search import search
from haversack.packs import candidates as gathering
from haversack.packs import context_pack as building
from haversack.store.records import Observation
from haversack.text.clipping import one_line
from haversack.tokens import Budget
from haversack.tools.declaration import Range, tool
from haversack.tools.memory.packs import DEFAULT_TOKENS, context_pack, pack_block
from haversack.tools.memory.project_views import project_names
from haversack.tools.road.fit import fit
from haversack.tools.road.layouts import TextLayout
from haversack.tools.road.outcomes import Block, Facts, Outcome, Result
from haversack.tools.shared_parameters import NamespaceFilter, ProjectFilter


@tool(group="terminal", title="Candidates of a pack")
def pack_candidates(
    caller: Caller,
    *,
    query: Annotated[str, "What the pack is for; omit for the most important"] = "",
    pack_tokens: Annotated[int, "Budget of the pack", Range(64, 10**9)] = DEFAULT_TOKENS,
    project: ProjectFilter = "",
    kind: str = "",
    tags: Annotated[list[str], "All of these"] = [],  # noqa: B006
    scope: Annotated[str, SCOPES] = "",
    namespace: NamespaceFilter = None,
    candidates: Annotated[int, Range(1, 200)] = gathering.CANDIDATES,
    first: Annotated[list[int], "Ids to put first"] = [],  # noqa: B006
    without: Annotated[list[int], "Ids to leave out"] = [],  # noqa: B006
) -> Outcome:
    """What would be in a context pack and what not, each with its price and the reason."""
    project = caller.memory.scope(project)
    filters = search.filters(
        caller.memory, kind=kind, project=project, scope=scope, namespace=namespace, tags=tuple(tags)
    )
    gathered = gathering.gather(caller.memory, query, filters, candidates=candidates, first=first, without=without)
    packed = context_pack(
        caller, query=query, project=project or "all", kind=kind, tags=tags, scope=scope, namespace=namespace,
        candidates=candidates, first=first, without=without,
    )  # fmt: skip
    assert isinstance(packed, Result)
    reply = fit(packed, Budget(pack_tokens, caller.profile), "full", TextLayout(footer=False)).reply()
    inside = set(reply.names)
    day, place = building.date_of_all(gathered.candidates), project_names(caller, project)
    blocks = []
    for observation in gathered.candidates:
        price = _price(caller, observation, place(observation), day)
        why = "" if f"#{observation.id}" in inside else "too large" if price > pack_tokens else "no room"
        blocks.append(_block(observation, price, why))
    for each in gathered.duplicates:
        blocks.append(
            _block(
                each.observation,
                _price(caller, each.observation, place(each.observation)),
                f"near-duplicate of #{each.of}",
            )
        )
    blocks += [
        _block(each, _price(caller, each, place(each)), "left out")
        for each in search.by_ids(caller.memory, list(dict.fromkeys(without)))
    ]
    return Result(
        blocks=blocks,
        noun="candidates",
        total=len(blocks),
        heading=f"{len(inside)} in, {reply.tokens:,} of {pack_tokens:,} tokens." if blocks else "",
        empty="No memory matches.",
        facts={
            "pack_tokens": pack_tokens,
            "pack_cost": reply.tokens,
            "in": len(inside),
            "behind": max(0, gathered.total - len(gathered.candidates) - len(gathered.duplicates)),
        },
        brief=f"{len(inside)} of {len(blocks)} candidates in a pack of {pack_tokens:,} tokens",
    )


def _price(caller: Caller, observation: Observation, place: str, day: str = "") -> int:
    shown = pack_block(observation, 1.0, usual_date=day, place=place)
    return caller.profile.count(shown.text("full") + building.SEPARATOR)


def _block(observation: Observation, price: int, why: str) -> Block:
    title = one_line(observation.title, 120)
    standing = f"out: {why}" if why else "in"

    def facts(_: str) -> Facts:
        held: dict[str, object] = {
            "id": observation.id, "kind": observation.kind, "title": title, "tokens": price, "in": not why
        }  # fmt: skip
        return held | ({"why": why} if why else {})

    return Block(f"#{observation.id}", lambda _: f"#{observation.id} {price:,} {standing}: {title}", facts)
