"""The tools that list, search and read files."""

from typing import Annotated, Literal

from haversack.app import Caller
from haversack.text.amounts import counted
from haversack.tools.declaration import Command, Range, tool
from haversack.tools.road.outcomes import Document, Outcome, Result
from haversack.tools.workspace.snapshot_results import (
    ADVICE,
    Line,
    Path,
    reading_notes,
    snapshot_result,
)
from haversack.tools.workspace.workspace_views import info_block, line_text, size
from haversack.workspace import log_lines
from haversack.workspace.files.file_info import file_info as describe
from haversack.workspace.files.listing import project_files as list_files
from haversack.workspace.files.reader import FileText
from haversack.workspace.files.reader import read_file as read
from haversack.workspace.search.content_search import search_content as search


@tool(
    Command("ws files", ("path",), examples=("haversack ws files src --pattern '**/*.py'",)),
    group="workspace",
    title="Project files",
)
def project_files(
    caller: Caller,
    *,
    path: Path = "",
    pattern: Annotated[str, "Glob; * stays in a folder, ** crosses"] = "",
    max_depth: Annotated[int | None, Range(1, 100)] = None,
    include_hidden: bool = False,
    sort: Literal["path", "size", "mtime"] = "path",
) -> Outcome:
    """List files with size and date; ignored ones are left out."""
    found = list_files(
        caller.workspace, path=path, pattern=pattern, max_depth=max_depth, include_hidden=include_hidden, sort=sort
    )
    types = ", ".join(f"{name or 'no type'} ({count})" for name, count in found.types[:5])
    notes = reading_notes(
        found.withheld,
        f"{found.hidden} hidden" if found.hidden else "",
        f"{found.deeper:,} more if the pattern crossed folders with **" if found.deeper else "",
        *found.notes,
    )
    in_all = f", {size(found.total_size)}" if found.total_size is not None else ""
    heading = f"{counted(found.files.total, 'file')}{in_all}. Types: {types}" if found.files.total else ""
    return snapshot_result(
        caller,
        found.files,
        "files",
        log_lines.brief_files(found),
        heading="\n".join(part for part in (heading, notes) if part),
        empty="No file matches.",
        facts={
            "types": dict(found.types[:10]),
            **({"size": found.total_size} if found.total_size is not None else {}),
            "withheld": found.withheld.count,
        },
    )


@tool(
    Command("ws grep", ("pattern", "path"), examples=("haversack ws grep 'def main' src",)),
    group="workspace",
    title="Search content",
)
def search_content(
    caller: Caller,
    *,
    pattern: Annotated[str, "Text, or a regular expression with is_regex"],
    is_regex: bool = False,
    path: Path = "",
    file_pattern: Annotated[str, "Glob of file names"] = "",
    context_lines: Annotated[int, Range(0, 50)] = 2,
    case_sensitive: bool = False,
) -> Outcome:
    """Find text in files, with lines around each match."""
    found = search(
        caller.workspace,
        pattern,
        is_regex=is_regex,
        path=path,
        file_pattern=file_pattern,
        context_lines=context_lines,
        case_sensitive=case_sensitive,
    )
    total = found.matches.total
    heading = f"{counted(total, 'match', 'matches')} in {counted(found.files, 'file')}" if total else ""
    notes = reading_notes(found.withheld, *found.notes)
    return snapshot_result(
        caller,
        found.matches,
        "matches",
        log_lines.brief_matches(found),
        heading="\n".join(part for part in (heading, notes) if part),
        empty="Nothing matches.",
        facts={"files": found.files, "withheld": found.withheld.count},
    )


@tool(
    Command("ws read", ("path",), examples=("haversack ws read README.md --start-line 10 --end-line 40",)),
    group="workspace",
    title="Read a file",
)
def read_file(
    caller: Caller,
    *,
    path: Path,
    start_line: Line = None,
    end_line: Line = None,
    start_column: Annotated[int, "Where in one long line to begin", Range(1, 10**9)] = 1,
) -> Outcome:
    """Read a file or a range of its lines, numbered."""
    found = read(caller.workspace, path, start_line=start_line, end_line=end_line, start_column=start_column)
    head, text = _numbered(found)
    return Document(
        text,
        name=found.path,
        head=head,
        facts={
            "path": found.path,
            "kind": found.kind,
            "size": found.size,
            "lines": found.total_lines,
            "encoding": found.encoding,
            "first_line": found.first_line,
            "last_line": found.last_line,
            "text": found.text,
        },
        brief=log_lines.brief_text(found),
    )


def _numbered(found: FileText) -> tuple[str, str]:
    """The line above a file's text, and its lines with their numbers."""
    head = f"{found.path} ({counted(found.total_lines, 'line')}, {size(found.size)}, {found.encoding or found.kind})"
    if found.kind == "binary":
        return "", f"{head}: binary, its content is not shown"
    if not found.first_line:
        return "", f"{head}: no lines"
    if not found.is_whole:
        head += f'\n(to line {found.last_line:,}; read_file("{found.path}", start_line={found.last_line + 1}) goes on)'
    return head, "\n".join(f"{line.number}\t{line_text(line)}" for line in found.lines())


@tool(
    Command("ws info", ("paths",), examples=("haversack ws info README.md,pyproject.toml",)),
    group="workspace",
    title="File facts",
)
def file_info(caller: Caller, *, paths: Annotated[list[str], "1 to 100 paths"]) -> Outcome:
    """Size, lines, date, kind and first line of files."""
    found = describe(caller.workspace, paths)
    return Result(
        blocks=[info_block(each) for each in found],
        noun="files",
        total=len(found),
        advice=ADVICE,
        brief=log_lines.brief_info(found),
    )
