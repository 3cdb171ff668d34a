"""The index of very many vectors: what it finds is what comparing every row finds, whatever changed meanwhile."""

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from haversack.app import Caller
from haversack.memory.meaning import similarity, vector_index
from haversack.memory.meaning.models import Embedder
from haversack.memory.save import edits, pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store import vectors
from haversack.store.records import Filters
from haversack.tools.road.call import call

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.sqlite_only("the file of signs beside a file")

DIMENSIONS = 96
MODEL = "random@1"
EVERYTHING = Filters()


def drawn(text: str) -> Any:
    """A direction that depends on the text alone; texts that begin with the same word are neighbours."""
    word = text.partition(" ")[0]
    near, own = (numpy.random.default_rng(sum(map(ord, part)) * 7919 + len(part)) for part in (word, text))
    vector = near.standard_normal(DIMENSIONS) + 0.4 * own.standard_normal(DIMENSIONS)
    return (vector / numpy.linalg.norm(vector)).astype(numpy.float32)


def made(texts: Sequence[str]) -> Any:
    return numpy.stack([drawn(text) for text in texts])


EMBEDDER = Embedder(MODEL, made)


@pytest.fixture
def filled(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """A store with 600 vectors and limits so low that searches use the index."""
    for name, figure in (("NEWEST", 50), ("SAMPLE", 10), ("CANDIDATES", 60), ("MOST_CANDIDATES", 400), ("ENOUGH", 12)):
        monkeypatch.setattr(vector_index, name, figure)
    monkeypatch.setattr(similarity, "NEWEST", 50)
    monkeypatch.setattr(vector_index, "REWRITTEN_AFTER", 200)
    for number in range(600):
        note(caller, f"topic{number % 20} number {number}", project=f"p{number % 30}")
    return caller


def note(caller: Caller, text: str, project: str = "p0") -> int:
    identifier = pipeline.save(caller.memory, Draft(text, text, project=project)).id
    embed(caller, identifier, text)
    return identifier


def embed(caller: Caller, identifier: int, text: str) -> None:
    with caller.database.write() as tx:
        content_hash = tx.value("SELECT content_hash FROM observations WHERE id = ?", (identifier,))
        vectors.put(tx, identifier, MODEL, content_hash, EMBEDDER.embed([text])[0])


def best(caller: Caller, text: str, chosen: Filters = EVERYTHING, count: int = 5) -> list[int]:
    """The ids of the nearest rows, through the index."""
    with caller.database.read() as tx:
        held = similarity._comparable(tx, caller.memory, EMBEDDER, text, chosen)
        return in_order(tx, text, held)[:count]


def exact(caller: Caller, text: str, chosen: Filters = EVERYTHING, count: int = 5) -> list[int]:
    with caller.database.read() as tx:
        return in_order(tx, text, vectors.newest(tx, MODEL, chosen, 10**6))[:count]


def in_order(tx: Any, text: str, held: Any) -> list[int]:
    near = dict(zip(held, EMBEDDER.closeness(text, list(held.values())), strict=True))
    ordered = sorted(near, key=lambda place: (-near[place], place))
    return [tx.value("SELECT id FROM observations WHERE place = ?", (place,)) for place in ordered]


def test_the_index_finds_what_comparing_every_row_finds(filled: Caller) -> None:
    assert vector_index.renew(filled.database, MODEL)
    asked = [f"topic{number} number {number + 40}" for number in range(20)]
    shared = [len({*best(filled, text)} & {*exact(filled, text)}) for text in asked]
    assert sum(shared) >= 0.95 * 5 * len(asked)
    assert best(filled, "topic3 number 3")[0] == exact(filled, "topic3 number 3")[0] == 4


def test_only_a_few_rows_are_read_through_the_index(filled: Caller) -> None:
    vector_index.renew(filled.database, MODEL)
    with filled.database.read() as tx:
        held = similarity._comparable(tx, filled.memory, EMBEDDER, "topic3 number 3", EVERYTHING)
    assert len(held) <= 80


def test_what_was_added_changed_deleted_or_erased_since_is_seen_at_once(filled: Caller) -> None:
    vector_index.renew(filled.database, MODEL)
    added = note(filled, "zebra crossing")
    assert best(filled, "zebra crossing")[0] == added
    edits.update(filled.memory, 7, edits.Changes(content="whale song"))
    embed(filled, 7, "whale song")
    assert best(filled, "whale song")[0] == 7
    call(filled, "mem_delete", {"id": added})
    assert added not in best(filled, "zebra crossing", count=600)
    call(filled, "mem_delete", {"id": 4, "hard": True})
    assert 4 not in best(filled, "topic3 number 3", count=600)


def test_narrow_filters_find_their_nearest_among_few(filled: Caller) -> None:
    vector_index.renew(filled.database, MODEL)
    chosen = search.filters(filled.memory, project="p7")
    assert best(filled, "topic7 number 7", chosen) == exact(filled, "topic7 number 7", chosen)


def test_another_namespace_is_never_named(filled: Caller) -> None:
    vector_index.renew(filled.database, MODEL)
    chosen = search.filters(filled.memory, namespace="elsewhere")
    assert best(filled, "topic7 number 7", chosen) == []


def test_the_file_is_private_and_a_damaged_one_is_passed_over_and_written_anew(filled: Caller) -> None:
    vector_index.renew(filled.database, MODEL)
    path = Path(vector_index.file_of(filled.database, MODEL))
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    whole = path.read_bytes()
    for broken in (b"", b"haversack vectors 1\n", whole[:-3], b"x" * 500):
        path.write_bytes(broken)
        os.utime(path, ns=(len(broken), len(broken)))
        newest = exact(filled, "topic19 number 599")[0]
        assert best(filled, "topic19 number 599")[0] == newest
    assert vector_index.renew(filled.database, MODEL)
    assert path.read_bytes() == whole


def test_the_file_is_written_again_only_after_enough_changes(filled: Caller) -> None:
    assert vector_index.renew(filled.database, MODEL)
    assert not vector_index.renew(filled.database, MODEL)
    for number in range(200):
        note(filled, f"later{number} text")
    assert vector_index.renew(filled.database, MODEL)


def test_an_erased_memory_leaves_the_file_when_it_is_written_again(
    filled: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    vector_index.renew(filled.database, MODEL)
    call(filled, "mem_delete", {"id": 4, "hard": True})
    monkeypatch.setattr(vector_index, "REWRITTEN_AFTER", 1)
    assert vector_index.renew(filled.database, MODEL)
    signs = vector_index._read(vector_index.file_of(filled.database, MODEL))
    assert signs is not None
    assert 4 not in signs.ids.tolist()
    assert 5 in signs.ids.tolist()
