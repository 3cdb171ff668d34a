"""How rows of several projects say whose they are, and how a reading of one project names the others."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypedDict

from haversack.app import Caller
from haversack.memory.projects import project_key
from haversack.store.records import Observation
from haversack.tools.road.outcomes import Facts

NAMED = 5
"""How many other projects are named."""


class Owner(TypedDict):
    """The options of a block that name an observation's project."""

    note: str
    extra: Facts | None


def owner_of(caller: Caller, project: str, rows: Iterable[Observation]) -> Callable[[Observation], Owner]:
    """What a row says of its project: nothing where all are of one."""
    if project or len({project_key(each.project) for each in rows}) < 2:
        return lambda _: Owner(note="", extra=None)
    label = caller.memory.labels()
    return lambda observation: Owner(
        note=f"({label(observation.project) or 'no project'})", extra={"project": observation.project}
    )


def listed(caller: Caller, others: Sequence[tuple[str, int]]) -> str:
    """Projects with their counts, the first few by name: `web (12), api (3) and 2 more`."""
    label = caller.memory.labels()
    named = ", ".join(f"{label(name) or 'no project'} ({count:,})" for name, count in others[:NAMED])
    return named + (f" and {len(others) - NAMED} more" if len(others) > NAMED else "")
