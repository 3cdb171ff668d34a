"""The tools for whole projects: list, rename, merge, forget, and undoing the last change."""

from typing import Annotated

from haversack.app import Caller
from haversack.memory.projects import changes as project_changes
from haversack.memory.projects.changes import Changed
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Block, Done, Outcome, Result


@tool(
    Command("project list", (), examples=("haversack project list",)),
    group="terminal",
    title="List projects",
)
def project_list(caller: Caller) -> Outcome:
    """Every project with its memories, the most first; the current one is marked."""
    found = project_changes.everything(caller.memory)
    here, label = caller.memory.project(), caller.memory.labels()

    def block(name: str, many: int) -> Block:
        counted = "1 memory" if many == 1 else f"{many:,} memories"
        full = f" = {name}" if label(name) != name else ""
        line = f"- {label(name) or '(no project)'}: {counted}{full}" + (" <- here" if name == here else "")
        facts = {"name": label(name), "project": name, "memories": many, "current": name == here}
        return Block(name or "(no project)", lambda _: line, lambda _: facts)

    return Result(
        blocks=[block(name, many) for name, many in found],
        noun="projects",
        total=len(found),
        empty="No project holds anything yet.",
        brief=f"{len(found)} projects",
    )


@tool(
    Command("project rename", ("old", "new"), examples=("haversack project rename api gateway",)),
    group="terminal",
    writes=True,
    title="Rename a project",
)
def project_rename(caller: Caller, *, old: str, new: str) -> Outcome:
    """Give a project another name; what its folder saves later follows. `project undo` takes it back."""
    return _done(caller, project_changes.rename(caller.memory, old, new), "renamed {project} to {target}")


@tool(
    Command("project merge", ("source", "target"), examples=("haversack project merge old-api api",)),
    group="terminal",
    writes=True,
    title="Merge two projects",
)
def project_merge(
    caller: Caller, *, source: str, target: Annotated[str, "The project that everything goes to"]
) -> Outcome:
    """Put all of a project into another. `project undo` takes it back."""
    return _done(caller, project_changes.merge(caller.memory, source, target), "merged {project} into {target}")


@tool(
    Command("project forget", ("project",), examples=("haversack project forget scratch",)),
    group="terminal",
    writes=True,
    destructive=True,
    title="Forget a project",
)
def project_forget(caller: Caller, *, project: str) -> Outcome:
    """Delete a project's memories and hide its sessions and prompts. `project undo` brings them back."""
    return _done(caller, project_changes.forget(caller.memory, project), "forgot {project}")


@tool(
    Command("project undo", (), examples=("haversack project undo",)),
    group="terminal",
    writes=True,
    title="Undo the last change of a project",
)
def project_undo(caller: Caller) -> Outcome:
    """Take back the last rename, merge or forget of a project; once more takes back the one before."""
    done = project_changes.undo(caller.memory)
    return _done(caller, done, f"took back: {done.action} {{project}}" + (" -> {target}" if done.target else ""))


def _done(caller: Caller, changed: Changed, sentence: str) -> Done:
    label = caller.memory.labels()
    said = sentence.format(project=label(changed.project), target=label(changed.target))
    message = f"{said}: {changed.observations:,} memories, {changed.sessions:,} sessions, {changed.prompts:,} prompts"
    facts = {
        "action": changed.action,
        "project": changed.project,
        "target": changed.target,
        "memories": changed.observations,
        "sessions": changed.sessions,
        "prompts": changed.prompts,
    }
    return Done(message, facts, brief=message)
