"""The tools that look around: files, text search and git, under the same contract as everything else."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Literal

from haversack.app import Caller
from haversack.tools.declaration import Command, Range, resumes, tool
from haversack.tools.road.outcomes import Block, Document, Outcome, Rest, Result
from haversack.tools.workspace.workspace_views import blocks, info_block, line_text, size
from haversack.values import replace
from haversack.workspace import log_lines
from haversack.workspace.files.file_info import file_info as describe
from haversack.workspace.files.listing import project_files as list_files
from haversack.workspace.files.reader import FileText
from haversack.workspace.files.reader import read_file as read
from haversack.workspace.files.secret_names import Withheld
from haversack.workspace.git.blame import vcs_blame as blame
from haversack.workspace.git.diff import vcs_diff as diff
from haversack.workspace.git.log import earlier_commits
from haversack.workspace.git.log import vcs_log as log
from haversack.workspace.git.status import vcs_status as status
from haversack.workspace.resuming import resume
from haversack.workspace.search.content_search import search_content as search
from haversack.workspace.snapshots import Snapshot

PAGE = 100
SAMPLED = 64
ADVICE = "Increase max_tokens for more."
Path = Annotated[str, "File or folder, from the root"]
Line = Annotated[int | None, Range(1, 10**9)]


def _result(caller: Caller, snapshot: Snapshot[Any], noun: str, brief: str, **more: Any) -> Result:
    """The first items of a snapshot as blocks, with the others behind it."""
    shown = blocks(snapshot.kind, snapshot.first(PAGE))
    return Result(
        blocks=shown,
        noun=noun,
        total=more.pop("total", snapshot.total),
        advice=ADVICE,
        rest=_rest(caller, snapshot, shown),
        extend=lambda rest: _resumed(caller, rest) if rest.resume == "workspace" else ([], rest),
        brief=brief,
        **more,
    )


def _rest(caller: Caller, snapshot: Snapshot[Any], shown: list[Block]) -> Rest | None:
    left = snapshot.total - len(shown)
    if left <= 0:
        return None
    key = caller.stash.keep_bytes(snapshot.data, snapshot.kind, snapshot.identity)
    return _behind(snapshot, left, "workspace", {"snapshot": key, "start": len(shown)})


def _behind(snapshot: Snapshot[Any], left: int, resume: str, state: Mapping[str, Any]) -> Rest:
    """The items of a snapshot from its place in the state on; matches are stored in a part for each file."""
    start: int = state["start"]
    sections = snapshot.parts_from(start) if snapshot.kind == "matches" else None
    return Rest(left, snapshot.weight_from(start), resume, state, _sample(snapshot, start), sections)


@resumes("workspace")
def _resumed(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    snapshot = resume(caller.stash.fetch_bytes(rest.state["snapshot"]), caller.workspace)
    start = rest.state["start"]
    found = blocks(snapshot.kind, list(islice(snapshot.items(start), PAGE)))
    left = rest.items - len(found)
    if left <= 0:
        return found, None
    if start + len(found) >= snapshot.total:
        return found, Rest(left, 0, *rest.state["then"])
    start += len(found)
    return found, _behind(snapshot, left, rest.resume, {**rest.state, "start": start})


def _sample(snapshot: Snapshot[Any], start: int) -> Callable[[], Sequence[Block]]:
    """Some items of a snapshot from a place on, spread evenly."""

    def sample() -> list[Block]:
        if snapshot.total - start <= SAMPLED:
            return blocks(snapshot.kind, list(snapshot.items(start)))
        step = (snapshot.total - start) // SAMPLED
        places = range(start, snapshot.total, step)
        found = blocks(snapshot.kind, [each for at in places for each in islice(snapshot.items(at), 1)])
        return [_weighing(block, snapshot.weight_at(at)) for block, at in zip(found, places, strict=True)]

    return sample


def _weighing(block: Block, weight: float) -> Block:
    return replace(block, weight=lambda _: round(weight))


def counted(count: int, noun: str, several: str = "") -> str:
    """A number with its noun: `1 file`, `1,200 files`."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def _notes(withheld: Withheld, *others: str) -> str:
    """What a reader should know of what is not in the result, on one line."""
    said = [each for each in others if each]
    if withheld.count:
        names = ", ".join(withheld.names[:3]) + (", ..." if withheld.count > 3 else "")
        said.append(f"{withheld.count} withheld as likely secrets ({names})")
    return f"({'; '.join(said)})" if said else ""


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
    notes = _notes(
        found.withheld,
        f"{found.hidden} hidden" if found.hidden else "",
        f"{found.deeper} more if the pattern crossed folders with **" if found.deeper else "",
        *found.notes,
    )
    in_all = f", {size(found.total_size)}" if found.total_size is not None else ""
    heading = f"{counted(found.files.total, 'file')}{in_all}. Types: {types}" if found.files.total else ""
    return _result(
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
    notes = _notes(found.withheld, *found.notes)
    return _result(
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
    """What stands above a file's lines, and the lines with their numbers."""
    head = f"{found.path} ({found.total_lines:,} lines, {size(found.size)}, {found.encoding or found.kind})"
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


@tool(Command("ws status", examples=("haversack ws status",)), group="workspace", title="Git status")
def vcs_status(caller: Caller) -> Outcome:
    """Branch, upstream, what is staged, modified, untracked or in conflict, and any merge or rebase under way."""
    found = status(caller.workspace)
    line = log_lines.brief_status(found)
    upstream = f"\nupstream {found.upstream}" if found.upstream else ""
    counts = found.counts
    return _result(
        caller,
        found.entries,
        "paths",
        line,
        heading=line + upstream,
        facts={
            "branch": found.branch,
            "commit": found.commit,
            "upstream": found.upstream,
            "ahead": found.ahead,
            "behind": found.behind,
            "clean": counts.is_clean,
            "under_way": list(found.under_way),
        },
    )


@tool(
    Command("ws diff", ("path",), examples=("haversack ws diff --commit main..HEAD",)),
    group="workspace",
    title="Git diff",
)
def vcs_diff(
    caller: Caller,
    *,
    path: Path = "",
    staged: bool = False,
    commit: Annotated[str, "A ref, or A..B"] = "",
    context_lines: Annotated[int, Range(0, 100)] = 3,
    stat_only: bool = False,
) -> Outcome:
    """What changed, file by file, in whole hunks."""
    found = diff(
        caller.workspace, path=path, staged=staged, commit=commit, context_lines=context_lines, stat_only=stat_only
    )
    heading = (
        f"{counted(found.files, 'file')}, +{found.added}/-{found.removed} lines ({found.between})"
        if found.files
        else ""
    )
    return _result(
        caller,
        found.parts,
        "hunks",
        log_lines.brief_diff(found),
        sequence=True,
        heading="\n".join(part for part in (heading, _notes(found.withheld)) if part),
        empty=f"Nothing differs ({found.between}).",
        facts={"files": found.files, "added": found.added, "removed": found.removed, "between": found.between},
    )


@tool(Command("ws log", ("path",), examples=("haversack ws log src --count 20",)), group="workspace", title="Git log")
def vcs_log(
    caller: Caller,
    *,
    path: Path = "",
    count: Annotated[int, Range(1, 10_000)] = 10,
    since: str = "",
    until: str = "",
    author: str = "",
    grep: Annotated[str, "Text in the message"] = "",
) -> Outcome:
    """The newest commits, with how many there are in all."""
    asked = {"path": path, "since": since, "until": until, "author": author, "grep": grep}
    found = log(caller.workspace, count=count, **asked)
    result = _result(
        caller,
        found.commits,
        "commits",
        log_lines.brief_log(found),
        sequence=True,
        total=found.total,
        empty="No commit passes the filters." if found.has_commits else "There are no commits yet.",
        limit_hint="Increase count for more.",
    )
    beyond = found.total - found.commits.total
    if beyond <= 0:
        return result
    then: tuple[str, dict[str, Any]] = ("commits", {"head": found.head, "skip": found.commits.total, "asked": asked})
    if result.rest is None:
        return replace(result, rest=Rest(beyond, 0, *then, lambda: _sampled_commits(caller, then[1])))
    held = result.rest
    return replace(result, rest=replace(held, items=held.items + beyond, price=0, state={**held.state, "then": then}))


def _sampled_commits(caller: Caller, state: dict[str, Any]) -> list[Block]:
    """The next commits, to learn from what a line costs."""
    return blocks("commits", earlier_commits(caller.workspace, state["head"], state["skip"], SAMPLED, **state["asked"]))


@resumes("commits")
def _earlier(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    head, skip, asked = rest.state["head"], rest.state["skip"], rest.state["asked"]
    found = earlier_commits(caller.workspace, head, skip, PAGE, **asked)
    left = rest.items - len(found)
    shown = blocks("commits", found)
    if left <= 0 or not found:
        return shown, None
    state = {**rest.state, "skip": skip + len(found)}
    return shown, Rest(left, 0, rest.resume, state)


@tool(
    Command("ws blame", ("path",), examples=("haversack ws blame README.md --end-line 20",)),
    group="workspace",
    title="Git blame",
)
def vcs_blame(caller: Caller, *, path: Path, start_line: Line = None, end_line: Line = None) -> Outcome:
    """Who last changed each line, in runs of one commit."""
    found = blame(caller.workspace, path, start_line=start_line, end_line=end_line)
    return _result(
        caller,
        found.runs,
        "runs",
        log_lines.brief_blame(found),
        sequence=True,
        heading=log_lines.brief_blame(found),
        facts={"path": found.path, "commits": found.commits},
    )
