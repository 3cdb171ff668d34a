"""The graph that relations make of the observations."""

from haversack.errors import InvalidArgument
from haversack.memory.lookup import get
from haversack.memory.room import Memory
from haversack.store import observations, relations
from haversack.store.records import Observation, Relation
from haversack.values import record


@record
class Linked:
    """An observation reached through the graph: how far away, and by which relation."""

    observation: Observation
    depth: int
    relation: Relation


@record
class Graph:
    """An observation and those connected to it, level by level."""

    focus: Observation
    linked: tuple[Linked, ...]


def relations_of(memory: Memory, identifier: int) -> list[Relation]:
    """The relations of one observation whose other end is alive."""
    with memory.database.read() as tx:
        return relations.touching(tx, [identifier])


def graph(memory: Memory, identifier: int, *, depth: int = 2) -> Graph:
    """The observations connected to one, nearest level first; deleted ones are left out."""
    if not 1 <= depth <= 5:
        raise InvalidArgument(f"depth is {depth}, not between 1 and 5")
    with memory.database.read() as tx:
        focus = get(tx, identifier)
        seen = {identifier}
        frontier = [identifier]
        reached: list[tuple[int, int, Relation]] = []
        for level in range(1, depth + 1):
            links = relations.touching(tx, frontier) if frontier else []
            frontier = []
            for link in links:
                for other in (link.to_id, link.from_id):
                    if other not in seen:
                        seen.add(other)
                        frontier.append(other)
                        reached.append((other, level, link))
        found = observations.get_many(tx, [other for other, _, _ in reached])
    return Graph(focus, tuple(Linked(found[other], level, link) for other, level, link in reached))
