"""Snapshots of the workspace as results: the first items as blocks, the others behind a key."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

from haversack.app import Caller
from haversack.tools.declaration import Range, resumes
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
    start += len(found)
    return found, _behind(snapshot, left, rest.resume, {**rest.state, "start": start})


def _sample(snapshot: Snapshot[Any], start: int) -> Callable[[], Sequence[Block]]:
    """Some items of a snapshot from a place on, spread evenly."""

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
    """What a reader should know of what is not in the result, on one line."""
    said = [each for each in others if each]
    if withheld.count:
        names = ", ".join(withheld.names[:3]) + (", ..." if withheld.count > 3 else "")
        said.append(f"{withheld.count} withheld as likely secrets ({names})")
    return f"({'; '.join(said)})" if said else ""
