"""Changes and decisions on a real folder."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from haversack.errors import DamagedFile, InvalidArgument, NotFound, WrongStage
from haversack.sdd.documents import decisions
from haversack.sdd.documents.artifacts import Decision
from haversack.sdd.flows import change_steps
from haversack.sdd.results import DecisionReceipt

if TYPE_CHECKING:
    from tests.sdd.conftest import Desk

CHOICE = Decision(context="We need a store.", decision="SQLite.", rationale="It is one file.")


def test_a_change_walks_through_its_stages_to_completion(desk: "Desk") -> None:
    started = desk.start_change()
    assert started.change.slug == "readers-reserve-a-book"
    assert desk.advance("What it is.").next_step.tool == "sdd_context_check"
    desk.check()
    assert desk.advance("Nothing in the way.").change.current == "tasks"
    desk.advance("- one task")
    last = desk.advance("It works.")
    assert last.change.status == "completed"
    assert last.next_step.tool == "sdd_change"
    assert desk.files() == {
        f"changes/readers-reserve-a-book/{name}"
        for name in ("change.json", "describe.md", "context-check.md", "tasks.md", "verify.md")
    }


def test_changes_need_no_pipeline_but_serve_one_that_is_there(desk: "Desk") -> None:
    assert desk.start_change().project == Path(desk.workspace).name
    desk.init()
    assert desk.advance().project == "Library"


def test_only_one_change_is_active_at_a_time(desk: "Desk") -> None:
    desk.start_change()
    with pytest.raises(WrongStage, match="readers-reserve-a-book is active") as refusal:
        desk.start_change("Another")
    assert "sdd_change_advance" in refusal.value.hint
    change_steps.cancel_change(desk.workspace, reason="not now", now=desk.now())
    assert desk.start_change("Another").change.slug == "another"


def test_the_context_check_cannot_be_skipped(desk: "Desk") -> None:
    desk.start_change()
    desk.advance()
    with pytest.raises(WrongStage, match="sdd_context_check"):
        desk.advance("skipping")
    assert "changes/readers-reserve-a-book/context-check.md" not in desk.files()


def test_a_check_with_no_active_change_is_nobodys(desk: "Desk") -> None:
    assert change_steps.record_context_check(desk.workspace, now=desk.now()) is None
    assert not Path(desk.workspace, "sdd").exists()


def test_an_earlier_stage_is_written_again_and_its_old_text_kept(desk: "Desk") -> None:
    desk.start_change()
    desk.advance("first words")
    desk.check()
    desk.advance()
    again = desk.advance("second words", stage="describe")
    assert again.change.stale == ("context-check",)
    assert again.written.kept == "sdd/history/changes/readers-reserve-a-book/describe-001.md"
    assert "first words" in desk.read("history/changes/readers-reserve-a-book/describe-001.md")


def test_a_cancelled_change_keeps_its_files_and_its_reason(desk: "Desk") -> None:
    desk.start_change()
    desk.advance()
    change_steps.cancel_change(desk.workspace, reason="too costly", now=desk.now())
    report = change_steps.change_status(desk.workspace, slug="readers-reserve-a-book")
    assert (report.change.status, report.change.reason) == ("cancelled", "too costly")
    assert report.files[0].size
    with pytest.raises(WrongStage, match="sdd_change starts a change"):
        desk.advance()


def test_the_active_change_is_archived_first_then_the_last_completed(desk: "Desk") -> None:
    desk.start_change("First")
    desk.advance()
    desk.check()
    for _ in range(3):
        desk.advance()
    desk.start_change("Second")
    archived = [change_steps.archive_change(desk.workspace, now=desk.now()).change.slug for _ in range(2)]
    assert archived == ["second", "first"]
    with pytest.raises(WrongStage, match="none to archive"):
        change_steps.archive_change(desk.workspace, now=desk.now())


def test_two_changes_of_one_title_get_folders_of_their_own(desk: "Desk") -> None:
    first = desk.start_change("CON").change.slug
    change_steps.cancel_change(desk.workspace, now=desk.now())
    assert (first, desk.start_change("con").change.slug) == ("x-con", "x-con-2")


def test_each_change_is_remembered_under_its_own_topic(desk: "Desk") -> None:
    desk.init()
    assert desk.start_change("Größe").observation.topic_key == "sdd/library/change/größe"


@pytest.mark.parametrize(
    ("kind", "size", "text", "complaint"),
    [("bug", "small", "x", "fix, feature"), ("fix", "huge", "x", "small, medium"), ("fix", "small", " ", "empty")],
)
def test_a_change_that_cannot_be_is_refused_before_anything_is_made(
    desk: "Desk", kind: str, size: str, text: str, complaint: str
) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        desk.start_change(text, kind=kind, size=size)
    assert not Path(desk.workspace, "sdd").exists()


def test_status_of_an_unknown_slug_lists_the_known_ones_and_reads_no_other_path(desk: "Desk") -> None:
    desk.start_change("First")
    with pytest.raises(NotFound, match="first"):
        change_steps.change_status(desk.workspace, slug="../..")


def test_a_damaged_change_is_explained(desk: "Desk") -> None:
    desk.start_change("First")
    desk.write("changes/first/change.json", "{")
    with pytest.raises(DamagedFile, match=r"changes/first/change\.json"):
        desk.advance()


def test_findings_of_a_stage_are_told_when_it_is_written(desk: "Desk") -> None:
    desk.upto("specify")
    desk.start_change()
    assert [f.message for f in desk.advance("For FR-001.\nFor FR-404.").findings] == ["FR-404 is defined nowhere"]


def adr(desk: "Desk", title: str, *, status: str = "accepted", supersedes: str = "") -> DecisionReceipt:
    return decisions.record_decision(
        desk.workspace, title=title, content=CHOICE, status=status, supersedes=supersedes, now=desk.now()
    )


def test_every_decision_has_its_own_number_file_and_memory(desk: "Desk") -> None:
    desk.init()
    first, second = adr(desk, "Use SQLite"), adr(desk, "Use SQLite")
    assert (first.written.path, second.written.path) == ("sdd/adrs/001-use-sqlite.md", "sdd/adrs/002-use-sqlite.md")
    assert first.observation.topic_key != second.observation.topic_key
    assert desk.read("adrs/001-use-sqlite.md") == (
        "# ADR-001: Use SQLite\n\n- Status: accepted\n- Date: 2026-03-01\n\n## Context\n\nWe need a store.\n\n"
        "## Decision\n\nSQLite.\n\n## Rationale\n\nIt is one file.\n"
    )


def test_a_superseded_decision_says_by_which_and_its_old_text_is_kept(desk: "Desk") -> None:
    adr(desk, "Use SQLite")
    receipt = adr(desk, "Use PostgreSQL", supersedes="ADR-001")
    assert receipt.superseded == (1,)
    assert "- Status: superseded by ADR-002" in desk.read("adrs/001-use-sqlite.md")
    assert "- Supersedes: ADR-001" in desk.read("adrs/002-use-postgresql.md")
    assert "- Status: accepted" in desk.read("history/adrs/001-use-sqlite-001.md")


def test_superseding_an_unknown_decision_records_nothing(desk: "Desk") -> None:
    adr(desk, "Use SQLite")
    with pytest.raises(NotFound, match="ADR-001"):
        adr(desk, "Use PostgreSQL", supersedes="7")
    with pytest.raises(InvalidArgument, match="status"):
        adr(desk, "Use PostgreSQL", status="maybe")
    assert desk.files() == {"adrs/001-use-sqlite.md"}
