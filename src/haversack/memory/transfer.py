"""Export and import as JSON Lines: a round trip loses nothing, and importing twice adds nothing.

Every line is one record with its `type`. Observations are known by their `uid`, which is the same in every
store; relations name their ends by it.
"""

import json
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from typing import Any

from haversack.errors import InvalidArgument
from haversack.memory.projects import project_key
from haversack.memory.room import Memory
from haversack.memory.save.checks import (
    MAX_TITLE,
    RELATION_TYPES,
    SCOPES,
    STATUSES,
    VERIFICATIONS,
    check_fraction,
    check_kind,
    check_line,
    check_member,
    check_optional_text,
    check_tags,
    check_text,
)
from haversack.memory.save.pipeline import Draft, content_hash
from haversack.memory.search import index_words
from haversack.store import observations, relations, sessions
from haversack.store.engine import ConstraintBroken, Writer
from haversack.store.observations import NewObservation
from haversack.store.records import Observation, Prompt, Relation, Revision, Session
from haversack.text.redaction import redact
from haversack.tokens import count_tokens, utf8_length
from haversack.values import asdict, fields, record, replace

FORMAT = 1


@record
class Imported:
    """How many records an import added, brought up to date, and found there already."""

    added: int
    updated: int
    known: int


def export(memory: Memory, *, include_deleted: bool = False) -> Generator[str, None, None]:
    """Every record of the store, deleted observations only when asked for, one JSON document to a line."""
    with memory.database.read() as tx:
        yield _line("haversack", {"format": FORMAT})
        for session in sessions.everything(tx):
            yield _line("session", asdict(session))
        uids: dict[int, str] = {}
        for observation in observations.everything(tx):
            if observation.deleted_at is not None and not include_deleted:
                continue
            uids[observation.id] = observation.uid
            yield _line("observation", asdict(observation))
            for revision in reversed(observations.revisions(tx, observation.id)):
                yield _line("revision", {"uid": observation.uid, **asdict(revision)})
        for prompt in sessions.every_prompt(tx):
            yield _line("prompt", asdict(prompt))
        for relation in relations.everything(tx):
            if relation.from_id not in uids or relation.to_id not in uids:
                continue  # an end of it was deleted
            values = asdict(relation) | {"from_uid": uids[relation.from_id], "to_uid": uids[relation.to_id]}
            values["relation_type"] = values.pop("type")  # `type` says what a line is
            yield _line("relation", values)


def _line(kind: str, values: Mapping[str, object]) -> str:
    return json.dumps({"type": kind, **values}, ensure_ascii=False, separators=(",", ":"))


def import_(memory: Memory, lines: Iterable[str]) -> Imported:
    """Add what is not there yet, in one transaction; a wrong line is an error that names it, and nothing is added."""
    outcomes = {"added": 0, "updated": 0, "known": 0}
    with memory.database.write() as tx:
        reading = _Reading(tx, _Gate(memory))
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                outcomes[reading.take(json.loads(line))] += 1
            except RecursionError:
                raise InvalidArgument(f"line {number} cannot be imported: it is nested too deeply") from None
            except (ValueError, KeyError, TypeError, AttributeError, ConstraintBroken, InvalidArgument) as error:
                reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
                raise InvalidArgument(
                    f"line {number} cannot be imported: {reason}",
                    hint="nothing was imported; mend the line and try again",
                ) from None
        reading.finish()
    return Imported(**outcomes)


