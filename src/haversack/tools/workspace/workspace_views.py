"""How files, matches, differences and commits are shown."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from haversack.text.amounts import counted
from haversack.tools.road.outcomes import Block, Facts
from haversack.tools.road.quoting import excerpt
from haversack.values import asdict
from haversack.workspace.files.encodings import Line
from haversack.workspace.files.file_info import FileInfo
from haversack.workspace.files.listing import ProjectFile
from haversack.workspace.git.blame import BlameRun
from haversack.workspace.git.diff import DiffPart, FileDiff
from haversack.workspace.git.log import Commit
from haversack.workspace.git.status import StatusEntry
from haversack.workspace.search.matches import Match


def day(seconds: int) -> str:
    """A file's time as `2026-02-10`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def size(number: int) -> str:
    """Bytes as people say them: `412.9 KB`."""
    if number < 1_024:
        return f"{number} B"
    scaled = float(number)
    for unit in ("KB", "MB"):
        scaled /= 1_024
        if scaled < 1_000:
            return f"{scaled:,.1f} {unit}"
    return f"{scaled / 1_024:,.1f} GB"


def file_block(file: ProjectFile) -> Block:
    """A file of a listing."""
    if file.is_gone:
        return _block(file.path, f"{file.path} (no longer a file)", {"path": file.path, "gone": True})
    link = " (link)" if file.is_link else ""
    text = f"{file.path} {size(file.size)} {day(file.modified)}{link}"
    return _block(file.path, text, {"path": file.path, "size": file.size, "modified": day(file.modified)})


def match_block(match: Match) -> Block:
    """A match with the lines around it, under the file it is in; `:` marks the line that matches."""
    rows = [f"{each.number}{':' if each.number == match.number else '-'} {line_text(each)}" for each in match.lines]
    facts = {
        "path": match.path,
        "line": match.number,
        "lines": [{"line": each.number, "text": line_text(each)} for each in match.lines],
    }
    return _block(f"{match.path}:{match.number}", "\n".join(rows), facts, section=match.path)


def line_text(line: Line) -> str:
    """A line, with its full length when it was cut."""
    if not line.is_cut:
        return line.text
    return f"{'…' if line.start else ''}{line.text}… [{line.length:,} characters in all]"


def info_block(info: FileInfo) -> Block:
    """The facts of one path."""
    parts = [info.path, info.kind]
    if info.kind in ("text", "binary"):
        parts += [size(info.size), day(info.modified)]
    if info.kind == "text":
        parts.append(f"{counted(info.lines, 'line')}, {info.encoding}")
    if info.kind == "folder":
        parts.append(counted(info.entries, "entry", "entries"))
    if info.target:
        parts.append(f"-> {info.target}")
    if info.detail:
        parts.append(info.detail)
    text = " | ".join(parts)
    if info.first_line is not None and info.first_line.text.strip():
        text += f"\n  {excerpt(line_text(info.first_line))}"
    facts = {name: held for name, held in asdict(info).items() if held and name != "first_line"}
    if info.first_line is not None:
        facts["first_line"] = line_text(info.first_line)
    if "modified" in facts:
        facts["modified"] = day(info.modified)
    return _block(info.path, text, facts)


def status_block(entry: StatusEntry) -> Block:
    """A changed path."""
    old = f" (was {entry.old_path})" if entry.old_path else ""
    text = f"{entry.path} {entry.change}{old}"
    facts = {name: held for name, held in asdict(entry).items() if held}
    return _block(f"{entry.group} {entry.path}", text, facts, section=f"{entry.group}:")


def diff_block(part: DiffPart) -> Block:
    """A hunk under the file it changes, or the file alone."""
    file = part.file
    facts: dict[str, object] = {name: held for name, held in asdict(file).items() if held}
    if part.hunk is None:
        return _block(file.path, _file_line(file), facts)
    hunk = part.hunk
    cuts = dict(hunk.cuts)
    head = f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@ {hunk.section}".rstrip()
    lines = [f"{text}… [{cuts[at]:,} characters in all]" if at in cuts else text for at, text in enumerate(hunk.lines)]
    facts |= {"hunk": head, "lines": lines}
    return _block(f"{file.path} {head}", "\n".join([head, *lines]), facts, section=_file_line(file))


def _file_line(file: FileDiff) -> str:
    old = f" (was {file.old_path})" if file.old_path else ""
    counts = "binary" if file.is_binary else f"+{file.added} -{file.removed}"
    conflict = ", in conflict" if file.is_conflicted else ""
    return f"{file.path}{old} {file.change}, {counts}{conflict}"


def commit_block(commit: Commit) -> Block:
    """A commit on one line."""
    text = f"{commit.short} {commit.date[:10]} {commit.author}: {commit.subject}"
    facts = {"commit": commit.hash, "date": commit.date, "author": commit.author, "subject": commit.subject}
    return _block(commit.short, text, facts)


def blame_block(run: BlameRun) -> Block:
    """Lines one commit last changed, with who and when."""
    who = f"{run.commit[:8]} {run.author}, {run.date[:10]}: {run.subject}" if run.commit else "not committed yet"
    rows = [f"{each.number}: {line_text(each)}" for each in run.lines]
    facts = {
        "lines": [run.first_line, run.last_line],
        "commit": run.commit,
        "author": run.author,
        "date": run.date,
        "subject": run.subject,
        "text": [line_text(each) for each in run.lines],
    }
    return _block(f"lines {run.first_line}-{run.last_line}", "\n".join([who, *rows]), facts)


def _block(name: str, text: str, facts: Facts, section: str = "") -> Block:
    return Block(name, lambda _: text, lambda _: facts, section=section)


VIEWS: dict[str, Callable[[Any], Block]] = {
    "files": file_block,
    "matches": match_block,
    "status": status_block,
    "diff": diff_block,
    "commits": commit_block,
    "blame": blame_block,
}
"""The view of each kind of snapshot."""


def blocks(kind: str, items: Sequence[Any]) -> list[Block]:
    """Items of a snapshot as blocks."""
    return [VIEWS[kind](item) for item in items]
