"""Which memories are candidates for a pack, and in what order."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from haversack.digests import blake2b
from haversack.errors import NotFound, StoreUnwritable
from haversack.memory.room import Memory
from haversack.memory.save.checks import CURRENT_STATUSES, MAX_LIMIT
from haversack.memory.search import search
from haversack.store import observations, packs, relations
from haversack.store.expressions import Expression
from haversack.store.records import Filters, Observation
from haversack.values import record, replace

CANDIDATES = 50
OTHERS = 2_000
"""How many ids behind the candidates are looked up, for readers who want more than the best."""
_ALIKE = 0.9
"""The share of their words that two texts which say the same have in common."""
_PUNCTUATION = ".,;:!?…\"'()[]*"
_NEGATION_WORDS = """
    not no never none nor without cannot nicht kein keine keinen nie ohne ne pas jamais sans non mai senza sin não
    nunca sem niet geen nooit zonder не нет никогда без
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_ABOVE_ALL = 2**62
NOTHING_KNOWN: Mapping[int, str] = MappingProxyType({})


@record
class Duplicate:
    """A candidate with the same content as one that ranks before it."""

    observation: Observation
    of: int


@record
class Gathered:
    """Candidates best first, those left out as near-duplicates, and how many memories match in all.

    `others` are ids of the memories ranked after the candidates, as far as they were looked up; `match` is the
    expression that finds the ones after those, empty without a query.
    `set_aside` are those the caller excluded.
    For a pack that builds on another: what of that one has not changed, what of it is gone, and all that it gave.
    """

    candidates: tuple[Observation, ...]
    duplicates: tuple[Duplicate, ...]
    total: int
    unchanged: int = 0
    gone: tuple[int, ...] = ()
    known: Mapping[int, str] = NOTHING_KNOWN
    others: tuple[int, ...] = ()
    match: Expression | None = None
    set_aside: tuple[int, ...] = ()


def gather(
    memory: Memory,
    query: str,
    filters: Filters,
    *,
    candidates: int = CANDIDATES,
    since: str = "",
    first: Sequence[int] = (),
    without: Sequence[int] = (),
) -> Gathered:
    """Candidates by relevance to a query, or without one pinned first, then by importance and recency.

    Those a person put `first` come before all others, also where the filters would not find them; those they want
    to go `without` are left out.
    """
    gathered = _gather(memory, query, filters, candidates=candidates, since=since)
    return _as_wished(memory, gathered, first, without) if first or without else gathered


def _as_wished(memory: Memory, gathered: Gathered, first: Sequence[int], without: Sequence[int]) -> Gathered:
    ahead = [each for each in dict.fromkeys(first) if each not in without]
    looked_at = {each.id for each in gathered.candidates} | {each.observation.id for each in gathered.duplicates}
    found = {each.id: each for each in search.by_ids(memory, ahead)}
    others = tuple(each for each in gathered.others if each not in found and each not in without)
    kept = [each for each in gathered.candidates if each.id not in found and each.id not in without]
    duplicates = tuple(
        each for each in gathered.duplicates if each.observation.id not in found and each.observation.id not in without
    )
    added = sum(each not in looked_at and each not in gathered.others for each in found)
    gone = sum(each in looked_at or each in gathered.others for each in set(without))
    return replace(
        gathered,
        candidates=(*(found[each] for each in ahead if each in found), *kept),
        duplicates=duplicates,
        others=others,
        total=gathered.total + added - gone,
        set_aside=tuple(without),
    )


def _gather(memory: Memory, query: str, filters: Filters, *, candidates: int, since: str) -> Gathered:
    known = items_of_pack(memory, since) if since else {}
    # Memories the reader has are removed below, so they must not use up the places of new ones.
    wanted = candidates + len(known)
    if query.strip():
        found = search.search(memory, query, filters, limit=min(wanted, MAX_LIMIT))
        ranked = [hit.observation for hit in found.hits]
        # A neighbour of a match is a candidate, although it is not one of the matches.
        behind = found.total - sum(each.id not in found.beside for each in ranked)
        others, match = found.others, found.match
    else:
        with memory.database.read() as tx:
            ranked = observations.foremost(tx, filters, wanted)
            behind = observations.count_observations(tx, filters) - len(ranked)
            others = tuple(observations.foremost_ids(tx, filters, OTHERS, after=len(ranked)) if behind else ())
            match = None
    with memory.database.read() as tx:
        replaced = relations.superseded_among(tx, [each.id for each in ranked]) if ranked else set()
        gone = _no_longer_current(observations.get_many(tx, list(known)), known)
    current = [each for each in ranked if each.id not in replaced]
    fresh = [each for each in current if known.get(each.id) != _text_of(each)]
    kept, duplicates = _without_near_duplicates(fresh[:candidates])
    return Gathered(
        tuple(kept),
        tuple(duplicates),
        len(fresh) + behind,
        unchanged=len(current) - len(fresh),
        gone=gone,
        known=known,
        others=(*(each.id for each in fresh[candidates:]), *(each for each in others if each not in known)),
        match=match,
    )


