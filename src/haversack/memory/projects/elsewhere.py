"""What other projects have for a reading of one project."""

from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.memory.search.search import Found
from haversack.store import projects
from haversack.store.engine import Reader
from haversack.store.expressions import NOTHING
from haversack.store.records import Filters
from haversack.values import record, replace

MOST_TOLD_APART = 500
"""Matches elsewhere that are counted by project; of more only the total is given."""


@record
class Elsewhere:
    """How many observations of other projects there are, and of which; no project is named where they are too many."""

    total: int = 0
    projects: tuple[tuple[str, int], ...] = ()


def passing(memory: Memory, chosen: Filters) -> Elsewhere:
    """The observations of other projects that pass the same filters, counted."""
    with memory.database.read() as tx:
        return _of_others(_by_project(tx, chosen), chosen)


def matching(memory: Memory, found: Found) -> Elsewhere:
    """The matches of a search in other projects, counted; a store of one project is not searched again."""
    chosen = found.filters
    everywhere = replace(chosen, project_key="")
    with memory.database.read() as tx:
        others = _of_others(_by_project(tx, replace(chosen, tags=(), session_id="", since=None, until=None)), chosen)
        if not others.total:
            return Elsewhere()
        if found.match == NOTHING:  # the query only named a time
            return _of_others(_by_project(tx, chosen), chosen)
        total = tx.words.count(found.match, everywhere) - found.total
        if not 0 < total <= MOST_TOLD_APART:
            return Elsewhere(max(0, total))
        return _of_others(tx.words.projects(found.match, everywhere), chosen)


def is_mixed(memory: Memory, project: str) -> bool:
    """Whether a reading of a project, or of all when it is empty, may hold rows of several projects."""
    if project:
        return False
    with memory.database.read() as tx:
        return len(_by_project(tx, Filters())) > 1


def _by_project(tx: Reader, chosen: Filters) -> list[tuple[str, int]]:
    return projects.count_by_project(tx, replace(chosen, project_key=""))


def _of_others(counted: list[tuple[str, int]], chosen: Filters) -> Elsewhere:
    others = tuple(each for each in counted if project_key(each[0]) != chosen.project_key)
    return Elsewhere(sum(count for _, count in others), others)
