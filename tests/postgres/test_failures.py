"""What goes wrong with a server is named, and what to do about it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from haversack.app import open_caller
from haversack.config import Config, MemorySettings, StoreSettings
from haversack.errors import (
    ConfigError,
    StoreBusy,
    StoreFull,
    StoreMisconfigured,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
)
from haversack.memory.room import Memory
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.store.engine import persistently
from haversack.store.postgres.address import parse_address
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.schema import VERSION
from haversack.store.postgres.texts import escaped, unescaped
from haversack.store.postgres.upgrade import upgrade
from haversack.store.postgres.words import PostgresWords
from haversack.store.words import Census
from haversack.tools.road.call import call
from tests.conftest import Clock
from tests.postgres_server import OWNER, PROGRAM, Server, prepare, shared_server


@pytest.fixture
def administrator() -> Iterator["psycopg.Connection"]:
    with psycopg.connect(shared_server().url("postgres"), autocommit=True) as connection:
        yield connection


def save(store: PostgresStore, text: str) -> int:
    return pipeline.save(Memory(store, MemorySettings(project="p"), "/", Clock()), Draft(text[:100], text)).id


def test_a_server_that_is_not_there_is_named_with_the_setting_and_without_the_password() -> None:
    store = PostgresStore("postgresql://me:secret@/db?host=/nowhere&schema=s")
    with pytest.raises(StoreUnavailable, match="cannot be reached") as caught, store.read():
        pytest.fail("it was opened")
    assert "store.url" in caught.value.hint and "secret" not in str(caught.value)


def test_a_schema_that_nobody_made_is_named_with_the_command_that_makes_it(url: str) -> None:
    store = PostgresStore(url.partition("&schema=")[0] + "&schema=nobody_made_it")
    with pytest.raises(StoreUnavailable, match="not there") as caught, store.read():
        pytest.fail("it was opened")
    assert "haversack store upgrade" in caught.value.hint


def test_a_role_that_bypasses_row_security_is_refused(url: str) -> None:
    with pytest.raises(StoreMisconfigured, match="bypasses"), PostgresStore(url.replace(PROGRAM, "postgres")).read():
        pytest.fail("it was opened")


def test_an_idle_connection_that_was_cut_is_replaced_without_a_word(
    store: PostgresStore, administrator: "psycopg.Connection"
) -> None:
    save(store, "one")
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s"
    administrator.execute(cut, (PROGRAM,))
    assert save(store, "two") == 2


def test_a_connection_cut_in_the_middle_saves_nothing_and_says_so(
    store: PostgresStore, administrator: "psycopg.Connection"
) -> None:
    with pytest.raises(StoreUnavailable), store.write() as tx:
        tx.run("UPDATE serials SET last = 99")
        administrator.execute(
            "SELECT pg_terminate_backend(?)".replace("?", "%s"), (tx.value("SELECT pg_backend_pid()"),)
        )
        tx.value("SELECT 1")
    with store.read() as tx:
        assert tx.value("SELECT max(last) FROM serials") == 0


def test_a_writer_that_waits_too_long_for_another_is_told_to_try_again(url: str, schema: str) -> None:
    first, second = PostgresStore(url), PostgresStore(url)
    second._writing = second._writing.replace("; SELECT pg_adv", "; SET LOCAL lock_timeout = '50ms'; SELECT pg_adv")
    with first.write(), pytest.raises(StoreBusy, match="busy"), second.write():
        pytest.fail("it was opened")
    with second.write():
        """It is free again."""


def test_a_server_that_is_read_only_says_so(store: PostgresStore) -> None:
    with pytest.raises(StoreReadOnly), store.write() as tx:
        tx.run("SET TRANSACTION READ ONLY")
        tx.run("UPDATE serials SET last = 1")


def test_a_newer_and_an_older_schema_are_refused(
    store: PostgresStore, schema: str, administrator: "psycopg.Connection"
) -> None:
    administrator.execute(f"SET search_path TO {schema}")
    for version, error in (("99", StoreTooNew), ("0", StoreMisconfigured)):
        administrator.execute("UPDATE meta SET value = %s WHERE name = 'version'", (version,))
        with pytest.raises(error, match="schema version"), store.write():
            pytest.fail("it was opened")
    administrator.execute("UPDATE meta SET value = %s WHERE name = 'version'", (str(VERSION),))


def test_a_failed_write_leaves_a_connection_that_works(store: PostgresStore) -> None:
    with pytest.raises(ZeroDivisionError), store.write() as tx:
        tx.run("UPDATE serials SET last = 5")
        raise ZeroDivisionError
    with store.write() as outer:
        with store.write() as inner, store.read() as seen:
            inner.run("UPDATE serials SET last = 7 WHERE name = 'position'")
            assert seen.value("SELECT last FROM serials WHERE name = 'position'") == 7
        assert outer.value("SELECT max(last) FROM serials") == 7


@pytest.mark.parametrize("url", ["mysql://x/y", "postgresql://x/y?schema=A-b", "postgresql://x/y?prepare=maybe"])
def test_a_wrong_url_is_an_error_that_names_the_setting(url: str) -> None:
    with pytest.raises(ConfigError, match=r"store\.url"):
        parse_address(url)


@pytest.mark.parametrize("text", ["", "\0", "\ue001", "\ue001\0\ue002\ue003", "a\0b\ue001\ue003"])
def test_any_text_survives_a_server_that_holds_no_zero(store: PostgresStore, text: str) -> None:
    assert unescaped(escaped(text)) == text and "\0" not in escaped(text)
    with store.read() as tx:
        assert tx.value("SELECT CAST(? AS text)", (text,)) == text


def test_a_call_that_loses_its_connection_before_it_kept_anything_is_done_again(
    store: PostgresStore, administrator: "psycopg.Connection"
) -> None:
    tries: list[int] = []

    def act() -> int:
        with store.write() as tx:
            tries.append(tx.value("SELECT pg_backend_pid()"))
            if len(tries) == 1:
                administrator.execute("SELECT pg_terminate_backend(%s, 5000)", (tries[0],))
            return tx.run("UPDATE serials SET last = last + 1 WHERE name = 'position'")

    assert persistently(act) == 1
    assert len(tries) == 2
    with store.read() as tx:
        assert tx.value("SELECT last FROM serials WHERE name = 'position'") == 1


def test_what_kept_something_is_not_done_twice(store: PostgresStore, administrator: "psycopg.Connection") -> None:
    tries: list[int] = []

    def act() -> None:
        with store.write() as tx:
            tx.run("UPDATE serials SET last = last + 1 WHERE name = 'position'")
        with store.read() as reading:
            tries.append(reading.value("SELECT pg_backend_pid()"))
            administrator.execute("SELECT pg_terminate_backend(%s, 5000)", (tries[-1],))
            reading.value("SELECT 1")

    with pytest.raises(StoreUnavailable):
        persistently(act)
    assert len(tries) == 1


def test_a_deadlock_is_tried_three_times_and_then_named(store: PostgresStore) -> None:
    tries: list[None] = []

    def act() -> None:
        tries.append(None)
        with store.write() as tx:
            tx.run("DO $$ BEGIN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END $$")

    with pytest.raises(StoreBusy, match="deadlock"):
        persistently(act)
    assert len(tries) == 3


def test_a_search_whose_connection_is_cut_in_the_middle_answers_all_the_same(
    url: str, tmp_path: Path, administrator: "psycopg.Connection", monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = open_caller(Config(home=str(tmp_path), store=StoreSettings(url=url)), directory=str(tmp_path))
    call(caller, "mem_save", {"title": "Kettle", "content": "The kettle is blue", "project": "p"})
    cut = iter([True])
    census = PostgresWords.census

    def cut_once(words: PostgresWords) -> Census:
        if next(cut, False):
            pid = words._tx.value("SELECT pg_backend_pid()")
            administrator.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        return census(words)

    monkeypatch.setattr(PostgresWords, "census", cut_once)
    assert "The kettle is blue" in call(caller, "mem_search", {"query": "kettle", "project": "p"}).text
    assert next(cut, None) is None
    caller.app.close()


def test_a_killed_server_is_named_and_nothing_acknowledged_is_lost_when_it_is_back() -> None:
    with Server(durable=True) as server:
        prepare(server)
        upgrade(server.url(OWNER, schema="team"))
        store = PostgresStore(server.url(PROGRAM, schema="team"))
        first = save(store, "one")
        server.kill()
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            save(store, "two")
        server.start()
        with store.read() as tx:
            assert tx.rows("SELECT id FROM observations") == [(first,)]
        assert save(store, "three") == first + 1
        store.close()


def test_a_wrong_password_is_named_without_it() -> None:
    with Server() as server:
        prepare(server)
        upgrade(server.url(OWNER, schema="team"))
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(f"ALTER ROLE {PROGRAM} PASSWORD 'right'")
        server.require_passwords()
        url = f"postgresql://{PROGRAM}:wrong@/haversack?host={server.folder}&schema=team"
        with (
            pytest.raises(StoreUnavailable, match="password authentication failed") as caught,
            PostgresStore(url).read(),
        ):
            pytest.fail("it was opened")
        assert "wrong" not in str(caught.value) and "store.url" in caught.value.hint
        with PostgresStore(url.replace("wrong", "right")).read() as tx:
            assert tx.value("SELECT 1") == 1


def test_a_missing_right_is_named_with_the_command_that_grants_it(
    store: PostgresStore, schema: str, administrator: "psycopg.Connection"
) -> None:
    administrator.execute(f"REVOKE INSERT ON {schema}.observations FROM {PROGRAM}")
    try:
        with pytest.raises(StoreMisconfigured, match="right is missing") as caught:
            save(store, "one")
        assert "haversack store upgrade" in caught.value.hint
    finally:
        administrator.execute(f"GRANT INSERT ON {schema}.observations TO {PROGRAM}")
    assert save(store, "one") == 1


def test_a_database_that_is_not_there_is_named(url: str) -> None:
    with (
        pytest.raises(StoreUnavailable, match="nowhere"),
        PostgresStore(url.replace("/haversack?", "/nowhere?")).read(),
    ):
        pytest.fail("it was opened")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes a small disk")
def test_a_full_disk_of_the_server_is_named_and_what_was_there_stays() -> None:
    # Not among pytest's folders, which nobody else may enter.
    disk = Path(tempfile.mkdtemp(prefix="haversack-disk-"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=777", "tmpfs", str(disk)], check=False).returncode:
        pytest.skip("no disk can be mounted here")
    shutil.chown(disk, "nobody")
    try:
        with Server() as server:
            prepare(server)
            with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
                connection.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
                connection.execute(f"GRANT CREATE ON TABLESPACE small TO {OWNER}")
                connection.execute(f"ALTER ROLE {OWNER} SET default_tablespace = small")
            upgrade(server.url(OWNER, schema="team"))
            store = PostgresStore(server.url(PROGRAM, schema="team"))
            kept = [save(store, "one")]
            with pytest.raises(StoreFull, match="no room"):
                for number in range(200):
                    kept.append(save(store, f"{number} {' '.join(os.urandom(9).hex() for _ in range(4_000))}"))
            with store.read() as tx:
                assert [row[0] for row in tx.rows("SELECT id FROM observations ORDER BY id")] == kept
            store.close()
    finally:
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()
