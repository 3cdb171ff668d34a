"""Backups of a store in use, and stores put back from them."""

import os
from pathlib import Path

import pytest

from haversack.app import App
from haversack.config import Config
from haversack.errors import Conflict, NotFound, StoreBusy, StoreDamaged
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store.sqlite import health
from haversack.store.sqlite.backup import back_up, restore


def keep(app: App, *titles: str) -> None:
    for title in titles:
        pipeline.save(app.memory, Draft(title=title, content=f"all about {title}"))


def titles(path: str) -> set[str]:
    app = App(Config(home=os.path.dirname(path)), directory=os.path.dirname(path))
    try:
        found = search.search(app.memory, "about", search.filters(app.memory), limit=100)
        return {hit.observation.title for hit in found.hits}
    finally:
        app.close()


def test_a_backup_made_while_the_store_is_written_to_holds_one_moment(app: App, tmp_path: Path) -> None:
    keep(app, "one", "two")
    target = str(tmp_path / "backup.db")
    with app.database.write():
        keep(app, "unfinished")
        made = back_up(app.config.store_path, target)
    assert made.observations == 2
    assert health.examine(target).is_sound
    assert os.stat(target).st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path / "home") and not [name for name in os.listdir(tmp_path) if "unchecked" in name]


def test_a_store_put_back_has_what_the_backup_had_and_the_old_one_is_kept(app: App, tmp_path: Path) -> None:
    keep(app, "one")
    target = str(tmp_path / "backup.db")
    back_up(app.config.store_path, target)
    keep(app, "two")
    app.close()
    done = restore(target, app.config.store_path, overwrite=True)
    assert titles(app.config.store_path) == {"one"}
    os.makedirs(tmp_path / "old")
    os.rename(done.kept, tmp_path / "old" / os.path.basename(app.config.store_path))
    assert titles(str(tmp_path / "old" / os.path.basename(app.config.store_path))) == {"one", "two"}


def test_a_store_is_not_replaced_unasked_nor_while_it_is_open(app: App, tmp_path: Path) -> None:
    keep(app, "one")
    target = str(tmp_path / "backup.db")
    back_up(app.config.store_path, target)
    with pytest.raises(Conflict, match="already"):
        restore(target, app.config.store_path)
    with pytest.raises(StoreBusy, match="open"):
        restore(target, app.config.store_path, overwrite=True)
    keep(app, "two")
    app.close()
    assert titles(app.config.store_path) == {"one", "two"}


def test_a_backup_is_not_written_over_another_file_unasked(app: App, tmp_path: Path) -> None:
    keep(app, "one")
    precious = tmp_path / "precious.db"
    precious.write_text("precious")
    with pytest.raises(Conflict, match="there already"):
        back_up(app.config.store_path, str(precious))
    with pytest.raises(Conflict, match="itself"):
        back_up(app.config.store_path, app.config.store_path, overwrite=True)
    assert precious.read_text() == "precious"
    assert back_up(app.config.store_path, str(precious), overwrite=True).observations == 1


@pytest.mark.parametrize("damage", ["not a database at all", ""])
def test_a_file_that_is_no_sound_backup_is_refused_and_the_store_stays(app: App, tmp_path: Path, damage: str) -> None:
    keep(app, "one")
    app.close()
    (tmp_path / "bad.db").write_text(damage)
    with pytest.raises(StoreDamaged):
        restore(str(tmp_path / "bad.db"), app.config.store_path, overwrite=True)
    with pytest.raises(NotFound):
        restore(str(tmp_path / "none.db"), app.config.store_path, overwrite=True)
    assert titles(app.config.store_path) == {"one"}


def test_a_damaged_store_is_put_aside_with_its_log_and_the_backup_takes_its_place(app: App, tmp_path: Path) -> None:
    keep(app, "one")
    target, path = str(tmp_path / "backup.db"), app.config.store_path
    back_up(path, target)
    app.close()
    Path(path).write_bytes(b"rubbish" * 1000)
    Path(path + "-wal").write_bytes(b"a log that belongs to it")
    done = restore(target, path, overwrite=True)
    assert Path(done.kept).read_bytes() == b"rubbish" * 1000
    assert Path(done.kept + "-wal").read_bytes() == b"a log that belongs to it"
    assert titles(path) == {"one"}
