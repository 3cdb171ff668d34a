"""Which words an observation is found under."""

from haversack.memory.room import Memory
from haversack.memory.words import index_text
from haversack.store import observations, search
from haversack.store.database import Writer
from haversack.store.search import IndexEntry, Weights

WEIGHTS = Weights(title=2.0, content=1.0, tags=1.5, near=0.3)


def index(tx: Writer, identifier: int) -> None:
    """Index an observation as it now stands; a deleted one leaves the index."""
    observation = observations.get(tx, identifier)
    if observation is None or observation.deleted_at is not None:
        search.remove(tx, identifier)
        return
    search.put(
        tx,
        identifier,
        IndexEntry(
            title=index_text(observation.title),
            content=index_text(observation.content),
            tags=index_text(" ".join((*observation.tags, observation.topic_key))),
        ),
    )


def rebuild_index(memory: Memory) -> int:
    """Build the whole index anew and say how many observations it holds."""
    with memory.database.write() as tx:
        search.clear(tx)
        live = [found.id for found in observations.everything(tx) if found.deleted_at is None]
        for identifier in live:
            index(tx, identifier)
    return len(live)
