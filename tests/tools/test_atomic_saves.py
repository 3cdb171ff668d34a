"""A save, its debit and its line in the work log are one transaction."""

from pathlib import Path

import pytest

from haversack.app import App, Caller
from haversack.config import Config
from haversack.errors import HaversackError
from haversack.store.sqlite.engine import Database
from haversack.tools.road.call import call

pytestmark = pytest.mark.sqlite_only("hooks and triggers of SQLite")


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return App(Config(home=str(tmp_path))).caller(directory=str(tmp_path), own_account=True)


def stored(caller: Caller) -> tuple[int, int]:
    with caller.database.read() as tx:
        return tx.value("SELECT count(*) FROM observations"), tx.value("SELECT count(*) FROM entries")


def test_a_save_and_its_trail_are_committed_once(caller: Caller) -> None:
    call(caller, "mem_save", {"title": "First", "content": "opens the account and the session"})
    assert isinstance(caller.database, Database)
    changed: set[int] = set()
    with caller.database.read() as tx:
        connection = tx._connection

    def note() -> bool:
        changed.add(connection.total_changes())
        return False

    connection.set_commit_hook(note)
    call(caller, "mem_save", {"title": "Second", "content": "one more"})
    assert len(changed) == 1
    assert stored(caller) == (2, 2)
    caller.app.close()


def test_nothing_is_saved_when_its_trail_cannot_be_written(caller: Caller) -> None:
    call(caller, "mem_save", {"title": "First", "content": "opens the account and the session"})
    with caller.database.write() as tx:
        tx.run("CREATE TRIGGER refuse BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no log'); END")
    with pytest.raises(HaversackError):
        call(caller, "mem_save", {"title": "Second", "content": "is not kept"})
    assert stored(caller) == (1, 1)
    caller.app.close()


def test_what_follows_a_commit_sees_it_and_what_follows_a_failure_never_runs(tmp_path: Path) -> None:
    database, other = (Database(str(tmp_path / "store.db")) for _ in range(2))
    seen: list[object] = []

    def look() -> None:
        with other.read() as tx:
            seen.append(tx.value("SELECT value FROM meta WHERE name = 'kept'"))

    with database.write() as tx:
        tx.run("INSERT INTO meta VALUES ('kept', '1')")
        with database.write():
            database.after_commit(look)
        assert database.is_writing
        assert seen == []
    assert seen == ["1"]
    with pytest.raises(ZeroDivisionError), database.write():
        database.after_commit(look)
        raise ZeroDivisionError
    assert seen == ["1"]
    assert not database.is_writing
    database.after_commit(look)
    assert seen == ["1", "1"]
    database.close()
    other.close()
