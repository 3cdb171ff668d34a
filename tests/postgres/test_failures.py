"""What goes wrong with a server is named, and what to do about it."""

from collections.abc import Iterator

import psycopg
import pytest

from haversack.config import MemorySettings
from haversack.errors import (
    ConfigError,
    StoreBusy,
    StoreMisconfigured,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
)
from haversack.memory.room import Memory
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.store.postgres.address import parse_address
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.schema import VERSION
from haversack.store.postgres.texts import escaped, unescaped
from tests.conftest import Clock
from tests.postgres_server import PROGRAM, shared_server


@pytest.fixture
def administrator() -> Iterator["psycopg.Connection"]:
    with psycopg.connect(shared_server().url("postgres"), autocommit=True) as connection:
        yield connection


def save(store: PostgresStore, text: str) -> int:
    return pipeline.save(Memory(store, MemorySettings(project="p"), "/", Clock()), Draft(text, text)).id


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
