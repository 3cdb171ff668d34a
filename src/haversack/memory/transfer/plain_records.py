"""Observations from outside: a title and a content, with optional other fields."""

from collections.abc import Mapping
from typing import Any

from haversack.digests import blake2b
from haversack.errors import InvalidArgument
from haversack.memory.room import Memory
from haversack.memory.save.pipeline import Draft, checked, content_hash, redacted
from haversack.store.records import Observation
from haversack.text.times import from_iso
from haversack.tokens import count_tokens, utf8_length
from haversack.values import asdict, fields, record, replace

_TEXTS = frozenset({"title", "content", "kind", "project", "scope", "topic_key", "namespace"}) | frozenset(
    {"session_id", "tool_name", "status"}
)
_ALLOWED = (frozenset(fields(Draft)) - {"relate_to"}) | {"type", "uid", "created_at", "updated_at"}


@record
class PlainObservation:
    """A checked observation from elsewhere; `dated` says whether it came with the time of its last change."""

    observation: Observation
    dated: bool


def is_plain(values: Mapping[str, Any]) -> bool:
    """Whether a line has a title and a content, and is no record of an export."""
    is_exported = values.get("type") == "revision" or "position" in values
    return "title" in values and "content" in values and not is_exported


def read(memory: Memory, values: Mapping[str, Any]) -> PlainObservation:
    """The observation, checked and without secrets as `mem_save` does it; known again by its uid or its content."""
    if unknown := sorted(set(values) - _ALLOWED):
        raise InvalidArgument(f"{unknown[0][:60]!r} is not known here", hint=f"known: {', '.join(sorted(_ALLOWED))}")
    given = dict(values)
    kind = given.pop("type", "")
    origin, created, updated = (given.pop(name, None) for name in ("uid", "created_at", "updated_at"))
    for name, value in given.items():
        if name in _TEXTS and not isinstance(value, str):
            raise InvalidArgument(f"{name} is {str(value)[:60]!r}, not a text")
    draft = Draft(**{"kind": kind or "observation", **given, "tags": _tags(given.get("tags"))})
    if isinstance(draft.importance, bool) or not isinstance(draft.importance, int | float):
        raise InvalidArgument(f"importance is {str(draft.importance)[:60]!r}, not a number")
    if not isinstance(draft.pinned, bool):
        raise InvalidArgument(f"pinned is {str(draft.pinned)[:60]!r}, not true or false")
    draft, _ = redacted(memory, checked(memory, replace(draft, project=memory.project(draft.project))))
    fingerprint = content_hash(draft)
    now = memory.now()
    made = _time("created_at", created if created is not None else updated, now)
    changed = max(_time("updated_at", updated, made), made)
    held = {name: value for name, value in asdict(draft).items() if name != "relate_to"}
    observation = Observation(
        **{**held, "tags": draft.tags},
        id=0, uid=_uid(origin, fingerprint), position=0, verification="unverified", content_hash=fingerprint,
        bytes=utf8_length(draft.content), units=count_tokens(draft.content), revision_count=0, duplicate_count=0,
        access_count=0, created_at=made, updated_at=changed, last_seen_at=changed, last_accessed_at=None,
        deleted_at=None,
    )  # fmt: skip
    return PlainObservation(observation, dated=updated is not None)


def _uid(given: object, fingerprint: str) -> str:
    if given is not None and (not isinstance(given, str) or not given.strip()):
        raise InvalidArgument(f"uid is {str(given)[:60]!r}, not a text")
    return uid(given or f"plain\x1f{fingerprint}")


def uid(origin: str) -> str:
    """The uid for a record of another program, from its name there."""
    return blake2b(origin.encode(), digest_size=12).hexdigest()


def _tags(given: object) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list | tuple) or not all(isinstance(tag, str) for tag in given):
        raise InvalidArgument(f"tags is {str(given)[:60]!r}, not a list of texts")
    return tuple(given)


def _time(name: str, given: object, default: int) -> int:
    if given is None:
        return default
    if isinstance(given, str):
        return from_iso(given)
    if isinstance(given, bool) or not isinstance(given, int) or abs(given) >= 1 << 53:
        raise InvalidArgument(f"{name} is {str(given)[:60]!r}", hint="write ISO 8601, or microseconds since 1970")
    return given
