"""What this program and other memory servers do with the same notes, through one client in one run.

Each server gets the same made-up notes and is asked for some of them twice: by two key words, and by a whole question.
Then four processes write to one store at once, and four servers are started at once on a new one. Those that are not
installed are left out and named. `--quick` for a short look.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

from haversack.errors import HaversackError
from haversack.protocol.client import StdioClient
from haversack.tokens import count_tokens

SERVERS = Path(sys.prefix) / "servers" / "node_modules" / ".bin"
WRITERS, AT_ONCE = 4, 4
PLACES = [
    "Lisbon",
    "Oslo",
    "Quito",
    "Hanoi",
    "Lagos",
    "Perth",
    "Turin",
    "Minsk",
    "Davao",
    "Cusco",
    "Porto",
    "Malmo",
    "Surat",
    "Omsk",
    "Leeds",
    "Basel",
]
THINGS = [
    "ledger",
    "kiosk",
    "parser",
    "beacon",
    "turbine",
    "archive",
    "hangar",
    "orchard",
    "foundry",
    "mailbox",
    "crawler",
    "greenhouse",
    "ferry",
]
PARTS = [
    "schedule",
    "password",
    "policy",
    "colour",
    "supplier",
    "threshold",
    "budget",
    "owner",
    "encoding",
    "backup",
    "licence",
    "format",
]
ANSWERS = [
    "amber",
    "seventeen",
    "monthly",
    "granite",
    "Wednesday",
    "copper",
    "northern",
    "hexagonal",
    "velvet",
    "quarterly",
]


@dataclass(frozen=True, slots=True)
class Note:
    """A made-up fact: nobody else's holds its mark, and its three key words stand together only here."""

    place: str
    thing: str
    part: str
    answer: str
    mark: str

    @property
    def title(self) -> str:
        return f"The {self.part} of the {self.place} {self.thing}"

    @property
    def text(self) -> str:
        return f"For the {self.thing} in {self.place} we settled the {self.part}: {self.answer}, see {self.mark}."

    @property
    def question(self) -> str:
        return f"What did we finally settle on for the {self.part} of the {self.thing} over in {self.place}?"


@dataclass(frozen=True, slots=True)
class Peer:
    """How a server is started on a store of its own, and how it saves and searches."""

    name: str
    command: tuple[str, ...]
    environment: Callable[[str], Mapping[str, str]]
    save: str
    saving: Callable[[Note], Mapping[str, Any]]
    search: str
    searching: Callable[[str], Mapping[str, Any]]

    def start(self, home: str) -> tuple[StdioClient, Mapping[str, Any]]:
        """A server on the store in that folder, and what it said of itself."""
        client = StdioClient(self.command, environment={**os.environ, **self.environment(home)}, folder=home)
        return client, client.shake_hands()


def peers() -> list[Peer]:
    """This program, and the others that are installed."""
    known = [
        Peer(
            "haversack", (sys.executable, "-m", "haversack", "serve"), lambda home: {"HAVERSACK_HOME": home},
            "mem_save", lambda note: {"title": note.title, "content": note.text},
            "mem_search", lambda words: {"query": words, "limit": 10},
        ),
        Peer(
            "server-memory", (str(SERVERS / "mcp-server-memory"),),
            lambda home: {"MEMORY_FILE_PATH": os.path.join(home, "memory.jsonl")},
            "create_entities",
            lambda note: {"entities": [{"name": note.title, "entityType": "note", "observations": [note.text]}]},
            "search_nodes", lambda words: {"query": words},
        ),
    ]  # fmt: skip
    for peer in known:
        if not shutil.which(peer.command[0]):
            print(f"{peer.name} is not installed (python tools/install_servers.py)")
    return [peer for peer in known if shutil.which(peer.command[0])]


def notes(count: int) -> list[Note]:
    """So many different facts."""
    chance = Random(7)
    combinations = [(place, thing, part) for place in PLACES for thing in THINGS for part in PARTS]
    chance.shuffle(combinations)
    return [
        Note(*combinations[at], chance.choice(ANSWERS), f"QX{at:05d}") for at in range(min(count, len(combinations)))
    ]


