"""The database: every connection alike, transactions whole, schema brought up to date or left alone."""

import hashlib
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import apsw
import pytest

from haversack.errors import StoreBusy, StoreDamaged, StoreError, StoreTooNew
from haversack.store.sqlite import engine as database_module
from haversack.store.sqlite import schema
from haversack.store.sqlite.engine import MEMORY, Database, Reader

pytestmark = pytest.mark.sqlite_only("the file, its settings and its migrations")

SETTINGS = {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 30_000, "synchronous": 1}


def settings_of(reader: Reader) -> dict[str, object]:
    return {name: reader.value(f"PRAGMA {name}") for name in SETTINGS}


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "home" / "haversack.db")


def test_every_thread_has_a_connection_of_its_own_with_every_setting(path: str) -> None:
    database = Database(path)
    found: list[tuple[int, dict[str, object]]] = []

    def look() -> None:
        with database.read() as tx:
            found.append((id(tx._connection), settings_of(tx)))

    threads = [threading.Thread(target=look) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    look()
    database.close()
    assert [each for _, each in found] == [SETTINGS] * 6
    assert len({connection for connection, _ in found}) == 6


def test_the_busy_timeout_is_set_before_anything_that_needs_a_lock(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class Watched(apsw.Connection):
        def set_busy_timeout(self, milliseconds: int) -> None:
            done.append(f"timeout {milliseconds}")
            super().set_busy_timeout(milliseconds)

        def pragma(self, name: str, *rest: object, **named: object) -> object:
            done.append(f"pragma {name}")
            return super().pragma(name, *rest, **named)  # type: ignore[arg-type]

        def execute(self, statements: str, *rest: object, **named: object) -> apsw.Cursor:
            done.append(statements)
            return super().execute(statements, *rest, **named)  # type: ignore[arg-type]

    database_module.create(path)
    monkeypatch.setattr(apsw, "Connection", Watched)
    database_module.connect(path).close()
    assert done[0] == "timeout 30000"
    assert len(done) > 2


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_the_store_and_its_folder_can_be_read_by_their_owner_alone(path: str) -> None:
    database = Database(path)
    with database.write() as tx:
        tx.run("INSERT INTO meta VALUES ('a', 'b')")
    modes = {
        name: stat.S_IMODE(os.stat(os.path.join(os.path.dirname(path), name)).st_mode)
        for name in os.listdir(os.path.dirname(path))
    }
    database.close()
    assert modes.pop("haversack.db") == 0o600
    assert set(modes) == {"haversack.db-wal", "haversack.db-shm"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_a_broken_reference_is_refused_on_every_thread(path: str) -> None:
    database = Database(path)
    errors: list[BaseException] = []

    def break_it() -> None:
        try:
            with database.write() as tx:
                tx.run(
                    "INSERT INTO prompts (session_id, project, project_key, namespace, content, created_at) VALUES ('none', '', '', '', '', 0)"
                )
        except BaseException as error:  # noqa: BLE001 - handed to the thread that asserts
            errors.append(error)

    thread = threading.Thread(target=break_it)
    thread.start()
    thread.join()
    break_it()
    database.close()
    assert len(errors) == 2
    assert not any(isinstance(error, StoreBusy) for error in errors)


def test_a_transaction_happens_whole_or_not_at_all(path: str) -> None:
    database = Database(path)
    with pytest.raises(KeyboardInterrupt), database.write() as tx:
        tx.run("INSERT INTO meta VALUES ('one', '1')")
        with database.write() as inner:
            inner.run("INSERT INTO meta VALUES ('two', '2')")
        raise KeyboardInterrupt
    with database.read() as tx:
        assert tx.value("SELECT count(*) FROM meta WHERE name IN ('one', 'two')") == 0
    database.close()


def test_a_reader_sees_one_snapshot_while_others_write(path: str) -> None:
    database, other = Database(path), Database(path)
    with database.read() as tx:
        before = tx.value("SELECT count(*) FROM meta")
        with other.write() as writer:
            writer.run("INSERT INTO meta VALUES ('new', '1')")
        assert tx.value("SELECT count(*) FROM meta") == before
    with database.read() as tx:
        assert tx.value("SELECT count(*) FROM meta") == before + 1
    database.close()
    other.close()


def test_a_read_inside_a_write_sees_what_was_written(path: str) -> None:
    database = Database(path)
    with database.write() as tx:
        tx.run("INSERT INTO meta VALUES ('new', '1')")
        with database.read() as reader:
            assert reader.value("SELECT value FROM meta WHERE name = 'new'") == "1"
    database.close()


def test_a_store_that_stays_locked_is_an_error_that_says_so(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 20)
    database, other = Database(path), Database(path)
    with other.read():
        """Make the file before it is locked."""
    with other.write(), pytest.raises(StoreBusy, match="stayed locked") as caught, database.write():
        pytest.fail("two writers at once")
    assert "doctor" in caught.value.hint
    database.close()
    other.close()


def test_a_file_that_is_no_database_is_an_error_and_is_left_as_it_is(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(b"this is not a database, but somebody's notes" * 100)
    before = Path(path).read_bytes()
    with pytest.raises(StoreDamaged, match="damaged"), Database(path).read():
        pytest.fail("it was opened")
    assert Path(path).read_bytes() == before


def test_a_folder_in_the_way_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "haversack.db").mkdir()
    with pytest.raises(StoreError, match=r"haversack\.db"), Database(str(tmp_path / "haversack.db")).read():
        pytest.fail("it was opened")


def test_a_file_in_place_of_the_home_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(StoreError, match="home"), Database(str(tmp_path / "home" / "haversack.db")).read():
        pytest.fail("it was opened")


def test_a_fresh_store_is_at_the_programs_version(path: str) -> None:
    database = Database(path)
    with database.read() as tx:
        assert tx.value("PRAGMA user_version") == schema.VERSION
        assert len(tx.value("SELECT value FROM meta WHERE name = 'salt'")) == 32
    database.close()


def test_two_stores_have_different_secrets(tmp_path: Path) -> None:
    salts = set()
    for name in ("a", "b"):
        database = Database(str(tmp_path / name / "haversack.db"))
        with database.read() as tx:
            salts.add(tx.value("SELECT value FROM meta WHERE name = 'salt'"))
        database.close()
    assert len(salts) == 2


def test_a_store_from_a_newer_program_is_refused_and_not_touched(path: str) -> None:
    database = Database(path)
    with database.write() as tx:
        tx.run(f"PRAGMA user_version = {schema.VERSION + 1}")
    database.close()
    before = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    with pytest.raises(StoreTooNew, match=str(schema.VERSION + 1)) as caught, Database(path).read():
        pytest.fail("it was opened")
    assert "upgrade" in caught.value.hint
    assert hashlib.sha256(Path(path).read_bytes()).hexdigest() == before


def test_a_server_of_the_older_version_stops_writing_when_a_newer_program_has_changed_the_store(path: str) -> None:
    older, newer = Database(path), Database(path)
    with older.write() as tx:
        tx.run("INSERT INTO meta VALUES ('mine', 'yes')")
    with newer.write() as tx:
        tx.run(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(StoreTooNew), older.write() as tx:
        tx.run("INSERT INTO meta VALUES ('late', 'yes')")
    with older.read() as tx:
        assert tx.rows("SELECT name FROM meta WHERE name IN ('mine', 'late')") == [("mine",)]


def full_store(path: str) -> int:
    database = Database(path)
    with database.write() as tx:
        tx.run("INSERT INTO meta VALUES ('kept', ?)", ("x" * 50_000,))
    database.close()
    return os.path.getsize(path)


@pytest.mark.parametrize("share", [0.0, 0.00001, 0.001, 0.3, 0.9, 0.999])
def test_a_truncated_store_is_called_damaged_and_never_replaced(path: str, share: float) -> None:
    left = int(full_store(path) * share)
    os.truncate(path, left)
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="damaged"), Database(path).write() as tx:
            tx.run("INSERT INTO meta VALUES ('late', 'yes')")
        assert os.path.getsize(path) == left


def test_a_database_without_a_version_is_called_damaged_and_left_as_it_is(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    connection = apsw.Connection(path)
    connection.execute("CREATE TABLE other_program (x)")
    connection.close()
    before = Path(path).read_bytes()
    with pytest.raises(StoreDamaged, match="no schema version"), Database(path).write():
        pytest.fail("it was opened")
    connection = apsw.Connection(path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("other_program",)]
    assert len(Path(path).read_bytes()) == len(before)


def test_a_new_store_leaves_no_other_file_behind(path: str) -> None:
    database = Database(path)
    with database.read():
        """The store is made."""
    database.close()
    assert os.listdir(os.path.dirname(path)) == ["haversack.db"]


def test_a_migration_that_fails_leaves_the_store_as_it_was(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Database(path).close()
    with Database(path).read():
        """A store of the present version."""
    failing = "CREATE TABLE half_done (x); INSERT INTO half_done VALUES (1); SELECT no_such_function();"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, failing))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with pytest.raises(apsw.SQLError), Database(path).read():
        pytest.fail("it was opened")
    monkeypatch.undo()
    with Database(path).read() as tx:
        assert tx.value("PRAGMA user_version") == schema.VERSION
        assert tx.value("SELECT count(*) FROM sqlite_master WHERE name = 'half_done'") == 0


def test_a_migration_brings_an_older_store_up_to_date_and_keeps_its_rows(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database(path).write() as tx:
        tx.run("INSERT INTO meta VALUES ('kept', 'yes')")
    monkeypatch.setattr(
        schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE added (x); INSERT INTO added VALUES (7);")
    )
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    with Database(path).read() as tx:
        assert tx.value("PRAGMA user_version") == schema.VERSION
        assert tx.value("SELECT x FROM added") == 7
        assert tx.value("SELECT value FROM meta WHERE name = 'kept'") == "yes"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.parametrize("is_new", [True, False])
def test_a_program_killed_in_the_middle_of_a_migration_leaves_a_store_that_opens(path: str, is_new: bool) -> None:
    if not is_new:
        with Database(path).read():
            """A store of the present version."""
    killed = textwrap.dedent(
        f"""
        import os, signal
        from haversack.store.sqlite import engine as database, schema
        migrate = schema.migrate
        def die(connection, *, is_new):
            connection.create_scalar_function("die", lambda: os.kill(os.getpid(), signal.SIGKILL))
            schema.MIGRATIONS = (*schema.MIGRATIONS, "CREATE TABLE half_done (x); SELECT die();")
            schema.VERSION += 1
            migrate(connection, is_new=is_new)
        schema.migrate = die
        with database.Database({path!r}).read():
            pass
        """
    )
    run = subprocess.run([sys.executable, "-c", killed], env=os.environ, check=False)
    assert run.returncode == -signal.SIGKILL
    with Database(path).read() as tx:
        assert tx.value("PRAGMA user_version") == schema.VERSION
        assert tx.value("SELECT count(*) FROM observations") == 0
        assert tx.value("PRAGMA integrity_check") == "ok"


def test_a_store_in_memory_is_shared_by_all_threads() -> None:
    database = Database(MEMORY)
    with database.write() as tx:
        tx.run("INSERT INTO meta VALUES ('new', '1')")
    found: list[object] = []

    def look() -> None:
        with database.read() as tx:
            found.append(tx.value("SELECT value FROM meta WHERE name = 'new'"))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == ["1"]
    database.close()


def test_a_closed_database_opens_again_when_it_is_used(path: str) -> None:
    database = Database(path)
    with database.write() as tx:
        tx.run("INSERT INTO meta VALUES ('new', '1')")
    database.close()
    with database.read() as tx:
        assert tx.value("SELECT value FROM meta WHERE name = 'new'") == "1"
    database.close()
