"""Reading Markdown entries, and reading, citing and giving ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import InvalidArgument, TooLarge
from haversack.sdd.documents import markdown
from haversack.sdd.documents.ids import REQUIREMENTS, TASKS, Family, Labeller, citations, cited, labels, split_label


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("see FR-001 and NFR-002, then BRC-003", ["FR-001", "NFR-002", "BRC-003"]),
        ("fr-1 means the same as FR-001", ["FR-001"]),
        ("FR-001..FR-003", ["FR-001", "FR-002", "FR-003"]),
        ("FR-001 to FR-003", ["FR-001", "FR-002", "FR-003"]),
        ("FR-001–FR-003", ["FR-001", "FR-002", "FR-003"]),
        ("FR-001..3", ["FR-001", "FR-002", "FR-003"]),
        ("FR-001 - NFR-003", ["FR-001", "NFR-003"]),
        ("FR-001 - 3 retries", ["FR-001"]),
        ("FR-1234 has four digits", ["FR-1234"]),
        ("XFR-001, FR-001a, FR001 and a-FR-001 are something else", []),
        ("FR-900..FR-001 runs backwards", ["FR-900", "FR-001"]),
    ],
)
def test_requirement_ids_are_found_wherever_they_are_cited(text: str, ids: list[str]) -> None:
    assert list(cited(text, REQUIREMENTS)) == ids


def test_what_lies_inside_a_range_is_only_implied() -> None:
    assert [c.id for c in citations("FR-001..FR-003", REQUIREMENTS) if c.implied] == ["FR-002"]


def test_a_range_of_a_million_does_not_become_a_million_citations() -> None:
    assert len(cited("FR-1..FR-999999", REQUIREMENTS)) == 2


def test_task_ids_are_read_in_the_forms_people_write() -> None:
    assert cited("TASK-001, task 2, T3, T-4 but not t5 or HTTP-6", TASKS) == (
        "TASK-001",
        "TASK-002",
        "TASK-003",
        "TASK-004",
    )


@pytest.mark.parametrize(
    ("head", "name", "rest"),
    [
        ("FR-001: text", "FR-001", "text"),
        ("**FR-001**: text", "FR-001", "text"),
        ("**FR-001:** text", "FR-001", "text"),
        ("**FR-001: Title** text", "FR-001", "**Title** text"),
        ("[FR-1] text", "FR-001", "text"),
        ("FR-001 — text", "FR-001", "text"),
        ("FR-001 text", "FR-001", "text"),
        ("FR-001", "FR-001", ""),
        ("FR-001..FR-003 are out", "", "FR-001..FR-003 are out"),
        ("text about FR-001", "", "text about FR-001"),
    ],
)
def test_an_entry_is_split_into_its_id_and_the_rest(head: str, name: str, rest: str) -> None:
    assert split_label(head, REQUIREMENTS) == (name, rest)


def label(text: str, family: Family = REQUIREMENTS, prefix: str = "FR") -> str:
    return Labeller(family, taken=labels((text,), family)).label(text, prefix)


@pytest.mark.parametrize(
    ("text", "labelled"),
    [
        ("- a\n- b", "- **FR-001**: a\n- **FR-002**: b"),
        ("1. a\n2) b", "- **FR-001**: a\n- **FR-002**: b"),
        ("a\nb", "- **FR-001**: a\n- **FR-002**: b"),
        ("- [ ] a", "- **FR-001**: a"),
        ("FR-007: a\nb", "- **FR-007**: a\n- **FR-008**: b"),
        ("Intro:\n- a\n  - part of a\n  more\n\nOutro", "Intro:\n- **FR-001**: a\n  - part of a\n  more\n\nOutro"),
        ("### a\nbody\n### b", "### FR-001: a\nbody\n### FR-002: b"),
        ("## Group\n- a\n## Other\n- b", "## Group\n- **FR-001**: a\n## Other\n- **FR-002**: b"),
        ("- a\n```\n- not an entry\n```", "- **FR-001**: a\n```\n- not an entry\n```"),
        ("None.", "None."),
        ("- n/a", "- n/a"),
    ],
)
def test_every_entry_without_an_id_is_given_one_and_nothing_else_changes(text: str, labelled: str) -> None:
    assert label(text) == labelled


def test_headed_tasks_keep_their_headings_and_what_is_under_them() -> None:
    text = "### Task 1: Set up\n- Covers: FR-001\n\n### TASK-2 Build\nDepends on TASK-001"
    assert label(text, TASKS, "TASK") == (
        "### TASK-001: Set up\n- Covers: FR-001\n\n### TASK-002: Build\nDepends on TASK-001"
    )


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n`~#|", exclude_categories=["Z", "C"]))))
def test_given_ids_are_distinct_and_labelling_twice_changes_nothing(entries: list[str]) -> None:
    text = "\n".join(f"- {entry}" for entry in entries)
    once = label(text)
    assert label(once) == once
    given_ids = labels((once,), REQUIREMENTS)
    explicit = labels((text,), REQUIREMENTS)
    assert len(set(given_ids) - set(explicit)) == len(given_ids) - len(explicit)


@given(st.text())
def test_any_text_can_be_read_as_markdown_without_losing_a_line(text: str) -> None:
    tidy = markdown.tidy(text, "text")
    assert [line.text for line in markdown.lines(tidy)] == tidy.split("\n")
    sections = markdown.sections(tidy)
    for section in sections:
        assert all(
            row == tidy.split("\n")[section.first_line - 1 + n] for n, row in enumerate(section.text.split("\n")) if row
        )
    for item in markdown.items(tidy, REQUIREMENTS.label):
        assert item.head in tidy.split("\n")[item.line - 1]


def test_a_fence_left_open_is_closed_so_that_it_cannot_swallow_what_follows() -> None:
    assert markdown.tidy("~~~~\ncode", "text") == "~~~~\ncode\n~~~~"
    assert markdown.tidy("```\ncode\n```", "text") == "```\ncode\n```"


def test_headings_are_pushed_below_their_section_but_not_inside_fences() -> None:
    assert markdown.demote("# A\n## B\n```\n# code\n```", 2) == "### A\n#### B\n```\n# code\n```"
    assert markdown.demote("#### A", 2) == "#### A"


def test_text_that_cannot_be_kept_is_refused_with_its_name() -> None:
    with pytest.raises(InvalidArgument, match="goals"):
        markdown.tidy("broken \ud800", "goals")
    with pytest.raises(TooLarge, match="goals"):
        markdown.tidy("x" * (markdown.LONGEST_TEXT + 1), "goals")
