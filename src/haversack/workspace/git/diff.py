"""`vcs_diff`: what changed, file by file and hunk by hunk."""

import os
import re
from collections.abc import Iterator
from typing import Any

from haversack.errors import InvalidArgument, NotFound
from haversack.values import record
from haversack.workspace.files.encodings import LINE_CAP, decode_line
from haversack.workspace.files.secret_names import Withheld, WithheldCount, looks_secret
from haversack.workspace.git.command import Repository, require_repository, resolve_commit
from haversack.workspace.programs import records
from haversack.workspace.root import Place, Workspace, locate, locate_readable
from haversack.workspace.snapshots import Snapshot, SnapshotWriter

LONGEST_HUNK = 120
"""Lines of one hunk; a longer one is given as several that follow each other."""
MOST_CONTEXT = 100
NAMED = 50

_CHANGES = {"A": "added", "C": "copied", "D": "deleted", "M": "modified", "R": "renamed", "T": "type changed"}
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)", re.DOTALL)
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')


@record
class FileDiff:
    """A file that changed, how, and by how many lines; `old_path` when it was renamed or copied."""

    path: str
    old_path: str
    change: str
    added: int
    removed: int
    is_binary: bool
    is_conflicted: bool


@record
class Hunk:
    """Lines that changed with lines around them, each with its sign.

    Lines over LINE_CAP characters are cut; `cuts` has their places in `lines` and their full lengths.
    """

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    section: str
    lines: tuple[str, ...]
    cuts: tuple[tuple[int, int], ...]


@record
class DiffPart:
    """One hunk of a file, or the file alone when it has none: binary, renamed as it was, or only counted."""

    file: FileDiff
    hunk: Hunk | None


@record
class VcsDiff:
    """A difference: `between` says what was compared, the figures are of all files, `names` has the first of them."""

    between: str
    path: str
    files: int
    added: int
    removed: int
    names: tuple[str, ...]
    parts: Snapshot[DiffPart]
    withheld: Withheld


def part_from(file: list[Any], hunk: list[Any] | None) -> DiffPart:
    """A part from its record in a snapshot."""
    if hunk is None:
        return DiffPart(FileDiff(*file), None)
    old_start, old_lines, new_start, new_lines, section, lines, cuts = hunk
    kept = tuple((at, length) for at, length in cuts)
    return DiffPart(FileDiff(*file), Hunk(old_start, old_lines, new_start, new_lines, section, tuple(lines), kept))


def vcs_diff(
    workspace: Workspace,
    *,
    path: str = "",
    staged: bool = False,
    commit: str = "",
    context_lines: int = 3,
    stat_only: bool = False,
) -> VcsDiff:
    """What changed at or below `path`: in the work tree since it was staged, or what is staged.

    With a `commit`, the work tree (or what is staged) is compared with it; with `A..B`, two commits are, and with
    `A...B` the second with where they parted. A `path` that names no file but commits is taken for `commit`.
    """
    if not 0 <= context_lines <= MOST_CONTEXT:
        raise InvalidArgument(f"context_lines is {context_lines}", hint=f"use 0 to {MOST_CONTEXT}")
    place = locate_readable(workspace, path, must_exist=False)
    repository = require_repository(workspace, place)
    is_gone = not os.path.lexists(place.absolute)
    if is_gone and not commit and not _is_known(repository, place) and _names_commits(repository, path):
        place, commit, is_gone = locate(workspace, ""), path, False
    arguments, between = _compared(repository, staged, commit)
    output = ["--raw", "--numstat", *([] if stat_only else ["-p", f"--unified={context_lines}"])]
    scope = repository.path_of(place)
    said = repository.blocks(
        "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--find-renames", "--abbrev=40",
        "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=dirty",
        "--inter-hunk-context=0", "--word-diff=none", *output, *arguments, "--", *([] if scope == "." else [scope]),
        unfiltered=True,
    )  # fmt: skip
    reader = _DiffReader(repository)
    reader.read(records(said, b"\n"))
    if is_gone and not reader.files and not _is_known(repository, place):
        raise NotFound(
            f"no file or folder {path!r}, now or in the history",
            hint="project_files lists what is there; a commit or A..B goes into commit",
        )
    return VcsDiff(
        between=between,
        path=place.relative,
        files=reader.files,
        added=reader.added,
        removed=reader.removed,
        names=tuple(reader.names),
        parts=Snapshot(reader.writer.finish(), part_from),
        withheld=reader.withheld.total(),
    )


