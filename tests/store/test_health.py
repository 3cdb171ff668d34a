"""Looking at a store without changing it."""

import hashlib
from pathlib import Path

import pytest

from haversack.app import Caller
from haversack.cli import main
from haversack.errors import StoreDamaged, StoreError, StoreTooNew
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search.index_words import rebuild_index
from haversack.store.sqlite import health, schema

pytestmark = pytest.mark.sqlite_only("the integrity check of a file")


def a_store(caller: Caller) -> str:
    for number in range(3):
        save(caller.memory, Draft(title=f"note {number}", content="text"))
    return caller.database.describe()


def test_a_sound_store_is_found_sound_and_left_as_it_is(caller: Caller) -> None:
    path = a_store(caller)
    caller.app.close()
    before = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    found = health.examine(path)
    assert (found.version, found.integrity, found.foreign_keys, found.index) == (schema.VERSION, "ok", 0, "")
    assert found.is_sound
    assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == before


def test_an_index_that_lacks_an_observation_is_found_and_can_be_rebuilt(caller: Caller) -> None:
    path = a_store(caller)
    with caller.database.write() as tx:
        tx.words.remove(2)
    assert "lacks 1" in health.examine(path).index
    assert rebuild_index(caller.memory) == 3
    assert health.examine(path).index == ""


def test_an_index_that_holds_what_is_gone_is_found(caller: Caller) -> None:
    path = a_store(caller)
    with caller.database.write() as tx:
        tx.run("UPDATE observations SET deleted_at = 1 WHERE id = 2")
    assert "holds 1" in health.examine(path).index


def test_references_to_nothing_are_counted(caller: Caller) -> None:
    path = a_store(caller)
    caller.app.close()
    import apsw

    raw = apsw.Connection(path)
    raw.execute("UPDATE observations SET session_id = 'gone' WHERE id = 1")
    raw.close()
    found = health.examine(path)
    assert found.foreign_keys == 1
    assert not found.is_sound


def test_a_damaged_page_is_found(caller: Caller) -> None:
    path = a_store(caller)
    caller.app.close()
    content = bytearray(Path(path).read_bytes())
    content[4096 * 5 : 4096 * 9] = b"\xff" * (4096 * 4)
    Path(path).write_bytes(content)
    try:
        assert health.examine(path).integrity != "ok"
    except StoreDamaged as error:
        assert "damaged" in error.message


def test_a_newer_store_is_refused(caller: Caller) -> None:
    path = a_store(caller)
    with caller.database.write() as tx:
        tx.run(f"PRAGMA user_version = {schema.VERSION + 3}")
    with pytest.raises(StoreTooNew):
        health.examine(path)


def test_a_store_that_is_not_there_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        health.examine(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"\0" * 5_000])
def test_the_doctor_names_an_emptied_store(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    store = tmp_path / "home" / "haversack.db"
    store.write_bytes(content)
    store.chmod(0o600)
    assert main(["doctor"]) == 1
    assert "BAD " in capsys.readouterr().out
    assert store.read_bytes() == content
