"""The tools that save, find and change observations."""

from typing import Annotated

from haversack.app import Caller
from haversack.memory import relations
from haversack.memory.save import edits, pipeline
from haversack.memory.save.checks import RELATION_TYPES, SCOPES, STATUSES, VERIFICATIONS
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.text.clipping import clipped, one_line
from haversack.text.redaction import describe
from haversack.tools.declaration import Command, Range, tool
from haversack.tools.memory.observation_views import relation_facts
from haversack.tools.road.outcomes import Done, Outcome
from haversack.tools.shared_parameters import Namespace, Project, Scope

ExpectedHash = Annotated[str, "hash as read; refused if changed since"]
TITLE_WIDTH = 80
"""Characters of a title made from a content."""


@tool(
    Command(
        "save",
        ("content",),
        options=(("content", "--content"),),
        optional=("title",),
        examples=(
            'haversack save "Tokens rotate hourly: we chose RS256" --kind decision',
            'haversack save --title "Tokens rotate hourly" --content "We chose RS256" --kind decision --tag auth',
            'git log -3 | haversack save --title "Recent work" --content -',
        ),
    ),
    group="memory",
    always_loaded=True,
    writes=True,
    atomic=True,
)
def mem_save(
    caller: Caller,
    *,
    title: Annotated[str, "Short and searchable"],
    content: Annotated[str, "What, why, where, learned"],
    kind: Annotated[str, "decision, bugfix, pattern, config, preference, ..."] = "observation",
    project: Project = "",
    scope: Scope = "project",
    topic_key: Annotated[str, "Same key updates the same memory, e.g. decision/auth"] = "",
    namespace: Namespace = "",
    tags: list[str] = [],  # noqa: B006 - a default is never changed, and None would say something else
    importance: Annotated[float, Range(0, 1)] = 0.5,
    session_id: str = "",
    relate_to: Annotated[list[int], "Ids of related memories"] = [],  # noqa: B006
) -> Outcome:
    """Remember something worth knowing next week."""
    title = title or first_words(content)
    saved = pipeline.save(
        caller.memory,
        Draft(
            title=title,
            content=content,
            kind=kind,
            project=project,
            scope=scope,
            topic_key=topic_key,
            namespace=namespace,
            tags=tuple(tags),
            importance=importance,
            session_id=session_id,
            relate_to=tuple(relate_to),
        ),
    )
    return saved_reply(caller, saved, title)


def first_words(content: str) -> str:
    """A title for a text that came without one: its first line, cut at a word."""
    line = next((line.strip() for line in content.splitlines() if line.strip()), "")
    return clipped(line, TITLE_WIDTH)


def saved_reply(caller: Caller, saved: pipeline.Saved, title: str) -> Done:
    """The reply to a save, as a sentence and as facts."""
    message = {
        "saved": f"saved #{saved.id}",
        "updated": f"updated #{saved.id} (revision {saved.revision})",
        "duplicate": f"duplicate of #{saved.id} (seen {saved.times_seen} times)",
    }[saved.outcome]
    message += f" in project {caller.memory.labels()(saved.project)}" if saved.project else ""
    if saved.redactions:
        message += f"; {describe(saved.redactions)}"
    if saved.relation_ids:
        message += f"; relations {', '.join(map(str, saved.relation_ids))}"
    if saved.suggested_topic_key and saved.outcome == "saved":
        message += f". {caller.console.worded('Suggested topic_key')}: {saved.suggested_topic_key}"
    facts = {
        "outcome": saved.outcome,
        "id": saved.id,
        "project": saved.project,
        "session_id": saved.session_id,
        "revision": saved.revision,
        "times_seen": saved.times_seen,
        "redacted": list(saved.redactions),
        "relation_ids": list(saved.relation_ids),
        "suggested_topic_key": saved.suggested_topic_key,
    }
    return Done(message, facts, brief=f"{saved.outcome} #{saved.id} {one_line(title, 80)}")


