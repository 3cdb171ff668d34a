"""What a planned change is checked against."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import InvalidArgument
from haversack.sdd.checks.change_context import ContextCheck, Passage, check_context
from haversack.sdd.checks.relevance import relevance, words
from haversack.sdd.documents import decisions
from haversack.sdd.documents.artifacts import Decision
from haversack.sdd.flows import change_steps

if TYPE_CHECKING:
    from tests.sdd.conftest import Desk


def named(check: ContextCheck, name: str) -> Passage:
    return next(passage for passage in check.passages if passage.name == name)


def test_every_requirement_id_is_accounted_for_whatever_the_change(desk: "Desk") -> None:
    desk.upto("tasks")
    check = check_context(desk.workspace, "something else altogether")
    own = [p.name for p in check.passages if p.source in ("requirement", "rule")]
    assert sorted(own) == sorted(check.requirement_ids) == ["BRC-001", "FR-001", "FR-002", "FR-003", "NFR-001"]


def test_a_question_in_plain_words_finds_the_requirement_it_is_about(desk: "Desk") -> None:
    desk.upto("tasks")
    check = check_context(desk.workspace, "How should renewing of loans work for our readers?")
    requirements = [p for p in check.passages if p.source == "requirement"]
    assert requirements[0].name == "FR-003"
    assert requirements[0].score > requirements[-1].score


def test_what_the_description_names_by_id_comes_first(desk: "Desk") -> None:
    desk.upto("tasks")
    check = check_context(desk.workspace, "Loans and readers, but most of all NFR-001")
    assert check.passages[0].name == "NFR-001"
    assert check.passages[0].score == 1.0
    assert check.cited_ids == ("NFR-001",)


def test_passages_cite_the_file_and_line_they_stand_on(desk: "Desk") -> None:
    desk.upto("tasks")
    Path(desk.workspace, "AGENTS.md").write_text("# Rules\n\n## Tests\n\nRun them.\n")
    check = check_context(desk.workspace, "loans")
    starts = {"requirement": "- **", "rule": "- **", "task": "- **", "section": "#", "convention": "#"}
    seen = set()
    for passage in check.passages:
        line = Path(desk.workspace, passage.file).read_text().split("\n")[passage.line - 1]
        assert line.startswith(starts[passage.source])
        assert passage.text.split("\n")[0] in Path(desk.workspace, passage.file).read_text()
        seen.add(passage.source)
    assert seen == set(starts)


def test_past_changes_and_decisions_are_found_and_the_active_change_is_not_its_own_past(desk: "Desk") -> None:
    desk.start_change("Readers reserve books by mail")
    desk.advance("Postage is paid for FR-001.")
    change_steps.cancel_change(desk.workspace, reason="no", now=desk.now())
    content = Decision(context="Mail", decision="Use stamps", rationale="Cheap")
    decisions.record_decision(desk.workspace, title="Stamps", content=content, now=desk.now())
    desk.start_change("Stamps are printed")
    check = check_context(desk.workspace, "postage and stamps")
    assert {p.source for p in check.passages} == {"change", "decision"}
    past = named(check, "readers-reserve-books-by-mail")
    assert "cancelled" in past.text
    assert "Postage" in past.text
    assert past.ids == ("FR-001",)
    assert check.active is not None
    assert check.active.slug == "stamps-are-printed"


def test_an_unknown_id_in_the_description_is_a_finding(desk: "Desk") -> None:
    desk.upto("specify")
    check = check_context(desk.workspace, "Change FR-001\nand FR-404")
    assert [(f.where, f.message) for f in check.findings] == [("change_description:2", "FR-404 is defined nowhere")]


def test_an_id_that_a_past_change_defined_may_be_named(desk: "Desk") -> None:
    desk.upto("validate")
    desk.start_change("Renewals", size="medium")
    desk.advance()
    desk.check()
    desk.advance()
    desk.advance("- **FR-010**: A loan is renewed once")
    assert check_context(desk.workspace, "Rework FR-010").findings == ()
    assert [f.message for f in check_context(desk.workspace, "Rework FR-011").findings] == ["FR-011 is defined nowhere"]


def test_the_number_of_an_id_is_no_word_that_passages_share(desk: "Desk") -> None:
    desk.upto("tasks")
    check = check_context(desk.workspace, "Rework FR-002")
    assert named(check, "FR-002").score == 1
    assert {p.name for p in check.passages if p.score > 0} >= {"FR-002", "TASK-002"}
    assert named(check, "TASK-001").score == 0
    assert named(check, "tasks.md, Waves").score == 0


def test_findings_of_the_record_come_with_the_check(desk: "Desk") -> None:
    desk.upto("tasks")
    desk.write("design.md", "# Design\n\nTBD\n")
    desk.write("changes/broken/change.json", "{")
    kinds = {(f.kind, f.file) for f in check_context(desk.workspace, "x").findings}
    assert ("placeholder", "sdd/design.md") in kinds
    assert ("damaged", "sdd/changes/broken/change.json") in kinds


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_convention_file_is_read_once_and_never_from_outside_the_root(desk: "Desk", tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret")
    root = tmp_path / "inner"
    root.mkdir()
    (root / "AGENTS.md").write_text("# Rules\n\nbe kind\n")
    (root / "CLAUDE.md").symlink_to(root / "AGENTS.md")
    (root / "CONTRIBUTING.md").symlink_to(outside)
    check = check_context(str(root), "anything")
    assert [p.text for p in check.passages] == ["be kind"]


def test_a_check_without_a_project_still_reads_the_conventions(desk: "Desk") -> None:
    Path(desk.workspace, "CLAUDE.md").write_text("Use tabs.\n")
    check = check_context(desk.workspace, "tabs or spaces")
    assert [(p.file, p.source) for p in check.passages] == [("CLAUDE.md", "convention")]
    assert check.passages[0].score > 0
    assert not Path(desk.workspace, "sdd").exists()


def test_an_empty_description_is_refused(desk: "Desk") -> None:
    with pytest.raises(InvalidArgument, match="change_description"):
        check_context(desk.workspace, "  ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("authenticate", "authentication"),
        ("renewing loans", "renew a loan"),
        ("renewals", "renew"),
        ("getUserName", "user name get"),
        ("HTTPServer", "http server"),
        ("café", "CAFE"),
        ("planned", "planning"),
    ],
)
def test_words_meet_across_inflection_case_accents_and_camel_case(one: str, other: str) -> None:
    assert set(words(one)) <= set(words(other)) | {"get"}


def test_words_of_scripts_without_spaces_are_compared_in_pairs() -> None:
    assert set(words("図書館")) & set(words("新しい図書館の本"))


@given(st.text(), st.lists(st.text()))
def test_relevance_is_a_share_between_nothing_and_all(question: str, passages: list[str]) -> None:
    scores = relevance(question, passages)
    assert len(scores) == len(passages)
    assert all(0 <= score < 1 for score in scores)


def test_a_passage_that_holds_the_rare_word_beats_one_that_holds_the_common_one() -> None:
    scores = relevance("loan interest", ["loan", "loan again", "interest", "loan loan"])
    assert max(scores) == scores[2]
