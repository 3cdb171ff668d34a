"""`haversack backfill`: the sessions that hosts have kept become prompts, learnings and digests, without a model."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from haversack import terminal
from haversack.app import App, Caller
from haversack.argument_parser import plain_parser
from haversack.config import load
from haversack.errors import HaversackError, InvalidArgument, NotFound
from haversack.hosts.host import Host, expanded, host_named, known_hosts
from haversack.hosts.sessions.kept_sessions import KeptSession, kept_sessions, records_of
from haversack.memory.transfer.json_lines import import_foreign
from haversack.values import record

_NOUN = "sessions"


@record
class Found:
    """The transcripts of one host on this machine."""

    host: Host
    files: tuple[str, ...]


def run(typed: list[str]) -> int:
    """Read transcripts and return the exit code."""
    parser = plain_parser(
        "backfill",
        "Remember the sessions that hosts have kept: their prompts, what they learned, and a digest of each.",
        "haversack backfill --dry-run",
        "haversack backfill claude-code codex",
    )
    with_transcripts = [host.name for host in known_hosts().values() if host.transcripts]
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"of {', '.join(with_transcripts)}; all when omitted")
    parser.add_argument("--dry-run", action="store_true", help="say what would be remembered and change nothing")
    parsed = parser.parse_args(typed)
    chosen = [_with_transcripts(name) for name in parsed.hosts] or [host_named(name) for name in with_transcripts]
    found = [each for each in map(found_transcripts, chosen) if each.files]
    if not found:
        looked = ", ".join(_folder(host) for host in chosen)
        raise NotFound("no transcript was found", hint=f"looked in {looked}")
    app = App(load())
    try:
        for each in found:
            if parsed.dry_run:
                _foretell(app, each)
            else:
                _backfill(app, each)
    finally:
        app.close()
    return 0


def found_transcripts(host: Host) -> Found:
    """The transcripts of a host, the oldest first."""
    assert host.transcripts is not None
    from fnmatch import fnmatch

    folder, pattern = _folder(host), host.transcripts.pattern
    files = [
        os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if fnmatch(name, pattern)
    ]  # fmt: skip
    return Found(host, tuple(sorted(files, key=lambda file: (_changed_at(file), file))))


def _with_transcripts(name: str) -> Host:
    host = host_named(name)
    if host.transcripts is None:
        raise InvalidArgument(f"{host.title} keeps no transcripts that can be read")
    return host


def _folder(host: Host) -> str:
    assert host.transcripts is not None
    return expanded(host, host.transcripts.folder, os.environ)


def _changed_at(file: str) -> float:
    try:
        return os.path.getmtime(file)
    except OSError:
        return 0.0


class _Directories:
    """Callers for the folders sessions ran in: a folder says which project it belongs to."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._callers: dict[str, Caller] = {}

    def __call__(self, directory: str) -> Caller:
        if directory not in self._callers:
            self._callers[directory] = self._app.caller(directory=directory or os.path.expanduser("~"))
        return self._callers[directory]


def _sessions(found: Found, left: Counter[str]) -> Iterator[KeptSession]:
    assert found.host.transcripts is not None
    for number, file in enumerate(found.files, 1):
        _progress(f"{found.host.title}: {number:,} of {len(found.files):,} transcripts")
        try:
            yield from kept_sessions(found.host, found.host.transcripts.reader, file)
        except HaversackError:
            left["transcripts that cannot be read"] += 1
    _progress("")


def _progress(text: str) -> None:
    """Show progress on one line that is rewritten; only on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def _backfill(app: App, found: Found) -> None:
    left: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    callers = _Directories(app)

    def records() -> Iterator[dict[str, Any]]:
        for session in _sessions(found, left):
            seen[_NOUN] += 1
            yield from records_of(session, callers(session.directory))

    done = import_foreign(app.caller().memory, records(), left)
    terminal.show(
        f"{found.host.title}: {seen[_NOUN]:,} sessions read; added {done.added:,}, updated {done.updated:,}, "
        f"already there {done.known:,}{_not_carried(left)}"
    )


def _foretell(app: App, found: Found) -> None:
    left: Counter[str] = Counter()
    callers = _Directories(app)
    kinds: Counter[str] = Counter()
    for session in _sessions(found, left):
        kinds.update(_kind(each) for each in records_of(session, callers(session.directory)))
    told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()) or "nothing new"
    terminal.show(f"{found.host.title}: {len(found.files):,} transcripts hold {told}{_not_carried(left)}")


def _kind(record: Mapping[str, Any]) -> str:
    if record.get("type") in ("session", "prompt"):
        return f"{record['type']}s"
    return "digests and summaries" if record["kind"] == "session_summary" else "learnings"


def _not_carried(left: Mapping[str, int]) -> str:
    told: Iterable[str] = (f"{count:,} ({reason})" for reason, count in left.items() if count)
    listed = ", ".join(told)
    return f"; not carried: {listed}" if listed else ""
