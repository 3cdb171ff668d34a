"""Whoever types SQL by hand, with a login of the team's own, still sees and writes only what is theirs."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from haversack.errors import Forbidden
from haversack.memory.room import Memory
from haversack.memory.transfer import json_lines as transfer
from haversack.store.postgres.address import parse_address
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.schema import VERSION
from haversack.store.postgres.upgrade import add_member
from tests.postgres.test_isolation import save
from tests.postgres_server import OWNER, PROGRAM, shared_server
from tests.postgres_stores import schemas

MemoryOf = Callable[[str], Memory]
LOGIN = "mallory_login"
SECURED = ("observations", "sorts", "post", "search_text", "tags", "revisions", "lexicon", "prompts", "audit")


@pytest.fixture
def url_of_login(schema: str, owner_url: str) -> Iterator[str]:
    """A person's own login, with the rights of the program's login on every table."""
    with psycopg.connect(shared_server().url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {LOGIN} LOGIN NOSUPERUSER NOBYPASSRLS IN ROLE {PROGRAM}")
    add_member(owner_url, LOGIN)
    yield schemas().url(schema, LOGIN)
    with psycopg.connect(shared_server().url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP ROLE {LOGIN}")


@pytest.fixture
def typed(url_of_login: str, schema: str, memory_of: MemoryOf) -> Iterator["psycopg.Connection"]:
    """A transaction of that person's, entered as the program enters it, beside a secret of Alice's."""
    save(memory_of("alice"), "the secret kettle", scope="personal", tags=("hidden",))
    with psycopg.connect(parse_address(url_of_login).url) as connection:
        connection.execute(f"SET search_path TO {schema}; SELECT {schema}.enter(NULL, {VERSION})")
        yield connection


def count(connection: "psycopg.Connection", table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return int(row[0])


def test_a_setting_changed_by_hand_opens_nothing_and_closes_what_was_open(typed: "psycopg.Connection") -> None:
    everything = "{0,1,2,3,4,5,6,7,8,9}"
    for setting in ("realms", "writable", "own", "member"):
        value = everything if setting in ("realms", "writable") else "2"
        typed.execute("SELECT set_config(%s, %s, true)", (f"haversack.{setting}", value))
        assert {table: count(typed, table) for table in SECURED} == dict.fromkeys(SECURED, 0)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        typed.execute("INSERT INTO sorts VALUES (DEFAULT, 2, '', '', '', '', '', 1)")


def test_a_seal_is_good_for_the_transaction_it_was_made_in_alone(
    typed: "psycopg.Connection", schema: str, memory_of: MemoryOf
) -> None:
    save(memory_of("alice"), "the shared pot")
    assert count(typed, "observations") == 1
    names = ("member", "own", "realms", "writable", "seal")
    held = {name: typed.execute(f"SELECT current_setting('haversack.{name}')").fetchone() for name in names}
    typed.commit()
    typed.execute(f"SET search_path TO {schema}")
    for name, value in held.items():
        assert value is not None
        typed.execute("SELECT set_config(%s, %s, true)", (f"haversack.{name}", value[0]))
    assert count(typed, "observations") == 0


def test_the_secret_behind_the_seal_cannot_be_read_or_used(typed: "psycopg.Connection", schema: str) -> None:
    for attempt in (
        "SELECT value FROM secrets",
        "SELECT seal()",
        "UPDATE secrets SET value = 'x'",
        "UPDATE members SET speaks_for_others = true",
        "CREATE OR REPLACE FUNCTION realms() RETURNS int[] LANGUAGE sql STABLE AS $$ SELECT ARRAY[0,1,2,3] $$",
        "DROP POLICY seen ON observations",
        "ALTER TABLE observations NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE observations DISABLE TRIGGER ALL",
        f"SET SESSION AUTHORIZATION {OWNER}",
        f"SET ROLE {OWNER}",
        "SET session_replication_role = replica",
        "COPY observations TO '/tmp/observations'",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), typed.transaction():
            typed.execute(attempt)


def test_a_function_of_ones_own_does_not_run_with_the_rights_of_the_owner(
    typed: "psycopg.Connection", schema: str
) -> None:
    """Somebody who may make a schema puts it first in the path, and hides names of the system in it."""
    with psycopg.connect(shared_server().url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA evil AUTHORIZATION {LOGIN}")
    typed.rollback()
    typed.execute(
        "CREATE FUNCTION evil.current_setting(text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT '{0,1,2,3}' $$"
    )
    typed.execute("CREATE FUNCTION evil.yes(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$")
    typed.execute("CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.yes)")
    typed.execute(f"SET search_path TO evil, pg_catalog, {schema}; SELECT {schema}.enter(NULL, {VERSION})")
    typed.execute("SELECT set_config('haversack.realms', '{0,1,2,3,4,5,6}', true)")
    assert count(typed, f"{schema}.observations") == 0
    typed.rollback()
    with psycopg.connect(shared_server().url("postgres"), autocommit=True) as connection:
        connection.execute("DROP SCHEMA evil CASCADE")


def test_a_login_of_ones_own_speaks_for_nobody_else(url_of_login: str, memory_of: MemoryOf) -> None:
    memory_of("alice")
    other = PostgresStore(url_of_login, member="alice")
    with pytest.raises(Forbidden, match="only as itself") as caught, other.read():
        pytest.fail("it was opened")
    assert "store.member" in caught.value.hint
    with PostgresStore(url_of_login).read() as tx:
        assert tx.value("SELECT count(*) FROM members") == 1


def test_rows_of_others_cannot_be_changed_erased_moved_or_named(
    typed: "psycopg.Connection", memory_of: MemoryOf
) -> None:
    for attempt in ("UPDATE observations SET title = 'mine'", "DELETE FROM observations", "DELETE FROM post"):
        assert typed.execute(attempt).rowcount == 0
    # A reference to a row that is not seen must not tell that it is there.
    for table, values in (("tags", "('x', 1)"), ("vectors", "(1, 'm', 'h', '')"), ("vectors", "(99, 'm', 'h', '')")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), typed.transaction():
            typed.execute(f"INSERT INTO {table} VALUES {values}")


def test_an_export_is_kept_in_the_audit_of_every_realm_it_was_made_from(
    memory_of: MemoryOf, owner_url: str, store: PostgresStore
) -> None:
    alice, guest = memory_of("alice"), memory_of("guest")
    add_member(owner_url, "guest", may_write=False)
    save(alice, "a note for all")
    lines = list(transfer.export(guest))
    assert any("a note for all" in line for line in lines)
    with alice.database.read() as tx:
        seen = tx.rows("SELECT m.member, a.realm FROM audit a JOIN members m USING (member) WHERE a.act = 'exported'")
        noted = tx.rows("SELECT realm, detail FROM audit WHERE act = 'exported'")
    assert seen == [], "a member sees members other than themselves"
    assert noted == [(0, "")]
