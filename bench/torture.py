"""Servers killed while they write, and many processes on one store: nothing acknowledged may be lost.

`--kills N`: a server is killed with SIGKILL at a random moment N times while clients write through it and through
a second server on the same store. After each kill the store is examined: what was acknowledged is there whole, what
was not is there whole or not at all, and the search index, the ledger and the work log agree with the rest.

`--contention SECONDS`: eight processes save, renew the same topics, search and delete at once: no call fails, no
update is lost, no topic is there twice, and every count is exact.

`--store postgresql`: the same on a server of the test's own, with fsync on; every second kill then hits one of the
server's own processes, after which the server recovers. Calls may fail then, and say so; nothing acknowledged is lost.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from haversack.app import Caller, open_caller
from haversack.config import Config, StoreSettings
from haversack.errors import HaversackError
from haversack.protocol.client import Answer, StdioClient, own_server
from haversack.store.sqlite import health

SERVE = (sys.executable, "-m", "haversack", "serve", "--tools", "all")
CLI = (sys.executable, "-m", "haversack")
TOPICS = 5
WRITERS = 3
ROOM = "40000000"
LOST = "store_unavailable"


@dataclass
class Place:
    """Where the memories are: in a file of the home folder, or on a server that can be hit."""

    home: str
    url: str = ""

    def environment(self, **more: str) -> dict[str, str]:
        """What a program needs to find the store."""
        return own_server(self.home, **({"HAVERSACK_STORE_URL": self.url} if self.url else {}), **more)

    def caller(self) -> Caller:
        """Somebody who looks at the store."""
        return open_caller(Config(home=self.home, store=StoreSettings(url=self.url)), directory=self.home)

    def fault(self) -> str:
        """What is wrong with the store itself; empty when it is sound."""
        if not self.url:
            found = health.examine(os.path.join(self.home, "haversack.db"))
            return "" if found.is_sound and not found.index else str(found)
        from haversack.store.postgres import health as server_health
        from haversack.store.postgres.engine import PostgresStore

        store = PostgresStore(self.url)
        state = server_health.examine(store)
        store.close()
        return str(state) if state.unsecured or state.miscounted or state.index else ""

    def hit(self, chance: random.Random) -> None:
        """Kill one of the processes that the server has for the program, as a crash of it would."""
        import psycopg

        from haversack.store.postgres.address import parse_address

        address = parse_address(self.url).url
        with psycopg.connect(address, autocommit=True) as connection:
            sql = "SELECT pid FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()"
            pids = [row[0] for row in connection.execute(sql).fetchall()]
        if pids:
            os.kill(chance.choice(pids), signal.SIGKILL)

    def recovered(self) -> None:
        """Wait until the server takes connections again."""
        deadline = time.monotonic() + 60
        while True:
            caller = self.caller()
            try:
                with caller.database.read():
                    return
            except HaversackError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            finally:
                caller.app.close()


@contextmanager
def placed(store: str) -> Iterator[Place]:
    """A store of its own in a temporary folder."""
    with tempfile.TemporaryDirectory() as home:
        if store == "sqlite":
            yield Place(home)
            return
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        from haversack.store.postgres.upgrade import upgrade
        from tests.postgres_server import OWNER, PROGRAM, Server, prepare

        with Server(durable=True) as server:
            prepare(server)
            upgrade(server.url(OWNER, schema="team"))
            yield Place(home, server.url(PROGRAM, schema="team"))


def body(token: str) -> str:
    """What is saved under a token: long enough for several pages, and known from the token alone."""
    return f"{token} " + " ".join(f"{token}-{number}" for number in range(random.Random(token).randint(5, 400)))


@dataclass
class Sent:
    """What was asked of the servers and what they acknowledged."""

    saves: set[str] = field(default_factory=set)
    acknowledged: set[str] = field(default_factory=set)
    ids: dict[str, int] = field(default_factory=dict)
    deletes: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    topics: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    renewed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    calls: int = 0
    answers: int = 0


class KillTest:
    """One store, one record of what it must hold, and as many kills as are asked for."""

    def __init__(self, place: Place, seed: int) -> None:
        self.place = place
        self.home = place.home
        self.hits = 0
        self.chance = random.Random(seed)
        self.sent = Sent()
        self.lock = threading.Lock()
        self.counter = 0
        self.lost: list[str] = []
        self.answered = threading.Event()

    def run(self, kills: int) -> None:
        bystander = StdioClient(SERVE, environment=self.place.environment(), folder=self.home)
        bystander.shake_hands()
        for number in range(kills):
            victim = StdioClient(SERVE, environment=self.place.environment(), folder=self.home)
            victim.shake_hands()
            stop = threading.Event()
            threads = [
                threading.Thread(target=self._write, args=(each, stop, random.Random(self.chance.random())))
                for each in (*[victim] * WRITERS, bystander)
            ]
            for thread in threads:
                thread.start()
            self.answered.clear()
            self.answered.wait(timeout=20)
            time.sleep(self.chance.uniform(0.0, 0.3))
            if self.place.url and number % 2:
                self.hits += 1
                self.place.hit(self.chance)
            else:
                victim.kill()
            stop.set()
            for thread in threads:
                thread.join()
            victim.kill()
            if self.place.url:
                self.place.recovered()
            self._examine(number)
        bystander.close()

    def _write(self, client: StdioClient, stop: threading.Event, chance: random.Random) -> None:
        while not stop.is_set():
            with self.lock:
                self.counter += 1
                token = f"t{self.counter}x"
            try:
                self._one(client, token, chance)
            except HaversackError:
                return

    def _one(self, client: StdioClient, token: str, chance: random.Random) -> None:
        kind = chance.choices(("save", "topic", "delete", "search"), (6, 2, 1, 1))[0]
        if kind == "delete" and (known := sorted(self.sent.acknowledged - self.sent.deletes)):
            victim = chance.choice(known)
            self.sent.deletes.add(victim)
            if not self._call(client, "mem_delete", id=self.sent.ids[victim]).is_error:
                self.sent.deleted.add(victim)
        elif kind == "topic":
            topic = f"topic/{chance.randrange(TOPICS)}"
            self.sent.topics[topic].append(token)
            reply = self._call(client, "mem_save", title=topic, content=body(token), topic_key=topic, project="p")
            with self.lock:
                self.sent.renewed[topic] += not reply.is_error
        elif kind == "search":
            self._call(client, "mem_search", query="t1x", max_tokens=200, project="p")
        else:
            self.sent.saves.add(token)
            reply = self._call(client, "mem_save", title=token, content=body(token), project="p")
            if not reply.is_error:
                self.sent.ids[token] = int(reply.text.split("#")[1].split()[0])
                self.sent.acknowledged.add(token)

    def _call(self, client: StdioClient, tool: str, **arguments: object) -> Answer:
        with self.lock:
            self.sent.calls += 1
        answer = client.call(tool, arguments)
        if answer.is_error and not (self.hits and LOST in answer.text):
            self.lost.append(f"{tool} failed: {answer.text[:200]}")
        with self.lock:
            self.sent.answers += not answer.is_error
        self.answered.set()
        return answer

    def _examine(self, number: int) -> None:
        if fault := self.place.fault():
            self.lost.append(f"kill {number}: {fault}")
        caller = self.place.caller()
        with caller.database.read() as tx:
            rows = tx.rows("SELECT title, content, topic_key, deleted_at IS NOT NULL FROM observations")
            texts: dict[str, int] = dict(
                tx.rows("SELECT topic_key, sum(revision_count + 1) FROM observations GROUP BY topic_key")
            )
            entries: int = tx.value("SELECT count(*) FROM entries")
        self._compare([row for row in rows if not row[2]], number)
        for title, content, topic, _ in rows:
            if topic and content.split()[0] not in self.sent.topics[title]:
                self.lost.append(f"kill {number}: {topic} holds {content[:40]!r}, which nobody wrote")
            elif topic and content != body(content.split()[0]):
                self.lost.append(f"kill {number}: {topic} is half there")
        for topic, sent in self.sent.topics.items():
            if not self.sent.renewed[topic] <= texts.get(topic, 0) <= len(sent):
                self.lost.append(
                    f"kill {number}: {topic} has had {texts.get(topic)} texts, not {self.sent.renewed[topic]}"
                )
        # A server that crashes may lose the trail of its last moments, though never a memory.
        if not (0 if self.hits else self.sent.answers) <= entries <= self.sent.calls:
            self.lost.append(f"kill {number}: {entries} log entries for {self.sent.answers} answers")
        self.lost += [f"kill {number}: {wrong}" for wrong in ledger_faults(caller)]
        caller.app.close()

    def _compare(self, rows: list[tuple[str, str, str, int]], number: int) -> None:
        stored = {title: (content, bool(gone)) for title, content, _, gone in rows}
        if len(stored) != len(rows):
            self.lost.append(f"kill {number}: {len(rows) - len(stored)} memories are there twice")
        for token, (content, gone) in stored.items():
            if token not in self.sent.saves or content != body(token):
                self.lost.append(f"kill {number}: {token} is half there")
            if gone and token not in self.sent.deletes:
                self.lost.append(f"kill {number}: {token} was deleted by nobody")
        for token in self.sent.acknowledged - stored.keys():
            self.lost.append(f"kill {number}: {token} was acknowledged and is not there")
        for token in self.sent.deleted:
            if not stored[token][1]:
                self.lost.append(f"kill {number}: {token} is there again after it was deleted")


def ledger_faults(caller: Caller) -> list[str]:
    """Where an account, counted anew from the work log, differs from what it says of itself."""
    with caller.database.read() as tx:
        rows = tx.rows(
            """
            SELECT handle, tool_results, (SELECT coalesce(sum(sent), 0) FROM entries WHERE account = handle),
                   history, entries, evicted FROM accounts
            """
        )
    wrong = []
    for handle, used, added_up, *counted in rows:
        if used != added_up:
            wrong.append(f"account {handle} says {used} tokens, its log {added_up}")
        if tuple(counted) != caller.log.recount(handle):
            wrong.append(f"account {handle} says {counted}, its log {caller.log.recount(handle)}")
    return wrong


def kill_test(place: Place, kills: int, seed: int) -> list[str]:
    """Run the kills, print what was acknowledged, found and lost, and give what was wrong."""
    test = KillTest(place, seed)
    began = time.monotonic()
    test.run(kills)
    sent = test.sent
    caller = place.caller()
    with caller.database.read() as tx:
        found: int = tx.value("SELECT count(*) FROM observations WHERE topic_key = ''")
    caller.app.close()
    unacknowledged = found - len(sent.acknowledged)
    print(f"{kills} kills in {time.monotonic() - began:.0f} s, {sent.calls} calls, {sent.answers} answered")
    if test.hits:
        print(f"{test.hits} of the kills hit the database server, which recovered each time")
    print(f"saves sent {len(sent.saves)}, acknowledged {len(sent.acknowledged)}, found {found} ", end="")
    print(f"(of which {unacknowledged} were written but the kill came before the answer)")
    print(f"topics renewed {sum(map(len, sent.topics.values()))} times, deletes {len(sent.deleted)}")
    print(f"lost {len(test.lost)}")
    return test.lost


class Contention:
    """Eight processes on one store for some seconds."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.home = place.home
        self.lock = threading.Lock()
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.wrong: list[str] = []
        self.saved = self.deleted = self.debited = 0
        self.upserts: dict[str, int] = defaultdict(int)
        opened = self._command("budget", "open", "--total", ROOM, "--json")
        self.account = str(json.loads(opened)["account"]["handle"])

    def run(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        with ThreadPoolExecutor(8) as pool:
            works: list[Callable[[int, float], None]] = [*[self._server] * 4, *[self._commands] * 4]
            for done in [pool.submit(work, number, deadline) for number, work in enumerate(works)]:
                done.result()
        self._check()

    def _server(self, number: int, deadline: float) -> None:
        environment = self.place.environment(HAVERSACK_BUDGET=self.account)
        client = StdioClient(SERVE, environment=environment, folder=self.home)
        client.shake_hands()

        def ask(tool: str, **arguments: object) -> str:
            answer = client.call(tool, arguments)
            with self.lock:
                self.debited += answer.meta.get("haversack/fit", {}).get("tokens", 0)
            if answer.is_error:
                self.wrong.append(f"{tool}: {answer.text[:200]}")
            return answer.text

        self._work(number, deadline, ask, "server")
        client.close()

    def _commands(self, number: int, deadline: float) -> None:
        names = {"mem_save": "save", "mem_search": "search", "mem_delete": "delete"}

        def ask(tool: str, **arguments: object) -> str:
            positional = [str(arguments.pop(name)) for name in ("query", "id") if name in arguments]
            options = [part for name, each in arguments.items() for part in (f"--{name.replace('_', '-')}", str(each))]
            return self._command(names[tool], *positional, *options)

        self._work(number, deadline, ask, "command")

    def _command(self, *typed: str) -> str:
        done = subprocess.run(
            [*CLI, *typed], env=self.place.environment(), cwd=self.home, capture_output=True, text=True, timeout=120
        )
        if done.returncode or done.stderr:
            self.wrong.append(f"{typed[0]}: {done.returncode} {done.stderr[:200]}")
        return done.stdout

    def _work(self, number: int, deadline: float, ask: Callable[..., str], door: str) -> None:
        chance = random.Random(number)
        mine: list[int] = []
        count = 0
        while time.monotonic() < deadline:
            count += 1
            token = f"w{number}n{count}"
            kind = chance.choices(("save", "topic", "search", "delete"), (4, 3, 3, 1))[0]
            kind = "save" if kind == "delete" and not mine else kind
            began = time.perf_counter()
            if kind == "topic":
                topic = f"shared/{chance.randrange(TOPICS)}"
                ask("mem_save", title=topic, content=body(token), topic_key=topic, project="p")
                with self.lock:
                    self.upserts[topic] += 1
            elif kind == "search":
                ask("mem_search", query=f"w{number}n1", max_tokens=300)
            elif kind == "delete":
                ask("mem_delete", id=mine.pop())
                with self.lock:
                    self.deleted += 1
            else:
                text = ask("mem_save", title=token, content=body(token), project="p")
                if "#" not in text:
                    self.wrong.append(f"{door} save said {text[:200]!r}")
                    continue
                mine.append(int(text.split("#")[1].split()[0]))
                with self.lock:
                    self.saved += 1
            self.seconds[f"{door} {kind}"].append(time.perf_counter() - began)

    def _check(self) -> None:
        caller = self.place.caller()
        with caller.database.read() as tx:
            live: int = tx.value("SELECT count(*) FROM observations WHERE deleted_at IS NULL AND topic_key = ''")
            topics = tx.rows(
                "SELECT topic_key, count(*), sum(revision_count + 1) FROM observations"
                " WHERE topic_key <> '' GROUP BY topic_key"
            )
            used: int = tx.value("SELECT tool_results FROM accounts WHERE handle = ?", (self.account,))
        if live != self.saved - self.deleted:
            self.wrong.append(f"{live} memories, not {self.saved - self.deleted}")
        for topic, rows, revisions in topics:
            if rows != 1 or revisions != self.upserts[topic]:
                self.wrong.append(f"{topic}: {rows} rows, {revisions} of {self.upserts[topic]} updates")
        if used != self.debited:
            self.wrong.append(f"{used} tokens debited, {self.debited} sent")
        if fault := self.place.fault():
            self.wrong.append(fault)
        self.wrong += ledger_faults(caller)
        caller.app.close()


def contention_test(place: Place, seconds: float) -> list[str]:
    """Run the processes, print their latencies and counts, and give what was wrong."""
    test = Contention(place)
    test.run(seconds)
    print(f"{'':<18}{'calls':>7}{'median':>10}{'p95':>10}{'p99':>10}{'most':>10}")
    for name, taken in sorted(test.seconds.items()):
        taken.sort()
        cells = [taken[min(len(taken) - 1, int(len(taken) * part))] for part in (0.5, 0.95, 0.99, 1)]
        print(f"{name:<18}{len(taken):>7}" + "".join(f"{1000 * cell:>7.0f} ms" for cell in cells))
    renewed = sum(test.upserts.values())
    print(f"saved {test.saved}, deleted {test.deleted}, topics renewed {renewed} times, {test.debited} tokens debited")
    print(f"wrong {len(test.wrong)}")
    return test.wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=None, help="how often a server is killed (200)")
    parser.add_argument("--contention", type=float, default=None, metavar="SECONDS", help="for how long (60)")
    parser.add_argument("--quick", action="store_true", help="4 kills and 2 seconds of contention")
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--seed", type=int, default=1)
    parsed = parser.parse_args(arguments)
    both = parsed.kills is None and parsed.contention is None
    kills = parsed.kills if not both else (4 if parsed.quick else 200)
    seconds = parsed.contention if not both else (2 if parsed.quick else 60)
    wrong: list[str] = []
    if kills:
        with placed(parsed.store) as place:
            wrong += kill_test(place, kills, parsed.seed)
    if seconds:
        with placed(parsed.store) as place:
            wrong += contention_test(place, seconds)
    for each in wrong[:20]:
        print(f"WRONG {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
