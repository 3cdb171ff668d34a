"""The tools that write a plan: what they confirm, what they refuse, and what they leave in memory."""

import os
import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from haversack.app import open_caller
from haversack.config import Config, MemorySettings, WorkspaceSettings
from haversack.errors import InvalidArgument, WrongStage
from haversack.sdd.flows.pipeline import TOOLS
from haversack.tools.registry import tools
from haversack.tools.road.call import call
from haversack.tools.sdd.plan_replies import spans
from haversack.values import replace
from tests.tools.planning import CLEAR, STAGES, Planner

SDD = [tool for tool in tools().values() if tool.group == "sdd"]


def test_every_stage_is_confirmed_with_its_path_its_size_and_the_tool_that_is_next(planner: Planner) -> None:
    order = list(STAGES)
    for tool, following in zip(order, [*order[1:], "sdd_change"], strict=True):
        facts = planner.facts(tool)
        written = planner.folder / facts["path"]
        assert facts["bytes"] == written.stat().st_size
        assert facts["lines"] == len(written.read_text(encoding="utf-8").splitlines())
        assert facts["next_tool"] == following
        assert facts["findings"] == []


def test_a_confirmation_is_short_and_does_not_echo_what_was_written(planner: Planner) -> None:
    planner.upto("sdd_create_proposal")
    long = "\n".join(f"- The reader does thing number {number} with a book" for number in range(300))
    reply = planner.reply("sdd_generate_requirements", must_have=long)
    assert "302 requirements, ids given: FR-001 to FR-301, NFR-001." in reply.text
    assert "thing number" not in reply.text
    assert reply.tokens < 100


def test_the_confirmations_read_like_this(planner: Planner) -> None:
    planner.upto("sdd_create_design")
    assert planner.text("sdd_create_tasks", tasks="- Catalogue. Covers FR-001\n- TBD") == snapshot("""\
Wrote sdd/tasks.md (175 bytes, 16 lines): 2 tasks in 1 wave, ids given: TASK-001 to TASK-002. Remembered as #7.
sdd_validate is next, for validate.
## Findings
- error: sdd/requirements.md:6: no task covers must-have FR-002
- error: sdd/tasks.md:12: placeholder 'TBD'
- warning: sdd/requirements.md:10: no task covers FR-003
- warning: sdd/requirements.md:14: no task covers NFR-001
📏 ~128 tokens\
""")
    assert planner.text("sdd_create_proposal", reopen=True) == snapshot("""\
Wrote sdd/proposal.md (277 bytes, 21 lines): the proposal. Remembered as #2.
Stale, to be written again: specify, business-rules, clarify, design, tasks.
sdd_generate_requirements writes specify again, which is stale.
📏 ~62 tokens\
""")


@pytest.mark.parametrize("stage", list(STAGES))
def test_a_stage_leaves_a_decision_under_its_own_topic_and_the_project_s_name(planner: Planner, stage: str) -> None:
    planner.upto(stage)
    name = next(name for name, tool in TOOLS.items() if tool == stage)
    held = planner.memories()[f"sdd/library/{name}"]
    assert (held["kind"], held["project"], held["tool_name"]) == ("decision", "Library", stage)
    assert held["content"].startswith("sdd/")


def test_a_stage_written_again_becomes_a_new_text_of_the_same_memory(planner: Planner) -> None:
    planner.upto("sdd_create_proposal")
    first = planner.facts("sdd_create_proposal", problem_statement="Maps get lost too.", reopen=True)
    held = planner.memories()["sdd/library/propose"]
    assert held["id"] == first["memory_id"]
    assert held["revisions"] == 1
    assert "Maps get lost too." in held["content"]


def test_the_step_is_taken_and_said_so_when_memory_refuses_it(tmp_path: Path, planner: Planner) -> None:
    config = replace(planner.caller.config, memory=MemorySettings(max_content=10))
    small = open_caller(config, directory=planner.caller.directory, now=planner.caller.now)
    reply = call(small, "sdd_init_project", STAGES["sdd_init_project"])
    small.app.close()
    assert "Not remembered: content has" in reply.text
    assert '"name": "Library"' in planner.written("sdd.json")


def test_secrets_stay_out_of_memory_and_the_reply_says_so(planner: Planner) -> None:
    planner.upto("sdd_init_project")
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    reply = planner.text("sdd_create_proposal", target_users=f"Those who know {secret}")
    assert "redacted" in reply
    assert secret not in planner.memories()["sdd/library/propose"]["content"]