class _Reading:
    """One import under way; ids of this store by the uid of what they stand for.

    Into an empty store everything comes with the id it had, since texts name others by it.
    """

    def __init__(self, tx: Writer, gate: "_Gate") -> None:
        self.tx = tx
        self.gate = gate
        self.ids: dict[str, int] = {}
        self.keeps_ids = observations.newest_id(tx) == 0
        self.added: list[tuple[int, int]] = []

    def finish(self) -> None:
        """Put what was added into the order it had."""
        if self.added != sorted(self.added):
            for _, identifier in sorted(self.added):
                observations.move_to_end(self.tx, identifier)

    def take(self, values: dict[str, Any]) -> str:
        kind = values.pop("type")
        takers = {
            "haversack": self._header,
            "session": self._session,
            "observation": self._observation,
            "revision": self._revision,
            "prompt": self._prompt,
            "relation": self._relation,
        }
        if kind not in takers:
            raise ValueError(f"unknown type {kind!r}")
        return takers[kind](values)

    def _header(self, values: dict[str, Any]) -> str:
        if values["format"] > FORMAT:
            raise ValueError(f"format {values['format']} is newer than this program knows ({FORMAT})")
        return "known"

    def _session(self, values: dict[str, Any]) -> str:
        session = Session(**self.gate.passed(Session, values))
        return "added" if sessions.add(self.tx, session, project_key(session.project)) else "known"

    def _observation(self, values: dict[str, Any]) -> str:
        found = self.gate.observation(Observation(**self.gate.passed(Observation, values)))
        if sessions.get(self.tx, found.session_id) is None:
            raise ValueError(f"there is no session {found.session_id[:60]!r}")
        held = observations.with_uid(self.tx, found.uid)
        if held is not None:
            self.ids[found.uid] = held.id
            if _texts(held) == _texts(found) or held.updated_at >= found.updated_at:
                return "known"
            observations.add_revision(self.tx, held, found.updated_at)
        else:
            # A topic has one live observation; an imported rival keeps its text under no topic.
            found = self._without_taken_topic(found)
            identifier = observations.insert(self.tx, _new(found), found.id if self.keeps_ids else None)
            self.ids[found.uid] = identifier
            self.added.append((found.position, identifier))
        self._restate(self.ids[found.uid], found)
        return "updated" if held is not None else "added"

    def _without_taken_topic(self, found: Observation) -> Observation:
        key = project_key(found.project)
        if found.deleted_at is None and observations.live_topic(
            self.tx, found.topic_key, key, found.scope, found.namespace
        ):
            return Observation(**{**asdict(found), "topic_key": ""})
        return found

    def _restate(self, identifier: int, found: Observation) -> None:
        names = set(fields(found)) - {"id", "uid", "position", "tags", "session_id", "topic_key"}
        values = {name: getattr(found, name) for name in names}
        values |= {"pinned": int(found.pinned), "project_key": project_key(found.project)}
        values |= {"bytes": utf8_length(found.content), "units": count_tokens(found.content)}
        values |= {"label": index_words.label(found.title, found.content), "asks": index_words.asks(found.content)}
        observations.change(self.tx, identifier, values)
        observations.retag(self.tx, identifier, found.tags)
        index_words.index(self.tx, identifier)

    def _revision(self, values: dict[str, Any]) -> str:
        uid = values.pop("uid")
        revision = Revision(**self.gate.passed(Revision, {**values, "observation_id": self.ids[uid]}))
        return "added" if observations.put_revision(self.tx, revision) else "known"

    def _prompt(self, values: dict[str, Any]) -> str:
        prompt = Prompt(**self.gate.passed(Prompt, values))
        if sessions.has_prompt(self.tx, prompt):
            return "known"
        sessions.add_prompt(self.tx, prompt, project_key(prompt.project))
        return "added"

    def _relation(self, values: dict[str, Any]) -> str:
        values["from_id"] = self.ids[values.pop("from_uid")]
        values["to_id"] = self.ids[values.pop("to_uid")]
        values["type"] = values.pop("relation_type")
        relation = Relation(**self.gate.passed(Relation, values))
        if relations.has(self.tx, relation):
            return "known"
        relations.put(self.tx, relation)
        return "added"


class _Gate:
    """What `mem_save` checks and takes out, asked of every record that comes in."""

    def __init__(self, memory: Memory) -> None:
        self._longest = memory.settings.max_content
        self._redacts = memory.settings.redact

    def passed(self, kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a record, checked one by one, without secrets."""
        return {name: self._value(kind, name, value) for name, value in _typed(kind, values).items()}

    def observation(self, found: Observation) -> Observation:
        """The observation; the hash of a text that was changed here is made anew."""
        draft = Draft(found.title, found.content, found.kind, found.project, found.scope, namespace=found.namespace)
        check_text("title", found.title, MAX_TITLE)
        return replace(found, content_hash=content_hash(draft))

    def _value(self, kind: type, name: str, value: Any) -> Any:
        if name in _CHECKS and (kind, name) != (Session, "id"):
            return _CHECKS[name](value)
        if name == "type":
            return check_member("type", value, RELATION_TYPES)
        if not isinstance(value, str):
            return value
        if name not in _TEXTS:
            return check_line(name, value, _LONGEST_NAME)
        text = check_optional_text(name, value, self._longest)
        return redact(text).text if self._redacts else text


_TEXTS = frozenset({"title", "content", "summary", "note"})
_LONGEST_NAME = 4_000
_HIGHEST_ID = 1 << 48
"""Ids follow each other from the highest, so one near the end of the integers would end all saving."""


def _check_id(value: int) -> int:
    if not 0 < value < _HIGHEST_ID:
        raise ValueError(f"id is {value}")
    return value


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "id": _check_id,
    "kind": check_kind,
    "scope": partial(check_member, "scope", allowed=SCOPES),
    "status": partial(check_member, "status", allowed=STATUSES),
    "verification": partial(check_member, "verification", allowed=VERIFICATIONS),
    "tags": check_tags,
    "importance": partial(check_fraction, "importance"),
    "strength": partial(check_fraction, "strength"),
}


def _typed(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a record, lists as tuples; an error when one is not what its field holds."""
    wanted = kind.__annotations__
    for name, value in values.items():
        if name not in wanted:
            raise ValueError(f"{kind.__name__.lower()} has no {name}")
        if not _IS[wanted[name]](value):
            raise ValueError(f"{name} is {str(value)[:60]!r}")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value == value.encode("utf-8", "replace").decode("utf-8")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53


_IS: dict[object, Callable[[Any], bool]] = {
    str: _is_text,
    int: _is_whole,
    bool: lambda value: isinstance(value, bool),
    float: lambda value: isinstance(value, float) or _is_whole(value),
    int | None: lambda value: value is None or _is_whole(value),
    tuple[str, ...]: lambda value: isinstance(value, list) and all(map(_is_text, value)),
}


def _texts(observation: Observation) -> tuple[object, ...]:
    return tuple(
        value
        for name, value in asdict(observation).items()
        if name not in {"id", "position", "access_count", "last_accessed_at"}
    )


def _new(found: Observation) -> NewObservation:
    held = asdict(found)
    shared = {name: held[name] for name in fields(NewObservation) if name in held}
    return NewObservation(
        **shared,
        project_key=project_key(found.project),
        label=index_words.label(found.title, found.content),
        asks=index_words.asks(found.content),
    )
