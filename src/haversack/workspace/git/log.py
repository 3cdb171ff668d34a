"""`vcs_log`: commits, newest first, with their true number under the same filters."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from haversack.errors import InvalidArgument
from haversack.patterns import pattern
from haversack.values import record
from haversack.workspace.git.command import Repository, failure, require_repository, resolve_commit
from haversack.workspace.programs import Running, records
from haversack.workspace.root import Place, Workspace, locate
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

MOST = 10_000
"""Commits one log holds; it counts them all."""

_FORMAT = "--format=tformat:%H%x1f%h%x1f%aI%x1f%aN%x1f%s"
_LOG = ("log", "-z", "--no-decorate", "--no-show-signature", "--no-patch", _FORMAT)
_BATCH = 256
_SPREAD = 64
"""Commits from all over a log that are remembered by name, at least, to tell what the others are like."""
_ENOUGH_OF_A_NAME = 12
_DATE = pattern(
    r"\d{4}-\d\d?-\d\d?(?:[T ]\d\d?:\d\d(?::\d\d)?(?:\.\d+)?\s*(?:Z|[+-]\d\d:?\d\d)?)?|@?\d{9,10}"
    r"|now|today|yesterday|noon|midnight"
    r"|(?:\d{1,4}|an?|one|last)[ .]+(?:second|minute|hour|day|week|month|year)s?(?:[ .]+ago)?",
    re.IGNORECASE,
)
_ABSOLUTE = pattern(r"\d{4}-|@?\d{9,10}$")
_DAY = pattern(r"\d{4}-\d\d?-\d\d?|today|yesterday", re.IGNORECASE)


@record
class Commit:
    """A commit: full and short hash, the author and the author's date (ISO 8601), and the first line of its message."""

    hash: str
    short: str
    date: str
    author: str
    subject: str


@record
class VcsLog:
    """The newest commits of those that pass the filters, how many do in all, and the commit the log starts from.

    `since` and `until` are fixed moments, since `1 hour ago` would move until the next page. `spread` are
    some of the later commits of the log, by index and hash.
    """

    path: str
    commits: Snapshot[Commit]
    total: int
    head: str
    since: str = ""
    until: str = ""
    spread: tuple[tuple[int, str], ...] = ()

    @property
    def has_commits(self) -> bool:
        return bool(self.head)


def vcs_log(
    workspace: Workspace,
    *,
    path: str = "",
    count: int = 10,
    since: str = "",
    until: str = "",
    author: str = "",
    grep: str = "",
) -> VcsLog:
    """The `count` newest commits that touch `path`, follow and precede the dates, and hold the texts, in any case.

    A single file is followed through its renames. A day without a time counts in full, as the first one and as the
    last. `author` and `grep` are plain text.
    """
    if not 1 <= count <= MOST:
        raise InvalidArgument(f"count is {count}", hint=f"use 1 to {MOST:,}")
    place = locate(workspace, path, must_exist=False)
    repository = require_repository(workspace, place)
    _filters(since=since, until=until, author=author, grep=grep)
    since, until = _fixed(repository, since, "00:00:00"), _fixed(repository, until, "23:59:59")
    filters = _filters(since=since, until=until, author=author, grep=grep)
    head = resolve_commit(repository, "HEAD")
    writer = SnapshotWriter("commits")
    if head is None:
        return VcsLog(place.relative, Snapshot(writer.finish(), Commit), 0, "")
    spread = _Spread(count)
    _gather(repository, place, [*filters, head], count, writer, spread)
    total = spread.seen
    if not total and not os.path.exists(place.absolute):
        locate(workspace, path)
    return VcsLog(place.relative, Snapshot(writer.finish(), Commit), total, head, since, until, tuple(spread.kept))


def earlier_commits(
    workspace: Workspace,
    head: str,
    skip: int,
    count: int,
    *,
    path: str = "",
    since: str = "",
    until: str = "",
    author: str = "",
    grep: str = "",
) -> list[Commit]:
    """Up to `count` commits of the log that started from `head`, behind its first `skip`."""
    place = locate(workspace, path, must_exist=False)
    repository = require_repository(workspace, place)
    # Where renames are followed, git skips commits before it knows whether they belong to the log.
    follows = not os.path.isdir(place.absolute)
    page = ["--follow"] if follows else [f"--skip={skip}", f"--max-count={count}"]
    filters = _filters(since=since, until=until, author=author, grep=grep)
    start = resolve_commit(repository, head)
    assert start is not None
    with repository.start(*_LOG, *page, *filters, start, *_scope(repository, place)) as running:
        found = [Commit(*told) for told in _commits(records(running.blocks()))]
        _check(repository, running)
    return found[skip : skip + count] if follows else found


