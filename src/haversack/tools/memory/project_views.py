"""How a reading of one project mentions other projects, and how rows of several projects show theirs."""

from collections.abc import Callable, Sequence

from haversack.app import Caller
from haversack.memory.projects.elsewhere import Elsewhere, is_mixed
from haversack.store.records import Observation
from haversack.text.clipping import one_line
from haversack.tools.road.outcomes import Aside, Block
from haversack.values import replace

NAMED = 5
"""How many other projects a note names."""
_WIDTH = 60

InProject = Callable[[Block, Observation], Block]
"""Gives a row of a list the name of its project, where the list may hold several projects."""


def listed(caller: Caller, others: Sequence[tuple[str, int]]) -> str:
    """Projects with their counts, the first few by name: `web (12), api (3) and 2 more`."""
    label = caller.memory.labels()
    named = ", ".join(f"{_shown(label(name))} ({count:,})" for name, count in others[:NAMED])
    return named + (f" and {len(others) - NAMED} more" if len(others) > NAMED else "")


def beside(caller: Caller, project: str, elsewhere: Elsewhere, what: str) -> Aside | None:
    """The note about other projects in a reading of one; None when they have nothing."""
    if not elsewhere.total:
        return None
    others = listed(caller, elsewhere.projects) if elsewhere.projects else f"{elsewhere.total:,}"
    here = _shown(caller.memory.labels()(project))
    counts = dict(elsewhere.projects[:NAMED])
    return Aside(
        f"Project {here}; {what} in other projects: {others}; project=all reads them too.",
        {"project": project, "elsewhere": {"total": elsewhere.total} | ({"projects": counts} if counts else {})},
    )


def in_project(caller: Caller, project: str) -> InProject:
    """How the rows of a reading name their project: not at all when it is of one project."""
    return named_rows(caller) if is_mixed(caller.memory, project) else unnamed


def unnamed(block: Block, _: Observation) -> Block:
    """A row as it is, where all rows are of the same project."""
    return block


def project_names(caller: Caller, project: str) -> Callable[[Observation], str]:
    """The name shown for the project of each memory of a reading; empty when it is of one project."""
    if not is_mixed(caller.memory, project):
        return lambda _: ""
    label = caller.memory.labels()
    return lambda observation: _shown(label(observation.project))


def named_rows(caller: Caller) -> InProject:
    """Rows that name their project behind their number: `#12 (web) ...`."""
    label = caller.memory.labels()

    def named(block: Block, observation: Observation) -> Block:
        name = f"({_shown(label(observation.project))})"

        def text(level: str) -> str:
            number, _, rest = block.text(level).partition(" ")
            return f"{number} {name} {rest}"

        return replace(
            block, text=text, facts=lambda level: {**block.facts(level), "project": observation.project}
        )  # fmt: skip

    return named


def _shown(label: str) -> str:
    return one_line(label, _WIDTH) or "no project"
