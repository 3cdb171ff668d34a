"""Traceability: every finding is computed, and cites the file and the line it is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.sdd.checks.traceability import Document, Finding, trace
from haversack.sdd.documents.requirements import requirements_in
from haversack.sdd.documents.task_plan import Task, assignments_in, circles, compute_waves, graph_needs, read_plan
from haversack.sdd.flows.pipeline import Stage

REQUIREMENTS = """# Requirements

## Must have

- **FR-001**: find a book
- **FR-002**: record a loan

## Should have

- **FR-003**: renew a loan

## Won't have

- **FR-004**: buy books

## Non-functional requirements

- **NFR-001**: quick

## Dependencies

- FR-001 depends on the card catalogue
"""
RULES = "# Business rules\n\n## Constraints\n\n- **BRC-001**: five loans at most\n"
TASKS = """# Tasks

## Tasks

- **TASK-001**: catalogue, covers FR-001 and NFR-001
- **TASK-002**: loans, covers FR-002..FR-003. Depends on TASK-001

## Waves

- **Wave 1**: TASK-001
- **Wave 2**: TASK-002
"""


def findings(tasks: str = TASKS, requirements: str = REQUIREMENTS, **others: str) -> list[tuple[str, str, str]]:
    return [(f.kind, f.where, f.message) for f in found(tasks, requirements, **others)]


def found(tasks: str = TASKS, requirements: str = REQUIREMENTS, **others: str) -> tuple[Finding, ...]:
    stages: dict[str, Stage] = {"design": "design", "proposal": "propose", "validation": "validate"}
    documents = [
        Document("requirements.md", requirements, "specify"),
        Document("business-rules.md", RULES, "business-rules"),
        Document("tasks.md", tasks, "tasks"),
        *(Document(f"{name}.md", text, stages[name]) for name, text in others.items()),
    ]
    return trace(documents).findings


def test_a_sound_project_has_no_findings() -> None:
    assert findings(design="Uses FR-001, fr-2 and BRC-001.") == []


def test_requirements_are_read_with_their_priority_place_and_wording() -> None:
    defined = requirements_in(REQUIREMENTS, "requirements.md")
    assert [(r.id, r.priority, r.line) for r in defined] == [
        ("FR-001", "must", 5),
        ("FR-002", "must", 6),
        ("FR-003", "should", 10),
        ("FR-004", "wont", 14),
        ("NFR-001", "quality", 18),
    ]
    assert defined[0].text == "find a book"


def test_requirements_are_read_from_headings_tables_and_nested_lists() -> None:
    text = (
        "## Must have\n### FR-001: find\nby title\n\n| FR-002 | record |\n"
        "- Group\n  - FR-003: renew\n  - see\n    - FR-001\n"
    )
    defined = requirements_in(text, "r.md")
    assert [(r.id, r.text, r.line, r.priority) for r in defined] == [
        ("FR-001", "find\nby title", 2, "must"),
        ("FR-002", "record", 5, "must"),
        ("FR-003", "renew\n- see", 7, "must"),
    ]


def test_an_id_that_is_defined_nowhere_is_found_where_it_is_cited() -> None:
    assert findings(design="Fine.\nUses FR-009.") == [("unknown_id", "design.md:2", "FR-009 is defined nowhere")]


def test_a_task_that_cites_an_unknown_id_is_found() -> None:
    tasks = TASKS.replace("NFR-001", "NFR-001 and NFR-007")
    assert findings(tasks) == [("unknown_id", "tasks.md:5", "NFR-007 is defined nowhere")]


def test_a_gap_inside_a_range_is_no_finding_but_its_ends_are() -> None:
    assert findings(design="FR-001..FR-004") == []
    assert findings(design="FR-001..FR-008")[0][0] == "unknown_id"


def test_a_must_have_that_no_task_covers_is_an_error_where_it_is_defined() -> None:
    (finding,) = found(TASKS.replace("FR-002..FR-003", "FR-003"))
    assert (finding.kind, finding.severity, finding.where) == ("uncovered", "error", "requirements.md:6")
    assert "FR-002" in finding.message


def test_a_should_have_that_no_task_covers_is_a_warning() -> None:
    (finding,) = found(TASKS.replace("FR-002..FR-003", "FR-002"))
    assert (finding.kind, finding.severity, finding.where) == ("uncovered", "warning", "requirements.md:10")


def test_a_coverage_table_counts_as_covering() -> None:
    tasks = TASKS.replace("FR-002..FR-003", "FR-003") + "\n## Coverage\n\n| FR-002 | TASK-002 |\n"
    assert findings(tasks) == []


def test_a_task_does_not_cover_what_the_tasks_that_need_it_cover() -> None:
    documents = [Document("requirements.md", REQUIREMENTS, "specify"), Document("tasks.md", TASKS, "tasks")]
    covered = {entry.requirement.id: entry.tasks for entry in trace(documents).coverage}
    assert covered == {
        "FR-001": ("TASK-001",),
        "FR-002": ("TASK-002",),
        "FR-003": ("TASK-002",),
        "FR-004": (),
        "NFR-001": ("TASK-001",),
    }


def test_work_on_a_wont_have_is_a_warning() -> None:
    assert [f.kind for f in found(TASKS.replace("FR-002..", "FR-004, FR-002.."))] == ["excluded"]


def test_an_id_defined_twice_is_found_at_the_second_place_and_names_the_first() -> None:
    requirements = REQUIREMENTS.replace("**FR-003**", "**FR-001**")
    duplicate = ("duplicate_id", "requirements.md:10", "FR-001 is already defined at requirements.md:5")
    assert duplicate in findings(requirements=requirements)


def test_a_requirement_added_by_hand_without_an_id_is_found() -> None:
    requirements = REQUIREMENTS.replace("- **FR-003**: renew", "- renew")
    kinds = {(f.kind, f.where) for f in found(requirements=requirements)}
    assert ("no_id", "requirements.md:10") in kinds


@pytest.mark.parametrize(
    "text", ["TBD", "tbd", "TODO: think", "what then???", "to be decided", "FIXME", "FR-XXX", "[insert name]"]
)
def test_a_placeholder_is_found_on_its_line(text: str) -> None:
    kinds = [(f.kind, f.where, f.severity) for f in found(design=f"First.\n\n- {text}\n")]
    assert kinds == [("placeholder", "design.md:3", "error")]


@pytest.mark.parametrize("text", ["a todo list", "el todo", "`TBD`", "```\nTODO\n```", "what??", "XXXL shirts"])
def test_words_that_only_look_like_placeholders_are_left_alone(text: str) -> None:
    assert findings(design=text) == []


def test_the_validation_may_quote_what_it_found() -> None:
    assert findings(validation="TBD in FR-999") == []


def test_a_circle_of_tasks_is_found_and_spelled_out() -> None:
    tasks = TASKS.replace("and NFR-001", "and NFR-001. Depends on TASK-002")
    (cycle, *_) = [f for f in found(tasks) if f.kind == "cycle"]
    assert cycle.where == "tasks.md:5"
    assert cycle.message.endswith("TASK-001 needs TASK-002 needs TASK-001")


def test_a_wave_that_breaks_a_dependency_is_found_where_the_wave_is_given() -> None:
    tasks = TASKS.replace("Wave 2", "Wave 1")
    message = "TASK-002 is in wave 1 but needs TASK-001, in wave 1"
    assert findings(tasks) == [("wave_order", "tasks.md:11", message)]


def test_a_task_left_out_of_the_waves_and_one_that_does_not_exist_are_found() -> None:
    tasks = TASKS.replace("Wave 2**: TASK-002", "Wave 2**: TASK-009")
    assert [(f.kind, f.where) for f in found(tasks)] == [
        ("unknown_task", "tasks.md:11"),
        ("no_wave", "tasks.md:6"),
    ]


def test_a_dependency_on_a_task_that_does_not_exist_is_found() -> None:
    tasks = TASKS.replace("Depends on TASK-001", "Depends on TASK-001, TASK-077")
    assert findings(tasks) == [("unknown_task", "tasks.md:6", "TASK-077 is no task of the plan")]


def test_ids_defined_by_a_change_are_known_and_past_records_are_not_judged() -> None:
    documents = [
        Document("requirements.md", REQUIREMENTS, "specify"),
        Document("sdd/changes/a/spec.md", "- FR-050: reserve a book", settled=True),
        Document("sdd/changes/a/tasks.md", "TBD and FR-999", settled=True),
        Document("sdd/changes/b/tasks.md", "Covers FR-050 and FR-998"),
    ]
    assert [(f.where, f.message) for f in trace(documents).findings] == [
        ("sdd/changes/b/tasks.md:1", "FR-998 is defined nowhere")
    ]


def test_ids_may_be_cited_before_the_artifact_that_defines_them_is_written() -> None:
    assert trace([Document("proposal.md", "Later FR-001.", "propose")]).findings == ()


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("TASK-001 -> TASK-002 -> TASK-003", {("TASK-002", "TASK-001"), ("TASK-003", "TASK-002")}),
        ("T1, T2 --> T3", {("TASK-003", "TASK-001"), ("TASK-003", "TASK-002")}),
        ("TASK-002 <- TASK-001", {("TASK-002", "TASK-001")}),
        ("- TASK-003: TASK-001, TASK-002", {("TASK-003", "TASK-001"), ("TASK-003", "TASK-002")}),
        ("TASK-002 depends on TASK-001", {("TASK-002", "TASK-001")}),
        ("1 -> 2", {("TASK-002", "TASK-001")}),
        ("graph TD\nA[TASK-001] --> B[TASK-002]", {("TASK-002", "TASK-001")}),
        ("nothing to see", set()),
    ],
)
def test_a_dependency_graph_is_read_in_the_forms_people_draw(text: str, needs: set[tuple[str, str]]) -> None:
    assert {(task, needed) for task, needed, _ in graph_needs(text)} == needs


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("Depends on: TASK-002, TASK-003.", ("TASK-002", "TASK-003")),
        ("**Dependencies**: TASK-002..TASK-004", ("TASK-002", "TASK-003", "TASK-004")),
        ("(depends on 2 and 3)", ("TASK-002", "TASK-003")),
        ("depends on 2 and 3", ("TASK-002", "TASK-003")),
        ("depends on 3 services", ()),
        ("after TASK-002", ("TASK-002",)),
        ("after lunch, see TASK-002", ()),
        ("Dependencies:\n  - TASK-002\n  - TASK-003", ("TASK-002", "TASK-003")),
        ("Dependencies: None", ()),
    ],
)
def test_what_a_task_needs_is_read_from_its_text(text: str, needs: tuple[str, ...]) -> None:
    plan = read_plan(f"## Tasks\n\n- TASK-001: work\n  {text}\n")
    assert plan.tasks[0].needs == needs


@pytest.mark.parametrize(
    "text",
    [
        "Wave 1: TASK-001, TASK-002\nWave 2: TASK-003",
        "### Wave 1\n- TASK-001\n- TASK-002\n### Wave 2\n- TASK-003",
        "- TASK-001: wave 1\n- TASK-002: wave 1\n- TASK-003: wave 2",
        "Wave 1: 1, 2\nWave 2: 3",
        "| Wave 1 | TASK-001..TASK-002 |\n| Wave 2 | T3 |",
    ],
)
def test_waves_are_read_in_the_forms_people_write(text: str) -> None:
    assert {(a.task, a.wave) for a in assignments_in(text)} == {("TASK-001", 1), ("TASK-002", 1), ("TASK-003", 2)}


def tasks_from(edges: dict[int, set[int]]) -> list[Task]:
    return [
        Task(f"TASK-{n:03d}", "", 1, "", (), tuple(f"TASK-{m:03d}" for m in sorted(needs)))
        for n, needs in edges.items()
    ]


graphs = st.integers(1, 8).flatmap(
    lambda size: st.fixed_dictionaries({n: st.sets(st.integers(0, size - 1), max_size=3) for n in range(size)})
)


@given(graphs)
def test_computed_waves_put_every_task_after_all_it_needs(edges: dict[int, set[int]]) -> None:
    tasks = tasks_from(edges)
    wave = {name: number for number, names in enumerate(compute_waves(tasks)) for name in names}
    for task in tasks:
        if task.id in wave:
            assert all(wave[needed] < wave[task.id] for needed in task.needs)
            assert wave[task.id] == max((wave[needed] + 1 for needed in task.needs), default=0)


@given(graphs)
def test_circles_are_found_exactly_when_some_task_is_in_no_wave(edges: dict[int, set[int]]) -> None:
    tasks = tasks_from(edges)
    placed = {name for names in compute_waves(tasks) for name in names}
    rings = circles(tasks)
    assert bool(rings) == (len(placed) < len(tasks))
    needs = {task.id: task.needs for task in tasks}
    for ring in rings:
        assert len(set(ring)) == len(ring)
        assert all(after in needs[before] for before, after in zip(ring, (*ring[1:], ring[0]), strict=True))
