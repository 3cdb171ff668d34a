"""The checks of every imported record."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

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
from haversack.store.records import Observation, Session
from haversack.text.redaction import redact
from haversack.values import replace


class Gate:
    """Applies the checks and the redaction of `mem_save` to imported records."""

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
"""The limit of ids that are accepted: new ids follow the highest one, and integers end."""


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
