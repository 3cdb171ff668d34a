"""The words under which an observation is indexed."""

from haversack.memory.room import Memory
from haversack.patterns import pattern
from haversack.store import observations
from haversack.store.engine import Writer
from haversack.store.words import IndexEntry
from haversack.text.words import index_text

_SPEAKER = pattern(r"\s*([^\W\d_][\w .'-]{0,38}?)\s*:\s")
_WORD = pattern(r"[^\W_]+")
# A question mark inside an address or a pattern asks nothing.
_ASKING = pattern(r"？|\?(?=[\s!?\"'”’)\]]|$)")
_LONGEST_LABEL = 3


def label(title: str, content: str) -> str:
    """The source a text names: a leading "Name:", else a short title, in lower case; empty without one."""
    speaker = _SPEAKER.match(content)
    words = _WORD.findall((speaker[1] if speaker else title).lower())
    return " ".join(words) if 0 < len(words) <= _LONGEST_LABEL else ""


def asks(content: str) -> int:
    """2 when a text ends by asking, 1 when it asks somewhere, else 0."""
    return 2 if content.rstrip().endswith(("?", "？")) else int(_ASKING.search(content) is not None)


def index(tx: Writer, identifier: int) -> None:
    """Index the present state of an observation; a deleted one leaves the index."""
    observation = observations.get(tx, identifier)
    if observation is None or observation.deleted_at is not None:
        tx.words.remove(identifier)
        return
    tx.words.put(identifier, entry_of(observation.title, observation.content, observation.tags, observation.topic_key))


def index_new(tx: Writer, identifier: int, title: str, content: str, tags: tuple[str, ...], topic_key: str) -> None:
    """Index an observation that was inserted in this transaction, from its texts."""
    tx.words.add(identifier, entry_of(title, content, tags, topic_key))


def entry_of(title: str, content: str, tags: tuple[str, ...], topic_key: str) -> IndexEntry:
    """The index entry of an observation, from its texts."""
    return IndexEntry(index_text(title), index_text(content), index_text(" ".join((*tags, topic_key))))


def rebuild_index(memory: Memory) -> int:
    """Build the whole index anew and say how many observations it holds."""
    with memory.database.write() as tx:
        tx.words.clear()
        live = [found.id for found in observations.everything(tx) if found.deleted_at is None]
        for identifier in live:
            index(tx, identifier)
    return len(live)