@pytest.mark.parametrize(
    ("tool", "next_tool"),
    [
        ("sdd_create_tasks", "sdd_create_proposal"),
        ("sdd_validate", "sdd_create_proposal"),
        ("sdd_init_project", "reopen=true"),
    ],
)
def test_a_stage_at_the_wrong_time_changes_nothing_and_names_the_right_tool(
    planner: Planner, tool: str, next_tool: str
) -> None:
    planner.upto("sdd_init_project")
    before = sorted(os.listdir(planner.folder / "sdd")), planner.memories()
    with pytest.raises(WrongStage) as raised:
        planner.reply(tool)
    assert next_tool in str(raised.value)
    assert (sorted(os.listdir(planner.folder / "sdd")), planner.memories()) == before


def test_reopening_lists_what_became_stale_and_keeps_the_version_before(planner: Planner) -> None:
    planner.upto("sdd_validate")
    facts = planner.facts("sdd_create_design", tech_stack="Go", reopen=True)
    assert facts["stale"] == ["tasks", "validate"]
    assert facts["kept"] == "sdd/history/design-001.md"
    assert facts["next_tool"] == "sdd_create_tasks"


def test_clarifying_without_a_word_asks_the_open_questions_weakest_and_weightiest_first(planner: Planner) -> None:
    planner.upto("sdd_create_business_rules")
    lines = planner.text("sdd_clarify", answers="", dimension_scores={}).splitlines()
    assert lines[0] == "Clarity 0 of 100, 70 needed: not passed."
    assert [line.split()[1] for line in lines[1:-1]][:2] == ["core_functionality", "scope_boundaries"]
    assert len(lines) == 10
    assert not (planner.folder / "sdd" / "clarifications.md").exists()


def test_scores_are_kept_between_rounds_and_may_come_as_json_text(planner: Planner) -> None:
    planner.upto("sdd_create_business_rules")
    first = planner.facts("sdd_clarify", dimension_scores='{"security": 100, "data_model": "40"}')
    assert not first["passed"]
    assert "security" not in {each["dimension"] for each in first["open_questions"]}
    second = planner.facts("sdd_clarify", dimension_scores={name: 90 for name in CLEAR if name != "security"})
    assert second["passed"]
    assert second["clarity"] == 91.1
    assert second["rounds"] == 2


@pytest.mark.parametrize("scores", [{"security": 999}, {"security": -1}, {"beauty": 50}, {"security": "high"}])
def test_scores_out_of_range_or_of_unknown_dimensions_are_refused(planner: Planner, scores: object) -> None:
    planner.upto("sdd_create_business_rules")
    with pytest.raises(InvalidArgument):
        planner.reply("sdd_clarify", dimension_scores=scores)


def test_a_pass_while_errors_stand_is_recorded_as_a_fail_and_the_findings_are_listed(
    planner: Planner,
) -> None:
    planner.upto("sdd_create_business_rules")
    planner.reply("sdd_clarify")
    planner.reply("sdd_create_design", tech_stack="TBD")
    planner.reply("sdd_create_tasks", tasks="- Catalogue. Covers FR-001, FR-042")
    facts = planner.facts("sdd_validate", verdict="pass")
    assert (facts["given"], facts["verdict"], facts["reopened"]) == ("PASS", "FAIL", "design")
    assert (facts["covered"], facts["requirements"], facts["rules"]) == (1, 4, 1)
    assert {each["finding"] for each in facts["findings"]} == {"placeholder", "unknown_id", "uncovered"}


def test_a_fail_takes_the_plan_back_to_the_earliest_stage_an_error_concerns(planner: Planner) -> None:
    planner.upto("sdd_create_business_rules")
    planner.reply("sdd_clarify")
    planner.reply("sdd_create_design", tech_stack="TBD")
    planner.reply("sdd_create_tasks")
    facts = planner.facts("sdd_validate", verdict="FAIL")
    assert (facts["reopened"], facts["next_tool"]) == ("design", "sdd_create_design")
    assert facts["stale"] == ["design", "tasks", "validate"]


def test_more_findings_than_a_confirmation_holds_are_all_one_call_away(planner: Planner) -> None:
    planner.upto("sdd_create_proposal")
    entries = "\n".join(f"- TBD {number}" for number in range(200))
    reply = planner.reply("sdd_generate_requirements", must_have=entries)
    assert reply.tokens <= 1_000
    seen = reply.text
    while reply.left:
        reply = planner.reply("more", key=reply.left.key)
        assert "Wrote" not in reply.text
        seen += reply.text
    assert all(f"sdd/requirements.md:{line}:" in seen for line in range(5, 205))