def further(memory: Memory, match: Expression | None, filters: Filters, seen: Collection[int], count: int) -> list[int]:
    """Ids of memories ranked after those seen, from the present store: by age for a query, else by importance."""
    if match:
        found = search.matches_below(memory, match, filters, _ABOVE_ALL, len(seen) + count)
    else:
        with memory.database.read() as tx:
            found = observations.foremost_ids(tx, filters, len(seen) + count, after=0)
    return [each for each in found if each not in seen][:count]


def _no_longer_current(held: Mapping[int, Observation], known: Mapping[int, str]) -> tuple[int, ...]:
    """The items of an earlier pack that have been deleted, archived or superseded since."""
    return tuple(
        each
        for each in known
        if each not in held or held[each].deleted_at is not None or held[each].status not in CURRENT_STATUSES
    )


def items_of_pack(memory: Memory, pack_id: str) -> dict[int, str]:
    """The items of an earlier pack: the id of each memory, and the hash of its text."""
    with memory.database.read() as tx:
        held = packs.get(tx, pack_id)
    if held is None:
        raise NotFound(f"no pack {pack_id[:40]!r}", hint="use the pack_id of an earlier context-pack --json")
    return {int(identifier): text for identifier, _, text in (each.partition(":") for each in held.split())}


def _text_of(observation: Observation) -> str:
    return observation.content_hash[:12]


def items_of(shown: Iterable[Observation], known: Mapping[int, str]) -> dict[int, str]:
    """All items a reader has after a pack: those of the pack it builds on, and those shown now."""
    now = {each.id: _text_of(each) for each in shown}
    gathered = {**known, **now}
    return {identifier: gathered[identifier] for identifier in sorted(gathered)}


def pack_id(items: Mapping[int, str]) -> str:
    """The id of a set of items: the same texts always give the same id.

    It is made of digits, so that every id costs the same number of tokens.
    """
    digest = blake2b(_written(items).encode(), digest_size=8).digest()
    return f"p{int.from_bytes(digest) % 10**12:012d}"


def remember(memory: Memory, items: Mapping[int, str]) -> None:
    """Store the items of a pack under its id."""
    with memory.database.write() as tx:
        packs.put(tx, pack_id(items), memory.now(), _written(items))


def can_remember(memory: Memory) -> bool:
    """Whether packs can be stored."""
    try:
        with memory.database.write():
            return True
    except StoreUnwritable:
        return False


def _written(items: Mapping[int, str]) -> str:
    return " ".join(f"{identifier}:{text}" for identifier, text in items.items())


def _without_near_duplicates(ranked: list[Observation]) -> tuple[list[Observation], list[Duplicate]]:
    kept: list[tuple[Observation, _Wording]] = []
    duplicates: list[Duplicate] = []
    for observation in ranked:
        wording = _wording(observation)
        twin = next((other for other, theirs in kept if _says_the_same(wording, theirs)), None)
        if twin is None:
            kept.append((observation, wording))
        else:
            duplicates.append(Duplicate(observation, twin.id))
    return [observation for observation, _ in kept], duplicates


@record
class _Wording:
    """The words of an observation as they are written, and without their case and order."""

    written: tuple[str, ...]
    words: frozenset[str]


def _wording(observation: Observation) -> _Wording:
    written = tuple(word.strip(_PUNCTUATION) or word for word in f"{observation.title} {observation.content}".split())
    return _Wording(written, frozenset(map(str.casefold, written)))


def _says_the_same(one: _Wording, other: _Wording) -> bool:
    """The same words in the same order, but for a plain word in each that the other lacks.

    Texts made after one pattern (rules, change logs, forms) have most of their words in common and say different
    things: a changed figure, name, sign or negation is a changed fact, and so are several changed words.
    """
    # Most pairs are told apart by how many words they have.
    if abs(len(one.words) - len(other.words)) > 1:
        return False
    shared = one.words & other.words
    if max(len(one.words), len(other.words)) - len(shared) > 1:
        return False
    if len(shared) < _ALIKE * len(one.words | other.words):
        return False
    changed = [word for each in (one, other) for word in each.written if word.casefold() not in shared]
    return all(map(_is_plain, changed)) and _in_order(one, shared) == _in_order(other, shared)


def _is_plain(word: str) -> bool:
    """Whether a word is no figure, name, sign or negation, as far as its letters tell."""
    return word.isalpha() and word.islower() and word not in _NEGATIONS


def _in_order(wording: _Wording, shared: frozenset[str]) -> list[str]:
    return [word for word in map(str.casefold, wording.written) if word in shared]
