"""The tools for exploring ideas, changing a project and recording decisions."""

from typing import Annotated, Literal

from haversack.app import Caller
from haversack.memory.save.pipeline import Draft, Saved, save
from haversack.memory.search.search import by_topic
from haversack.sdd.documents import exploration
from haversack.sdd.documents.artifacts import ADR_STATUSES, Decision
from haversack.sdd.documents.decisions import record_decision
from haversack.sdd.documents.exploration import Notes, topic_of
from haversack.sdd.flows import change_steps
from haversack.sdd.flows.changes import SIZES, TYPES, Change
from haversack.sdd.results import ChangeFile, ChangeReceipt, ChangeReport
from haversack.text.amounts import counted
from haversack.text.clipping import one_line
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Block, Done, Facts, Outcome, Result
from haversack.tools.sdd.plan_replies import (
    CONFIRMATION_TOKENS,
    confirmed,
    listed,
    moment,
    plan_name,
    what_is_next,
    workspace,
)
from haversack.tools.shared_parameters import UnlistedScope, UnlistedText


@tool(
    Command("sdd explore", ("title",), examples=("haversack sdd explore Maps --goals - < goals.md",)),
    group="sdd",
    writes=True,
    title="Explore an idea",
)
def sdd_explore(
    caller: Caller,
    *,
    title: str,
    goals: str = "",
    constraints: str = "",
    preferences: str = "",
    unknowns: str = "",
    decisions: str = "",
    context: str = "",
    project: UnlistedText = "",
    scope: UnlistedScope = "project",
    session_id: UnlistedText = "",
) -> Outcome:
    """Think before planning: notes are kept in memory and merged when a title is explored again. \
Suggests type and size of a change."""
    notes = Notes(
        goals=goals,
        constraints=constraints,
        preferences=preferences,
        unknowns=unknowns,
        decisions=decisions,
        context=context,
    )
    found, saved = _explore(caller, title, notes, project=project, scope=scope, session_id=session_id)
    added = {name: count for name, count in found.added.items() if count}
    what = ", ".join(f"{name} {count}" for name, count in added.items()) or "nothing new"
    suggestion = found.suggestion
    unknown = counted(found.open_questions, "open question")
    message = (
        f"Explored {found.title} in #{saved.id}, lines added: {what}; {unknown}.\n"
        f"It looks like a {suggestion.size} {suggestion.type} ({'; '.join(suggestion.reasons)})"
    )
    hint = "sdd_change starts it as a change; sdd_init_project starts a project of its own."
    facts = {
        "id": saved.id,
        "title": found.title,
        "added": added,
        "open_questions": found.open_questions,
        "type": suggestion.type,
        "size": suggestion.size,
        "reasons": list(suggestion.reasons),
    }
    return Done(message, facts, brief=f"explored {one_line(found.title, 80)} in #{saved.id}: {what}", hint=hint)


def _explore(
    caller: Caller, title: str, notes: Notes, *, project: str, scope: str, session_id: str
) -> tuple[exploration.Exploration, Saved]:
    """The notes merged with those of the same title, and the observation that keeps them."""
    # One transaction, so that of two who explore the same title neither loses notes.
    with caller.database.write():
        project_name, earlier = _earlier(caller, title, project, scope)
        found = exploration.explore(title, notes, earlier)
        draft = Draft(
            title=found.observation.title,
            content=found.observation.content,
            kind=found.observation.kind,
            project=project_name,
            scope=scope,
            session_id=session_id,
            topic_key=found.observation.topic_key,
            tool_name="sdd_explore",
        )
        return found, save(caller.memory, draft)


def _earlier(caller: Caller, title: str, project: str, scope: str) -> tuple[str, str]:
    """The project an exploration is kept under, and its text so far.

    One begun before there was a plan stays where it is.
    """
    detected = caller.memory.project()
    own = project or plan_name(caller) or detected
    for project_name in (own,) if project else (own, detected):
        if observation := by_topic(caller.memory, topic_of(title), project=project_name, scope=scope):
            return project_name, observation.content
    return own, ""


@tool(
    Command(
        "sdd change",
        ("type", "size", "description"),
        about="Start a change. Type and size choose its stages.",
        hidden=("action",),
        examples=("haversack sdd change feature large 'Readers reserve books'",),
    ),
    Command(
        "sdd cancel",
        ("description",),
        about="Cancel the active change; its files stay.",
        fixed={"action": "cancel", "type": "fix", "size": "small"},
        examples=("haversack sdd cancel 'nobody needs it'",),
    ),
    Command(
        "sdd archive",
        ("description",),
        about="Archive the active or last change.",
        fixed={"action": "archive", "type": "fix", "size": "small"},
        examples=("haversack sdd archive 'it is live'",),
    ),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Start or close a change",
)
def sdd_change(
    caller: Caller,
    *,
    type: Annotated[str, TYPES],
    size: Annotated[str, SIZES],
    description: Annotated[str, "First line names it; for cancel and archive: why"],
    action: Literal["start", "cancel", "archive"] = "start",
) -> Outcome:
    """Start a change, or cancel or archive the active one. Type and size choose its stages."""
    root, now = workspace(caller), moment(caller)
    if action == "start":
        receipt = change_steps.start_change(root, change_type=type, size=size, description=description, now=now)
        return _changed(caller, receipt, "sdd_change", f"stages {', '.join(receipt.change.flow)}")
    close = change_steps.cancel_change if action == "cancel" else change_steps.archive_change
    receipt = close(root, reason=description, now=now)
    return _changed(caller, receipt, "sdd_change", receipt.change.status)