def test_exploring_again_adds_to_the_same_memory_also_after_a_plan_was_started(planner: Planner) -> None:
    first = planner.facts("sdd_explore", title="Dark mode", goals="- Easy on the eyes")
    planner.upto("sdd_init_project")
    again = planner.facts("sdd_explore", title="dark mode", goals="- easy on the eyes\n- Saves power")
    assert again["id"] == first["id"]
    assert again["added"] == {"goals": 1}
    content = planner.memories()["explore/dark-mode"]["content"]
    assert content.count("yes") == 1
    assert "Saves power" in content


def test_an_exploration_suggests_what_kind_of_change_it_is(planner: Planner) -> None:
    text = planner.text("sdd_explore", title="Fix the broken search", goals="- No crash on quotes")
    assert "small fix" in text
    assert "sdd_change" in text


CHANGE = {"type": "feature", "size": "large", "description": "Readers reserve a book"}


def test_a_large_change_goes_through_its_stages_and_each_keeps_its_own_memory(planner: Planner) -> None:
    planner.upto("sdd_validate")
    started = planner.facts("sdd_change", **CHANGE)
    assert (started["slug"], started["stage"]) == ("readers-reserve-a-book", "propose")
    planner.reply("sdd_change_advance", content="Reserve it.")
    planner.reply("sdd_context_check", change_description="Readers reserve a book")
    for stage in ("context-check", "spec", "clarify", "design", "tasks", "verify"):
        facts = planner.facts("sdd_change_advance", content=f"About {stage}.")
        assert facts["path"] == f"sdd/changes/readers-reserve-a-book/{stage}.md"
    assert (facts["status"], facts["stage"], facts["next_tool"]) == ("completed", None, "sdd_change")
    topics = [topic for topic in planner.memories() if "/change/" in topic]
    assert len(topics) == 8
    assert "About spec." in planner.memories()["sdd/library/change/readers-reserve-a-book/spec"]["content"]


def test_the_context_has_to_be_checked_for_this_change_before_its_stage_is_written(planner: Planner) -> None:
    planner.upto("sdd_init_project")
    planner.reply("sdd_context_check", change_description="books")
    planner.reply("sdd_change", **CHANGE)
    planner.reply("sdd_change_advance", content="Reserve it.")
    with pytest.raises(WrongStage, match="sdd_context_check is next"):
        planner.reply("sdd_change_advance", content="Nothing to see.")
    planner.reply("sdd_context_check", change_description="books")
    assert planner.facts("sdd_change_advance", content="Checked.")["stage"] == "spec"


@pytest.mark.parametrize(("action", "status"), [("cancel", "cancelled"), ("archive", "archived")])
def test_a_change_can_be_closed_and_the_next_one_started(planner: Planner, action: str, status: str) -> None:
    planner.reply("sdd_change", **CHANGE)
    with pytest.raises(WrongStage, match="active"):
        planner.reply("sdd_change", **CHANGE)
    closed = planner.facts("sdd_change", **(CHANGE | {"description": "nobody asks", "action": action}))
    assert closed["status"] == status
    assert "Closed because: nobody asks" in planner.text("sdd_change_status")
    assert planner.facts("sdd_change", **CHANGE)["slug"] == "readers-reserve-a-book-2"


def test_the_status_of_a_change_shows_its_stages_and_names_the_others(planner: Planner) -> None:
    for number in range(3):
        planner.reply("sdd_change", type="fix", size="small", description=f"Fix {number}")
        planner.reply("sdd_change_advance", content="Broken.")
        planner.reply("sdd_change", type="fix", size="small", description="no", action="cancel")
    assert planner.text("sdd_change_status", slug="fix-1") == snapshot("""\
Change fix-1 (small fix): cancelled. sdd_change starts a change.
Fix 1
Closed because: no
Files in sdd/changes/fix-1:
- describe: done, describe.md, 27 bytes
- context-check: pending
- tasks: pending
- verify: pending
Other changes: fix-0, fix-2
📏 ~81 tokens\
""")


def test_every_decision_has_a_file_and_a_memory_of_its_own_and_marks_what_it_replaces(planner: Planner) -> None:
    words = {"context": "Loans", "decision": "One file", "rationale": "Simple"}
    first = planner.facts("sdd_adr", title="Use SQLite", **words)
    second = planner.facts("sdd_adr", title="Use files", **words, supersedes="ADR-001")
    assert (first["path"], second["path"]) == ("sdd/adrs/001-use-sqlite.md", "sdd/adrs/002-use-files.md")
    assert first["memory_id"] != second["memory_id"]
    assert second["superseded"] == ["ADR-001"]
    assert "superseded by ADR-002" in planner.written("adrs/001-use-sqlite.md")


