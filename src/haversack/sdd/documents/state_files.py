"""`sdd.json` and `change.json`: written for people to read, and checked field by field when read back.

`sdd.json` holds format, name, description, mode, created_at, current_stage, verdict, `stages` (an object from
stage to status, iterations, started_at, finished_at) and `clarity` (an object from dimension to score).
`change.json` holds format, slug, description, type, size, status, created_at, checked_at, closed_at, reason,
current_stage and `stages`. `current_stage` is there for people: it follows from the stages.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from haversack.errors import DamagedFile, InvalidArgument, StoreTooNew
from haversack.sdd.flows.changes import CHANGE_STATUSES, FLOWS, SIZES, TYPES, Change
from haversack.sdd.flows.clarity import checked_scores
from haversack.sdd.flows.pipeline import MODES, STAGES, VERDICTS, Project
from haversack.sdd.flows.stages import STATUSES, StageState, States

FORMAT = 1
T = TypeVar("T", bound=str)


class _Unreadable(Exception):
    """The reason why a state file cannot be read."""


def write_project(project: Project) -> str:
    """The content of `sdd.json`."""
    return _written(
        {
            "format": FORMAT,
            "name": project.name,
            "description": project.description,
            "mode": project.mode,
            "created_at": project.created_at,
            "current_stage": project.current,
            "verdict": project.verdict,
            "stages": _stages_written(STAGES, project.stages),
            "clarity": dict(project.scores),
        }
    )


def read_project(text: str, shown: str) -> Project:
    """The project in an `sdd.json`; DamagedFile, saying what is wrong and how to mend it, when it is invalid."""
    try:
        record = _record(text, shown)
        stages = _stages_read(STAGES, _field(record, "stages", dict))
        if stages[0].status != "done":
            raise _Unreadable("stage 'init' is not done")
        verdict = record.get("verdict")
        return Project(
            name=_field(record, "name", str),
            description=_field(record, "description", str),
            mode=_one_of(record, "mode", MODES),
            created_at=_field(record, "created_at", str),
            stages=stages,
            scores=checked_scores(_field(record, "clarity", dict)),
            verdict=None if verdict is None else _one_of(record, "verdict", VERDICTS),
        )
    except (_Unreadable, InvalidArgument) as error:
        raise _damaged(shown, error) from None


def write_change(change: Change) -> str:
    """The content of `change.json`."""
    return _written(
        {
            "format": FORMAT,
            "slug": change.slug,
            "description": change.description,
            "type": change.type,
            "size": change.size,
            "status": change.status,
            "created_at": change.created_at,
            "checked_at": change.checked_at,
            "closed_at": change.closed_at,
            "reason": change.reason,
            "current_stage": change.current,
            "stages": _stages_written(change.flow, change.stages),
        }
    )


def read_change(text: str, shown: str, slug: str) -> Change:
    """The change in a `change.json` of the folder `slug`; DamagedFile when it is invalid."""
    try:
        record = _record(text, shown)
        change_type = _one_of(record, "type", TYPES)
        size = _one_of(record, "size", SIZES)
        return Change(
            slug=slug,
            description=_field(record, "description", str),
            type=change_type,
            size=size,
            status=_one_of(record, "status", CHANGE_STATUSES),
            created_at=_field(record, "created_at", str),
            stages=_stages_read(FLOWS[change_type][size], _field(record, "stages", dict)),
            checked_at=_field(record, "checked_at", str),
            closed_at=_field(record, "closed_at", str),
            reason=_field(record, "reason", str),
        )
    except _Unreadable as error:
        raise _damaged(shown, error) from None


def _written(record: Mapping[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _record(text: str, shown: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _Unreadable(f"not JSON: {error}" if text.strip() else "it is empty") from None
    if not isinstance(record, dict):
        raise _Unreadable("not a JSON object")
    version = record.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise StoreTooNew(f"{shown} has format {version}, newer than {FORMAT}", hint="upgrade haversack to read it")
    if version != FORMAT:
        raise _Unreadable(f"'format' is {version!r}, not {FORMAT}")
    return record


V = TypeVar("V")


def _field(record: Mapping[str, Any], name: str, kind: type[V]) -> V:
    value = record.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _Unreadable(f"{name!r} is {value!r}")
    return value


def _one_of(record: Mapping[str, Any], name: str, allowed: Sequence[T]) -> T:
    value = record.get(name)
    found = next((word for word in allowed if word == value), None)
    if found is None:
        raise _Unreadable(f"{name!r} is {value!r}, not one of {', '.join(allowed)}")
    return found


def _stages_written(names: Sequence[str], states: States) -> dict[str, object]:
    return {
        name: {
            "status": state.status,
            "iterations": state.iterations,
            "started_at": state.started_at,
            "finished_at": state.finished_at,
        }
        for name, state in zip(names, states, strict=True)
    }


def _stages_read(names: Sequence[str], record: Mapping[str, Any]) -> States:
    if set(record) != set(names):
        raise _Unreadable(f"'stages' holds {', '.join(record) or 'nothing'}, not {', '.join(names)}")
    return tuple(_state(name, record[name]) for name in names)


def _state(name: str, record: object) -> StageState:
    if not isinstance(record, dict):
        raise _Unreadable(f"stage {name!r} is {record!r}")
    iterations = _field(record, "iterations", int)
    if iterations < 0:
        raise _Unreadable(f"stage {name!r} has {iterations} iterations")
    return StageState(
        status=_one_of(record, "status", STATUSES),
        iterations=iterations,
        started_at=_field(record, "started_at", str),
        finished_at=_field(record, "finished_at", str),
    )


def _damaged(shown: str, reason: Exception) -> DamagedFile:
    return DamagedFile(
        f"{shown} cannot be understood ({reason}) and was left as it is",
        hint="restore it from version control, or let `haversack sdd doctor --mend` rebuild it from the artifacts",
    )
