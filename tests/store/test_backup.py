"""Backups of a store in use, and stores put back from them."""

import os
from pathlib import Path

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.errors import Conflict, NotFound, StoreBusy, StoreDamaged
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store.sqlite import health
from haversack.store.sqlite.backup import back_up, restore

pytestmark = pytest.mark.sqlite_only("backups of a file")


def keep(caller: Caller, *titles: str) -> None:
    for title in titles:
        pipeline.save(caller.memory, Draft(title=title, content=f"all about {title}"))


def titles(path: str) -> set[str]:
    caller = open_caller(Config(home=os.path.dirname(path)), directory=os.path.dirname(path))
    try:
        found = search.search(caller.memory, "about", search.filters(caller.memory), limit=100)
        return {hit.observation.title for hit in found.hits}
    finally:
        caller.app.close()


def test_a_backup_made_while_the_store_is_written_to_holds_one_moment(caller: Caller, tmp_path: Path) -> None:
    keep(caller, "one", "two")
    target = str(tmp_path / "backup.db")
    with caller.database.write():
        keep(caller, "unfinished")
        made = back_up(caller.config.store_path, target)
    assert made.observations == 2
    assert health.examine(target).is_sound
    assert os.stat(target).st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path / "home") and not [name for name in os.listdir(tmp_path) if "unchecked" in name]


def test_a_store_put_back_has_what_the_backup_had_and_the_old_one_is_kept(caller: Caller, tmp_path: Path) -> None:
    keep(caller, "one")
    target = str(tmp_path / "backup.db")
    back_up(caller.config.store_path, target)
    keep(caller, "two")
    caller.app.close()
    done = restore(target, caller.config.store_path, overwrite=True)
    assert titles(caller.config.store_path) == {"one"}
    os.makedirs(tmp_path / "old")
    os.rename(done.kept, tmp_path / "old" / os.path.basename(caller.config.store_path))
    assert titles(str(tmp_path / "old" / os.path.basename(caller.config.store_path))) == {"one", "two"}


def test_a_store_is_not_replaced_unasked_nor_while_it_is_open(caller: Caller, tmp_path: Path) -> None:
    keep(caller, "one")
    target = str(tmp_path / "backup.db")
    back_up(caller.config.store_path, target)
    with pytest.raises(Conflict, match="already"):
        restore(target, caller.config.store_path)
    with pytest.raises(StoreBusy, match="open"):
        restore(target, caller.config.store_path, overwrite=True)
    keep(caller, "two")
    caller.app.close()
    assert titles(caller.config.store_path) == {"one", "two"}


def test_a_backup_is_not_written_over_another_file_unasked(caller: Caller, tmp_path: Path) -> None:
    keep(caller, "one")
    precious = tmp_path / "precious.db"
    precious.write_text("precious")
    with pytest.raises(Conflict, match="there already"):
        back_up(caller.config.store_path, str(precious))
    with pytest.raises(Conflict, match="itself"):
        back_up(caller.config.store_path, caller.config.store_path, overwrite=True)
    assert precious.read_text() == "precious"
    assert back_up(caller.config.store_path, str(precious), overwrite=True).observations == 1


@pytest.mark.parametrize("damage", ["not a database at all", ""])
def test_a_file_that_is_no_sound_backup_is_refused_and_the_store_stays(
    caller: Caller, tmp_path: Path, damage: str
) -> None:
    keep(caller, "one")
    caller.app.close()
    (tmp_path / "bad.db").write_text(damage)
    with pytest.raises(StoreDamaged):
        restore(str(tmp_path / "bad.db"), caller.config.store_path, overwrite=True)
    with pytest.raises(NotFound):
        restore(str(tmp_path / "none.db"), caller.config.store_path, overwrite=True)
    assert titles(caller.config.store_path) == {"one"}


def test_a_damaged_store_is_put_aside_with_its_log_and_the_backup_takes_its_place(
    caller: Caller, tmp_path: Path
) -> None:
    keep(caller, "one")
    target, path = str(tmp_path / "backup.db"), caller.config.store_path
    back_up(path, target)
    caller.app.close()
    Path(path).write_bytes(b"rubbish" * 1000)
    Path(path + "-wal").write_bytes(b"a log that belongs to it")
    done = restore(target, path, overwrite=True)
    assert Path(done.kept).read_bytes() == b"rubbish" * 1000
    assert Path(done.kept + "-wal").read_bytes() == b"a log that belongs to it"
    assert titles(path) == {"one"}
