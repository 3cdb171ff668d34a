"""Backups: the whole store as one checked file, and back."""

import os
from typing import Annotated

from haversack.app import Caller
from haversack.errors import Conflict
from haversack.store.sqlite import backup as backups
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Done, Outcome


@tool(
    Command("backup", ("file",), examples=("haversack backup ~/haversack-monday.db",)),
    group="upkeep",
    writes=True,
    terminal_only=True,
)
def backup_store(
    caller: Caller,
    *,
    file: Annotated[str, "The file to write"],
    force: Annotated[bool, "Replace the file if it is there"] = False,
) -> Outcome:
    """Write the whole store to one checked file, while it is in use."""
    _refuse_server(caller)
    made = backups.back_up(caller.config.store_path, _path(caller, file), overwrite=force, step=caller.console.progress)
    return Done(_described(made), _facts(made), brief=f"backup to {made.path}")


@tool(
    Command("restore-backup", ("file",), examples=("haversack restore-backup ~/haversack-monday.db --force",)),
    group="upkeep",
    writes=True,
    destructive=True,
    terminal_only=True,
)
def restore_backup(
    caller: Caller,
    *,
    file: Annotated[str, "A file that `haversack backup` wrote"],
    force: Annotated[bool, "Also where there is a store already"] = False,
) -> Outcome:
    """Put a backup in the place of the store; the old store is kept beside it."""
    _refuse_server(caller)
    done = backups.restore(_path(caller, file), caller.config.store_path, overwrite=force, step=caller.console.progress)
    kept = f"\nthe store that was there is kept as {done.kept}" if done.kept else ""
    facts = _facts(done.backup) | ({"kept": done.kept} if done.kept else {})
    return Done(_described(done.backup) + kept, facts, brief=f"restored from {file}")


def _refuse_server(caller: Caller) -> None:
    if caller.config.store.url:
        raise Conflict(
            "the store is on a server, which backs it up itself",
            hint="use `pg_dump --schema=NAME` and `pg_restore`; `haversack export` works too",
        )


def _path(caller: Caller, file: str) -> str:
    return os.path.join(caller.directory, os.path.expanduser(file))


def _described(made: backups.Backup) -> str:
    return f"{made.path}: {made.observations:,} observations, {made.size:,} bytes, checked"


def _facts(made: backups.Backup) -> dict[str, object]:
    return {"file": made.path, "bytes": made.size, "observations": made.observations}