def test_a_decision_may_cite_what_a_change_s_specification_defines(planner: Planner) -> None:
    planner.upto("sdd_validate")
    planner.reply("sdd_change", type="fix", size="medium", description="Renewals")
    planner.reply("sdd_change_advance", content="Broken.")
    planner.reply("sdd_context_check", change_description="Renewals")
    planner.reply("sdd_change_advance", content="Seen.")
    planner.reply("sdd_change_advance", content="- **FR-010**: A loan is renewed once")
    words = {"context": "FR-010", "decision": "Once", "rationale": "FR-011"}
    facts = planner.facts("sdd_adr", title="Renew once", **words)
    assert [each["message"] for each in facts["findings"]] == ["FR-011 is defined nowhere"]


def test_the_plan_is_kept_at_the_top_of_the_repository_or_in_the_root_that_is_set(tmp_path: Path) -> None:
    inner = tmp_path / "repository" / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / "repository" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    chosen = tmp_path / "elsewhere"
    chosen.mkdir()
    for settings, root in (
        (WorkspaceSettings(), tmp_path / "repository"),
        (WorkspaceSettings(root=str(chosen)), chosen),
    ):
        caller = open_caller(Config(home=str(tmp_path / "home"), workspace=settings), directory=str(inner))
        call(caller, "sdd_init_project", STAGES["sdd_init_project"])
        caller.app.close()
        assert (root / "sdd" / "sdd.json").is_file()


def test_every_call_leaves_a_line_in_the_work_log(tmp_path: Path, planner: Planner) -> None:
    caller = open_caller(
        planner.caller.config, directory=planner.caller.directory, now=planner.caller.now, own_account=True
    )
    logged = Planner(caller)
    logged.reply("sdd_explore", title="Loans", goals="- Record them")
    for tool in STAGES:
        logged.reply(tool)
    logged.reply("sdd_change", **CHANGE)
    logged.reply("sdd_change_advance", content="Reserve it.")
    logged.reply("sdd_context_check", change_description="Reserve books")
    logged.reply("sdd_change_status")
    logged.reply("sdd_get_context")
    logged.reply("sdd_adr", title="One file", context="Loans", decision="One", rationale="Simple")
    items = logged.facts("work_log", account=caller.account, limit=50)
    caller.app.close()
    lines = str(items)
    assert all(tool.name in lines for tool in SDD)
    assert "wrote sdd/proposal.md" in lines
    assert "plan of Library" in lines
    assert "context of 'Reserve books'" in lines


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["FR-001"], "FR-001"),
        (["FR-001", "FR-002", "FR-003", "NFR-001"], "FR-001 to FR-003, NFR-001"),
        (["FR-001", "FR-003", "FR-004"], "FR-001, FR-003 to FR-004"),
        (["FR-003", "NFR-004"], "FR-003, NFR-004"),
        ([f"FR-{number:03d}" for number in range(0, 40, 2)], None),
    ],
)
def test_ids_are_told_as_spans_and_of_very_many_the_first(ids: list[str], told: str | None) -> None:
    expected = ", ".join(ids[:12]) + " and 8 more" if told is None else told
    assert spans(ids) == expected


def test_a_context_check_says_one_figure_above_and_below(planner: Planner) -> None:
    planner.upto("sdd_create_business_rules")
    planner.reply("sdd_clarify")
    planner.reply("sdd_create_design", tech_stack="TBD")
    reply = planner.reply("sdd_context_check", change_description="Readers renew books on loan FR-404", max_tokens=300)
    above = re.search(r"([\d,]+) findings: ", reply.text)
    below = re.search(r"of ([\d,]+) findings shown", reply.text)
    assert above and below
    assert above[1] == below[1]


def test_a_context_check_in_snippets_never_costs_more_than_in_full(planner: Planner) -> None:
    planner.upto("sdd_create_business_rules")
    planner.reply("sdd_clarify")
    planner.reply("sdd_create_design")
    asked = {"change_description": "Readers renew books on loan in the catalogue", "max_tokens": 32_000}
    costs = [
        planner.caller.profile.count(planner.reply("sdd_context_check", detail_level=level, **asked).text)
        for level in ("standard", "full")
    ]
    assert costs[0] <= costs[1]
