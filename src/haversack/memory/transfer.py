"""Export and import as JSON Lines: a round trip loses nothing, and importing twice adds nothing.

Every line is one record with its `type`. Observations are known by their `uid`, which is the same in every
store; relations name their ends by it.
"""

import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from haversack.errors import InvalidArgument
from haversack.memory import plain_records
from haversack.memory import sessions as sessions_of_memory
from haversack.memory.plain_records import PlainObservation
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
from haversack.store.engine import ConstraintBroken
from haversack.store.observations import NewObservation
from haversack.store.records import Observation, Prompt, Relation, Revision, Session
from haversack.text.redaction import redact
from haversack.tokens import count_tokens, utf8_length
from haversack.values import asdict, fields, record, replace

FORMAT = 1
BATCH = 200
"""Records of one transaction: the others wait for a fraction of a second, not for the whole import."""
PAUSE = 0.03
"""Seconds between transactions, a little over the time in which one that waits for its turn looks again."""


@record
class Imported:
    """How many records an import added, brought up to date, and found there already."""

    added: int
    updated: int
    known: int

    @property
    def total(self) -> int:
        """How many records were read and are in the store now."""
        return self.added + self.updated + self.known

    def plus(self, outcomes: Mapping[str, int]) -> "Imported":
        """These and the ones of another batch."""
        return Imported(**{name: getattr(self, name) + count for name, count in outcomes.items()})


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
    """Add what is not there yet, a batch at a time; a wrong line is an error that names it and says what is in.

    Others save between the batches. An interrupt says how many records are in; importing again goes on from there.
    """
    reading = _Reading(memory)
    done = Imported(0, 0, 0)
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    try:
        # A batch is read before its transaction begins: a slow pipe must not hold the write lock.
        while batch := list(islice(numbered, BATCH)):
            if done.total:
                time.sleep(PAUSE)
            done = done.plus(_take(reading, batch, done.total))
        reading.finish()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{done.total:,} records are in; import it again to go on") from None
    return done


def _take(reading: "_Reading", batch: Sequence[tuple[int, str]], before: int) -> Mapping[str, int]:
    """What became of each record of the batch; all of it is in, or none."""
    outcomes = {"added": 0, "updated": 0, "known": 0}
    with reading.writing():
        for number, line in batch:
            if problem := reading.problem(line, outcomes):
                raise InvalidArgument(f"line {number} cannot be imported: {problem}", hint=_kept(before))
    return outcomes


def _kept(before: int) -> str:
    if not before:
        return "nothing was imported; mend the line and try again"
    return f"{before:,} records before it are in; mend the line and import it again to go on"


class _Reading:
    """One import under way; ids of this store by the uid of what they stand for.

    Into an empty store everything comes with the id it had, since texts name others by it.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.gate = _Gate(memory)
        self.ids: dict[str, int] = {}
        self.added: list[tuple[int, int]] = []
        with memory.database.read() as tx:
            self.keeps_ids = observations.newest_id(tx) == 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction for what is taken inside the block."""
        with self.memory.database.write() as tx:
            self.tx = tx
            yield

    def finish(self) -> None:
        """Put what was added into the order it had."""
        ordered = sorted(self.added)
        same = next((at for at, (one, other) in enumerate(zip(self.added, ordered, strict=True)) if one != other), None)
        if same is None:
            return
        for at in range(same, len(ordered), BATCH):
            with self.writing():
                for _, identifier in ordered[at : at + BATCH]:
                    observations.move_to_end(self.tx, identifier)

    def problem(self, line: str, outcomes: dict[str, int]) -> str:
        """Take a line and count what became of it; what is wrong with it, if anything."""
        try:
            outcomes[self.take(json.loads(line))] += 1
        except RecursionError:
            return "it is nested too deeply"
        except KeyError as error:
            return f"it lacks {error}"
        except (ValueError, TypeError, AttributeError, ConstraintBroken, InvalidArgument) as error:
            return str(error)
        return ""

    def take(self, values: dict[str, Any]) -> str:
        if plain_records.is_plain(values):
            return self._plain(plain_records.read(self.memory, values))
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
            # The first of an import that was interrupted has the id it came with; the rest then keeps its ids too.
            self.keeps_ids = self.keeps_ids or (len(self.ids) == 1 and held.id == found.id)
            if _texts(held) == _texts(found) or held.updated_at >= found.updated_at:
                return "known"
            observations.add_revision(self.tx, held, found.updated_at)
        else:
            # A topic has one live observation; an imported rival keeps its text under no topic.
            found = self._without_taken_topic(found)
            identifier = observations.insert(self.tx, _new(found), self._kept_id(found.id))
            self.ids[found.uid] = identifier
            self.added.append((found.position, identifier))
        self._restate(self.ids[found.uid], found)
        return "updated" if held is not None else "added"

    def _kept_id(self, identifier: int) -> int | None:
        """The id a record came with; None when it cannot keep it, as another may have been saved under it meanwhile."""
        free = self.keeps_ids and identifier > 0 and not observations.get_many(self.tx, (identifier,))
        return identifier if free else None

    def _plain(self, plain: PlainObservation) -> str:
        found = plain.observation
        held = observations.with_uid(self.tx, found.uid) or observations.same_content(self.tx, found.content_hash, 0)
        if held is not None:
            self.ids[found.uid] = held.id
            is_new_text = held.content_hash != found.content_hash and plain.dated
            if not is_new_text or held.updated_at >= found.updated_at:
                return "known"
            kept = {name: getattr(held, name) for name in _OF_THE_STORE}
            revision = observations.add_revision(self.tx, held, found.updated_at)
            self._restate(held.id, replace(found, **kept, revision_count=revision))
            return "updated"
        session = sessions_of_memory.ensure(
            self.tx, self.memory, session_id=found.session_id, project=found.project, namespace=found.namespace
        )
        found = self._without_taken_topic(replace(found, session_id=session))
        self.ids[found.uid] = observations.insert(self.tx, _new(found))
        self._restate(self.ids[found.uid], found)
        return "added"

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


_OF_THE_STORE = ("uid", "created_at", "pinned", "duplicate_count", "access_count", "last_accessed_at", "deleted_at")
"""What a new text from elsewhere leaves as it is here."""

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
