"""The tools that read a plan: where it stands, and what it has to say about a change."""

import re

import pytest
from inline_snapshot import snapshot

from haversack.app import Caller
from haversack.errors import InvalidArgument, NotFound
from haversack.memory.save.pipeline import Draft, save
from haversack.tools.prompts import prompts, written
from haversack.tools.resources import read, resources
from tests.tools.planning import Planner


def test_without_a_plan_the_answer_is_which_tool_starts_one(planner: Planner) -> None:
    for stage in ("", "design"):
        assert planner.text("sdd_get_context", stage=stage).startswith("No plan is kept here. sdd_init_project starts")


def test_by_default_there_is_one_line_per_stage_and_the_next_step(planner: Planner) -> None:
    planner.upto("sdd_clarify")
    assert planner.text("sdd_get_context") == snapshot("""\
Project Library (guided): 5 of 8 stages done. sdd_create_design is next, for design.
- init: done
- propose: done
- specify: done
- business-rules: done
- clarify: done (clarity 80, 70 needed)
- design: pending
- tasks: pending
- validate: pending
📏 ~79 tokens\
""")


def test_standard_is_a_table_with_sizes_and_the_active_change(planner: Planner) -> None:
    planner.upto("sdd_create_proposal")
    planner.reply("sdd_change", type="fix", size="small", description="Lost shelves")
    assert planner.text("sdd_get_context", detail_level="standard") == snapshot("""\
Project Library (guided): 2 of 8 stages done. sdd_generate_requirements is next, for specify.
Change lost-shelves (small fix): sdd_change_advance writes describe, for lost-shelves.
A small library
1 change, 0 decisions.
| stage | status | finished | size | file |
| init | done | 2026-02-02 | 1,291 bytes, 60 lines | sdd/sdd.json |
| propose | done | 2026-02-02 | 277 bytes, 21 lines | sdd/proposal.md |
| specify | pending | - | - | sdd/requirements.md |
| business-rules | pending | - | - | sdd/business-rules.md |
| clarify | pending | - | - | sdd/clarifications.md |
| design | pending | - | - | sdd/design.md |
| tasks | pending | - | - | sdd/tasks.md |
| validate | pending | - | - | sdd/validation.md |
📏 ~220 tokens\
""")


def test_full_gives_every_section_of_the_artifacts_under_its_file(planner: Planner) -> None:
    planner.upto("sdd_validate")
    text = planner.text("sdd_get_context", detail_level="full")
    assert text.count("\n# sdd/") == 7
    assert "# sdd/requirements.md (specify, done)\n## Must have\n- **FR-001**: A reader finds a book by title" in text
    assert "Books get lost between two shelves." in text


def test_full_fills_its_budget_with_whole_sections_and_the_others_are_one_call_away(planner: Planner) -> None:
    planner.upto("sdd_validate")
    whole = planner.reply("sdd_get_context", detail_level="full")
    pages = planner.pages("sdd_get_context", detail_level="full", max_tokens=200)
    assert len(pages) > 3
    sections = re.findall(r"^##? .*\n(?:.*\S.*\n)+", whole.text, re.MULTILINE)
    for section in sections[1:-1]:
        assert sum(page.count(section) for page in pages) >= 1, section


def test_one_stage_is_an_outline_by_default_and_a_document_in_pages_in_full(planner: Planner) -> None:
    planner.upto("sdd_validate")
    assert planner.text("sdd_get_context", stage="tasks") == snapshot("""\
sdd/tasks.md: done, 269 bytes, 17 lines
- Tasks: Library (line 1, 1 line)
- Estimated effort (line 5, 1 line)
- Tasks (line 9, 2 lines)
- Waves (line 14, 2 lines)
📏 ~67 tokens\
""")
    pages = planner.pages("sdd_get_context", stage="tasks", detail_level="full", max_tokens=100)
    lines = [line for page in pages for line in page.splitlines() if not line.startswith(("⚡", "📏"))]
    assert "\n".join(lines).split() == planner.written("tasks.md").split()


def test_a_mixture_of_levels_shows_small_artifacts_whole_and_lists_the_others(planner: Planner) -> None:
    planner.upto("sdd_create_proposal")
    reply = planner.reply("sdd_get_context", detail_level="auto", max_tokens=400)
    assert "Books get lost" in reply.text
    assert "business-rules" in reply.text


