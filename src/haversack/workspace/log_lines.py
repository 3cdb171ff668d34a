"""One work log line for each tool's result: at most LONGEST characters, with figures of the full result."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from haversack.text.clipping import one_line

if TYPE_CHECKING:
    from haversack.workspace.files.file_info import FileInfo
    from haversack.workspace.files.listing import FileListing
    from haversack.workspace.files.reader import FileText
    from haversack.workspace.git.blame import VcsBlame
    from haversack.workspace.git.diff import VcsDiff
    from haversack.workspace.git.log import VcsLog
    from haversack.workspace.git.status import VcsStatus
    from haversack.workspace.search.content_search import ContentMatches

LONGEST = 500
_NAME = 80
_SUBJECT = 60


def brief_files(listing: "FileListing") -> str:
    """How many files, of which types, in which folders."""
    total = listing.files.total
    head = f"{_count(total, 'file')}."
    if listing.path or listing.pattern:
        asked = " ".join(part for part in (f"in {listing.path}" if listing.path else "", listing.pattern) if part)
        head = f"{_count(total, 'file')} ({_cut(asked, _NAME)})."
    if not total:
        return head
    types = _joined((f"{name or 'no type'} ({number:,})" for name, number in listing.types), 200)
    folders = _joined((_cut(name, _NAME) for name, _ in listing.folders), LONGEST - len(head) - len(types) - 20)
    return _cut(head + f" Types: {types}." + (f" Key: {folders}" if folders else ""), LONGEST)


def brief_matches(found: "ContentMatches") -> str:
    """How many matches of what, in how many files, and the files with most."""
    head = f"{_count(found.matches.total, 'match', 'matches')} for '{_cut(found.pattern, _NAME)}'"
    if found.path:
        head += f" under {_cut(found.path, _NAME)}"
    if not found.files:
        return head
    head += f" in {_count(found.files, 'file')}: "
    names = (f"{_cut(path, _NAME)} ({number:,})" for path, number in found.top)
    return head + _listed(names, found.files, LONGEST - len(head))


def brief_text(read: "FileText") -> str:
    """Which lines of which file, and its headings or definitions while they fit."""
    name = _cut(read.path, 200)
    if read.kind == "binary":
        return f"Read {name} (binary, {_size(read.size)}), no content"
    head = f"Read {name} ({_count(read.total_lines, 'line')}, {_size(read.size)})"
    if read.first_line:
        head += f", lines {read.first_line}-{read.last_line}"
    outline = _joined((_cut(entry, _NAME) for entry in read.outline), LONGEST - len(head) - 2)
    return f"{head}: {outline}" if outline else head


def brief_info(infos: "Sequence[FileInfo]") -> str:
    """How many paths, and what the first are."""
    head = f"{_count(len(infos), 'path')}: "
    words = (f"{_cut(info.path, _NAME)} ({_fact(info)})" for info in infos)
    return head + _listed(words, len(infos), LONGEST - len(head))


def brief_status(status: "VcsStatus") -> str:
    """The branch, what differs, and what is under way."""
    counts = status.counts
    groups = (
        (counts.staged, "staged"), (counts.modified, "modified"), (counts.untracked, "untracked"),
        (counts.conflicted, "conflicted"),
    )  # fmt: skip
    words = ", ".join(f"{number:,} {name}" for number, name in groups if number) or "clean"
    branch = _cut(status.branch, 200) or f"detached at {status.commit[:7]}"
    apart = ", ".join(
        f"{name} {number:,}" for name, number in (("ahead", status.ahead), ("behind", status.behind)) if number
    )
    line = f"{branch}: {words}" + (f" [{apart}]" if apart else "")
    if status.under_way:
        line += f" ({', '.join(status.under_way)} under way)"
    return _cut(line if status.commit else f"{line} (no commits yet)", LONGEST)


def brief_diff(diff: "VcsDiff") -> str:
    """How many files and lines, between what, and which files."""
    head = f"{_count(diff.files, 'file')}, +{diff.added:,}/-{diff.removed:,} lines ({_cut(diff.between, 120)})"
    if diff.path:
        head += f" in {_cut(diff.path, _NAME)}"
    if not diff.files:
        return head
    head += ". "
    names = (_cut(name, _NAME) for name in diff.names)
    return head + _listed(names, diff.files, LONGEST - len(head), say_rest=False)


def brief_log(log: "VcsLog") -> str:
    """How many commits there are, and the newest."""
    head = f"{_count(log.total, 'commit')}" + (f" of {_cut(log.path, _NAME)}" if log.path else "") + "."
    if not log.total:
        return head
    recent = (f"{commit.short} {_cut(commit.subject, _SUBJECT)}" for commit in log.commits.first(20))
    return f"{head} Recent: " + _listed(recent, log.total, LONGEST - len(head) - 9, say_rest=False)


def brief_blame(blame: "VcsBlame") -> str:
    """Which lines of which file, by how many commits, and whose."""
    head = f"Blame of {_cut(blame.path, 200)}"
    if not blame.first_line:
        return f"{head} (empty)"
    head += f" lines {blame.first_line}-{blame.last_line}: {_count(blame.commits, 'commit')}. Lines by: "
    names = (f"{_cut(name, _NAME)} ({number:,})" for name, number in blame.authors)
    return head + _listed(names, len(blame.authors), LONGEST - len(head))


def _fact(info: "FileInfo") -> str:
    if info.kind == "text":
        return f"{_count(info.lines, 'line')}, {_size(info.size)}"
    if info.kind == "folder":
        return f"folder, {info.entries:,} entries"
    if info.kind == "binary":
        return f"binary, {_size(info.size)}"
    return info.detail if info.kind == "special" else info.kind


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _size(number: int) -> str:
    if number < 1_024:
        return _count(number, "byte")
    scaled = float(number)
    for unit in ("KB", "MB", "GB"):
        scaled /= 1_024
        if scaled < 1_000 or unit == "GB":
            return f"{scaled:,.1f} {unit}"
    raise AssertionError


def _cut(text: str, room: int) -> str:
    # Names and subjects are short already: half a word of one says more than none of it.
    return one_line(text, room, at_word=False)


def _joined(words: Iterable[str], room: int) -> str:
    """As many words as fit, with commas; the rest is not mentioned."""
    return ", ".join(_fitting(words, room))


def _fitting(words: Iterable[str], room: int) -> list[str]:
    taken: list[str] = []
    for word in words:
        room -= len(word) + (2 if taken else 0)
        if room < 0:
            break
        taken.append(word)
    return taken


def _listed(words: Iterable[str], total: int, room: int, *, say_rest: bool = True) -> str:
    """As many words as fit, and how many more there are."""
    given = list(words)
    whole = ", ".join(given)
    if len(given) == total and len(whole) <= room:
        return whole
    taken = _fitting(given, room - len(f", ... (+{total:,} more)"))
    return ", ".join(taken) + (f", ... (+{total - len(taken):,} more)" if say_rest else ", ...")
