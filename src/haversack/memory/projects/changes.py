"""Changing whole projects: rename, merge, forget, and undoing the last change."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from haversack.errors import Conflict, InvalidArgument, NotFound
from haversack.memory.projects.identity import project_key, short_name
from haversack.memory.projects.names import resolve
from haversack.memory.room import Memory
from haversack.memory.save.checks import check_line, check_text
from haversack.memory.save.pipeline import Draft, content_hash
from haversack.memory.search import index_words
from haversack.store import observations
from haversack.store import projects as table
from haversack.store.engine import Reader, Writer
from haversack.store.records import Observation, Project, ProjectChange
from haversack.values import record

Detail = dict[str, Any]


@record
class Changed:
    """The result of a change of a whole project: what was moved or hidden."""

    action: str
    project: str
    target: str
    observations: int
    sessions: int
    prompts: int


def everything(memory: Memory) -> list[tuple[str, int]]:
    """Every project that holds anything, with its live observations, the most first."""
    with memory.database.read() as tx:
        return [(project.name, many) for project, many in table.everything(tx)]


def rename(memory: Memory, old: str, new: str) -> Changed:
    """Give a project another name; what its folder saves later follows. A name that is taken is an error."""
    name = check_line("new", check_text("new", new, 200))
    with memory.database.write() as tx:
        project = _existing(tx, memory, old)
        taken = table.get(tx, project_key(name))
        if taken is not None and taken.key != project.key and not taken.moved_to:
            raise Conflict(f"a project {taken.name!r} exists already", hint="`project merge` puts two into one")
        return _move(tx, memory, "rename", project, name)


def merge(memory: Memory, source: str, target: str) -> Changed:
    """Put all of a project into another; what its folder saves later follows."""
    with memory.database.write() as tx:
        project, other = _existing(tx, memory, source), _existing(tx, memory, target)
        if project.key == other.key:
            raise InvalidArgument(f"{project.name!r} cannot be merged into itself", hint="name two projects")
        return _move(tx, memory, "merge", project, other.name)


def forget(memory: Memory, name: str) -> Changed:
    """Delete a project's observations (they can be restored) and hide its sessions and prompts."""
    with memory.database.write() as tx:
        project = _existing(tx, memory, name)
        sessions, prompts = table.session_ids(tx, project.key), table.prompt_ids(tx, project.key)
        live = table.live_ids(tx, project.key)
        moment = memory.now()
        for identifier in live:
            observations.change(tx, identifier, {"deleted_at": moment})
            index_words.index(tx, identifier)
        table.hide(tx, sessions, prompts, moment)
        table.remove(tx, project.key)
        detail = {"observations": live, "sessions": sessions, "prompts": prompts, "row": _row(project)}
        return _noted(tx, memory, "forget", project.name, "", detail)


def adopt(memory: Memory, old_key: str, identity: str, *, staying: Collection[str]) -> Changed | None:
    """Move what is stored under a bare name to an identity, except for sessions of some folders."""
    with memory.database.write() as tx:
        project = table.get(tx, old_key)
        if project is None or project.moved_to:
            return None
        return _move(tx, memory, "adopt", project, identity, staying=staying)


def undo(memory: Memory) -> Changed:
    """Undo the last change of a project; changes can be undone one after another."""
    with memory.database.write() as tx:
        change = table.last_change(tx)
        if change is None:
            raise NotFound("no change of a project is left to take back", hint="`project list` shows the projects")
        detail: Detail = json.loads(change.detail)
        if change.action == "forget":
            _restore(tx, detail)
        else:
            _move_back(tx, detail)
        table.mark_undone(tx, change.id, memory.now())
    return Changed(
        change.action, change.project, change.target,
        len(detail["observations"]), len(detail["sessions"]), len(detail["prompts"]),
    )  # fmt: skip


def _existing(tx: Reader, memory: Memory, name: str) -> Project:
    held = table.get(tx, project_key(resolve(memory, check_text("project", name, 4_096))))
    if held is None:
        raise NotFound(f"no project {name[:100]!r}", hint="`project list` shows the projects")
    return held