def test_a_stage_that_is_not_written_is_said_so_with_the_next_tool(planner: Planner) -> None:
    planner.upto("sdd_init_project")
    with pytest.raises(NotFound, match=r"design has no artifact yet\. sdd_create_proposal"):
        planner.reply("sdd_get_context", stage="design")
    with pytest.raises(InvalidArgument, match="allowed: init, propose"):
        planner.reply("sdd_get_context", stage="designs")


def remember(caller: Caller, title: str, content: str, project: str = "Library") -> int:
    return save(caller.memory, Draft(title=title, content=content, project=project)).id


@pytest.fixture
def planned(planner: Planner) -> Planner:
    """A finished plan with a past change, a decision, conventions and memories."""
    planner.upto("sdd_validate")
    planner.reply("sdd_change", type="fix", size="small", description="Late loans are listed")
    planner.reply("sdd_change_advance", content="The list of late loans misses renewals.")
    planner.reply("sdd_change", type="fix", size="small", description="done", action="archive")
    planner.reply("sdd_adr", title="Loans in one file", context="Loans", decision="SQLite", rationale="Simple")
    (planner.folder / "AGENTS.md").write_text("# Loans\n\nA loan is never deleted.\n\n# Style\n\nUse tabs.\n")
    remember(planner.caller, "Renewals are rare", "Readers renew a loan about once a month.")
    remember(planner.caller, "Ports", "The gateway listens on 8080.")
    remember(planner.caller, "Loans of another project", "Readers renew a loan there, too.", "Elsewhere")
    return planner


def test_a_check_ranks_every_source_in_one_list_and_reads_like_this(planned: Planner) -> None:
    # "Renewals" is a form of "renew": the memory says it twice, the requirement and the past change once.
    reply = planned.text(
        "sdd_context_check", change_description="May a reader renew a loan twice?", detail_level="summary"
    )
    assert reply == snapshot("""\
Context, no change is active. 15 findings: 15 of plan and memory, no problems. sdd_change starts a change.
Requirements that share words with it: FR-003, BRC-001, FR-001, FR-002
Requirements that share none: NFR-001
## Memories
#12 Renewals are rare (2026-02-02)
## Requirements
- FR-003 (should, sdd/requirements.md:10): A reader renews a loan
- FR-001 (must, sdd/requirements.md:5): A reader finds a book by title
- FR-002 (must, sdd/requirements.md:6): The librarian records a loan
## Past changes
- late-loans-are-listed (sdd/changes/late-loans-are-listed/describe.md:1)
## Rules
- BRC-001 (sdd/business-rules.md:13): A reader has at most five loans
## Artifacts
- design.md, Data model (sdd/design.md:16)
- business-rules.md, Definitions (sdd/business-rules.md:3)
- proposal.md, Target users (sdd/proposal.md:7)
- business-rules.md, Facts (sdd/business-rules.md:7)
- design.md, Components (sdd/design.md:11)
- clarifications.md, Round 1 (2026-02-02) (sdd/clarifications.md:18)
## Conventions
- AGENTS.md, Loans (AGENTS.md:1)
## Decisions
- ADR-001: Loans in one file (sdd/adrs/001-loans-in-one-file.md:1)
## Tasks
- TASK-002 (sdd/tasks.md:12): **TASK-002**: Record loans. Covers FR-002, FR-003, BRC-001. Depends on TASK-001
📏 ~403 tokens\
""")


def test_a_check_finds_memories_by_any_of_the_words_of_this_project_only(planned: Planner) -> None:
    sentence = 'We want to let "every reader" renew any loan twice, from home, at night'
    text = planned.text("sdd_context_check", change_description=sentence)
    assert "Renewals are rare" in text
    assert "another project" not in text
    assert "Ports" not in text
    elsewhere = planned.text("sdd_context_check", change_description=sentence, project_name="Elsewhere")
    assert "another project" in elsewhere
    assert "Renewals are rare" not in elsewhere


def test_memories_saved_under_the_folder_s_own_name_count_too(planned: Planner) -> None:
    remember(planned.caller, "Renewal counter", "A loan holds how often it was renewed.", "")
    text = planned.text("sdd_context_check", change_description="renew a loan twice")
    assert "Renewal counter" in text


def test_the_memories_of_the_plan_itself_are_not_shown_beside_the_plan(planned: Planner) -> None:
    text = planned.text("sdd_context_check", change_description="loans renewals books readers", max_tokens=8000)
    assert "Late loans" not in text.split("## Memories")[1].split("## ")[0]
    assert "[decision]" not in text