@tool(
    Command(
        "relate",
        ("from_id", "to_id", "relation_type"),
        examples=('haversack relate 12 4 supersedes --note "after the audit"',),
    ),
    group="memory",
    writes=True,
    idempotent=True,
)
def mem_relate(
    caller: Caller,
    *,
    from_id: int,
    to_id: int,
    relation_type: Annotated[str, RELATION_TYPES],
    note: str = "",
    bidirectional: bool = False,
    strength: Annotated[float, Range(0, 1)] = 1.0,
) -> Outcome:
    """Link two memories; what is superseded leaves searches."""
    related = relations.relate(
        caller.memory, from_id, to_id, relation_type, note=note, bidirectional=bidirectional, strength=strength
    )
    verb = "related" if related.added else "renewed"
    ids = ", ".join(str(link.id) for link in related.relations)
    message = f"{verb} #{from_id} {relation_type} #{to_id} (relation {ids})"
    if related.redactions:
        message += f"; {describe(related.redactions)}"
    return Done(
        message,
        {"relations": [relation_facts(link) for link in related.relations], "added": related.added},
        brief=message,
    )


@tool(Command("unrelate", ("id",), examples=("haversack unrelate 3",)), group="memory", writes=True)
def mem_unrelate(caller: Caller, *, id: Annotated[int, "Relation id, as the memory shows it"]) -> Outcome:
    """Remove a relation."""
    gone = relations.unrelate(caller.memory, id)
    message = f"removed relation {id}: #{gone.from_id} {gone.type} #{gone.to_id}"
    return Done(message, {"removed": relation_facts(gone)}, brief=message)


@tool(
    Command("delete", ("id",), aliases=("rm",), examples=("haversack delete 12", "haversack delete 12 --hard")),
    group="memory",
    writes=True,
    destructive=True,
)
def mem_delete(
    caller: Caller,
    *,
    id: int,
    hard: Annotated[bool, "For good; soft deletes can be restored"] = False,
    expected_hash: ExpectedHash = "",
) -> Outcome:
    """Delete a memory."""
    gone = edits.delete(caller.memory, id, hard=hard, expected_hash=expected_hash)
    how = "deleted for good" if hard else "deleted"
    undo = "" if hard else f"mem_update(id={id}, restore=true) brings it back"
    message = f"{how}: #{id} {one_line(gone.title, 100)}"
    return Done(message, {"id": id, "hard": hard}, brief=f"{how} #{id}", hint=undo)


@tool(
    Command(
        "edit",
        ("id",),
        hidden=("restore",),
        examples=("haversack edit 12 --title 'A better title'", "haversack edit 12 --pinned --verification verified"),
    ),
    Command(
        "restore",
        ("id",),
        about="Bring a deleted memory back.",
        fixed={"restore": True},
        examples=("haversack restore 12",),
    ),
    group="memory",
    writes=True,
    idempotent=True,
)
def mem_update(
    caller: Caller,
    *,
    id: int,
    title: str | None = None,
    content: str | None = None,
    kind: str | None = None,
    project: str | None = None,
    scope: Annotated[str | None, SCOPES] = None,
    topic_key: str | None = None,
    namespace: str | None = None,
    tags: list[str] | None = None,
    importance: Annotated[float | None, Range(0, 1)] = None,
    tool_name: str | None = None,
    status: Annotated[str | None, STATUSES] = None,
    verification: Annotated[str | None, VERIFICATIONS] = None,
    pinned: bool | None = None,
    restore: Annotated[bool, "Undo a soft delete"] = False,
    expected_hash: ExpectedHash = "",
) -> Outcome:
    """Change fields of a memory; an empty string clears one. Earlier texts are kept."""
    changes = Changes(
        title=title,
        content=content,
        kind=kind,
        project=caller.memory.project(project) if project else project,
        scope=scope,
        topic_key=topic_key,
        namespace=namespace,
        tags=None if tags is None else tuple(tags),
        importance=importance,
        tool_name=tool_name,
        status=status,
        verification=verification,
        pinned=pinned,
        restore=restore,
    )
    updated = edits.update(caller.memory, id, changes, expected_hash=expected_hash)
    what = ", ".join(updated.changed) or "nothing: it was so already"
    message = f"restored #{id}" if updated.restored else f"updated #{id}"
    if not updated.restored or updated.changed:
        message += f" (changed {what})" if not updated.revision else f" (revision {updated.revision}, changed {what})"
    if updated.redactions:
        message += f"; {describe(updated.redactions)}"
    return Done(
        message,
        {"id": id, "changed": list(updated.changed), "revision": updated.revision, "restored": updated.restored},
        brief=message,
    )