def _is_known(repository: Repository, place: Place) -> bool:
    """Whether git tracks a path or its history has it."""
    name = repository.path_of(place)
    if repository.output("ls-files", "-z", "--", name):
        return True
    head = resolve_commit(repository, "HEAD")
    return head is not None and bool(repository.output("rev-list", "--max-count=1", head, "--", name))


def _names_commits(repository: Repository, text: str) -> bool:
    try:
        _compared(repository, False, text)
    except (InvalidArgument, NotFound):
        return False
    return True


def _compared(repository: Repository, staged: bool, commit: str) -> tuple[list[str], str]:
    """The arguments that say what is compared, and the same in words."""
    dots = "..." if "..." in commit else ".." if ".." in commit else ""
    if dots and staged:
        raise InvalidArgument(f"{commit!r} compares two commits, and neither is staged", hint="leave staged out")
    if dots:
        first, _, second = commit.partition(dots)
        return [dots.join(_known(repository, each or "HEAD") for each in (first, second))], commit
    # During a merge the work tree is compared with our side, so that a conflict shows as lines like any other.
    arguments = ["--cached"] if staged else [] if commit else ["--ours"]
    words = "staged" if staged else "work tree"
    if commit:
        return [*arguments, _known(repository, commit)], f"{words} against {commit}"
    return arguments, words


def _known(repository: Repository, name: str) -> str:
    if (found := resolve_commit(repository, name)) is None:
        raise NotFound("the repository has no commits yet", hint="leave commit out to see what is staged or changed")
    return found


class _Entry:
    """A file of a diff before its hunks: its header, and its facts."""

    def __init__(self, header: bytes, file: FileDiff | None) -> None:
        self.header = header
        self.file = file
        self.has_parts = False


class _DiffReader:
    """Reads git's raw lines, its counts and its patch, in that order, and writes parts."""

    def __init__(self, repository: Repository) -> None:
        self._name = repository.shown
        self._allow_secrets = repository.workspace.allow_secrets
        self.writer = SnapshotWriter("diff")
        self.withheld = WithheldCount()
        self.files = self.added = self.removed = 0
        self.names: list[str] = []

    def read(self, lines: Iterator[bytes]) -> None:
        raw: list[bytes] = []
        counts: list[bytes] = []
        for line in lines:
            if not line:
                break
            (raw if line.startswith(b":") else counts).append(line)
        entries = list(self._entries(raw, counts))
        at = -1
        hunks = _HunkReader()
        for line in lines:
            if hunks.wants(line):
                if hunk := hunks.take(line):
                    self._write(entries[at], hunk)
                continue
            if hunk := hunks.close():
                self._write(entries[at], hunk)
            if line.startswith(b"diff --git ") and not (at >= 0 and entries[at].header == line):
                following = self._entry_of(entries, at + 1, line)
                self._finish(entries[max(at, 0) : following])
                at = following
            elif line.startswith(b"@@ "):
                hunks.begin(line)
        if hunk := hunks.close():
            self._write(entries[at], hunk)
        self._finish(entries[max(at, 0) :])

    def _entry_of(self, entries: list[_Entry], start: int, header: bytes) -> int:
        for number in range(start, len(entries)):
            if entries[number].header == header:
                return number
        raise InvalidArgument("git's answer could not be read", hint="try stat_only")

    def _finish(self, entries: list[_Entry]) -> None:
        """Files that had no hunks are parts by themselves."""
        for entry in entries:
            if not entry.has_parts:
                self._write(entry, None)

    def _write(self, entry: _Entry, hunk: Hunk | None) -> None:
        entry.has_parts = True
        if entry.file is None:
            return
        record = None
        if hunk:
            record = [
                hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines, hunk.section, hunk.lines, hunk.cuts,
            ]  # fmt: skip
        file = entry.file
        facts = (
            file.path, file.old_path, file.change, file.added, file.removed, file.is_binary, file.is_conflicted,
        )  # fmt: skip
        self.writer.extend([(facts, record)])

    def _entries(self, raw: list[bytes], counts: list[bytes]) -> Iterator[_Entry]:
        unmerged: set[bytes] = set()
        for line, count in zip(raw, counts, strict=True):
            marks, *names = line.split(b"\t")
            mark = marks.rpartition(b" ")[2][:1].decode()
            if mark == "U":
                unmerged.add(names[-1])
                continue
            header = b"diff --git " + _prefixed(b"a/", names[0]) + b" " + _prefixed(b"b/", names[-1])
            yield _Entry(header, self._facts(mark, names, count, names[-1] in unmerged))
            unmerged.discard(names[-1])
        for name in sorted(unmerged):
            yield _Entry(b"", self._facts("M", [name], b"0\t0\t", True))

    def _facts(self, mark: str, names: list[bytes], count: bytes, is_conflicted: bool) -> FileDiff | None:
        path = self._name(_unquoted(names[-1]))
        old_path = self._name(_unquoted(names[0])) if len(names) > 1 else ""
        if path is None:
            return None
        if not self._allow_secrets and (looks_secret(path) or looks_secret(old_path or "")):
            self.withheld.add(path)
            return None
        added, removed, _ = count.split(b"\t", 2)
        is_binary = added == b"-"
        file = FileDiff(
            path=path,
            old_path=old_path or "",
            change=_CHANGES.get(mark, "changed"),
            added=0 if is_binary else int(added),
            removed=0 if is_binary else int(removed),
            is_binary=is_binary,
            is_conflicted=is_conflicted,
        )
        self.files += 1
        self.added += file.added
        self.removed += file.removed
        if len(self.names) < NAMED:
            self.names.append(path)
        return file