def test_what_the_change_names_comes_first_with_what_is_wrong_about_it(planned: Planner) -> None:
    words = "Change how BRC-001 and FR-404 work"
    facts = planned.facts("sdd_context_check", change_description=words)
    items = facts["items"]
    assert (items[1]["at"], items[1]["message"]) == ("change_description:1", "FR-404 is defined nowhere")
    assert next(item["name"] for item in items if "source" in item) == "BRC-001"


def test_a_finding_about_nfr_001_does_not_concern_a_change_that_names_fr_001(planner: Planner) -> None:
    planner.upto("sdd_create_design")
    planner.reply("sdd_create_tasks", tasks="- Everything. Covers FR-001, FR-003, BRC-001")
    facts = planner.facts("sdd_context_check", change_description="Rework FR-002")
    findings = [item["message"] for item in facts["items"] if "finding" in item]
    assert findings == ["no task covers must-have FR-002", "no task covers NFR-001"]
    first = planner.facts("sdd_context_check", change_description="Rework FR-001")["items"]
    assert "related" in first[1]


@pytest.mark.parametrize("budget", [64, 100, 200, 400, 2000])
def test_every_requirement_is_in_the_reply_or_reachable_from_it(planner: Planner, budget: int) -> None:
    planner.upto("sdd_create_proposal")
    entries = "\n".join(f"- A reader does thing {number} with a book" for number in range(60))
    planner.reply("sdd_generate_requirements", must_have=entries)
    pages = planner.pages("sdd_context_check", change_description="readers and books", max_tokens=budget)
    text = "\n".join(pages)
    for number in range(1, 62):
        assert f"FR-{number:03d}" in text
    assert "NFR-001" in text


def test_ids_are_named_before_texts_are_shown(planner: Planner) -> None:
    planner.upto("sdd_create_proposal")
    entries = "\n".join(f"- A reader does thing {number} with a book" for number in range(20))
    planner.reply("sdd_generate_requirements", must_have=entries)
    text = planner.text("sdd_context_check", change_description="readers and books", max_tokens=260)
    assert all(f"FR-{number:03d}" in text for number in range(1, 22))


def test_a_check_without_a_plan_or_a_word_to_search_for_still_answers(planner: Planner) -> None:
    (planner.folder / "CLAUDE.md").write_text("Use tabs.\n")
    assert "Use tabs." in planner.text("sdd_context_check", change_description="tabs or spaces?")
    assert "0 findings" in planner.text("sdd_context_check", change_description="???")
    with pytest.raises(InvalidArgument, match="change_description"):
        planner.reply("sdd_context_check", change_description=" ")


def test_a_check_is_recorded_before_it_names_the_next_step_so_asking_twice_gives_the_same_answer(
    planned: Planner,
) -> None:
    planned.reply("sdd_change", type="fix", size="small", description="Renew twice")
    planned.reply("sdd_change_advance", content="Broken.")
    first = planned.text("sdd_context_check", change_description="renew a loan")
    assert "sdd_change_advance writes context-check" in first
    assert planned.text("sdd_context_check", change_description="renew a loan") == first


def test_the_prompt_to_start_brings_the_idea_and_where_the_plan_stands(planner: Planner) -> None:
    text = written(planner.caller, "sdd-start", {"idea": "lend maps as well"})
    assert "lend maps as well" in text
    assert "No plan is kept here" in text
    assert "sdd_explore" in text
    with pytest.raises(InvalidArgument, match="idea"):
        written(planner.caller, "sdd-start", {})


def test_the_prompt_for_the_status_brings_the_table(planner: Planner) -> None:
    planner.upto("sdd_init_project")
    assert "| init | done |" in written(planner.caller, "sdd-status", {})
    assert {"sdd-start", "sdd-status"} <= set(prompts())


def test_the_status_of_the_plan_has_an_address(planner: Planner) -> None:
    assert "sdd://project/status" in {each.address for each in resources()}
    assert "No plan is kept here" in read(planner.caller, "sdd://project/status").text
    planner.upto("sdd_init_project")
    assert read(planner.caller, "sdd://project/status").text == planner.text("sdd_get_context")
    assert "| init | done |" in read(planner.caller, "sdd://project/status?detail_level=standard").text
    with pytest.raises(NotFound):
        read(planner.caller, "sdd://project/nonsense")
    with pytest.raises(NotFound):
        read(planner.caller, "haversack://project/status")