@tool(
    Command(
        "sdd advance",
        ("content",),
        about="Write the open stage of the active change and move on; `haversack sdd check` comes before its stage.",
        examples=("haversack sdd advance - < spec.md",),
    ),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Advance the change",
)
def sdd_change_advance(
    caller: Caller,
    *,
    content: Annotated[str, "The stage's artifact as Markdown"],
    stage: Annotated[str, "An earlier one, to write it again"] = "",
    title: UnlistedText = "",
) -> Outcome:
    """Write the open stage of the active change and move on. sdd_context_check has to come before its stage."""
    if title.strip() and not content.lstrip().startswith("#"):
        content = f"# {title.strip()}\n\n{content}"
    receipt = change_steps.advance_change(workspace(caller), content=content, stage=stage, now=moment(caller))
    change = receipt.change
    done = sum(1 for state in change.stages if state.status == "done")
    said = f"{done} of {len(change.flow)} stages done" if change.current else "the change is completed"
    return _changed(caller, receipt, "sdd_change_advance", said)


def _changed(caller: Caller, receipt: ChangeReceipt, tool_name: str, said: str) -> Result:
    change = receipt.change
    stale = (f"Stale, to be written again: {', '.join(change.stale)}.",) if change.stale else ()
    facts = _change_facts(change) | {"stale": list(change.stale)}
    return confirmed(caller, receipt, tool_name, f"{change.size} {change.type}, {said}", more_lines=stale, facts=facts)


@tool(Command("sdd status", ("slug",), examples=("haversack sdd status",)), group="sdd", title="Where a change stands")
def sdd_change_status(caller: Caller, *, slug: Annotated[str, "The active or last one when omitted"] = "") -> Outcome:
    """A change with its stages, files and next step, and the names of the others."""
    report = change_steps.change_status(workspace(caller), slug=slug)
    change = report.change
    return Result(
        blocks=[
            _change_block(caller, report),
            *(_file_block(each) for each in report.files),
            *listed("others", "Other changes", [each for each in report.others if each != change.slug]),
        ],
        noun="stages",
        total=len(report.files),
        items_name="items",
        advice="Increase max_tokens for more.",
        brief=f"{_named(change)}: {change.status}" + (f" at {change.current}" if change.current else ""),
    )


def _change_block(caller: Caller, report: ChangeReport) -> Block:
    change = report.change
    standing = f"{change.status} at {change.current}" if change.current else change.status
    lines = [
        f"Change {_named(change)}: {standing}. {what_is_next(caller, report.next_step)}",
        one_line(change.description, 300),
    ]
    if change.reason:
        lines.append(f"Closed because: {one_line(change.reason, 300)}")
    lines.append(f"Files in {report.files[0].path.rpartition('/')[0]}:")
    facts = _change_facts(change) | {
        "description": change.description,
        "created": change.created_at,
        "checked": change.checked_at,
        "closed": change.closed_at,
        "reason": change.reason,
        "next_tool": report.next_step.tool,
    }
    shown = {name: value for name, value in facts.items() if value}
    return Block("Change", lambda _: "\n".join(lines), lambda _: shown, worth=4.0, required=True, counted=False)


def _file_block(file: ChangeFile) -> Block:
    status = file.status.replace("_", " ")
    written = f", {file.path.rpartition('/')[2]}, {counted(file.size, 'byte')}" if file.size is not None else ""
    times = f", written {file.iterations} times" if file.iterations > 1 else ""
    facts = {"stage": file.stage, "status": file.status, "path": file.path, "bytes": file.size}
    return Block(file.stage, lambda _: f"- {file.stage}: {status}{written}{times}", lambda _: facts)


def _named(change: Change) -> str:
    return f"{change.slug} ({change.size} {change.type})"


def _change_facts(change: Change) -> dict[str, object]:
    return {
        "slug": change.slug,
        "type": change.type,
        "size": change.size,
        "status": change.status,
        "stage": change.current,
    }


@tool(
    Command(
        "sdd adr",
        ("title",),
        examples=("haversack sdd adr 'Keep loans in SQLite' --context - --decision SQLite --rationale none < why.md",),
    ),
    group="sdd",
    writes=True,
    default_tokens=CONFIRMATION_TOKENS,
    title="Record a decision",
)
def sdd_adr(
    caller: Caller,
    *,
    title: str,
    context: str,
    decision: str,
    rationale: str,
    alternatives_rejected: str = "",
    status: Annotated[str, ADR_STATUSES] = "accepted",
    supersedes: Annotated[str, "Numbers of those it replaces"] = "",
) -> Outcome:
    """Record an architecture decision under its own number, with its date."""
    content = Decision(
        context=context, decision=decision, rationale=rationale, alternatives_rejected=alternatives_rejected
    )
    receipt = record_decision(
        workspace(caller), title=title, content=content, status=status, supersedes=supersedes, now=moment(caller)
    )
    replaced = [f"ADR-{number:03d}" for number in receipt.superseded]
    said = f"ADR-{receipt.number:03d} {one_line(receipt.title, 100)}, {status}"
    said += f", superseding {', '.join(replaced[:10])}" if replaced else ""
    facts: Facts = {"number": receipt.number, "title": receipt.title, "status": status, "superseded": replaced}
    return confirmed(caller, receipt, "sdd_adr", said, facts=facts)
