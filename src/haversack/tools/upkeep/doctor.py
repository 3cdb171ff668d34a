"""`doctor`: the problems of this installation and its store, and how to mend them."""

import os
import shutil
import stat
from collections.abc import Callable, Iterable
from typing import Annotated

from haversack.app import Caller
from haversack.config import Config
from haversack.errors import HaversackError
from haversack.memory.search.index_words import rebuild_index
from haversack.store.sqlite import health
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Block, Outcome, Result
from haversack.values import asdict, record

LEAST_FREE = 5_000_000
"""Bytes that must be free for the store to be worked with."""


@record
class Finding:
    """The result of one check: whether it passed, what was found, and what to do."""

    what: str
    well: bool
    seen: str
    remedy: str = ""


Check = Callable[[], Iterable[Finding]]
also_examined: list[Check] = []
"""Further checks of rooms above this one, added by the program."""


@tool(
    Command("doctor", examples=("haversack doctor", "haversack doctor --mend")),
    group="upkeep",
    writes=True,
    idempotent=True,
    confirms=False,
)
def doctor(
    caller: Caller, *, mend: Annotated[bool, "Rebuild the search index if it disagrees with the store"] = False
) -> Outcome:
    """Say what is wrong with this installation and its store, and how to mend it."""
    found = examine(caller, mend=mend)
    bad = sum(not each.well for each in found)
    caller.console.exit_code = 1 if bad else 0
    return Result(
        blocks=[_block(each) for each in found],
        noun="checks",
        total=len(found),
        facts={"well": not bad},
        brief=f"{bad} of {len(found)} checks failed" if bad else "all is well",
    )


def as_text(finding: Finding) -> str:
    """A finding as text: its status, what was found, and below it what to do."""
    line = f"{'ok  ' if finding.well else 'BAD '} {finding.what}: {finding.seen}"
    return f"{line}\n     {finding.remedy}" if finding.remedy else line


def _block(finding: Finding) -> Block:
    return Block(finding.what, lambda level: as_text(finding), lambda level: asdict(finding), required=not finding.well)


def examine(caller: Caller, *, mend: bool = False) -> list[Finding]:
    """Every finding, in the order in which problems should be mended."""
    config = caller.config
    if config.store.url:
        findings = [Finding("settings", True, f"home is {config.home}"), *_server_store(caller, mend=mend)]
        return [*findings, *_plan(caller), *_others()]
    findings = [Finding("settings", True, f"home is {config.home}"), _sqlite()]
    checks: list[Callable[[Config], Finding]] = [_home, _disk, _store_file]
    findings += [check(config) for check in checks]
    if all(each.well for each in findings) and os.path.exists(config.store_path):
        findings += _store(caller, mend=mend)
    return [*findings, *_plan(caller), *_others()]


def _others() -> list[Finding]:
    return [finding for check in also_examined for finding in check()]


def _sqlite() -> Finding:
    return Finding("SQLite", True, health.sqlite_version())


def _home(config: Config) -> Finding:
    if not os.path.isdir(config.home):
        return Finding("home", True, f"{config.home} does not exist yet; the first save makes it")
    if not os.access(config.home, os.W_OK | os.X_OK):
        remedy = f"run `chmod u+rwx {config.home}`, or set HAVERSACK_HOME to a folder of yours"
        return Finding("home", False, f"{config.home} cannot be written", remedy)
    return Finding("home", True, "it can be written")


def _disk(config: Config) -> Finding:
    folder = config.home
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder) or "."
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        remedy = f"free some space on the disk of {config.home}, or set HAVERSACK_HOME to a folder elsewhere"
        return Finding("disk", False, f"{free:,} bytes are free", remedy)
    return Finding("disk", True, "there is room")


def _store_file(config: Config) -> Finding:
    path = config.store_path
    if not os.path.exists(path):
        return Finding("store", True, "there is none yet; the first save makes it")
    for held in (path, f"{path}-wal", f"{path}-shm"):
        if os.path.exists(held) and not os.access(held, os.R_OK | os.W_OK):
            remedy = f"run `chmod u+rw {path}*`, or mount its disk for writing; until then memories can only be read"
            return Finding("store", False, f"{held} cannot be written", remedy)
    if os.name == "posix" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        return Finding("store", False, f"{path} can be read by others", f"run `chmod 600 {path}`")
    return Finding("store", True, f"{path}, yours alone")


def _store(caller: Caller, *, mend: bool) -> list[Finding]:
    try:
        state = health.examine(caller.config.store_path, caller.console.progress)
    except HaversackError as error:
        remedy = (
            "run `haversack restore-backup FILE --force`, or move the file away and import an export; "
            "the file was not changed"
        )
        return [Finding("integrity", False, error.message, error.hint if error.code == "store_too_new" else remedy)]
    if not state.version:
        remedy = "run `haversack restore-backup FILE --force`, or move the file away to begin anew"
        return [Finding("schema", False, "the file is empty or holds no store: it was damaged or replaced", remedy)]
    seen = state.integrity if state.is_sound else f"{state.integrity}; {state.foreign_keys} broken references"
    remedy = "" if state.is_sound else "export what can be read (`haversack export`), then import it into a new home"
    findings = [
        Finding("schema", True, f"version {state.version}"),
        Finding("integrity", state.is_sound, seen, remedy),
    ]
    if not state.index:
        return [*findings, Finding("search index", True, "it agrees with the store")]
    if not mend:
        return [*findings, Finding("search index", False, state.index, "run `haversack doctor --mend`")]
    count = rebuild_index(caller.memory)
    return [*findings, Finding("search index", True, f"rebuilt for {count:,} observations")]


def _server_store(caller: Caller, *, mend: bool) -> list[Finding]:
    """The findings about a store on PostgreSQL."""
    from haversack.store.postgres import open_store

    store = caller.config.store
    try:
        engine = open_store(store.url, member=store.member)
        from haversack.store.postgres import health as server_health

        state = server_health.examine(engine)
        engine.close()
    except HaversackError as error:
        return [Finding("store", False, error.message, error.hint)]
    secured = not state.unsecured
    findings = [
        Finding("store", True, engine.describe()),
        Finding("PostgreSQL", True, state.server),
        Finding("schema", True, f"version {state.version}"),
        Finding(
            "row security",
            secured,
            "every table is secured" if secured else f"not forced for {', '.join(state.unsecured)}",
            "" if secured else "the owner runs ALTER TABLE ... FORCE ROW LEVEL SECURITY for each",
        ),
        Finding("counts", not state.miscounted, state.miscounted or "they agree with the rows"),
    ]
    if not state.index or mend:
        seen = f"rebuilt for {rebuild_index(caller.memory):,} observations" if state.index else "it agrees"
        return [*findings, Finding("search index", True, seen)]
    return [*findings, Finding("search index", False, state.index, "run `haversack doctor --mend`")]


def _plan(caller: Caller) -> list[Finding]:
    """The finding about damage in the plan of the current folder; none for a sound plan."""
    from haversack.tools.upkeep.plan_doctor import damage

    try:
        found = damage(caller)
    except HaversackError as error:
        return [Finding("plan", False, error.message, error.hint)]
    if not found:
        return []
    files = ", ".join(problem.file for problem in found[:5])
    return [Finding("plan", False, f"{len(found)} damaged: {files}", "run `haversack sdd doctor --mend`")]
