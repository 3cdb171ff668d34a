"""Finding and mending damage in an `sdd/` folder; what is replaced is first copied to `history/`.

A lost or damaged `sdd.json` is rebuilt from the artifacts: stages are done up to the first whose artifact is
missing, and later stages are stale. Whatever can still be read of the damaged file (name,
description, mode, scores) is used. A damaged `change.json` is rebuilt from the stages written.
"""

import json
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from haversack.errors import DamagedFile, InvalidArgument
from haversack.patterns import pattern
from haversack.sdd.documents import markdown, state_files
from haversack.sdd.documents.disk import CHANGES, STATE_FILE, Folder
from haversack.sdd.documents.library import CHANGE_FILE, load_change, load_project, located
from haversack.sdd.flows import changes, clarity, pipeline
from haversack.sdd.flows.changes import FLOWS, SIZES, TYPES, Change
from haversack.sdd.flows.pipeline import ARTIFACTS, MODES, STAGES, VERDICTS, Project, Stage
from haversack.sdd.flows.project import stamp
from haversack.sdd.flows.stages import StageState, Status, opened
from haversack.values import record, replace


@record
class Problem:
    """A damaged file, and what mending would do."""

    file: str
    message: str
    remedy: str


@record
class Mended:
    """A mended problem; `kept` is the path of the copy of the damaged file, if there was one."""

    problem: Problem
    kept: str


def diagnose(workspace: str) -> tuple[Problem, ...]:
    """The problems in the folder that `mend` can repair; nothing is written."""
    folder = located(workspace)
    problems: list[Problem] = []
    if problem := _state_problem(folder):
        problems.append(problem)
    problems += (p for slug in folder.names(CHANGES) if (p := _change_problem(folder, slug)))
    problems += (
        Problem(folder.shown(name), "left by a write that was cut off", "delete it") for name in folder.leftovers()
    )
    return tuple(problems)


def mend(workspace: str, *, now: datetime) -> tuple[Mended, ...]:
    """Repair the problems `diagnose` finds; damaged files are kept in the history."""
    folder = located(workspace)
    if not folder.exists():
        return ()
    done: list[Mended] = []
    with folder.locked():
        if problem := _state_problem(folder):
            project = rebuild_project(folder, stamp(now))
            done.append(Mended(problem, _put(folder, STATE_FILE, state_files.write_project(project))))
        for slug in folder.names(CHANGES):
            if problem := _change_problem(folder, slug):
                change = rebuild_change(folder, slug, stamp(now))
                name = f"{CHANGES}/{slug}/{CHANGE_FILE}"
                done.append(Mended(problem, _put(folder, name, state_files.write_change(change))))
        for name in folder.leftovers():
            folder.remove(name)
            done.append(Mended(Problem(folder.shown(name), "left by a write that was cut off", "deleted"), ""))
    return tuple(done)


def rebuild_project(folder: Folder, now: str) -> Project:
    """The project state derived from the artifacts on disk."""
    damaged = _salvage(folder, STATE_FILE)
    texts = {stage: _text(folder, ARTIFACTS[stage]) for stage in STAGES[1:]}
    title = next((found[1] for text in texts.values() if (found := _TITLE.match(text))), "")
    name = damaged.get("name") or title or os.path.basename(folder.root) or "project"
    mode = next((mode for mode in MODES if mode == damaged.get("mode")), _mode_in(texts["clarify"]))
    states = _states(folder, texts, now)
    project = Project(
        name=name,
        description=damaged.get("description", ""),
        mode=mode,
        created_at=damaged.get("created_at") or states[0].finished_at,
        stages=states,
        scores=_scores_in(texts["clarify"]),
        verdict=_verdict_in(texts["validate"]) if texts["validate"] else None,
    )
    return _gated(project, now)


def rebuild_change(folder: Folder, slug: str, now: str) -> Change:
    """The change derived from the stages on disk, with the smallest flow that has them all."""
    damaged = _salvage(folder, f"{CHANGES}/{slug}/{CHANGE_FILE}")
    written = {name[:-3] for name in folder.names(f"{CHANGES}/{slug}") if name.endswith(".md")}
    kinds = [kind for kind in TYPES if kind == damaged.get("type")] or list(TYPES)
    sizes = [size for size in SIZES if size == damaged.get("size")] or list(SIZES)
    fitting = [(k, s) for s in sizes for k in kinds if written <= set(FLOWS[k][s])]
    kind, size = fitting[0] if fitting else (kinds[0], sizes[-1])
    flow = FLOWS[kind][size]
    reached = next((place for place, stage in enumerate(flow) if stage not in written), len(flow))
    states = tuple(_state(place, reached, stage in written, now) for place, stage in enumerate(flow))
    status = next((s for s in changes.CHANGE_STATUSES if s == damaged.get("status")), None)
    if reached == len(flow):
        status = "completed" if status in (None, "active") else status
    checked = now if "context-check" in written else ""
    description = damaged.get("description") or slug.replace("-", " ")
    closed = now if status not in (None, "active") else ""
    return Change(
        slug, description, kind, size, status or "active", now, opened(states, now), checked, closed_at=closed
    )


