"""The status of a project by stage, and its artifacts."""

from haversack.errors import NotFound
from haversack.sdd.documents.disk import STATE_FILE, Folder
from haversack.sdd.documents.library import active_change, decision_files, load_project, located, readable_changes
from haversack.sdd.documents.markdown import Section, sections
from haversack.sdd.flows import changes, clarity, pipeline
from haversack.sdd.flows.pipeline import ARTIFACTS, STAGES, Project, Stage
from haversack.sdd.flows.project import one_of
from haversack.sdd.results import Overview, StageRow
from haversack.values import record


@record
class Artifact:
    """A stage's artifact as text and as sections."""

    stage: Stage
    path: str
    text: str
    sections: tuple[Section, ...]


def overview(workspace: str) -> Overview:
    """Every stage with its status and size, and what comes next; WrongStage when no project is started."""
    folder = located(workspace)
    project = _started(folder)
    known = readable_changes(folder)
    active = active_change(known)
    return Overview(
        name=project.name,
        description=project.description,
        mode=project.mode,
        root=folder.root,
        stages=tuple(_row(folder, project, stage) for stage in STAGES),
        current=project.current,
        stale=project.stale,
        gate=clarity.weigh(project.scores, project.mode),
        verdict=project.verdict,
        next_step=pipeline.next_step(project),
        active_change=active,
        change_step=changes.next_step(active),
        changes=len(known),
        decisions=len(decision_files(folder)),
    )


def artifact(workspace: str, stage: str) -> Artifact:
    """The artifact of one stage; NotFound when it is not written yet."""
    folder = located(workspace)
    project = _started(folder)
    chosen = one_of(stage, STAGES, "stage")
    found = _artifact(folder, chosen)
    if found is None:
        raise NotFound(f"{chosen} has no artifact yet", hint=pipeline.next_step(project).sentence)
    return found


def written_artifacts(workspace: str) -> tuple[Artifact, ...]:
    """Every artifact that is written, in the order of the stages."""
    folder = located(workspace)
    _started(folder)
    found = (_artifact(folder, stage) for stage in STAGES[1:])
    return tuple(each for each in found if each is not None)


def _started(folder: Folder) -> Project:
    project = load_project(folder)
    if project is None:
        return pipeline.permit(None, "propose")
    return project


def _artifact(folder: Folder, stage: Stage) -> Artifact | None:
    name = ARTIFACTS.get(stage, STATE_FILE)
    text = folder.read(name)
    return None if text is None else Artifact(stage, folder.shown(name), text, sections(text))


def _row(folder: Folder, project: Project, stage: Stage) -> StageRow:
    state = project.state(stage)
    name = ARTIFACTS.get(stage, STATE_FILE)
    size, lines = folder.measured(name)
    return StageRow(stage, state.status, state.iterations, state.finished_at, folder.shown(name), size, lines)
