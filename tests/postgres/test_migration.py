"""A store moved to a server and back is the same store."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from haversack.app import open_caller
from haversack.cli import main
from haversack.config import Config, MemorySettings, StoreSettings, load
from haversack.errors import Conflict, Forbidden, StoreBusy, StoreMisconfigured
from haversack.memory.projects import changes as project_changes
from haversack.memory.room import Memory
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.transfer.migration import migrate
from haversack.store import copying
from haversack.store.engine import Engine
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.schema import VERSION
from haversack.store.postgres.upgrade import add_member, upgrade
from haversack.store.sqlite.engine import Database
from haversack.tools.road.call import call
from tests.conftest import Clock
from tests.postgres.test_parity import fill


@pytest.fixture
def file(tmp_path: Path) -> Database:
    database = Database(str(tmp_path / "home" / "haversack.db"))
    fill(Memory(database, MemorySettings(project="p"), "/", Clock()), 3, 40)
    return database


def test_a_store_goes_to_a_server_and_back_with_every_row(file: Database, store: PostgresStore, tmp_path: Path) -> None:
    done = migrate(file, store)
    assert done.rows["observations"] > 20 and done.searches > 10
    back = Database(str(tmp_path / "back.db"))
    migrate(store, back)
    assert everything(back) == everything(store) == everything(file)
    with file.read() as first, back.read() as last:
        assert copying.differences(first, last) == []


def test_renamed_forgotten_and_personal_projects_go_to_a_server_and_back(
    file: Database, store: PostgresStore, tmp_path: Path
) -> None:
    memory = Memory(file, MemorySettings(project="p"), "/", Clock())
    for project in ("old", "gone", "mine"):
        for scope in ("project", "personal"):
            pipeline.save(memory, Draft(f"{project} {scope}", f"{project} {scope}", project=project, scope=scope))
    project_changes.rename(memory, "old", "new")
    project_changes.forget(memory, "gone")
    migrate(file, store)
    back = Database(str(tmp_path / "back.db"))
    migrate(store, back)
    every = "SELECT key, name, short, moved_to FROM projects ORDER BY key"
    with file.read() as first, store.read() as server, back.read() as last:
        held = first.rows(every)
        assert ("old", "old", "old", "new") in held and "gone" not in {row[0] for row in held}
        assert last.rows(every) == held
        assert server.value("SELECT count(*) FROM projects WHERE key = 'mine'") == 2


def test_what_is_saved_after_a_move_gets_the_next_id(file: Database, store: PostgresStore) -> None:
    migrate(file, store)
    for engine in (file, store):
        fill(Memory(engine, MemorySettings(project="p"), "/", Clock()), 9, 1)
    with file.read() as first, store.read() as last:
        newest = "SELECT id, position, place FROM observations ORDER BY id DESC LIMIT 1"
        assert first.rows(newest) == last.rows(newest)


def test_a_dry_run_leaves_the_server_empty_and_a_second_move_is_refused(file: Database, store: PostgresStore) -> None:
    migrate(file, store, dry_run=True)
    with store.read() as tx:
        assert copying.is_empty(tx)
    migrate(file, store)
    with pytest.raises(Conflict, match="in use"):
        migrate(file, store)


class CutOff(Exception):
    """Ends a copy in its middle."""


def cut_off_at(table: str) -> Callable[[str, int], None]:
    def step(name: str, count: int) -> None:
        if name == table:
            raise CutOff

    return step


def everything(engine: Engine) -> dict[str, object]:
    """Every row of a store but who changed what, and what its keys are derived from."""
    with engine.read() as tx:
        held: dict[str, object] = {
            table.name: [row for rows in copying.batches(tx, table) for row in rows] for table in copying.tables()
        }
        return held | {"salt": tx.value("SELECT value FROM meta WHERE name = 'salt'"), "numbers": tx.numbers()}


@pytest.mark.parametrize("table", ["sessions", "tags", "relations", "search index", "searches"])
def test_nobody_can_use_a_copy_that_was_cut_off_and_the_next_try_goes_on(
    file: Database, store: PostgresStore, table: str
) -> None:
    with pytest.raises(CutOff):
        migrate(file, store, step=cut_off_at(table))
    with pytest.raises(StoreBusy, match="not finished"), store.write():
        pass
    done = migrate(file, store)
    assert done.resumed > 0
    assert everything(store) == everything(file)


def test_a_source_that_changed_after_a_copy_was_cut_off_is_copied_anew(file: Database, store: PostgresStore) -> None:
    with pytest.raises(CutOff):
        migrate(file, store, step=cut_off_at("search index"))
    memory = Memory(file, MemorySettings(project="p"), "/", Clock())
    pipeline.save(memory, Draft("later", "saved after the first try"))
    with file.write() as tx:
        tx.run("UPDATE observations SET access_count = 70 WHERE id = 1")
    migrate(file, store)
    assert everything(store) == everything(file)


def test_an_unfinished_copy_is_not_gone_on_with_from_another_store(
    file: Database, store: PostgresStore, tmp_path: Path
) -> None:
    other = Database(str(tmp_path / "other.db"))
    fill(Memory(other, MemorySettings(project="p"), "/", Clock()), 5, 3)
    with pytest.raises(CutOff):
        migrate(file, store, step=cut_off_at("tags"))
    with pytest.raises(Conflict, match="unfinished copy of another store"):
        migrate(other, store)
    back = str(tmp_path / "back.db")
    with pytest.raises(CutOff):
        migrate(file, Database(back), step=cut_off_at("tags"))
    with pytest.raises(Conflict, match="unfinished copy of another store"):
        migrate(other, Database(back))
    assert not os.path.exists(back)


def test_only_a_login_that_speaks_for_others_copies(file: Database, store: PostgresStore, owner_url: str) -> None:
    add_member(owner_url, "carol")
    with psycopg.connect(owner_url.partition("&schema=")[0]) as connection:
        connection.execute(f"UPDATE {store.address.schema}.members SET speaks_for_others = false")
    try:
        with pytest.raises(Forbidden, match="only as itself"):
            migrate(file, store)
    finally:
        upgrade(owner_url)
    with store.read() as tx:
        assert copying.is_empty(tx)


def test_what_a_copy_switches_off_is_on_again_and_cannot_be_switched_off_by_hand(
    file: Database, store: PostgresStore
) -> None:
    migrate(file, store)
    with store.read() as tx:
        off = "SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D'"
        assert tx.value(off) == 0
    with store.write() as tx, pytest.raises(Conflict, match="in use"):
        tx.execute("SELECT enter_copy(NULL, ?, 'salt')", (VERSION,))
    with store.write() as tx, pytest.raises(StoreMisconfigured, match="in use"):
        tx.execute("SELECT leave_copy('x')")


def test_the_command_moves_the_store_and_switches_the_settings(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(tmp_path / "home")
    first = open_caller(Config(home=home), directory=str(tmp_path))
    call(first, "mem_save", {"title": "Kettle", "content": "The kettle is blue", "project": "p"})
    first.app.close()
    assert main(["migrate", "--to", url, "--switch"]) == 0
    assert "1 observations" in capsys.readouterr().out
    assert load().store == StoreSettings(url=url)
    assert main(["search", "kettle", "--project", "p"]) == 0
    assert "The kettle is blue" in capsys.readouterr().out
    os.remove(os.path.join(home, "haversack.db"))
    assert main(["doctor"]) == 0
    assert "PostgreSQL" in capsys.readouterr().out


def test_the_owner_makes_a_store_and_lets_people_in_by_commands(
    owner_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["store", "upgrade", "--url", owner_url]) == 0
    assert "schema version" in capsys.readouterr().out
    assert main(["store", "realm", "leads", "--namespace", "hiring", "--url", owner_url]) == 0
    assert main(["store", "member", "carol", "--realm", "leads", "--read-only", "--url", owner_url]) == 0
    assert "carol may read leads" in capsys.readouterr().out
    server = owner_url.partition("&schema=")
    with psycopg.connect(server[0]) as connection:
        connection.execute(f"SET search_path TO {server[2]}")
        assert connection.execute("SELECT count(*) FROM members WHERE subject = 'carol'").fetchone() == (1,)


KILLED = """
import os, signal, sys
from haversack.memory.transfer.migration import migrate
from haversack.store.postgres.engine import PostgresStore
from haversack.store.sqlite.engine import Database

def opened(place):
    return PostgresStore(place) if "://" in place else Database(place)

def step(name, count):
    if name == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

migrate(opened(sys.argv[1]), opened(sys.argv[2]), step=step)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("table", ["observations", "search index"])
def test_a_move_that_was_killed_is_done_by_the_next_one_there_and_back(
    file: Database, store: PostgresStore, url: str, tmp_path: Path, table: str
) -> None:
    back = str(tmp_path / "back.db")
    for source, target, engines in (
        (file.path, url, (file, store)),
        (url, back, (store, Database(back))),
    ):
        done = subprocess.run([sys.executable, "-c", KILLED, source, target, table], check=False)
        assert done.returncode == -signal.SIGKILL
        assert migrate(*engines).resumed > 0
        assert everything(engines[0]) == everything(engines[1])
        with pytest.raises(Conflict, match="in use"):
            migrate(*engines)