def commits_named(workspace: Workspace, names: Sequence[str], *, path: str = "") -> list[Commit]:
    """The commits of these names, in their order."""
    repository = require_repository(workspace, locate(workspace, path, must_exist=False))
    with repository.start(*_LOG, "--no-walk=unsorted", *names) as running:
        found = [Commit(*told) for told in _commits(records(running.blocks()))]
        _check(repository, running)
    return found


def _scope(repository: Repository, place: Place) -> list[str]:
    name = repository.path_of(place)
    return [] if name == "." else ["--", name]


class _Spread:
    """An evenly spread sample of a stream's names from some index on, whatever its length."""

    def __init__(self, start: int) -> None:
        self.seen = 0
        self.kept: list[tuple[int, str]] = []
        self._start, self._step = start, 1

    def see(self, name: bytes) -> None:
        behind = self.seen - self._start
        if behind >= 0 and behind % self._step == 0:
            self.kept.append((self.seen, name[:_ENOUGH_OF_A_NAME].decode()))
            if len(self.kept) > 2 * _SPREAD:
                self.kept, self._step = self.kept[::2], 2 * self._step
        self.seen += 1


def _gather(
    repository: Repository, place: Place, arguments: list[str], count: int, writer: SnapshotWriter, spread: _Spread
) -> None:
    """Write the newest commits, and count and sample the others."""
    scope = _scope(repository, place)
    with ExitStack() as stack:
        if not os.path.isdir(place.absolute):
            # Only `log` follows renames, so the one command lists and counts.
            running = stack.enter_context(repository.start(*_LOG, "--follow", *arguments, *scope))
            _write(repository, running, writer, count, spread)
        else:
            counting = stack.enter_context(repository.start("rev-list", *arguments, *scope))
            running = stack.enter_context(repository.start(*_LOG, f"--max-count={count}", *arguments, *scope))
            _write(repository, running, writer, count, _Spread(count))
            for name in records(counting.blocks(), b"\n"):
                spread.see(name)
            _check(repository, counting)


def _write(repository: Repository, running: Running, writer: SnapshotWriter, count: int, spread: _Spread) -> None:
    batch: list[tuple[str, ...]] = []
    for commit in _commits(records(running.blocks())):
        spread.see(commit[0].encode())
        if spread.seen <= count:
            batch.append(commit)
        if len(batch) == _BATCH:
            writer.extend(batch)
            batch = []
    writer.extend(batch)
    _check(repository, running)


def _check(repository: Repository, running: Running) -> None:
    ended = running.ended()
    if ended.code != 0:
        raise failure(repository.top, "log", ended.errors)


def _commits(said: Iterator[bytes]) -> Iterator[tuple[str, ...]]:
    for told in said:
        full, short, date, author, subject = told.decode("utf-8", "replace").lstrip("\n").split("\x1f", 4)
        yield full, short, date, author, subject.replace("\n", " ").strip()


def _filters(*, since: str, until: str, author: str, grep: str) -> list[str]:
    for name, value in (("since", since), ("until", until)):
        # Git accepts any text as a date, and reads an invalid one as now.
        if value and not _DATE.fullmatch(value.strip()):
            raise InvalidArgument(f"{name} {value!r} is not a date", hint="write 2026-01-31, or 3 days ago")
    for name, value in (("author", author), ("grep", grep)):
        if "\0" in value or "\n" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise InvalidArgument(f"{name} {value!r} holds a character that cannot be searched for")
    arguments = ["--fixed-strings", "--regexp-ignore-case"]
    given = {"since": _moment(since, "00:00:00"), "until": _moment(until, "23:59:59"), "author": author, "grep": grep}
    return arguments + [f"--{name}={value}" for name, value in given.items() if value]


def _fixed(repository: Repository, date: str, time: str) -> str:
    """A relative date as the moment that git resolves it to now."""
    if not date.strip() or _ABSOLUTE.match(date.strip()):
        return date
    said = repository.output("rev-parse", f"--since={_moment(date, time)}").decode().strip()
    return f"@{said.removeprefix('--max-age=')}"


def _moment(date: str, time: str) -> str:
    """A date as git is asked for it: a day alone gets a time, for git would take the time of day it is now."""
    cleaned = date.strip()
    return f"{cleaned} {time}" if _DAY.fullmatch(cleaned) else cleaned