def _prefixed(prefix: bytes, name: bytes) -> bytes:
    return b'"' + prefix + name[1:] if name.startswith(b'"') else prefix + name


def _unquoted(name: bytes) -> bytes:
    if not name.startswith(b'"'):
        return name

    def character(found: re.Match[bytes]) -> bytes:
        escape = found[1].decode()
        return bytes([int(escape, 8) if len(escape) == 3 else _ESCAPES[escape]])

    return _ESCAPE.sub(character, name[1:-1])


class _HunkReader:
    """Reads the lines of hunks and counts them against the header, so that no content line is taken for a header."""

    def __init__(self) -> None:
        self._old_left = self._new_left = 0
        self._old = self._new = 0
        self._section = ""
        self._lines: list[str] = []
        self._cuts: list[tuple[int, int]] = []
        self._start = (0, 0)

    def begin(self, header: bytes) -> None:
        found = _HUNK.match(header)
        if not found:
            return
        self._old, self._new = int(found[1]), int(found[3])
        self._old_left = int(found[2]) if found[2] else 1
        self._new_left = int(found[4]) if found[4] else 1
        self._section = decode_line(found[5]).strip()
        self._start = (self._old, self._new)

    def wants(self, line: bytes) -> bool:
        """Whether a line belongs to the hunk under way; a note on a missing line end belongs to the line before it."""
        return self._old_left > 0 or self._new_left > 0 or (bool(self._lines) and line.startswith(b"\\"))

    def take(self, line: bytes) -> Hunk | None:
        """Add a line; returns the finished hunk when the line begins another."""
        full = len(self._lines) >= LONGEST_HUNK and not line.startswith(b"\\")
        finished = self._finished() if full else None
        text = decode_line(line)
        if len(text) > LINE_CAP:
            self._cuts.append((len(self._lines), len(text)))
        self._lines.append(text[:LINE_CAP])
        if line[:1] in (b" ", b"-", b""):
            self._old, self._old_left = self._old + 1, self._old_left - 1
        if line[:1] in (b" ", b"+", b""):
            self._new, self._new_left = self._new + 1, self._new_left - 1
        return finished

    def close(self) -> Hunk | None:
        """The hunk under way, if there is one."""
        return self._finished() if self._lines else None

    def _finished(self) -> Hunk:
        old_start, new_start = self._start
        hunk = Hunk(
            old_start, self._old - old_start, new_start, self._new - new_start, self._section,
            tuple(self._lines), tuple(self._cuts),
        )  # fmt: skip
        self._start = (self._old, self._new)
        self._lines, self._cuts = [], []
        return hunk
