"""The task plan: tasks with what they cover and need, their order in waves, and the circles among them.

A task's needs are read from its own text (`Depends on: TASK-001`, `after TASK-002`, `depends on 1`) and
from the dependency graph, where `TASK-001 -> TASK-002` means that the first comes before the second, and
`TASK-002: TASK-001` or `TASK-002 depends on TASK-001` says the same from the other end. Waves are lines such
as `Wave 1: TASK-001, TASK-002`, or a `Wave 1` heading with tasks under it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from haversack.patterns import pattern
from haversack.sdd.documents import markdown
from haversack.sdd.documents.ids import REQUIREMENTS, TASKS, cited, spell, split_label
from haversack.values import record, replace

_NEEDS = pattern(
    r"\b(?:depends?\s+on|dependenc(?:y|ies)|blocked\s+by)\b[*_: \t]*"
    r"(?P<what>[^;\n]*?)(?=\.(?:\s|$)|;|\n|$)(?P<below>(?:\n[ \t]*[-*+][ \t]+(?:TASK|T-?\d)[^\n]*)*)",
    re.IGNORECASE,
)
# These words are common in prose, so they count only right before a task's id.
_FOLLOWS = pattern(r"\b(?:requires|needs|after)\b[*_: \t]*(?P<what>(?:TASK[-_ ]?|(?-i:T)-?)\d[^.;)\n]*)", re.IGNORECASE)
_BARE = pattern(r"\s*#?\d{1,4}(?:\s*(?:,|and|&)\s*#?\d{1,4})*\s*")
_FORWARD = pattern(r"-{1,10}(?:\.-{1,5})?>|={1,5}>|→|⇒")
_BACKWARD = pattern(r"<-{1,10}|←")
_SAYS_NEEDS = pattern(r"[\s*_`\])]{0,9}(?::|depends?\s+on\b|requires\b|needs\b|after\b)", re.IGNORECASE)
MOST_CIRCLES = 20
_WAVE = pattern(r"\bwave\s*#?(?P<number>\d{1,4})\b", re.IGNORECASE)


@record
class Task:
    """One task; `covers` are requirement ids, `needs` the tasks that come before it."""

    id: str
    title: str
    line: int
    text: str
    covers: tuple[str, ...]
    needs: tuple[str, ...]


@record
class Assignment:
    """A task put into a wave by the plan's writer."""

    task: str
    wave: int
    line: int


@record
class TaskPlan:
    """What a tasks artifact says; `needs_stated` holds (task, needed, line) as they were written."""

    tasks: tuple[Task, ...]
    assignments: tuple[Assignment, ...]
    needs_stated: tuple[tuple[str, str, int], ...]


def read_plan(text: str) -> TaskPlan:
    """The plan in a tasks artifact; lines are those of `text`."""
    section = markdown.part(text, "Tasks")
    body, first_line = (section.text, section.first_line) if section else (text, 1)
    tasks = [_task(item) for item in markdown.items(body, TASKS.label, first_line)]
    known = [task for task in tasks if task.id]
    stated = [(task.id, needed, task.line) for task in known for needed in task.needs]
    graph = markdown.part(text, "Dependency graph")
    if graph:
        stated += list(graph_needs(graph.text, graph.first_line))
    waves = markdown.part(text, "Waves")
    merged = _with_needs(known, stated, _coverage_lines(text, first_line, body))
    return TaskPlan(merged, assignments_in(waves.text, waves.first_line) if waves else (), tuple(stated))


def graph_needs(text: str, first_line: int = 1) -> Iterator[tuple[str, str, int]]:
    """The (task, needed task, line) that a dependency graph states."""
    for number, line in enumerate(text.split("\n"), first_line):
        for separator, forward in ((_FORWARD, True), (_BACKWARD, False)):
            if separator.search(line):
                groups = [task_ids(group) for group in separator.split(line)]
                for before, later in pairwise(groups):
                    first, second = (before, later) if forward else (later, before)
                    yield from ((task, needed, number) for task in second for needed in first)
                break
        else:
            task = TASKS.mention.search(line)
            says = None if task is None or task["reach"] else _SAYS_NEEDS.match(line, task.end())
            if task and says:
                yield from ((TASKS.name(task), needed, number) for needed in task_ids(line[says.end() :]))


def assignments_in(text: str, first_line: int = 1) -> tuple[Assignment, ...]:
    """The waves as they were written."""
    found: list[Assignment] = []
    current = 0
    for number, line in enumerate(text.split("\n"), first_line):
        wave = _WAVE.search(line)
        names = task_ids(_WAVE.sub(" ", line).strip(" -*+#:_"))
        if wave and names and TASKS.mention.search(line[: wave.start()]):
            found += (Assignment(name, int(wave["number"]), number) for name in names)
            continue
        current = int(wave["number"]) if wave else current
        found += (Assignment(name, current, number) for name in names if current)
    return tuple(found)


