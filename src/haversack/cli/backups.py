"""`backup` and `restore-backup`: the whole store as one checked file, and back."""

import os

from haversack import terminal
from haversack.config import load
from haversack.store.sqlite import backup as store_backup


def back_up(file: str, *, force: bool, as_json: bool) -> int:
    """Write a backup and say what it holds."""
    made = store_backup.back_up(load().store_path, os.path.abspath(file), overwrite=force)
    _tell(made, "", as_json=as_json)
    return 0


def restore(file: str, *, force: bool, as_json: bool) -> int:
    """Put a backup in the store's place and say where the old store is."""
    done = store_backup.restore(os.path.abspath(file), load().store_path, overwrite=force)
    _tell(done.backup, done.kept, as_json=as_json)
    return 0


def _tell(backup: store_backup.Backup, kept: str, *, as_json: bool) -> None:
    if as_json:
        import json

        facts = {"file": backup.path, "bytes": backup.size, "observations": backup.observations}
        terminal.show(json.dumps(facts | ({"kept": kept} if kept else {}), ensure_ascii=False))
        return
    terminal.show(f"{backup.path}: {backup.observations:,} observations, {backup.size:,} bytes, checked")
    if kept:
        terminal.show(f"the store that was there is kept as {kept}")
