"""A whole project and a large change, driven over MCP in a real server process; the guide is what was said."""

import json
from pathlib import Path

import pytest

from tools.sdd_guide import Exchange, converse, written

GUIDE = Path(__file__).parents[2] / "docs" / "sdd-guide.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guide")


@pytest.fixture(scope="module")
def exchanges(folder: Path) -> list[Exchange]:
    return converse(folder)


def test_the_guide_is_what_client_and_server_say_today(exchanges: list[Exchange]) -> None:
    assert GUIDE.read_text(encoding="utf-8") == written(exchanges), "run `make docs`"


def test_only_the_step_taken_too_early_is_refused(exchanges: list[Exchange]) -> None:
    refused = [exchange for exchange in exchanges if exchange.failed]
    assert [each.step.tool for each in refused] == ["sdd_create_design"]
    assert "sdd_create_proposal is next" in refused[0].reply


def test_every_planning_tool_takes_part(exchanges: list[Exchange]) -> None:
    assert len({each.step.tool for each in exchanges if each.step.tool.startswith("sdd_")}) == 15


def test_the_project_ends_validated_and_the_change_archived(exchanges: list[Exchange], folder: Path) -> None:
    plan = folder / "lending-desk" / "sdd"
    state = json.loads((plan / "sdd.json").read_text(encoding="utf-8"))
    assert (state["current_stage"], state["verdict"]) == (None, "PASS")
    assert {stage["status"] for stage in state["stages"].values()} == {"done"}
    (change,) = (plan / "changes").iterdir()
    held = json.loads((change / "change.json").read_text(encoding="utf-8"))
    assert (held["status"], held["size"], held["type"]) == ("archived", "large", "feature")
    stages = ("propose", "context-check", "spec", "clarify", "design", "tasks", "verify")
    assert {path.name for path in change.iterdir()} == {"change.json", *(f"{stage}.md" for stage in stages)}
    assert (plan / "adrs" / "001-reserve-titles-not-copies.md").is_file()
    assert {path.name for path in (plan / "history").iterdir()} == {
        "design-001.md",
        "tasks-001.md",
        "validation-001.md",
    }


def test_no_reply_echoes_an_artifact_or_goes_over_its_budget(exchanges: list[Exchange]) -> None:
    writers = [each for each in exchanges if each.reply.startswith("Wrote ")]
    assert len(writers) > 20
    for exchange in writers:
        said = [text for text in exchange.step.arguments.values() if isinstance(text, str) and len(text) > 60]
        assert not [text for text in said if text in exchange.reply], exchange.step.tool
        assert int(exchange.reply.rpartition("~")[2].split()[0]) < 200


def test_the_check_brings_up_the_memory_and_the_convention_that_matter(exchanges: list[Exchange]) -> None:
    (check,) = [each.reply for each in exchanges if each.step.tool == "sdd_context_check"]
    assert "Readers ask for reservations at the desk" in check
    assert "Loans are never deleted" in check
    for name in (*(f"FR-00{number}" for number in range(1, 6)), "NFR-001", "NFR-002", "BRC-001", "BRC-002"):
        assert name in check