_TITLE = pattern(r"# (?:Proposal|Requirements|Business rules|Clarifications|Design|Tasks|Validation): (.+)")
_SALVAGED = pattern(r'"(name|description|mode|created_at|type|size|status)"\s*:\s*("(?:[^"\\]|\\.)*")')
_SCORE_ROW = pattern(r"^\| (\w+) \| \d+ \| ([\d.]+) \|$", re.MULTILINE)


def _state_problem(folder: Folder) -> Problem | None:
    remedy = "rebuild it from the artifacts, keeping the damaged file in the history"
    try:
        project = load_project(folder)
    except DamagedFile as error:
        return Problem(folder.shown(STATE_FILE), error.message, remedy)
    if project is None and any(folder.exists(name) for name in ARTIFACTS.values()):
        return Problem(folder.shown(STATE_FILE), "it is missing while artifacts are there", remedy)
    return None


def _change_problem(folder: Folder, slug: str) -> Problem | None:
    name = f"{CHANGES}/{slug}/{CHANGE_FILE}"
    remedy = "rebuild it from the stages written, keeping the damaged file in the history"
    try:
        change = load_change(folder, slug)
    except DamagedFile as error:
        return Problem(folder.shown(name), error.message, remedy)
    if change is None and any(each.endswith(".md") for each in folder.names(f"{CHANGES}/{slug}")):
        return Problem(folder.shown(name), "it is missing while stages are written", remedy)
    return None


def _put(folder: Folder, name: str, text: str) -> str:
    return folder.write(name, text).kept


def _salvage(folder: Folder, name: str) -> dict[str, str]:
    """The plain fields that can still be read of a damaged record, the first of each name."""
    try:
        text = folder.read_bytes(name).decode("utf-8", "replace")
    except OSError:
        return {}
    found: dict[str, str] = {}
    for key, quoted in _SALVAGED.findall(text):
        try:
            found.setdefault(key, json.loads(quoted))
        except ValueError:
            continue
    return found


def _text(folder: Folder, name: str) -> str:
    try:
        return folder.read(name) or ""
    except DamagedFile:
        return ""


def _states(folder: Folder, texts: dict[Stage, str], now: str) -> tuple[StageState, ...]:
    reached = next((place for place, stage in enumerate(STAGES) if place and not texts[stage]), len(STAGES))
    states = []
    for place, stage in enumerate(STAGES):
        state = _state(place, reached, stage == "init" or bool(texts[stage]), now)
        if state.finished_at and stage != "init":
            written = datetime.fromtimestamp(folder.modified(ARTIFACTS[stage]), UTC)
            state = replace(state, started_at=stamp(written), finished_at=stamp(written))
        states.append(state)
    return opened(tuple(states), now)


def _state(place: int, reached: int, written: bool, now: str) -> StageState:
    status: Status = "done" if place < reached else "stale" if written else "pending"
    return StageState(status, int(written), now if written else "", now if status == "done" else "")


def _gated(project: Project, now: str) -> Project:
    """The project, held at the stage that its clarity gate or its verdict blocks."""
    clarify = project.state("clarify")
    if clarify.status == "done" and not clarity.weigh(project.scores, project.mode).passed:
        return pipeline.stay(project, "clarify", now)
    if project.current is None and project.verdict == "FAIL":
        return pipeline.judge(project, "FAIL", "tasks", now)
    return project


def _mode_in(clarifications: str) -> pipeline.Mode:
    strict = "threshold 50" not in clarifications
    return "guided" if strict else "expert"


def _scores_in(clarifications: str) -> dict[str, float]:
    section = markdown.part(clarifications, "Scores")
    rows: Sequence[tuple[str, str]] = _SCORE_ROW.findall(section.text) if section else []
    try:
        return clarity.checked_scores({name: float(score) for name, score in rows})
    except (InvalidArgument, ValueError):
        return {}


def _verdict_in(validation: str) -> pipeline.Verdict | None:
    section = markdown.part(validation, "Verdict")
    first = section.text.split() if section else []
    return next((verdict for verdict in VERDICTS if first and verdict == first[0]), None)
