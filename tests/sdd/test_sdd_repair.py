"""Damage, found and mended with nothing overwritten."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from haversack.errors import StoreTooNew
from haversack.sdd.checks import repair
from haversack.sdd.documents.library import load_change, load_project, located
from haversack.sdd.flows import change_steps
from haversack.sdd.flows.pipeline import STAGES, Project, Stage

if TYPE_CHECKING:
    from tests.sdd.conftest import Desk


def loaded(desk: "Desk") -> Project:
    project = load_project(located(desk.workspace))
    assert project is not None
    return project


@pytest.mark.parametrize("stage", STAGES[1:])
@pytest.mark.parametrize("keep", [0, 0.5, 0.95])
def test_a_damaged_state_is_rebuilt_from_the_artifacts_and_kept_as_a_copy(
    desk: "Desk", stage: Stage, keep: float
) -> None:
    desk.upto(stage)
    before = loaded(desk)
    text = desk.read("sdd.json")
    damaged = text[: int(len(text) * keep)] + "\x00"
    desk.write("sdd.json", damaged)
    (mended,) = repair.mend(desk.workspace, now=desk.now())
    assert mended.problem.file == "sdd/sdd.json"
    assert mended.kept == "sdd/history/sdd-001.json"
    assert desk.read("history/sdd-001.json") == damaged
    after = loaded(desk)
    assert (after.name, after.mode, after.current, after.verdict) == (
        before.name,
        before.mode,
        before.current,
        before.verdict,
    )
    assert after.scores == before.scores
    assert [s.status for s in after.stages] == [s.status for s in before.stages]
    if before.current:
        desk.run(before.current)


def test_what_can_still_be_read_of_a_damaged_state_is_used(desk: "Desk") -> None:
    desk.init(name="Bücher", mode="expert")
    desk.propose()
    desk.write("sdd.json", desk.read("sdd.json").replace('"stages"', '"stages'))
    repair.mend(desk.workspace, now=desk.now())
    after = loaded(desk)
    assert (after.name, after.description, after.mode) == ("Bücher", "A small library", "expert")


def test_a_state_that_is_gone_is_rebuilt_and_later_artifacts_are_stale(desk: "Desk") -> None:
    desk.upto("tasks")
    for name in ("sdd.json", "business-rules.md"):
        os.unlink(Path(desk.workspace, "sdd", name))
    (problem,) = repair.diagnose(desk.workspace)
    assert "missing" in problem.message
    repair.mend(desk.workspace, now=desk.now())
    after = loaded(desk)
    assert (after.current, after.stale) == ("business-rules", ("clarify", "design", "tasks"))


def test_a_rebuilt_project_that_failed_is_open_again(desk: "Desk") -> None:
    desk.upto("tasks")
    desk.validate(verdict="FAIL")
    desk.write("sdd.json", "")
    repair.mend(desk.workspace, now=desk.now())
    assert loaded(desk).current == "tasks"


def test_a_gate_that_was_not_passed_is_not_passed_by_mending(desk: "Desk") -> None:
    desk.upto("business-rules")
    desk.clarify(answers="Little.", scores={"security": 40})
    desk.write("sdd.json", "")
    repair.mend(desk.workspace, now=desk.now())
    assert (loaded(desk).current, loaded(desk).scores) == ("clarify", {"security": 40})


def test_a_sound_folder_is_left_alone(desk: "Desk") -> None:
    assert repair.mend(desk.workspace, now=desk.now()) == ()
    assert not Path(desk.workspace, "sdd").exists()
    desk.upto("design")
    desk.start_change()
    before = {name: desk.read(name) for name in desk.files()}
    assert repair.diagnose(desk.workspace) == ()
    assert repair.mend(desk.workspace, now=desk.now()) == ()
    assert {name: desk.read(name) for name in desk.files()} == before


def test_diagnosing_writes_nothing(desk: "Desk") -> None:
    desk.init()
    desk.write("sdd.json", "{")
    assert [problem.file for problem in repair.diagnose(desk.workspace)] == ["sdd/sdd.json"]
    assert desk.files() == {"sdd.json"}


def test_a_state_of_a_newer_version_is_not_mended_away(desk: "Desk") -> None:
    desk.init()
    desk.write("sdd.json", json.dumps({"format": 99}))
    with pytest.raises(StoreTooNew):
        repair.mend(desk.workspace, now=desk.now())
    assert json.loads(desk.read("sdd.json")) == {"format": 99}


def test_a_damaged_change_is_rebuilt_from_its_stages(desk: "Desk") -> None:
    desk.start_change("Rename it", kind="refactor", size="medium")
    desk.advance()
    desk.check()
    desk.advance()
    desk.advance("the design")
    desk.write("changes/rename-it/change.json", "{")
    (mended,) = repair.mend(desk.workspace, now=desk.now())
    assert mended.kept == "sdd/history/changes/rename-it/change-001.json"
    change = load_change(located(desk.workspace), "rename-it")
    assert change is not None
    assert (change.type, change.size, change.current) == ("refactor", "medium", "tasks")
    desk.advance("- a task")
    desk.advance("verified")
    assert change_steps.change_status(desk.workspace, slug="rename-it").change.status == "completed"


def test_scraps_of_a_write_that_was_cut_off_are_cleared_away(desk: "Desk") -> None:
    desk.init()
    desk.write(".design.md.123.abcd.tmp", "half")
    (mended,) = repair.mend(desk.workspace, now=desk.now())
    assert mended.problem.file == "sdd/.design.md.123.abcd.tmp"
    assert desk.files() == {"sdd.json"}
