"""Which project a name or a folder means in this store, and the name people are shown for it."""

from haversack.errors import InvalidArgument, StoreBusy, StoreUnwritable
from haversack.memory.projects.identity import detect_project, project_key, short_name
from haversack.memory.room import Memory
from haversack.store import projects as table
from haversack.store.engine import Reader
from haversack.store.records import Project

EVERY = ("all", "*")
"""What a caller gives for a reading of every project at once."""
_LONGEST_CHAIN = 20


def current(memory: Memory) -> str:
    """The project the memory's directory belongs to, under the name it has in this store."""
    identity = detect_project(memory.directory, explicit=memory.settings.project)
    with memory.database.read() as tx:
        renamed = _followed(tx, project_key(identity))
        short = project_key(short_name(identity))
        has_old_name = short != project_key(identity) and table.get(tx, short) is not None
    if has_old_name and not memory.settings.project:
        _adopt_old_name(memory, short, renamed.name if renamed else identity)
    return renamed.name if renamed else identity


def resolve(memory: Memory, given: str) -> str:
    """The project a caller's name stands for: its full name, or a short one while that is unambiguous."""
    key = project_key(given)
    with memory.database.read() as tx:
        if renamed := _followed(tx, key):
            return renamed.name
        found = [each for each in table.with_short(tx, key.rpartition("/")[2]) if each.key.endswith(f"/{key}")]
    here = detect_project(memory.directory)
    if project_key(here).endswith(f"/{key}"):
        return current(memory)
    if len(found) > 1:
        names = ", ".join(each.name for each in found[:5])
        raise InvalidArgument(
            f"{given[:100]!r} is the short name of {len(found)} projects", hint=f"give one of {names}"
        )
    return found[0].name if found else given


def scope(memory: Memory, given: str) -> str:
    """The project a reading is narrowed to: the current one unless another is given; empty for `all`.

    In a folder that nothing was ever saved from, a reading is of every project: there is nothing to narrow it to.
    """
    if given.strip().casefold() in EVERY:
        return ""
    if given.strip():
        return resolve(memory, given)
    here = current(memory)
    with memory.database.read() as tx:
        return here if table.get(tx, project_key(here)) else ""


class Labels:
    """The names projects are shown by: the last part while no other project has the same one."""

    def __init__(self, memory: Memory) -> None:
        with memory.database.read() as tx:
            self._shared = table.shared_shorts(tx)

    def __call__(self, name: str) -> str:
        short = short_name(name)
        return name if project_key(short) in self._shared else short


def _followed(tx: Reader, key: str) -> Project | None:
    """The project held under a key, through renamings and mergers."""
    held = table.get(tx, key)
    for _ in range(_LONGEST_CHAIN):
        if held is None or not held.moved_to:
            return held
        held = table.get(tx, held.moved_to)
    return held


def _adopt_old_name(memory: Memory, short: str, identity: str) -> None:
    """Move what is stored under a repository's bare name to its identity.

    Sessions that ran in a folder of another repository with the same bare name stay for that one.
    """
    from haversack.memory.projects.changes import adopt

    try:
        with memory.database.read() as tx:
            others = {
                folder
                for folder in table.session_folders(tx, short)
                if (found := detect_project(folder)) != identity and project_key(short_name(found)) == short
            }
            nothing_left = all(folder in others for folder in table.session_folders(tx, short))
        if not (others and nothing_left):
            adopt(memory, short, identity, staying=others)
    except (StoreUnwritable, StoreBusy):
        pass  # what can only be read keeps its old name until it can be written
