"""The tools that read git: status, differences, history and blame."""

from typing import Annotated, Any

from haversack.app import Caller
from haversack.text.amounts import counted
from haversack.tools.declaration import Command, Range, resumes, samples, tool
from haversack.tools.road.outcomes import Block, Outcome, Rest
from haversack.tools.workspace.snapshot_results import (
    PAGE,
    SAMPLED,
    Line,
    Path,
    followed,
    reading_notes,
    snapshot_result,
)
from haversack.tools.workspace.workspace_views import blocks
from haversack.values import replace
from haversack.workspace import log_lines
from haversack.workspace.git.blame import vcs_blame as blame
from haversack.workspace.git.diff import vcs_diff as diff
from haversack.workspace.git.log import commits_named, earlier_commits
from haversack.workspace.git.log import vcs_log as log
from haversack.workspace.git.status import vcs_status as status


@tool(Command("ws status", examples=("haversack ws status",)), group="workspace", title="Git status")
def vcs_status(caller: Caller) -> Outcome:
    """Branch, upstream, what is staged, modified, untracked or in conflict, and any merge or rebase under way."""
    found = status(caller.workspace)
    line = log_lines.brief_status(found)
    upstream = f"\nupstream {found.upstream}" if found.upstream else ""
    counts = found.counts
    return snapshot_result(
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
        f"{counted(found.files, 'file')}, +{found.added:,}/-{found.removed:,} lines ({found.between})"
        if found.files
        else ""
    )
    return snapshot_result(
        caller,
        found.parts,
        "hunks",
        log_lines.brief_diff(found),
        sequence=True,
        heading="\n".join(part for part in (heading, reading_notes(found.withheld)) if part),
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
    result = snapshot_result(
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
    asked |= {"since": found.since, "until": found.until}
    state = {"head": found.head, "skip": found.commits.total, "asked": asked, "spread": found.spread}
    behind = _behind(caller, beyond, state)
    if result.rest is None:
        return replace(result, rest=behind)
    held = result.rest
    joined = replace(held, items=held.items + beyond, state={**held.state, "then": (behind.resume, behind.state)})
    return replace(result, rest=followed(caller, joined, found.commits))


def _behind(caller: Caller, items: int, state: dict[str, Any]) -> Rest:
    rest = Rest(items, 0, "commits", state)
    return replace(rest, sample=lambda: _sampled(caller, rest))


@samples("commits")
def _sampled(caller: Caller, rest: Rest) -> list[Block]:
    """Some of the commits that a log has not shown, spread evenly; all of them, where they are few."""
    state = rest.state
    left = [name for place, name in state.get("spread", ()) if place >= state["skip"]]
    if left and len(left) < rest.items:
        return blocks("commits", commits_named(caller.workspace, left, path=state["asked"]["path"]))
    return blocks("commits", earlier_commits(caller.workspace, state["head"], state["skip"], SAMPLED, **state["asked"]))


@resumes("commits")
def _earlier(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    head, skip, asked = rest.state["head"], rest.state["skip"], rest.state["asked"]
    found = earlier_commits(caller.workspace, head, skip, PAGE, **asked)
    left = rest.items - len(found)
    shown = blocks("commits", found)
    if left <= 0 or not found:
        return shown, None
    return shown, _behind(caller, left, {**rest.state, "skip": skip + len(found)})


@tool(
    Command("ws blame", ("path",), examples=("haversack ws blame README.md --end-line 20",)),
    group="workspace",
    title="Git blame",
)
def vcs_blame(caller: Caller, *, path: Path, start_line: Line = None, end_line: Line = None) -> Outcome:
    """Who last changed each line, in runs of one commit."""
    found = blame(caller.workspace, path, start_line=start_line, end_line=end_line)
    return snapshot_result(
        caller,
        found.runs,
        "runs",
        log_lines.brief_blame(found),
        sequence=True,
        heading=log_lines.brief_blame(found),
        facts={"path": found.path, "commits": found.commits},
    )
