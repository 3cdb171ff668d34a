"""Saving: validate, redact, hash, topic upsert, duplicate check, insert; one transaction."""

import os
from typing import Literal
from unicodedata import normalize

from haversack.digests import blake2b
from haversack.errors import NotFound
from haversack.memory import sessions
from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.memory.save.checks import (
    MAX_TITLE,
    SCOPES,
    STATUSES,
    check_fraction,
    check_kind,
    check_line,
    check_member,
    check_tags,
    check_text,
)
from haversack.memory.save.topics import suggest_topic_key
from haversack.memory.search import index_words
from haversack.store import observations, relations
from haversack.store.engine import Writer
from haversack.store.observations import NewObservation
from haversack.store.records import Observation, Relation
from haversack.text.redaction import redact
from haversack.tokens import count_tokens, utf8_length
from haversack.values import record, replace

MINUTE = 60_000_000


@record
class Draft:
    """The values of an observation to save."""

    title: str
    content: str
    kind: str = "observation"
    project: str = ""
    scope: str = "project"
    topic_key: str = ""
    namespace: str = ""
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    session_id: str = ""
    tool_name: str = ""
    status: str = "active"
    pinned: bool = False
    relate_to: tuple[int, ...] = ()


@record
class Saved:
    """The result of saving a draft."""

    outcome: Literal["saved", "updated", "duplicate"]
    id: int
    session_id: str
    project: str
    revision: int = 0
    times_seen: int = 1
    redactions: tuple[str, ...] = ()
    suggested_topic_key: str = ""
    relation_ids: tuple[int, ...] = ()


def save(memory: Memory, draft: Draft) -> Saved:
    """Remember something; the outcome says whether it is new, a new text of a topic, or seen before."""
    placed = replace(draft, project=memory.project(draft.project))
    draft, redactions = redacted(memory, checked(memory, placed))
    fingerprint = content_hash(draft)
    with memory.database.write() as tx:
        _refuse_missing(tx, draft.relate_to)
        session = sessions.ensure(
            tx, memory, session_id=draft.session_id, project=draft.project, namespace=draft.namespace
        )
        draft = replace(draft, session_id=session)
        saved = _place(tx, memory, draft, fingerprint)
        links = tuple(
            relations.put(tx, Relation(0, saved.id, target, "relates_to", "", 1.0, memory.now()))[0]
            for target in draft.relate_to
            if target != saved.id
        )
    if saved.outcome != "duplicate":
        memory.database.after_commit(lambda: memory.saved(saved.id))
    # Under a key of its own each summary of a session would take the place of the one before.
    is_free = not draft.topic_key and draft.kind != "session_summary"
    suggestion = suggest_topic_key(draft.title, draft.content, draft.kind) if is_free else ""
    return replace(saved, redactions=redactions, suggested_topic_key=suggestion, relation_ids=links)


def _refuse_missing(tx: Writer, identifiers: tuple[int, ...]) -> None:
    if not identifiers:
        return
    held = observations.get_many(tx, identifiers)
    missing = set(identifiers) - {each.id for each in held.values() if each.deleted_at is None}
    if missing:
        raise NotFound(f"no observation #{min(missing)} to relate to", hint="mem_search finds ids by content")


def checked(memory: Memory, draft: Draft) -> Draft:
    """The draft with its names cleaned; an error when something is wrong with it."""
    return replace(
        draft,
        title=check_text("title", draft.title, MAX_TITLE).strip(),
        content=check_text("content", draft.content, memory.settings.max_content),
        kind=check_kind(draft.kind),
        project=check_line("project", draft.project),
        scope=check_member("scope", draft.scope, SCOPES),
        topic_key=check_line("topic_key", draft.topic_key),
        namespace=check_line("namespace", draft.namespace),
        tags=check_tags(draft.tags),
        importance=check_fraction("importance", draft.importance),
        status=check_member("status", draft.status, STATUSES),
        tool_name=check_line("tool_name", draft.tool_name),
        session_id=check_line("session_id", draft.session_id),
    )


