"""`doctor`: what is wrong with this installation and its store, and how to mend it."""

import os
import shutil
import stat
from collections.abc import Callable

from haversack import terminal
from haversack.app import open_caller
from haversack.config import Config, load
from haversack.errors import HaversackError
from haversack.memory.search.index_words import rebuild_index
from haversack.store.sqlite import health
from haversack.values import asdict, record

LEAST_FREE = 5_000_000
"""Bytes that must be free for the store to be worked with."""


@record
class Finding:
    """One thing that was looked at: whether it is well, what was seen, and what to do."""

    what: str
    well: bool
    seen: str
    remedy: str = ""


def run(*, mend: bool, as_json: bool) -> int:
    """Look at everything, print it, and return 0 when all is well, else 1."""
    found = examine(mend=mend)
    if as_json:
        import json

        terminal.show(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=1))
    else:
        for each in found:
            terminal.show(f"{'ok  ' if each.well else 'BAD '} {each.what}: {each.seen}")
            if each.remedy:
                terminal.show(f"     {each.remedy}")
    return 0 if all(each.well for each in found) else 1


def examine(*, mend: bool = False) -> list[Finding]:
    """Every finding, in the order in which problems should be mended."""
    try:
        config = load()
    except HaversackError as error:
        return [Finding("settings", False, error.message, error.hint or "mend the setting and try again")]
    findings = [Finding("settings", True, f"home is {config.home}"), _sqlite()]
    checks: list[Callable[[Config], Finding]] = [_home, _disk, _store_file]
    findings += [check(config) for check in checks]
    if all(each.well for each in findings) and os.path.exists(config.store_path):
        findings += _store(config, mend=mend)
    return [*findings, *_plan(config)]


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
    return Finding("disk", True, f"{free // 1_000_000:,} MB are free")


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
    return Finding("store", True, f"{path}, {os.path.getsize(path):,} bytes, yours alone")


def _store(config: Config, *, mend: bool) -> list[Finding]:
    try:
        state = health.examine(config.store_path)
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
    caller = open_caller(config)
    count = rebuild_index(caller.memory)
    caller.app.close()
    return [*findings, Finding("search index", True, f"rebuilt for {count:,} observations")]


def _plan(config: Config) -> list[Finding]:
    """A word on the plan of the current folder, when it has one that is damaged."""
    from haversack.cli.plan_doctor import damage

    try:
        found = damage(config)
    except HaversackError as error:
        return [Finding("plan", False, error.message, error.hint)]
    if not found:
        return []
    files = ", ".join(problem.file for problem in found[:5])
    return [Finding("plan", False, f"{len(found)} damaged: {files}", "run `haversack sdd doctor --mend`")]
