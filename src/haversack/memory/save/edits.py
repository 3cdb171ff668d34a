"""Changing observations: update, delete, restore, and their earlier texts."""

from haversack.digests import blake2b
from haversack.errors import Changed, Conflict, InvalidArgument, NotFound
from haversack.memory.lookup import get
from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.memory.save.checks import VERIFICATIONS, check_member
from haversack.memory.save.pipeline import Draft, checked, content_hash, redacted
from haversack.memory.search import index_words
from haversack.store import observations
from haversack.store.engine import Reader, Value, Writer
from haversack.store.records import Observation, Revision
from haversack.tokens import count_tokens, utf8_length
from haversack.values import fields, record

UNIQUE_TOPIC = "another live observation has topic key"


@record
class Changes:
    """New values for an observation; None leaves a field as it is, an empty text clears it."""

    title: str | None = None
    content: str | None = None
    kind: str | None = None
    project: str | None = None
    scope: str | None = None
    topic_key: str | None = None
    namespace: str | None = None
    tags: tuple[str, ...] | None = None
    importance: float | None = None
    tool_name: str | None = None
    status: str | None = None
    verification: str | None = None
    pinned: bool | None = None
    restore: bool = False


@record
class Updated:
    """The result of an update."""

    observation: Observation
    changed: tuple[str, ...]
    revision: int = 0
    redactions: tuple[str, ...] = ()
    restored: bool = False


def update(memory: Memory, identifier: int, changes: Changes, *, expected_hash: str = "") -> Updated:
    """Change fields of an observation; an earlier text stays as a revision."""
    if changes == Changes():
        raise InvalidArgument("nothing to change was given", hint="name at least one field, or restore=true")
    with memory.database.write() as tx:
        restored = changes.restore and _restore(tx, memory, identifier)
        old = get(tx, identifier)
        _refuse_changed(old, expected_hash)
        draft, redactions = redacted(memory, checked(memory, _draft(old, changes)))
        _refuse_taken_topic(tx, old, draft)
        values = _values(memory, old, draft, changes)
        changed = tuple(
            name
            for name in values
            if name not in {"project_key", "updated_at", "content_hash", "bytes", "units", "label", "asks"}
        )
        revision = 0
        if {"title", "content", "kind", "tags", "importance"} & set(values):
            revision = observations.add_revision(tx, old, memory.now()) + 1
            values["revision_count"] = revision - 1
        tags = values.pop("tags", None)
        if values:
            observations.change(tx, identifier, values)
        if tags is not None:
            observations.retag(tx, identifier, draft.tags)
        index_words.index(tx, identifier)
        updated = Updated(get(tx, identifier), changed, revision, redactions, restored)
    memory.database.after_commit(lambda: memory.saved(identifier))
    return updated


def state_hash(observation: Observation) -> str:
    """A short digest of an observation and its state; any change gives another one."""
    parts = (observation.content_hash, observation.title, observation.content, *observation.tags,
             str(observation.importance), observation.status, observation.verification, str(observation.pinned),
             observation.topic_key, str(observation.deleted_at))  # fmt: skip
    return blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _refuse_changed(observation: Observation, expected_hash: str) -> None:
    if expected_hash and expected_hash.strip().lower() != state_hash(observation):
        raise Changed(
            f"observation #{observation.id} has changed since it was read",
            hint="read it again with mem_get_observation, then decide",
        )


def _restore(tx: Writer, memory: Memory, identifier: int) -> bool:
    found = observations.get(tx, identifier)
    if found is None:
        raise NotFound(f"no observation #{identifier}", hint="a hard delete cannot be undone")
    if found.deleted_at is None:
        raise Conflict(f"observation #{identifier} is not deleted", hint="leave restore out")
    key = project_key(found.project)
    if found.topic_key and observations.live_topic(tx, found.topic_key, key, found.scope, found.namespace):
        raise Conflict(
            f"{UNIQUE_TOPIC} {found.topic_key!r}", hint="delete that one first, or give it another topic_key"
        )
    observations.change(tx, identifier, {"deleted_at": None, "updated_at": memory.now()})
    return True


def _draft(old: Observation, changes: Changes) -> Draft:
    """The observation as it would be saved with the changes applied."""
    names = fields(Draft)
    held = {name: getattr(old, name) for name in names if hasattr(old, name)}
    given = {name: getattr(changes, name) for name in names if getattr(changes, name, None) is not None}
    return Draft(**(held | given))


def _refuse_taken_topic(tx: Reader, old: Observation, draft: Draft) -> None:
    taken = observations.live_topic(tx, draft.topic_key, project_key(draft.project), draft.scope, draft.namespace)
    if taken and taken.id != old.id:
        raise Conflict(
            f"{UNIQUE_TOPIC} {draft.topic_key!r}: #{taken.id}", hint="update that one, or choose another topic_key"
        )


def _values(memory: Memory, old: Observation, draft: Draft, changes: Changes) -> dict[str, Value]:
    """The columns that differ from what is stored."""
    values: dict[str, Value] = {}
    for name in (
        "title",
        "content",
        "kind",
        "project",
        "scope",
        "topic_key",
        "namespace",
        "importance",
        "tool_name",
        "status",
    ):
        if getattr(draft, name) != getattr(old, name):
            values[name] = getattr(draft, name)
    if draft.tags != old.tags:
        values["tags"] = "\n".join(draft.tags)
    if draft.pinned != old.pinned:
        values["pinned"] = int(draft.pinned)
    if changes.verification is not None and changes.verification != old.verification:
        values["verification"] = check_member("verification", changes.verification, VERIFICATIONS)
    if "content" in values:
        values |= {"bytes": utf8_length(draft.content), "units": count_tokens(draft.content)}
    if "content" in values or "title" in values:
        values |= {"label": index_words.label(draft.title, draft.content), "asks": index_words.asks(draft.content)}
    if "project" in values:
        values["project_key"] = project_key(draft.project)
    if values:
        values |= {"content_hash": content_hash(draft), "updated_at": memory.now()}
    return values


def delete(memory: Memory, identifier: int, *, hard: bool = False, expected_hash: str = "") -> Observation:
    """Delete an observation: softly, so that it can be restored, or for good with its revisions and relations."""
    with memory.database.write() as tx:
        found = observations.get(tx, identifier)
        if found is None or (found.deleted_at is not None and not hard):
            get(tx, identifier)
            raise AssertionError("get refuses what is missing or deleted")
        _refuse_changed(found, expected_hash)
        if hard:
            observations.erase(tx, identifier)
        else:
            observations.change(tx, identifier, {"deleted_at": memory.now()})
        tx.words.remove(identifier)
        return found


def history(memory: Memory, identifier: int) -> tuple[Observation, list[Revision]]:
    """An observation and its earlier texts, the newest first."""
    with memory.database.read() as tx:
        return get(tx, identifier), observations.revisions(tx, identifier)