def starts(peer: Peer, times: int) -> float:
    """Milliseconds from the start of a server to its greeting, the median of several."""
    taken = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as home:
            began = time.perf_counter()
            client, _told = peer.start(home)
            taken.append((time.perf_counter() - began) * 1000)
            client.close()
    return median(taken)


def bare_python(times: int) -> float:
    """Milliseconds of a Python that does nothing."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        taken.append((time.perf_counter() - began) * 1000)
    return median(taken)


@dataclass(frozen=True, slots=True)
class Asked:
    """How many answers held the fact asked for, and what an answer cost."""

    found: int
    asked: int
    tokens: float

    def __str__(self) -> str:
        return f"{self.found} of {self.asked}, {self.tokens:,.0f} tokens each"


def ask(peer: Peer, client: StdioClient, questions: list[tuple[str, str]]) -> Asked:
    """Search for each, and look for its mark in the answer."""
    answers = [client.call(peer.search, peer.searching(words)).text for words, _ in questions]
    found = sum(mark in answer for (_, mark), answer in zip(questions, answers, strict=True))
    return Asked(found, len(questions), mean(count_tokens(answer) for answer in answers))


def written_at_once(peer: Peer, each: int) -> int:
    """How many acknowledged writes of several processes cannot be found afterwards."""
    made = notes(WRITERS * each)
    acknowledged: list[Note] = []
    with tempfile.TemporaryDirectory() as home:
        peer.start(home)[0].close()

        def write(mine: list[Note]) -> None:
            client, _told = peer.start(home)
            for note in mine:
                if not client.call(peer.save, peer.saving(note)).is_error:
                    acknowledged.append(note)
            client.close()

        threads = [threading.Thread(target=write, args=(made[at::WRITERS],)) for at in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        client, _told = peer.start(home)
        lost = sum(note.mark not in client.call(peer.search, peer.searching(note.mark)).text for note in acknowledged)
        client.close()
    return lost


def bad_starts(peer: Peer, rounds: int) -> int:
    """How many servers, started together on a new store, do not greet or lack the tool that saves."""
    bad = 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as home:
            came: list[bool] = []

            def begin(home: str = home, came: list[bool] = came) -> None:
                try:
                    client, _told = peer.start(home)
                    came.append(any(tool["name"] == peer.save for tool in client.list_tools()))
                    client.close()
                except HaversackError:
                    came.append(False)

            threads = [threading.Thread(target=begin) for _ in range(AT_ONCE)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            bad += came.count(False)
    return bad


def main() -> int:
    """Print a table, a row a server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short look")
    quick = parser.parse_args().quick
    count, asked, each, rounds, times = (40, 5, 5, 1, 1) if quick else (2_000, 100, 150, 15, 5)
    made = notes(count)
    wanted = Random(3).sample(made, asked)
    bare = bare_python(times)
    print(f"{count:,} notes, {asked} of them asked for; a Python that does nothing takes {bare:.0f} ms")
    for peer in peers():
        with tempfile.TemporaryDirectory() as home:
            client, told = peer.start(home)
            listed = str(client.list_tools()) + str(told.get("instructions", ""))
            for note in made:
                client.call(peer.save, peer.saving(note))
            words = ask(peer, client, [(f"{note.thing} {note.place} {note.part}", note.mark) for note in wanted])
            questions = ask(peer, client, [(note.question, note.mark) for note in wanted])
            client.close()
        start = starts(peer, times)
        lost, bad = written_at_once(peer, each), bad_starts(peer, rounds)
        print(f"{peer.name} {told.get('serverInfo', {}).get('version', '')}")
        print(f"  start to greeting: {start:.0f} ms; tools and instructions: {count_tokens(listed):,} tokens")
        print(f"  by key words: {words}; by a whole question: {questions}")
        print(f"  {WRITERS * each} writes of {WRITERS} processes: {lost} lost")
        print(f"  {rounds * AT_ONCE} starts, {AT_ONCE} together: {bad} bad")
        if peer.name == "haversack":
            print(
                f"claim: whole questions that found their note | {100 * questions.found / asked:.0f} | at least 99 | %"
            )
            print(f"claim: acknowledged writes of {WRITERS} processes that were lost | {lost} | at most 0 | writes")
            print(f"claim: servers that failed when {AT_ONCE} were started at once | {bad} | at most 0 | servers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