def redacted(memory: Memory, draft: Draft) -> tuple[Draft, tuple[str, ...]]:
    """The draft without secrets, and the names of those that were taken out."""
    if not memory.settings.redact:
        return draft, ()
    title, content = redact(draft.title), redact(draft.content)
    if not (title.found or content.found):
        return draft, ()
    # A title made of the first words of the content holds no secret of its own.
    is_same = draft.content.lstrip().startswith(draft.title.rstrip("…"))
    found = content.found or title.found if is_same else title.found + content.found
    return replace(draft, title=title.text, content=content.text), found


def content_hash(draft: Draft) -> str:
    """The hash by which drafts are duplicates: place, kind, title and content without surrounding white space."""
    # Case and inner spacing count: an indented line can be another program.
    folded = (normalize("NFC", text).strip() for text in (draft.title, draft.content))
    parts = (project_key(draft.project), draft.scope, draft.namespace, draft.kind, *folded)
    return blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()


def _place(tx: Writer, memory: Memory, draft: Draft, fingerprint: str) -> Saved:
    now = memory.now()
    key = project_key(draft.project)
    held = observations.live_topic(tx, draft.topic_key, key, draft.scope, draft.namespace)
    if held and held.content_hash != fingerprint:
        return _new_text(tx, held, draft, fingerprint, now)
    seen_since = now - memory.settings.duplicate_minutes * MINUTE
    held = held or (None if draft.topic_key else observations.same_content(tx, fingerprint, seen_since))
    if held:
        times_seen = held.duplicate_count + 2
        observations.change(tx, held.id, {"duplicate_count": held.duplicate_count + 1, "last_seen_at": now})
        return Saved("duplicate", held.id, held.session_id, held.project, times_seen=times_seen)
    identifier = observations.insert(
        tx,
        NewObservation(
            uid=os.urandom(12).hex(),
            session_id=draft.session_id,
            kind=draft.kind,
            title=draft.title,
            content=draft.content,
            tags=draft.tags,
            importance=draft.importance,
            tool_name=draft.tool_name,
            project=draft.project,
            project_key=key,
            scope=draft.scope,
            topic_key=draft.topic_key,
            namespace=draft.namespace,
            status=draft.status,
            verification="unverified",
            pinned=draft.pinned,
            content_hash=fingerprint,
            bytes=utf8_length(draft.content),
            units=count_tokens(draft.content),
            label=index_words.label(draft.title, draft.content),
            asks=index_words.asks(draft.content),
            created_at=now,
        ),
    )
    index_words.index_new(tx, identifier, draft.title, draft.content, draft.tags, draft.topic_key)
    return Saved("saved", identifier, draft.session_id, draft.project)


def _new_text(tx: Writer, held: Observation, draft: Draft, fingerprint: str, now: int) -> Saved:
    """Give a topic its new text; the old one stays as a revision, and the topic becomes the most recent."""
    revision = observations.add_revision(tx, held, now)
    observations.change(
        tx,
        held.id,
        {
            "title": draft.title,
            "content": draft.content,
            "kind": draft.kind,
            "importance": draft.importance,
            "status": draft.status,
            "content_hash": fingerprint,
            "bytes": utf8_length(draft.content),
            "units": count_tokens(draft.content),
            "label": index_words.label(draft.title, draft.content),
            "asks": index_words.asks(draft.content),
            "revision_count": revision,
            "updated_at": now,
            "last_seen_at": now,
        },
    )
    if draft.tags != held.tags:
        observations.retag(tx, held.id, draft.tags or held.tags)
    observations.move_to_end(tx, held.id)
    index_words.index(tx, held.id)
    # The first text is revision 1, so the live text is one more than the stored revisions.
    return Saved("updated", held.id, held.session_id, held.project, revision=revision + 1)
