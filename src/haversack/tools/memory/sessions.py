"""The tools for sessions, prompts, progress and passive capture."""

from typing import Annotated

from haversack.app import Caller
from haversack.memory import capture, progress, sessions
from haversack.memory.save.pipeline import Draft, save
from haversack.text.clipping import one_line
from haversack.text.redaction import describe
from haversack.text.times import minute
from haversack.tools.budget.account import standing_line
from haversack.tools.declaration import Command, tool
from haversack.tools.memory.observations import saved_reply
from haversack.tools.road.outcomes import Document, Done, Outcome
from haversack.tools.shared_parameters import Namespace, Project, UnlistedText
from haversack.values import replace


@tool(
    Command("prompt", ("content",), examples=("haversack prompt 'make the tests pass'",)), group="memory", writes=True
)
def mem_save_prompt(
    caller: Caller, *, content: str, project: Project = "", session_id: str = "", namespace: Namespace = ""
) -> Outcome:
    """Keep what the user typed."""
    saved = sessions.save_prompt(caller.memory, content, project=project, session_id=session_id, namespace=namespace)
    message = f"saved prompt #{saved.id} in session {saved.session_id}"
    if saved.redactions:
        message += f"; {describe(saved.redactions)}"
    facts = {"id": saved.id, "session_id": saved.session_id, "redacted": list(saved.redactions)}
    return Done(message, facts, brief=f"prompt #{saved.id}: {one_line(content, 100)}")


@tool(
    Command("session-start", examples=("haversack session-start --project thesis",)),
    group="memory",
    writes=True,
    title="Start a session",
)
def mem_session_start(
    caller: Caller,
    *,
    id: Annotated[str, "Made when omitted"] = "",
    project: Project = "",
    directory: str = "",
    namespace: Namespace = "",
) -> Outcome:
    """Begin a session; later saves belong to it."""
    session = sessions.start(caller.memory, identifier=id, project=project, directory=directory, namespace=namespace)
    message = f"started session {session.id} in project {caller.memory.labels()(session.project)}"
    return Done(message, {"id": session.id, "project": session.project}, brief=message)


@tool(
    Command("session-end", ("id",), examples=("haversack session-end s-1f2e --summary 'Done'",)),
    group="memory",
    writes=True,
    title="End a session",
)
def mem_session_end(caller: Caller, *, id: str, summary: str = "") -> Outcome:
    """End a session."""
    session, redactions = sessions.end(caller.memory, id, summary)
    message = f"ended session {session.id}"
    if redactions:
        message += f"; {describe(redactions)}"
    facts = {"id": session.id, "redacted": list(redactions)}
    return _with_standing(caller, Done(message, facts, brief=message))


@tool(
    Command("session-summary", examples=("haversack session-summary --content - < summary.md",)),
    group="memory",
    always_loaded=True,
    writes=True,
)
def mem_session_summary(
    caller: Caller,
    *,
    content: Annotated[str, "Goal, discoveries, done, next, files"],
    project: Project = "",
    session_id: str = "",
    namespace: Namespace = "",
) -> Outcome:
    """Store a summary of the session, as a memory and on the session. Call before finishing."""
    draft = Draft(
        title=f"Session summary: {caller.memory.labels()(caller.memory.project(project))}",
        content=content,
        kind="session_summary",
        project=project,
        session_id=session_id,
        namespace=namespace,
    )
    saved = save(caller.memory, draft)
    sessions.summarise(caller.memory, saved.session_id, saved.id)
    return _with_standing(caller, saved_reply(caller, saved, draft.title))


def _with_standing(caller: Caller, done: Done) -> Done:
    """The confirmation with the figures of the budget account, for tools that end a session."""
    line = standing_line(caller)
    if not line:
        return done
    return replace(done, message=f"{done.message}\n{line}", facts={**done.facts, "budget": line})


@tool(Command("capture", examples=("haversack capture --content - < reply.md",)), group="memory", writes=True)
def mem_capture_passive(
    caller: Caller,
    *,
    content: Annotated[str, 'Text with a "Key learnings" list'],
    project: Project = "",
    session_id: str = "",
    source: Annotated[str, "What produced the text"] = "",
    namespace: Namespace = "",
) -> Outcome:
    """Save each list item under headings like "Key learnings" as a memory."""
    captured = capture.capture(
        caller.memory, content, project=project, session_id=session_id, source=source, namespace=namespace
    )
    ids = ", ".join(f"#{each.id}" for each in captured.saved)
    message = f"found {captured.found}, saved {len(captured.saved)}, duplicates {captured.duplicates}"
    if captured.too_short:
        message += f", too short {captured.too_short}"
    if ids:
        message += f" ({ids})"
    if captured.redactions:
        message += f"; {describe(captured.redactions)}"
    facts = {
        "found": captured.found,
        "saved": [each.id for each in captured.saved],
        "duplicates": captured.duplicates,
        "too_short": captured.too_short,
        "redacted": list(captured.redactions),
    }
    return Done(message, facts, brief=message)


@tool(
    Command(
        "progress",
        ("project",),
        examples=("haversack progress thesis", "haversack progress thesis --content - < progress.json"),
    ),
    group="memory",
    writes=True,
    idempotent=True,
    confirms=False,
)
def mem_progress(
    caller: Caller,
    *,
    project: str,
    content: Annotated[str | None, "JSON to store; omit to read"] = None,
    namespace: Namespace = "",
    session_id: UnlistedText = "",
) -> Outcome:
    """Read or replace a project's one progress document (JSON)."""
    project = caller.memory.project(project)
    if content is not None:
        saved, redactions = progress.write(caller.memory, project, content, namespace=namespace, session_id=session_id)
        message = f"progress of {project}: {saved.outcome} #{saved.id}"
        if redactions:
            message += f"; {describe(redactions)}"
        return Done(message, {"id": saved.id, "outcome": saved.outcome, "redacted": list(redactions)}, brief=message)
    held = progress.read(caller.memory, project, namespace=namespace)
    if held is None:
        return Document(
            f"No progress is stored for project {one_line(project, 100)}.",
            name=f"progress of {one_line(project, 60)}",
            facts={"project": project, "progress": None},
            brief=f"progress of {one_line(project, 60)}: none",
        )
    return Document(
        held.content,
        name=f"progress of {one_line(project, 60)}",
        facts={"project": project, "id": held.id, "updated": minute(held.updated_at), "progress": held.content},
        brief=f"progress of {one_line(project, 60)}, written {minute(held.updated_at)}",
    )
