"""Relations between observations, and the graph they make."""

from haversack.errors import InvalidArgument, NotFound
from haversack.memory.lookup import get
from haversack.memory.room import Memory
from haversack.memory.save.checks import RELATION_TYPES, check_fraction, check_member, check_optional_text
from haversack.memory.search import index_words
from haversack.store import observations, relations
from haversack.store.records import Observation, Relation
from haversack.text.redaction import redact
from haversack.values import record

MAX_NOTE = 2_000


@record
class Related:
    """The relations that were created or renewed."""

    relations: tuple[Relation, ...]
    added: int
    redactions: tuple[str, ...] = ()


def relate(
    memory: Memory,
    from_id: int,
    to_id: int,
    relation_type: str,
    *,
    note: str = "",
    bidirectional: bool = False,
    strength: float = 1.0,
) -> Related:
    """Link two observations; the same link again renews its note and strength."""
    check_member("relation_type", relation_type, RELATION_TYPES)
    check_fraction("strength", strength)
    if from_id == to_id:
        raise InvalidArgument(f"observation #{from_id} cannot be related to itself")
    checked = check_optional_text("note", note, MAX_NOTE)
    redacted = redact(checked) if memory.settings.redact else None
    text = redacted.text if redacted else checked
    ends = [(from_id, to_id), (to_id, from_id)] if bidirectional else [(from_id, to_id)]
    with memory.database.write() as tx:
        get(tx, from_id)
        get(tx, to_id)
        made, added = [], 0
        for start, end in ends:
            new = Relation(0, start, end, relation_type, text, strength, memory.now())
            identifier, is_new = relations.put(tx, new)
            added += is_new
            held = relations.get(tx, identifier)
            assert held is not None
            made.append(held)
        if relation_type == "supersedes":
            # What is superseded leaves searches and packs; it can be asked for with status=superseded.
            observations.change(tx, to_id, {"status": "superseded"})
            index_words.index(tx, to_id)
    return Related(tuple(made), added, redacted.found if redacted else ())


def unrelate(memory: Memory, identifier: int) -> Relation:
    """Remove a relation."""
    with memory.database.write() as tx:
        found = relations.get(tx, identifier)
        if found is None:
            raise NotFound(f"no relation {identifier}", hint="mem_get_observation lists relations with their ids")
        relations.erase(tx, identifier)
        target = observations.get(tx, found.to_id)
        still = relations.superseded_among(tx, [found.to_id])
        if found.type == "supersedes" and target and target.status == "superseded" and not still:
            observations.change(tx, found.to_id, {"status": "active"})
            index_words.index(tx, found.to_id)
        return found


@record
class Linked:
    """An observation in the graph: its distance, and the relation that leads to it."""

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
