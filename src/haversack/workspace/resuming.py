"""Resuming a stored snapshot of any kind."""

from typing import Any

from haversack.errors import DamagedFile
from haversack.workspace.root import Workspace
from haversack.workspace.snapshots import Snapshot, snapshot_kind


def resume(data: bytes, workspace: Workspace) -> Snapshot[Any]:
    """The snapshot in some bytes, with items of their original type."""
    kind = snapshot_kind(data)
    if kind == "files":
        from haversack.workspace.files.listing import decoder, rows_in

        return Snapshot(data, decoder(workspace), rows_in)
    if kind == "matches":
        from haversack.workspace.search.matches import match_from

        return Snapshot(data, match_from)
    if kind == "status":
        from haversack.workspace.git.status import StatusEntry

        return Snapshot(data, StatusEntry)
    if kind == "diff":
        from haversack.workspace.git.diff import part_from

        return Snapshot(data, part_from)
    if kind == "commits":
        from haversack.workspace.git.log import Commit

        return Snapshot(data, Commit)
    if kind == "blame":
        from haversack.workspace.git.blame import run_from

        return Snapshot(data, run_from)
    raise DamagedFile(f"a stored workspace result is of an unknown kind {kind!r}", hint="make the call again")
