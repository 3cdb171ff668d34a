"""`vcs_blame`: who last changed which lines, as runs of lines of one commit."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from haversack.errors import InvalidArgument, NotFound, ToolFailed
from haversack.values import record
from haversack.workspace.files.encodings import LINE_CAP, Line, blocks_of, cut_line, decode_line
from haversack.workspace.git.command import Repository, require_repository, resolve_commit
from haversack.workspace.programs import records
from haversack.workspace.root import Place, Workspace, locate_readable, opened
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

LONGEST_RUN = 200
"""Lines of one run; a longer stretch of one commit is several runs, each with its author and date."""


@record
class BlameRun:
    """Lines that one commit last changed; `commit` is empty for changes not yet committed."""

    first_line: int
    last_line: int
    commit: str
    author: str
    date: str
    subject: str
    lines: tuple[Line, ...]


@record
class VcsBlame:
    """The lines of a file by the commits that last changed them; `authors` counts lines, most first, ties by name."""

    path: str
    first_line: int
    last_line: int
    runs: Snapshot[BlameRun]
    authors: tuple[tuple[str, int], ...]
    commits: int


def run_from(
    first: int, commit: str, author: str, date: str, subject: str, texts: list[str], cuts: list[tuple[int, int]]
) -> BlameRun:
    """A run from its record in a snapshot."""
    lines = [Line(number, text, len(text)) for number, text in enumerate(texts, first)]
    for at, length in cuts:
        lines[at] = Line(first + at, texts[at], length)
    return BlameRun(first, first + len(texts) - 1, commit, author, date, subject, tuple(lines))


def vcs_blame(
    workspace: Workspace, path: str, *, start_line: int | None = None, end_line: int | None = None
) -> VcsBlame:
    """Who last changed lines `start_line` to `end_line` of a file, counted from 1; either end may be left out."""
    for name, value in (("start_line", start_line), ("end_line", end_line)):
        if value is not None and value < 1:
            raise InvalidArgument(f"{name} is {value}", hint="lines are counted from 1")
    if start_line and end_line and start_line > end_line:
        raise InvalidArgument(f"start_line {start_line} comes after end_line {end_line}")
    place = locate_readable(workspace, path)
    lines = _line_count(workspace, place, path)
    if start_line and start_line > lines:
        raise InvalidArgument(f"start_line is {start_line:,}, but {place.relative} has {lines:,} lines")
    repository = require_repository(workspace, place)
    last = min(end_line or lines, lines)
    writer = SnapshotWriter("blame")
    authors: dict[str, int] = {}
    commits: set[str] = set()
    if lines:
        for first, texts, cuts, about in _runs(repository, repository.path_of(place), start_line or 1, last):
            writer.extend([(first, about.commit, about.author, about.date, about.subject, texts, cuts)])
            authors[about.author] = authors.get(about.author, 0) + len(texts)
            commits.add(about.commit)
    return VcsBlame(
        path=place.relative,
        first_line=(start_line or 1) if lines else 0,
        last_line=last,
        runs=Snapshot(writer.finish(), run_from),
        authors=tuple(sorted(authors.items(), key=lambda each: (-each[1], each[0]))),
        commits=len(commits),
    )


def _line_count(workspace: Workspace, place: Place, name: str) -> int:
    total, last = 0, b"\n"
    with opened(workspace, place, name) as descriptor:
        for block in blocks_of(descriptor, workspace.limits.seconds):
            total += block.count(b"\n")
            last = block[-1:]
    return total + (last != b"\n")


class _About:
    """The facts of a commit, from the lines of `git blame`."""

    def __init__(self, commit: str) -> None:
        self.commit = commit
        self.author = self.date = self.subject = ""
        self.seconds = 0


Stretch = tuple[int, list[str], list[tuple[int, int]], _About]


def _runs(repository: Repository, path: str, first: int, last: int) -> Iterator[Stretch]:
    """Stretches of lines of one commit, as `git blame` gives them line by line."""
    texts: list[str] = []
    cuts: list[tuple[int, int]] = []
    current: _About | None = None
    for number, about, text in _lines(repository, path, first, last):
        if current is not about or len(texts) == LONGEST_RUN:
            if current:
                yield number - len(texts), texts, cuts, current
            current, texts, cuts = about, [], []
        line = cut_line(number, text)
        if line.length > LINE_CAP:
            cuts.append((len(texts), line.length))
        texts.append(line.text)
        end = number
    if current:
        yield end - len(texts) + 1, texts, cuts, current


def _lines(repository: Repository, path: str, first: int, last: int) -> Iterator[tuple[int, _About, str]]:
    # The full facts of a commit come with its first line only, so they are kept for its later ones.
    known: dict[str, _About] = {}
    about = _About("")
    number = 0
    try:
        blocks = repository.blocks(
            "blame", "--porcelain", "--no-textconv", "-L", f"{first},{last}", "--", path, unfiltered=True
        )
        for line in records(blocks, b"\n"):
            if line.startswith(b"\t"):
                yield number, about, decode_line(line[1:].removesuffix(b"\r"))
                continue
            key, _, value = line.partition(b" ")
            if len(key) in (40, 64) and not key.strip(b"0123456789abcdef"):
                name = key.decode("ascii")
                about = known.setdefault(name, _About("" if not name.strip("0") else name))
                number = int(value.split(b" ")[1])
            else:
                _tell(about, key, decode_line(value))
    except ToolFailed as error:
        if "no such path" in error.message:
            raise NotFound(f"{path!r} is not tracked by git", hint="vcs_blame works on committed files") from None
        if resolve_commit(repository, "HEAD") is None:
            raise NotFound("the repository has no commits yet", hint="vcs_status shows what is there") from None
        raise


def _tell(about: _About, key: bytes, value: str) -> None:
    if key == b"author":
        about.author = value if about.commit else "not committed yet"
    elif key == b"author-time":
        about.seconds = int(value)
    elif key == b"author-tz":
        about.date = _date(about.seconds, value) if about.commit else ""
    elif key == b"summary":
        about.subject = value if about.commit else ""


def _date(seconds: int, zone: str) -> str:
    try:
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5]))
        return datetime.fromtimestamp(seconds, timezone(-offset if zone[0] == "-" else offset)).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""  # a forged commit can claim any time