def compute_waves(tasks: Iterable[Task]) -> tuple[tuple[str, ...], ...]:
    """Tasks grouped so that each comes after all it needs; those in or behind a circle are in no wave."""
    return tuple(_layers({task.id: set(task.needs) for task in tasks}))


def circles(tasks: Iterable[Task]) -> tuple[tuple[str, ...], ...]:
    """Tasks that need each other in a circle, none in two circles, each from its lowest id; 20 at most."""
    needs = {task.id: set(task.needs) for task in tasks}
    found: list[tuple[str, ...]] = []
    while len(found) < MOST_CIRCLES and (knotted := _knotted(needs)):
        name = min(knotted)
        trail: dict[str, None] = {}
        while name not in trail:
            trail[name] = None
            name = min(knotted[name])
        walked = list(trail)
        circle = walked[walked.index(name) :]
        start = circle.index(min(circle))
        found.append((*circle[start:], *circle[:start]))
        needs = {name: wanted for name, wanted in knotted.items() if name not in set(circle)}
    return tuple(found)


def task_ids(text: str) -> tuple[str, ...]:
    """The tasks that a text names, by id or, when it holds nothing else, by bare numbers."""
    names = cited(text, TASKS)
    if not names and _BARE.fullmatch(text):
        return tuple(spell("TASK", int(number)) for number in re.findall(r"\d+", text))
    return names


def _task(item: markdown.Item) -> Task:
    name, title = split_label(item.head, TASKS)
    needs: dict[str, None] = {}
    text = "\n".join((title, *item.body))
    for found in _NEEDS.finditer(text):
        needs |= dict.fromkeys((*task_ids(found["what"].rstrip(") ")), *cited(found["below"], TASKS)))
    for found in _FOLLOWS.finditer(text):
        needs |= dict.fromkeys(cited(found["what"], TASKS))
    return Task(name, title, item.line, item.text, cited(item.text, REQUIREMENTS), tuple(needs))


def _coverage_lines(text: str, first_line: int, tasks: str) -> Mapping[str, tuple[str, ...]]:
    """Requirements by task, from lines outside the tasks that name both, such as the rows of a coverage table."""
    covers: dict[str, dict[str, None]] = {}
    rows = text.split("\n")
    for line in (*rows[: first_line - 1], *rows[first_line + tasks.count("\n") :]):
        requirements = cited(line, REQUIREMENTS)
        for task in cited(line, TASKS) if requirements else ():
            covers.setdefault(task, {}).update(dict.fromkeys(requirements))
    return {task: tuple(ids) for task, ids in covers.items()}


def _with_needs(
    tasks: list[Task], stated: list[tuple[str, str, int]], covers: Mapping[str, tuple[str, ...]]
) -> tuple[Task, ...]:
    needs: dict[str, dict[str, None]] = {}
    for task, needed, _ in stated:
        needs.setdefault(task, {})[needed] = None
    return tuple(
        replace(
            task,
            needs=tuple(needs.get(task.id, ())),
            covers=tuple(dict.fromkeys((*task.covers, *covers.get(task.id, ())))),
        )
        for task in tasks
    )


def _knotted(needs: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The tasks left when those before every circle and those after all circles are removed."""
    placed = {name for layer in _layers(needs) for name in layer}
    left = {name: (wanted & needs.keys()) - placed for name, wanted in needs.items() if name not in placed}
    wanted_by: dict[str, set[str]] = {name: set() for name in left}
    for name, wanted in left.items():
        for each in wanted:
            wanted_by[each].add(name)
    last = {name for layer in _layers(wanted_by) for name in layer}
    return {name: wanted - last for name, wanted in left.items() if name not in last}


def _layers(needs: Mapping[str, set[str]]) -> Iterator[tuple[str, ...]]:
    """The names in layers, each after all it needs; needs outside the mapping do not count."""
    missing = {name: len(wanted & needs.keys()) for name, wanted in needs.items()}
    wanted_by: dict[str, list[str]] = {}
    for name, wanted in needs.items():
        for each in wanted:
            wanted_by.setdefault(each, []).append(name)
    order = {name: place for place, name in enumerate(needs)}
    ready = [name for name, count in missing.items() if not count]
    while ready:
        yield tuple(ready)
        freed: list[str] = []
        for name in ready:
            for waiting in wanted_by.get(name, ()):
                missing[waiting] -= 1
                freed += [waiting] if not missing[waiting] else []
        ready = sorted(freed, key=order.__getitem__)