def _move(
    tx: Writer, memory: Memory, action: str, project: Project, name: str, *, staying: Collection[str] = ()
) -> Changed:
    key = project_key(name)
    folders = table.session_folders(tx, project.key)
    left = [identifier for folder in staying for identifier in folders.get(folder, ())]
    sessions = [each for each in table.session_ids(tx, project.key) if each not in set(left)]
    prompts = table.prompts_outside(tx, project.key, left)
    moved = table.observations_outside(tx, project.key, left)
    target = table.get(tx, key)
    topics = _move_observations(tx, moved, name, key)
    table.move_sessions(tx, sessions, name, key)
    table.move_prompts(tx, prompts, name, key)
    if key != project.key:
        if action != "adopt":
            table.put(tx, Project(project.key, project.name, project.short, moved_to=key))
        elif not left:
            table.remove(tx, project.key)
    table.put(tx, Project(key, name, project_key(short_name(name))))
    detail = {
        "observations": moved, "sessions": sessions, "prompts": prompts, "topics": topics,
        "row": _row(project), "target": _row(target) if target else [key],
    }  # fmt: skip
    return _noted(tx, memory, action, project.name, name, detail)


def _move_observations(tx: Writer, moved: Sequence[int], name: str, key: str) -> dict[int, str]:
    """Put observations under another project; returns the topics of those whose topic exists there, by id."""
    lost: dict[int, str] = {}
    for identifier in moved:
        held = observations.get(tx, identifier)
        assert held is not None
        values: dict[str, str | int] = {"project": name, "project_key": key}
        if held.topic_key and held.deleted_at is None:
            taken = observations.live_topic(tx, held.topic_key, key, held.scope, held.namespace)
            if taken is not None and taken.id != identifier:
                lost[identifier] = held.topic_key
                values["topic_key"] = ""
        values["content_hash"] = _fingerprint(held, name)
        observations.change(tx, identifier, values)
        index_words.index(tx, identifier)
    return lost


def _fingerprint(held: Observation, project: str) -> str:
    return content_hash(
        Draft(
            title=held.title, content=held.content, kind=held.kind, project=project, scope=held.scope,
            namespace=held.namespace,
        )
    )  # fmt: skip


def _move_back(tx: Writer, detail: Detail) -> None:
    key, name, short, moved_to = detail["row"]
    for identifier in detail["observations"]:
        held = observations.get(tx, identifier)
        if held is None:
            continue  # erased since
        values: dict[str, str | int] = {"project": name, "project_key": key}
        values["content_hash"] = _fingerprint(held, name)
        topic = detail["topics"].get(str(identifier))
        if topic and not observations.live_topic(tx, topic, key, held.scope, held.namespace):
            values["topic_key"] = topic
        observations.change(tx, identifier, values)
        index_words.index(tx, identifier)
    table.move_sessions(tx, detail["sessions"], name, key)
    table.move_prompts(tx, detail["prompts"], name, key)
    target = detail["target"]
    if len(target) == 4:
        table.put(tx, Project(*target))
    elif target[0] != key and not table.session_ids(tx, target[0]) and not table.observation_ids(tx, target[0]):
        table.remove(tx, target[0])
    table.put(tx, Project(key, name, short, moved_to))


def _restore(tx: Writer, detail: Detail) -> None:
    for identifier in detail["observations"]:
        held = observations.get(tx, identifier)
        if held is None or held.deleted_at is None:
            continue
        values: dict[str, str | int | None] = {"deleted_at": None}
        if held.topic_key and observations.live_topic(
            tx, held.topic_key, project_key(held.project), held.scope, held.namespace
        ):
            values["topic_key"] = ""
        observations.change(tx, identifier, values)
        index_words.index(tx, identifier)
    table.hide(tx, detail["sessions"], detail["prompts"], None)
    table.put(tx, Project(*detail["row"]))


def _row(project: Project) -> list[str]:
    return [project.key, project.name, project.short, project.moved_to]


def _noted(tx: Writer, memory: Memory, action: str, project: str, target: str, detail: Detail) -> Changed:
    written = json.dumps(detail, ensure_ascii=False, separators=(",", ":"))
    table.note_change(tx, ProjectChange(0, action, project, target, written, memory.now()))
    return Changed(
        action, project, target, len(detail["observations"]), len(detail["sessions"]), len(detail["prompts"])
    )
