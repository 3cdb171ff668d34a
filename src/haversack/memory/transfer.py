"""Export and import as JSON Lines: a round trip loses nothing, and importing twice adds nothing.

Every line is one record with its `type`. Observations are known by their `uid`, which is the same in every
store; relations name their ends by it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from haversack.errors import InvalidArgument
from haversack.memory import indexing
from haversack.memory.projects import project_key
from haversack.memory.room import Memory
from haversack.store import observations, relations, sessions
from haversack.store.database import Writer
from haversack.store.observations import NewObservation
from haversack.store.records import Observation, Prompt, Relation, Revision, Session
from haversack.tokens import count_tokens, utf8_length
from haversack.values import asdict, fields, record

FORMAT = 1


@record
class Imported:
    """How many records an import added, brought up to date, and found there already."""

    added: int
    updated: int
    known: int


def export(memory: Memory) -> Iterator[str]:
    """Every record of the store, deleted ones too, one JSON document to a line."""
    with memory.database.read() as tx:
        yield _line("haversack", {"format": FORMAT})
        for session in sessions.everything(tx):
            yield _line("session", asdict(session))
        uids: dict[int, str] = {}
        for observation in observations.everything(tx):
            uids[observation.id] = observation.uid
            yield _line("observation", asdict(observation))
            for revision in reversed(observations.revisions(tx, observation.id)):
                yield _line("revision", {"uid": observation.uid, **asdict(revision)})
        for prompt in sessions.every_prompt(tx):
            yield _line("prompt", asdict(prompt))
        for relation in relations.everything(tx):
            ends = {"from_uid": uids[relation.from_id], "to_uid": uids[relation.to_id]}
            yield _line("relation", {**ends, **asdict(relation)})


def _line(kind: str, values: Mapping[str, object]) -> str:
    return json.dumps({"type": kind, **values}, ensure_ascii=False, separators=(",", ":"))


def import_(memory: Memory, lines: Iterable[str]) -> Imported:
    """Add what is not there yet, in one transaction; a wrong line is an error that names it, and nothing is added."""
    outcomes = {"added": 0, "updated": 0, "known": 0}
    with memory.database.write() as tx:
        reading = _Reading(tx)
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                outcomes[reading.take(json.loads(line))] += 1
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
                raise InvalidArgument(
                    f"line {number} cannot be imported: {reason}",
                    hint="nothing was imported; mend the line and try again",
                ) from None
    return Imported(**outcomes)


class _Reading:
    """One import under way; ids of this store by the uid of what they stand for."""

    def __init__(self, tx: Writer) -> None:
        self.tx = tx
        self.ids: dict[str, int] = {}

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
        session = Session(**values)
        return "added" if sessions.add(self.tx, session, project_key(session.project)) else "known"

    def _observation(self, values: dict[str, Any]) -> str:
        found = Observation(**{**values, "tags": tuple(values["tags"])})
        held = observations.with_uid(self.tx, found.uid)
        if held is not None:
            self.ids[found.uid] = held.id
            if _texts(held) == _texts(found) or held.updated_at >= found.updated_at:
                return "known"
            observations.add_revision(self.tx, held, found.updated_at)
        else:
            # A topic has one live observation; an imported rival keeps its text under no topic.
            found = self._without_taken_topic(found)
            self.ids[found.uid] = observations.insert(self.tx, _new(found))
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
        observations.change(self.tx, identifier, values)
        observations.retag(self.tx, identifier, found.tags)
        indexing.index(self.tx, identifier)

    def _revision(self, values: dict[str, Any]) -> str:
        uid = values.pop("uid")
        revision = Revision(**{**values, "observation_id": self.ids[uid], "tags": tuple(values["tags"])})
        return "added" if observations.put_revision(self.tx, revision) else "known"

    def _prompt(self, values: dict[str, Any]) -> str:
        prompt = Prompt(**values)
        if sessions.has_prompt(self.tx, prompt):
            return "known"
        sessions.add_prompt(self.tx, prompt, project_key(prompt.project))
        return "added"

    def _relation(self, values: dict[str, Any]) -> str:
        ends = {"from_id": self.ids[values.pop("from_uid")], "to_id": self.ids[values.pop("to_uid")]}
        relation = Relation(**{**values, **ends})
        if relations.has(self.tx, relation):
            return "known"
        relations.put(self.tx, relation)
        return "added"


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
        label=indexing.label(found.title, found.content),
        asks=indexing.asks(found.content),
    )
