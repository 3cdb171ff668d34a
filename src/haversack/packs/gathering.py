"""Which memories are candidates for a pack, and in what order."""

from hashlib import blake2b

from haversack.errors import NotFound
from haversack.memory import finding
from haversack.memory.room import Memory
from haversack.store import observations, packs, relations
from haversack.store.records import Filters, Observation
from haversack.values import record

CANDIDATES = 50


@record
class Duplicate:
    """A candidate that says what another, better placed one already says."""

    observation: Observation
    of: int


@record
class Gathered:
    """Candidates best first, those left out as near-duplicates, and how many memories match in all."""

    candidates: tuple[Observation, ...]
    duplicates: tuple[Duplicate, ...]
    total: int
    unchanged: int = 0


def gather(memory: Memory, query: str, filters: Filters, *, candidates: int = CANDIDATES, since: str = "") -> Gathered:
    """Candidates by relevance to a query, or without one pinned first, then by importance and recency."""
    if query.strip():
        found = finding.search(memory, query, filters, limit=candidates)
        ranked, total = [hit.observation for hit in found.hits], found.total
    else:
        with memory.database.read() as tx:
            ranked = observations.foremost(tx, filters, candidates)
            total = observations.count_observations(tx, filters)
    with memory.database.read() as tx:
        gone = relations.superseded_among(tx, [each.id for each in ranked]) if ranked else set()
        held = packs.get(tx, since) if since else ""
    if held is None:
        raise NotFound(f"no pack {since[:40]!r}", hint="use the pack_id of an earlier context-pack --json")
    known = set(held.split())
    current = [each for each in ranked if each.id not in gone]
    fresh = [each for each in current if item(each) not in known]
    kept, duplicates = _without_near_duplicates(fresh)
    return Gathered(tuple(kept), tuple(duplicates), total - len(ranked) + len(fresh), len(current) - len(fresh))


def item(observation: Observation) -> str:
    """An observation as a pack remembers it: its id and which text it had."""
    return f"{observation.id}:{observation.content_hash[:12]}"


def remember(memory: Memory, shown: tuple[Observation, ...], since: str = "") -> str:
    """Keep what a reader has been given, with what the pack it builds on held; the id is made from it."""
    with memory.database.write() as tx:
        earlier = (packs.get(tx, since) or "").split() if since else []
        items = " ".join(dict.fromkeys([*earlier, *(item(each) for each in shown)]))
        identifier = "p" + blake2b(items.encode(), digest_size=4).hexdigest()
        packs.put(tx, identifier, memory.now(), items)
    return identifier


def _without_near_duplicates(ranked: list[Observation]) -> tuple[list[Observation], list[Duplicate]]:
    kept: list[tuple[Observation, frozenset[str]]] = []
    duplicates: list[Duplicate] = []
    for observation in ranked:
        words = _words(observation)
        twin = next((other for other, theirs in kept if _says_the_same(words, theirs)), None)
        if twin is None:
            kept.append((observation, words))
        else:
            duplicates.append(Duplicate(observation, twin.id))
    return [observation for observation, _ in kept], duplicates


def _words(observation: Observation) -> frozenset[str]:
    return frozenset(f"{observation.title} {observation.content}".casefold().split())


def _says_the_same(words: frozenset[str], others: frozenset[str]) -> bool:
    """Nearly the same words, and the very same figures: a changed number is a changed fact."""
    shared = len(words & others)
    if shared < 0.9 * len(words | others):
        return False
    return not any(any(c.isdigit() for c in word) for word in words ^ others)
