"""A commit that fails takes its own changes back, and nothing that comes after it."""

from pathlib import Path

import apsw
import pytest

from haversack.store.sqlite.engine import Database

pytestmark = pytest.mark.sqlite_only("commits that the file system refuses")


def test_a_write_after_a_failed_commit_is_really_written(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "store.db"))
    with pytest.raises(apsw.ConstraintError), database.write() as tx:
        # A reference to nothing that is only looked at when the transaction ends.
        tx.run("PRAGMA defer_foreign_keys = ON")
        tx.run("INSERT INTO tags VALUES ('lost', 999)")
    with database.write() as tx:
        tx.run("INSERT INTO meta VALUES ('kept', '1')")
    other = Database(str(tmp_path / "store.db"))
    with other.read() as seen:
        assert seen.value("SELECT value FROM meta WHERE name = 'kept'") == "1"
        assert seen.value("SELECT count(*) FROM tags") == 0
    other.close()
    database.close()
