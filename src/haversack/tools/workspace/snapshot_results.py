"""Snapshots of the workspace as results: the first items as blocks, the others behind a key."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

from haversack.app import Caller
from haversack.tools.declaration import Range, resumes, samples, sampling
from haversack.tools.road.outcomes import Block, Rest, Result
from haversack.tools.workspace.workspace_views import blocks
from haversack.values import replace
from haversack.workspace.files.secret_names import Withheld
from haversack.workspace.resuming import resume
from haversack.workspace.snapshots import Snapshot

PAGE = 100
SAMPLED = 64
ADVICE = "Increase max_tokens for more."
Path = Annotated[str, "File or folder, from the root"]
Line = Annotated[int | None, Range(1, 10**9)]


def snapshot_result(caller: Caller, snapshot: Snapshot[Any], noun: str, brief: str, **more: Any) -> Result:
    """The first items of a snapshot as blocks, with the others behind it."""
    shown = blocks(snapshot.kind, snapshot.first(PAGE))
    return Result(
        blocks=shown,
        noun=noun,
        total=more.pop("total", snapshot.total),
        advice=ADVICE,
        rest=_rest(caller, snapshot, shown),
        extend=lambda rest: _resumed(caller, rest) if rest.resume == "workspace" else ([], rest),
        brief=brief,
        **more,
    )


def _rest(caller: Caller, snapshot: Snapshot[Any], shown: list[Block]) -> Rest | None:
    left = snapshot.total - len(shown)
    if left <= 0:
        return None
    key = caller.stash.keep_bytes(snapshot.data, snapshot.kind, snapshot.identity)
    return _behind(snapshot, left, "workspace", {"snapshot": key, "start": len(shown)})


def _behind(snapshot: Snapshot[Any], left: int, resume: str, state: Mapping[str, Any]) -> Rest:
    """The items of a snapshot from its place in the state on; matches are stored in a part for each file."""
    start: int = state["start"]
    sections = snapshot.parts_from(start) if snapshot.kind == "matches" else None
    return Rest(left, snapshot.weight_from(start), resume, state, _sample(snapshot, start), sections)


@resumes("workspace")
def _resumed(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    snapshot = resume(caller.stash.fetch_bytes(rest.state["snapshot"]), caller.workspace)
    start = rest.state["start"]
    found = blocks(snapshot.kind, list(islice(snapshot.items(start), PAGE)))
    left = rest.items - len(found)
    if left <= 0:
        return found, None
    if start + len(found) >= snapshot.total:
        return found, Rest(left, 0, *rest.state["then"])
    state = {**rest.state, "start": start + len(found)}
    behind = _behind(snapshot, left, rest.resume, state)
    return found, followed(caller, behind, snapshot) if "then" in state else behind


def followed(caller: Caller, rest: Rest, snapshot: Snapshot[Any] | None = None) -> Rest:
    """The rest of a snapshot that goes on behind its end: there are no weights for that, so a sample tells."""
    return replace(rest, price=0, sample=lambda: _sampled(caller, rest, snapshot))


@samples("workspace")
def _sampled(caller: Caller, rest: Rest, snapshot: Snapshot[Any] | None = None) -> list[Block]:
    """A sample of the items a snapshot has not shown and of those that follow it, in proportion."""
    snapshot = snapshot or resume(caller.stash.fetch_bytes(rest.state["snapshot"]), caller.workspace)
    held = snapshot.total - rest.state["start"]
    found = list(_sample(snapshot, rest.state["start"])())
    if rest.items <= held:
        return found
    then = Rest(rest.items - held, 0, *rest.state["then"])
    sample = sampling(then.resume)
    further = list(sample(caller, then)) if sample else []
    if len(found) + len(further) == rest.items:
        return found + further
    shares = (max(1, round(SAMPLED * part / rest.items)) for part in (held, then.items))
    return [
        replace(block, weight=None)
        for some, share in zip((found, further), shares, strict=True)
        for block in some[:: max(1, -(-len(some) // share))]
    ]


def _sample(snapshot: Snapshot[Any], start: int) -> Callable[[], Sequence[Block]]:
    """Some items of a snapshot from an index on, spread evenly."""

    def sample() -> list[Block]:
        if snapshot.total - start <= SAMPLED:
            return blocks(snapshot.kind, list(snapshot.items(start)))
        step = (snapshot.total - start) // SAMPLED
        places = range(start, snapshot.total, step)
        found = blocks(snapshot.kind, [each for at in places for each in islice(snapshot.items(at), 1)])
        return [_weighing(block, snapshot.weight_at(at)) for block, at in zip(found, places, strict=True)]

    return sample


def _weighing(block: Block, weight: float) -> Block:
    return replace(block, weight=lambda _: round(weight))


def reading_notes(withheld: Withheld, *others: str) -> str:
    """A line about files that are not in the result."""
    said = [each for each in others if each]
    if withheld.count:
        names = ", ".join(withheld.names[:3]) + (", ..." if withheld.count > 3 else "")
        said.append(f"{withheld.count} withheld as likely secrets ({names})")
    return f"({'; '.join(said)})" if said else ""
