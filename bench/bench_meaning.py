"""How long search by meaning takes as vectors grow, through the index and by comparing every row, and what it misses.

The vectors are made up: topics in 384 dimensions, each row a topic with noise of its own, each question near one row.
Milliseconds are the process's own CPU time, since the machine may have other work; trust the ratios. Rows are inserted
without words: only the vectors matter here. `--million` takes minutes and a gigabyte of disk.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import numpy

from haversack.app import Caller, open_caller
from haversack.config import Config, MemorySettings
from haversack.memory.meaning import vector_index
from haversack.memory.meaning.models import Embedder
from haversack.store import sessions
from haversack.store.places import SESSION_BITS
from haversack.store.records import Filters, Session

DIMENSIONS = 384
ROWS_PER_TOPIC = 50
NOISE = 0.8
MODEL = "made-up@1"
PROJECTS = 20
EVERYTHING = Filters()
AT_ONCE = 20_000
ROW = """
    INSERT INTO observations (
        id, position, uid, place, label, asks, session_id, kind, title, content, tags, importance, tool_name, project,
        project_key, scope, topic_key, namespace, status, verification, pinned, content_hash, bytes, units,
        revision_count, duplicate_count, access_count, created_at, updated_at, last_seen_at
    ) VALUES (
        ?1, ?1, ?1, ?2, '', 0, 's', 'note', 'row', 'row', '', 0.5, '', ?3, ?3, 'project', '', '', 'active',
        'unverified', 0, 'h', 3, 1, 0, 0, 0, ?1, ?1, ?1
    )
