"""The same saves and the same questions give the same answers on both engines."""

import random

import pytest

from haversack.config import MemorySettings
from haversack.errors import HaversackError
from haversack.memory import relations
from haversack.memory.room import Memory
from haversack.memory.save import edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.memory.search.search import Found
from haversack.store.engine import Engine
from haversack.store.postgres.engine import PostgresStore
from haversack.store.records import Filters
from haversack.store.sqlite.engine import MEMORY, Database
from haversack.values import replace
from tests.conftest import Clock

WORDS = [
    "deploy",
    "deployment",
    "deploys",
    "tuesday",
    "tuesdays",
    "getUserName",
    "get_user_name",
    "src/auth/login.py",
    "C++",
    "node.js",
    "cache",
    "caches",
    "database",
    "数据库",
    "数据",
    "连接",
    "café",
    "naïve",
    "🎉",
    "🎈",
    "went",
    "go",
    "gone",
    "children",
    "child",
    "index",
    "indices",
    "port",
    "6543",
    "the",
    "a",
    "of",
    "and",
    "question",
    "answer",
    "why",
    "run",
    "running",
    "ran",
    "authentication",
    "authenticate",
    "copy",
    "copyright",
    "HTTPServer2",
    "हिन्दी",
    "ข้อมูล",
    "x²",
    "½",
    "it's",
    "don't",
]
QUESTIONS = (
    "deployment", "deploy tuesday", "getUserName", "get_user_name cache", "src/auth/login.py", "C++", "数据库",
    "接", "连接数据", "cafe", "🎉", "go children", "indices", "copy*", "authentica*", "getUser*", '"port 6543"',
    '"deploy tuesday" cache', '"数据 连接"', "the a of", "why running", "HTTPServer2", "हिन्दी", "ข้อมูล", "nothing here",
    "½", "x²", "it's", '"get user name"', "6543", "login", "\0 \ue001", "zzz*",
)  # fmt: skip
FILTERS = (
    Filters(), Filters(project_key="p"), Filters(kind="decision", statuses=("active", "pending")),
    Filters(scope="personal"), Filters(namespace="n"), Filters(tags=("red",)), Filters(statuses=("archived",)),
    Filters(project_key="q", tags=("red",), statuses=("active", "pending")), Filters(project_key="nowhere"),
    Filters(session_id="talk"), Filters(since=1_770_000_000_100_000),
)  # fmt: skip


def fill(memory: Memory, seed: int, count: int) -> None:
    """The same history for the same seed."""
    chance = random.Random(seed)
    ids: list[int] = []
    for number in range(count):
        text = " ".join(chance.choices(WORDS, k=chance.randint(3, 30)))
        namespace = chance.choice(["", "", "n"])
        draft = Draft(
            f"{chance.choice(WORDS)} {number}", text + chance.choice(["", "?", " \0 end", " \ue001"]),
            chance.choice(["note", "decision"]), chance.choice(["p", "q"]),
            chance.choice(["project", "project", "personal"]), namespace=namespace,
            tags=tuple(chance.sample(["red", "blue"], chance.randint(0, 2))),
            status=chance.choice(["active", "active", "pending", "archived"]),
            session_id=chance.choice(["", f"talk{namespace}", f"walk{namespace}"]),
        )  # fmt: skip
        ids.append(pipeline.save(memory, draft).id)
        act, other = chance.random(), chance.choice(ids)
        try:
            if act < 0.1:
                edits.update(memory, other, Changes(content=text + " changed", project=chance.choice(["p", "q"])))
            elif act < 0.15:
                edits.delete(memory, other, hard=chance.random() < 0.5)
            elif act < 0.2:
                relations.relate(memory, ids[-1], other, "supersedes")
        except HaversackError:
            continue


def described(found: Found) -> tuple[object, ...]:
    return (
        [hit.observation.id for hit in found.hits], found.others, found.total, found.elsewhere, found.newest,
        found.beside,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_both_engines_give_the_same_ids_order_totals_and_scores(store: PostgresStore, seed: int) -> None:
    engines: tuple[Engine, Engine] = (Database(MEMORY), store)
    both = [Memory(engine, MemorySettings(project="p"), "/", Clock()) for engine in engines]
    for memory in both:
        fill(memory, seed, 80)
    compared = 0
    for number, question in enumerate(QUESTIONS):
        for filters in (FILTERS[0], *(FILTERS[(number * 3 + step) % len(FILTERS)] for step in range(3))):
            for mode in ("any", "all") if number % 2 else ("any",):
                try:
                    found = [search.search(each, question, filters, mode=mode, limit=7) for each in both]
                except HaversackError:
                    continue
                compared += 1
                assert described(found[0]) == described(found[1]), (question, filters, mode)
                for ours, theirs in zip(found[0].hits, found[1].hits, strict=True):
                    assert replace(ours.observation, uid="") == replace(theirs.observation, uid="")
                    assert ours.score == pytest.approx(theirs.score, rel=1e-9, abs=1e-9), (question, filters, mode)
    assert compared > 100


def test_a_word_longer_than_an_index_row_is_found(store: PostgresStore) -> None:
    memory = Memory(store, MemorySettings(project="p"), "/", Clock())
    long = "x" * 9_000
    saved = pipeline.save(memory, Draft("long", f"{long} and {long}y")).id
    for question in (long, f"{long}y", f'"{long} and"', "xxx*"):
        assert [hit.observation.id for hit in search.search(memory, question, Filters()).hits] == [saved], question[-5:]


def test_every_index_agrees_after_every_kind_of_change(store: PostgresStore) -> None:
    memory = Memory(store, MemorySettings(project="p"), "/", Clock())
    fill(memory, 7, 60)
    with store.read() as tx:
        assert tx.words.check() == ""
        counted: dict[str, int] = dict(
            tx.rows("SELECT l.stem, count(*) FROM post p JOIN lexicon l USING (word) GROUP BY l.stem")
        )
        held: dict[str, int] = dict(
            tx.rows("SELECT stem, CAST(sum(rows) AS bigint) FROM lexicon GROUP BY stem HAVING sum(rows) > 0")
        )
        assert counted == held
        live = "SELECT sort, count(*) FROM observations WHERE deleted_at IS NULL GROUP BY sort"
        assert dict(tx.rows(live)) == dict(tx.rows("SELECT sort, observations FROM sorts WHERE observations > 0"))
        stray = (
            "SELECT count(*) FROM post p LEFT JOIN observations o ON o.id = p.id WHERE p.sort IS DISTINCT FROM o.sort"
        )
        assert tx.value(stray) == 0
