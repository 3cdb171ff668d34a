"""Export and import as JSON Lines: a round trip loses nothing, and importing twice adds nothing.

Every line is one record with its `type`. Observations are known by their `uid`, which is the same in every
store; relations name their ends by it.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import merge
from itertools import islice
from typing import Any

from haversack.errors import InvalidArgument
from haversack.memory import sessions as sessions_of_memory
from haversack.memory.projects.identity import project_key
from haversack.memory.room import Memory
from haversack.memory.search import index_words
from haversack.memory.transfer import plain_records
from haversack.memory.transfer.plain_records import PlainObservation
from haversack.memory.transfer.record_gate import Gate
from haversack.store import observations, relations, sessions
from haversack.store.engine import ConstraintBroken
from haversack.store.observations import NewObservation
from haversack.store.records import Filters, Observation, Prompt, Relation, Revision, Session
from haversack.tokens import count_tokens, utf8_length
from haversack.values import asdict, fields, record, replace

FORMAT = 1
BATCH = 200
"""Records of one transaction: the others wait for a fraction of a second, not for the whole import."""
PAUSE = 0.1
"""Seconds between transactions: the longest time after which one that waits for its turn looks again."""


@record
class Imported:
    """How many records an import added, updated, and found unchanged."""

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
    memory.database.note_export("deleted ones too" if include_deleted else "")
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


def count_records(memory: Memory, *, include_deleted: bool = False) -> int:
    """About how many lines an export has: without earlier texts, and with relations of what was deleted."""
    with memory.database.read() as tx:
        kept = observations.count_observations(tx, Filters())
        deleted = observations.count_observations(tx, Filters(deleted=True)) if include_deleted else 0
        others = sessions.count(tx, "", None) + sessions.count_prompts(tx, "", None) + relations.count(tx)
    return 1 + kept + deleted + others


def _line(kind: str, values: Mapping[str, object]) -> str:
    return json.dumps({"type": kind, **values}, ensure_ascii=False, separators=(",", ":"))


def import_(memory: Memory, lines: Iterable[str]) -> Imported:
    """Add what is not there yet, in batches; a wrong line is an error that says how many records were imported.

    Others save between the batches. An interrupt reports how many records were imported; importing again continues from
    there.
    """
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())

    def refuse(number: int, problem: str, before: int) -> None:
        raise InvalidArgument(f"line {number} cannot be imported: {problem}", hint=_kept(before))

    return _in_batches(_Reading(memory), numbered, refuse)


def import_foreign(memory: Memory, records: Iterable[dict[str, Any]], left: Counter[str]) -> Imported:
    """Add the records of another program as `import_` does; what cannot be carried is counted in `left`."""

    def leave(number: int, problem: str, before: int) -> None:
        left[problem] += 1

    return _in_batches(_Reading(memory), enumerate(records, 1), leave)


def _in_batches(
    reading: "_Reading", records: Iterator[tuple[int, Any]], wrong: Callable[[int, str, int], None]
) -> Imported:
    done = Imported(0, 0, 0)
    try:
        # A batch is read before its transaction begins: a slow pipe must not hold the write lock.
        while batch := list(islice(records, BATCH)):
            if done.total:
                time.sleep(PAUSE)
            outcomes = {"added": 0, "updated": 0, "known": 0}
            with reading.writing():
                for number, each in batch:
                    if problem := reading.problem(each, outcomes):
                        wrong(number, problem, done.total)
            done = done.plus(outcomes)
        reading.finish()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{done.total:,} records are in; import it again to go on") from None
    return done


def _kept(before: int) -> str:
    if not before:
        return "nothing was imported; mend the line and try again"
    return f"{before:,} records before it are in; mend the line and import it again to go on"


class _Reading:
    """One import under way; ids of this store by the uid of what they stand for.

    In an empty store records keep their ids, since texts refer to them.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.gate = Gate(memory)
        self.ids: dict[str, int] = {}
        self.added: list[tuple[int, int]] = []
        self.dated: dict[int, int] = {}
        with memory.database.read() as tx:
            self.keeps_ids = observations.newest_id(tx) == 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction for what is taken inside the block."""
        with self.memory.database.write() as tx:
            self.tx = tx
            yield

    def finish(self) -> None:
        """Put what was added into the order it had, and what came with a time among what is of the same age."""
        self._move([each for _, each in self.added], [each for _, each in sorted(self.added)])
        if self.dated:
            with self.memory.database.read() as tx:
                held = observations.updated_since(tx, min(self.dated.values()))
            own = sorted(self.dated.items(), key=lambda each: each[1])
            others = [each for each in held if each[0] not in self.dated]
            # What was here keeps its order, which is that of its last change.
            merged = merge(others, own, key=lambda each: each[1])
            self._move([each for each, _ in held], [each for each, _ in merged])

    def _move(self, order: Sequence[int], wanted: Sequence[int]) -> None:
        """Reorder observations with as few moves as possible."""
        same = next((at for at, (one, other) in enumerate(zip(order, wanted, strict=False)) if one != other), None)
        if same is None:
            return
        with self.memory.database.read() as tx:
            newest = observations.newest_id(tx)
        for at in range(same, len(wanted), BATCH):
            with self.writing():
                for identifier in wanted[at : at + BATCH]:
                    observations.move_to_end(self.tx, identifier)
        with self.writing():
            for identifier in observations.ids_above(self.tx, newest):  # saved by others meanwhile
                observations.move_to_end(self.tx, identifier)

    def problem(self, given: str | dict[str, Any], outcomes: dict[str, int]) -> str:
        """Import a line or a record and count the outcome; returns what is wrong with it, if anything."""
        try:
            outcomes[self.take(json.loads(given) if isinstance(given, str) else given)] += 1
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
        if plain.dated:
            self.dated[self.ids[found.uid]] = found.updated_at
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


_OF_THE_STORE = ("uid", "created_at", "pinned", "duplicate_count", "access_count", "last_accessed_at", "deleted_at")
"""Fields that an imported new text does not change."""


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
