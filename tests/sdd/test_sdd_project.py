"""The pipeline's operations on a real folder."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from haversack.errors import DamagedFile, HaversackError, InvalidArgument, NotFound, WrongStage
from haversack.sdd.documents.artifacts import Design, Requirements, Tasks
from haversack.sdd.documents.library import load_project, located
from haversack.sdd.flows import clarity, overview
from haversack.sdd.flows.pipeline import STAGES, TOOLS, Stage
from haversack.sdd.results import Receipt
from haversack.values import replace

if TYPE_CHECKING:
    from tests.sdd.conftest import Desk

MORE = Requirements(
    must_have="- The librarian records a loan\n- A reader reserves a book\n- A reader finds a book by title.",
    should_have="none",
    non_functional="- A search answers within a second",
)


def test_a_project_walks_from_init_to_a_passed_validation(desk: "Desk") -> None:
    desk.upto("tasks")
    outcome = desk.validate()
    assert (outcome.given, outcome.recorded, outcome.findings) == ("PASS", "PASS", ())
    assert outcome.receipt.next_step.tool == "sdd_change"
    assert desk.files() == {
        "sdd.json",
        "proposal.md",
        "requirements.md",
        "business-rules.md",
        "clarifications.md",
        "design.md",
        "tasks.md",
        "validation.md",
    }


def test_a_receipt_tells_path_size_and_next_step_and_not_the_text(desk: "Desk") -> None:
    desk.init()
    receipt = desk.propose()
    path = Path(desk.workspace, receipt.written.path)
    assert receipt.written.path == "sdd/proposal.md"
    assert receipt.written.size == path.stat().st_size
    assert receipt.written.lines == path.read_text().count("\n")
    assert receipt.next_step.tool == "sdd_generate_requirements"


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_leaves_something_to_remember_under_its_own_topic(desk: "Desk", stage: Stage) -> None:
    if stage != "init":
        desk.upto(STAGES[STAGES.index(stage) - 1])
    outcome = desk.run(stage)
    receipt = outcome if isinstance(outcome, Receipt) else outcome.receipt
    assert receipt is not None
    remembered = receipt.observation
    assert remembered.kind == "decision"
    assert remembered.topic_key == f"sdd/library/{stage}"
    assert receipt.written.path in remembered.content


def test_every_tool_at_the_wrong_time_writes_nothing_and_names_the_next(desk: "Desk") -> None:
    for current in STAGES:
        for stage in STAGES:
            if stage == current:
                continue
            before = desk.files() if Path(desk.workspace, "sdd").exists() else set()
            with pytest.raises(WrongStage) as refusal:
                desk.run(stage)
            assert TOOLS[current] in refusal.value.hint
            assert (desk.files() if Path(desk.workspace, "sdd").exists() else set()) == before
        desk.run(current)


def test_a_wrong_first_step_does_not_even_make_the_folder(desk: "Desk") -> None:
    with pytest.raises(WrongStage, match="sdd_init_project"):
        desk.propose()
    assert not Path(desk.workspace, "sdd").exists()


def test_a_second_init_is_refused_and_changes_nothing(desk: "Desk") -> None:
    desk.init()
    before = desk.read("sdd.json")
    with pytest.raises(WrongStage, match="sdd_create_proposal"):
        desk.init(name="Other")
    assert desk.read("sdd.json") == before


def test_init_with_reopen_changes_the_mode_and_keeps_what_was_written(desk: "Desk") -> None:
    desk.upto("specify")
    receipt = desk.init(mode="expert", reopen=True)
    assert receipt.stale == ("propose", "specify")
    assert json.loads(desk.read("sdd.json"))["mode"] == "expert"
    assert "requirements.md" in desk.files()


def test_a_missing_text_is_an_error_that_names_it_and_writes_nothing(desk: "Desk") -> None:
    desk.upto("clarify")
    with pytest.raises(InvalidArgument, match="data_model"):
        desk.design(Design(architecture_overview="a", tech_stack="b", components="c", data_model=" \n"))
    assert "design.md" not in desk.files()


def test_reopening_a_stage_lists_the_stale_ones_and_loses_no_version(desk: "Desk") -> None:
    desk.upto("tasks")
    first = desk.read("requirements.md")
    receipt = desk.specify(MORE, reopen=True)
    assert receipt.stale == ("business-rules", "clarify", "design", "tasks")
    assert receipt.written.kept == "sdd/history/requirements-001.md"
    assert desk.read("history/requirements-001.md") == first
    assert {"design.md", "tasks.md"} <= desk.files()
    assert receipt.next_step.tool == "sdd_create_business_rules"
    desk.specify(reopen=True)
    assert "history/requirements-002.md" in desk.files()


def test_a_version_edited_by_hand_is_kept_too(desk: "Desk") -> None:
    desk.upto("propose")
    desk.write("proposal.md", "my own words\n")
    desk.propose(reopen=True)
    assert desk.read("history/proposal-001.md") == "my own words\n"


def test_requirements_get_ids_keep_them_when_reworded_elsewhere_and_never_share_them(desk: "Desk") -> None:
    desk.init()
    desk.propose()
    receipt = desk.specify()
    assert receipt.given_ids == ("FR-001", "FR-002", "FR-003", "NFR-001")
    assert receipt.count == 4
    again = desk.specify(MORE, reopen=True)
    text = desk.read("requirements.md")
    assert "- **FR-001**: A reader finds a book by title." in text
    assert "- **FR-002**: The librarian records a loan" in text
    assert "- **FR-004**: A reader reserves a book" in text
    assert again.given_ids == ("FR-004",)


def test_an_id_once_given_is_not_given_again_after_its_requirement_is_gone(desk: "Desk") -> None:
    desk.upto("specify")
    desk.specify(replace(MORE, must_have="- Only this"), reopen=True)
    receipt = desk.specify(replace(MORE, must_have="- Something else"), reopen=True)
    assert receipt.given_ids == ("FR-005",)


def test_tasks_are_counted_labelled_and_put_into_waves(desk: "Desk") -> None:
    desk.upto("design")
    receipt = desk.tasks()
    assert (receipt.count, receipt.waves, receipt.given_ids) == (2, 2, ("TASK-001", "TASK-002"))
    text = desk.read("tasks.md")
    assert "\n2 tasks.\n" in text
    assert "- **Wave 1**: TASK-001\n- **Wave 2**: TASK-002\n" in text


def test_waves_that_are_given_are_kept_and_checked(desk: "Desk") -> None:
    desk.upto("design")
    tasks = Tasks(
        estimated_effort="a day",
        tasks="- one FR-001 FR-002 FR-003 NFR-001\n- two",
        dependency_graph="TASK-001 -> TASK-002",
        wave_assignments="Wave 1: TASK-001, TASK-002",
    )
    receipt = desk.tasks(tasks)
    assert [finding.kind for finding in receipt.findings] == ["wave_order"]
    assert "Wave 1: TASK-001, TASK-002" in desk.read("tasks.md")


def test_a_plan_without_a_task_is_refused(desk: "Desk") -> None:
    desk.upto("design")
    with pytest.raises(InvalidArgument, match="no task"):
        desk.tasks(Tasks(estimated_effort="none", tasks="None"))


def test_headings_and_open_fences_in_a_text_stay_inside_their_section(desk: "Desk") -> None:
    desk.upto("clarify")
    desk.design(
        Design(
            architecture_overview="# Top\n```\nnever closed",
            tech_stack="## Data model\nnot the real one",
            components="c",
            data_model="the real one",
        )
    )
    sections = {s.title: s.text for s in overview.artifact(desk.workspace, "design").sections if s.level == 2}
    assert list(sections) == ["Architecture overview", "Tech stack", "Components", "Data model"]
    assert sections["Data model"].strip() == "the real one"


def test_findings_of_an_artifact_are_told_when_it_is_written(desk: "Desk") -> None:
    desk.upto("clarify")
    design = Design(architecture_overview="FR-404", tech_stack="TBD", components="c", data_model="d")
    assert {(f.kind, f.where) for f in desk.design(design).findings} == {
        ("unknown_id", "sdd/design.md:5"),
        ("placeholder", "sdd/design.md:9"),
    }


def test_clarity_scores_are_kept_between_rounds_until_the_gate_opens(desk: "Desk") -> None:
    desk.upto("business-rules")
    first = desk.clarify(answers="Readers only.", scores={"target_users": 90, "core_functionality": 90})
    assert not first.gate.passed
    assert first.next_step.tool == "sdd_clarify"
    assert "target_users" not in [d.dimension.name for d in first.gate.open_questions]
    rest = dict.fromkeys(clarity.NAMES[2:], 75.0)
    second = desk.clarify(answers="Now all.", scores=rest)
    assert second.gate.passed
    assert (second.rounds, second.next_step.tool) == (2, "sdd_create_design")
    text = desk.read("clarifications.md")
    assert "Readers only." in text
    assert "Now all." in text


def test_asking_for_the_open_questions_writes_nothing(desk: "Desk") -> None:
    desk.upto("business-rules")
    asked = desk.clarify()
    assert asked.receipt is None
    assert asked.gate.open_questions[0].dimension.name == "core_functionality"
    assert "clarifications.md" not in desk.files()


def test_scores_that_pass_open_the_gate_again_after_an_earlier_stage_was_reopened(desk: "Desk") -> None:
    desk.upto("design")
    desk.rules(reopen=True)
    assert desk.clarify().gate.passed
    assert load_project(located(desk.workspace)).current == "design"  # type: ignore[union-attr]


def test_scores_out_of_range_change_nothing(desk: "Desk") -> None:
    desk.upto("business-rules")
    before = desk.read("sdd.json")
    with pytest.raises(InvalidArgument, match="999"):
        desk.clarify(scores=dict.fromkeys(clarity.NAMES, 999))
    assert desk.read("sdd.json") == before


@pytest.mark.parametrize(("mode", "passes"), [("guided", False), ("expert", True)])
def test_the_mode_decides_how_clear_is_clear_enough(desk: "Desk", mode: str, passes: bool) -> None:
    desk.init(mode=mode)
    desk.propose()
    desk.specify()
    desk.rules()
    assert desk.clarify(scores=dict.fromkeys(clarity.NAMES, 60)).gate.passed is passes


@pytest.mark.parametrize("verdict", ["PASS", "PASS_WITH_WARNINGS"])
def test_no_verdict_passes_a_plan_with_errors(verdict: str, desk: "Desk") -> None:
    desk.upto("tasks")
    desk.write("design.md", desk.read("design.md") + "\nTBD\n")
    outcome = desk.validate(verdict=verdict)
    assert (outcome.given, outcome.recorded, outcome.reopened) == (verdict, "FAIL", "design")
    assert f"FAIL (given as {verdict}; computed findings stand)" in desk.read("validation.md")
    assert "- error: sdd/design.md:" in desk.read("validation.md")


def test_a_fail_reopens_at_the_earliest_stage_that_an_error_concerns(desk: "Desk") -> None:
    desk.upto("tasks")
    desk.write("design.md", desk.read("design.md") + "\nFR-404\n")
    outcome = desk.validate(verdict="FAIL")
    assert outcome.reopened == "design"
    assert outcome.receipt.next_step.tool == "sdd_create_design"
    assert outcome.receipt.stale == ("design", "tasks", "validate")
    desk.design()
    desk.tasks()
    assert desk.validate().recorded == "PASS"


def test_a_fail_without_computed_errors_reopens_the_tasks(desk: "Desk") -> None:
    desk.upto("tasks")
    assert desk.validate(verdict="fail").reopened == "tasks"


@pytest.mark.parametrize("word", ["pass with warnings", "Pass-With-Warnings", "PASS_WITH_WARNINGS"])
def test_a_verdict_is_read_in_any_spelling(desk: "Desk", word: str) -> None:
    desk.upto("tasks")
    assert desk.validate(verdict=word).recorded == "PASS_WITH_WARNINGS"


def test_an_unknown_verdict_is_an_error_that_lists_the_three(desk: "Desk") -> None:
    desk.upto("tasks")
    with pytest.raises(InvalidArgument, match="PASS, PASS_WITH_WARNINGS, FAIL"):
        desk.validate(verdict="maybe")


def test_a_done_stage_whose_file_is_gone_is_a_finding(desk: "Desk") -> None:
    desk.upto("tasks")
    os.unlink(Path(desk.workspace, "sdd", "proposal.md"))
    outcome = desk.validate()
    assert [(f.kind, f.file) for f in outcome.findings] == [("missing", "sdd/proposal.md")]


def test_the_project_is_found_from_a_folder_below_it(desk: "Desk") -> None:
    desk.init()
    below = Path(desk.workspace, "src", "deep")
    below.mkdir(parents=True)
    assert overview.overview(str(below)).name == "Library"
    assert located(str(below)).root == desk.workspace


def test_the_walk_upwards_ends_at_the_top_of_the_repository(desk: "Desk") -> None:
    desk.init()
    inner = Path(desk.workspace, "vendored")
    (inner / ".git").mkdir(parents=True)
    (inner / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    with pytest.raises(WrongStage, match="sdd_init_project"):
        overview.overview(str(inner))


def test_the_overview_tells_status_size_and_next_step_of_each_stage(desk: "Desk") -> None:
    desk.upto("specify")
    seen = overview.overview(desk.workspace)
    assert [(row.stage, row.status) for row in seen.stages][:4] == [
        ("init", "done"),
        ("propose", "done"),
        ("specify", "done"),
        ("business-rules", "pending"),
    ]
    assert seen.stages[1].size == Path(desk.workspace, "sdd", "proposal.md").stat().st_size
    assert seen.stages[3].size is None
    assert seen.next_step.tool == "sdd_create_business_rules"


def test_one_damaged_file_does_not_hide_where_the_project_stands(desk: "Desk") -> None:
    desk.upto("propose")
    desk.write("changes/broken/change.json", "{")
    Path(desk.workspace, "sdd", "proposal.md").write_bytes(b"caf\xe9\n")
    seen = overview.overview(desk.workspace)
    assert (seen.current, seen.stages[1].size, seen.stages[1].lines) == ("specify", 5, 1)


def test_an_artifact_that_is_not_written_yet_is_not_found_but_the_next_tool_is_named(desk: "Desk") -> None:
    desk.init()
    with pytest.raises(NotFound, match="sdd_create_proposal"):
        overview.artifact(desk.workspace, "design")
    with pytest.raises(InvalidArgument, match="business-rules"):
        overview.artifact(desk.workspace, "dessert")


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 1}', "\x00\x01"])
def test_a_damaged_state_is_explained_and_no_tool_writes_over_it(desk: "Desk", damage: str) -> None:
    desk.upto("specify")
    desk.write("sdd.json", damage)
    before = {name: desk.read(name) for name in desk.files()}
    for stage in STAGES:
        for reopen in (False, True):
            with pytest.raises(DamagedFile, match="haversack sdd doctor --mend"):
                desk.run(stage, reopen=reopen)
    assert {name: desk.read(name) for name in desk.files()} == before


def test_a_state_from_a_newer_version_is_left_alone(desk: "Desk") -> None:
    desk.init()
    desk.write("sdd.json", desk.read("sdd.json").replace('"format": 1', '"format": 2'))
    with pytest.raises(HaversackError, match="upgrade"):
        desk.propose()


def test_artifacts_without_a_state_are_not_buried_by_a_new_project(desk: "Desk") -> None:
    desk.upto("specify")
    os.unlink(Path(desk.workspace, "sdd", "sdd.json"))
    with pytest.raises(DamagedFile, match=r"requirements\.md"):
        desk.init()


def test_names_in_any_script_are_kept_as_they_are(desk: "Desk") -> None:
    receipt = desk.init(name="図書館 🏛")
    assert json.loads(desk.read("sdd.json"))["name"] == "図書館 🏛"
    assert receipt.observation.topic_key == "sdd/図書館/init"