"""


class Vectors:
    """Rows and questions drawn by chance, the same in every run."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.chance = numpy.random.default_rng(5)
        count = max(2, rows // ROWS_PER_TOPIC)
        self.topics = self.chance.standard_normal((count, DIMENSIONS), dtype=numpy.float32)
        # Sentence models put every text on one side: a common direction that signs alone would not tell apart.
        self.common = self.chance.standard_normal(DIMENSIONS, dtype=numpy.float32)

    def batches(self) -> Iterator[tuple[int, Any]]:
        for start in range(0, self.rows, AT_ONCE):
            size = min(AT_ONCE, self.rows - start)
            chosen = self.topics[self.chance.integers(0, len(self.topics), size)]
            noise = self.chance.standard_normal((size, DIMENSIONS), dtype=numpy.float32)
            yield start, unit(chosen + NOISE * noise + self.common)

    def questions(self, count: int) -> Any:
        chosen = self.topics[self.chance.integers(0, len(self.topics), count)]
        noise = self.chance.standard_normal((count, DIMENSIONS), dtype=numpy.float32)
        return unit(chosen + NOISE * noise + self.common)


def unit(found: Any) -> Any:
    return found / numpy.linalg.norm(found, axis=1, keepdims=True)


def fill(caller: Caller, made: Vectors) -> Any:
    """Put the rows into the store, and give them as they are stored."""
    kept: Any = numpy.empty((made.rows, DIMENSIONS), dtype=numpy.int8)
    with caller.database.write() as tx:
        sessions.add(tx, Session("s", "p", "", "", 1, None, ""), "p")
        number = tx.value("SELECT number FROM sessions WHERE id = 's'")
        for start, found in made.batches():
            kept[start : start + len(found)] = numpy.rint(found * 127)
            ids = range(start + 1, start + len(found) + 1)
            tx.run_many(
                ROW,
                [(each, (number << SESSION_BITS) + each, f"p{each % PROJECTS}") for each in ids],
            )
            tx.run_many(
                "INSERT INTO vectors (observation_id, model, content_hash, vector) VALUES (?, ?, 'h', ?)",
                [(each, MODEL, kept[each - 1].tobytes()) for each in ids],
            )
    return kept


def spent(run: Callable[[Any], object], inputs: Sequence[Any]) -> float:
    """The median CPU milliseconds of a call."""
    figures = []
    for each in inputs:
        start = time.process_time()
        run(each)
        figures.append(1000 * (time.process_time() - start))
    return median(figures)


def compared(kept: Any, asked: Any) -> Any:
    """The ten best rows of all, by comparing each; in parts, so that a million fits into memory."""
    scores: Any = numpy.empty(len(kept), dtype=numpy.float32)
    for start in range(0, len(kept), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        scores[part] = kept[part].astype(numpy.float32) @ asked
    return numpy.argpartition(-scores, 10)[:10] + 1


def through_index(caller: Caller, index: vector_index.VectorIndex, asked: Any, chosen: Filters) -> list[int]:
    """The ten best rows by the index, compared exactly."""
    embedder = Embedder(MODEL, lambda _: asked[None, :])
    with caller.database.read() as tx:
        held = index.nearest(tx, asked, chosen)
    near = embedder.closeness("", list(held.values()))
    best = sorted(zip(near, held, strict=True), reverse=True)[:10]
    return [place & ((1 << SESSION_BITS) - 1) for _, place in best]


def measure(rows: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        config = Config(home=home, memory=MemorySettings(semantic="off"))
        caller = open_caller(config, directory=home)
        made = Vectors(rows)
        kept = fill(caller, made)
        began = time.process_time()
        written = vector_index.renew(caller.database, MODEL)
        building = time.process_time() - began
        index = vector_index.index_of(caller.database, MODEL)
        assert index is not None
        asked = list(made.questions(rounds))
        through_index(caller, index, asked[0], EVERYTHING)
        by_index = spent(lambda each: through_index(caller, index, each, EVERYTHING), asked)
        narrow = Filters(project_key="p3")
        in_project = spent(lambda each: through_index(caller, index, each, narrow), asked[: max(3, rounds // 4)])
        by_all = spent(lambda each: compared(kept, each), asked[: max(3, rounds // 4)])
        shared = sum(
            len({*through_index(caller, index, each, EVERYTHING)} & {*compared(kept, each).tolist()}) for each in asked
        )
        size = os.path.getsize(vector_index.file_of(caller.database, MODEL)) / 1e6 if written else 0.0
        caller.app.close()
    recall = 10 * shared / len(asked)
    print(f"\n{rows:,} vectors of {DIMENSIONS} dimensions (index: {size:.0f} MB, written in {building:.1f} s of CPU)")
    print(f"  through the index {by_index:9.1f} ms")
    print(f"  in one of {PROJECTS} projects {in_project:6.1f} ms")
    print(f"  every row in numpy {by_all:8.1f} ms")
    print(f"  comparing every row in memory takes {by_all / by_index:.1f} times as long as the index")
    print(f"claim: a question to {rows:,} vectors, CPU | {by_index:.0f} | at most 100 | ms")
    print(f"claim: of the ten nearest of {rows:,} found | {recall:.1f} | at least 95 | %", flush=True)


def measure_scan(rows: int, rounds: int) -> None:
    """The part that grows with the store, alone: looking through the signs of so many rows in memory."""
    chance = numpy.random.default_rng(7)
    words = DIMENSIONS // 64
    bits = chance.integers(0, 2**63, (rows, words), dtype=numpy.uint64)
    signs = vector_index.Signs(numpy.arange(rows), bits, numpy.zeros(DIMENSIONS, dtype=numpy.float32), 0)
    asked = list(unit(chance.standard_normal((rounds, DIMENSIONS), dtype=numpy.float32)))
    figure = spent(
        lambda each: vector_index._least(signs.ids, vector_index._distances(signs, each), vector_index.CANDIDATES),
        asked,
    )
    print(f"claim: looking through the signs of {rows:,} rows, CPU | {figure:.0f} | at most 100 | ms", flush=True)


def main(typed: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="12,000 vectors only, to show that everything runs")
    parser.add_argument("--million", action="store_true", help="a million vectors in a store too")
    parsed = parser.parse_args(typed)
    sizes = [12_000] if parsed.quick else [100_000] + [1_000_000] * parsed.million
    for rows in sizes:
        measure(rows, 8 if parsed.quick else 40)
    measure_scan(50_000 if parsed.quick else 1_000_000, 4 if parsed.quick else 20)
    return 0


if __name__ == "__main__":
    sys.exit(main())
