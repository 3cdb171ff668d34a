"""Parameters under the names other memories use: taken, though clients are not told of them."""

import json
from pathlib import Path

import pytest

from haversack.app import Caller
from haversack.errors import InvalidArgument
from haversack.mcp.definitions import input_schema
from haversack.tools.registry import find
from haversack.tools.road.call import call

TAKEN = {
    "mem_compact": ("compact_ids", "session_id"),
    "mem_delete": ("hard_delete",),
    "mem_progress": ("session_id",),
    "sdd_change_status": ("change_id",),
    "sdd_create_tasks": ("total_tasks",),
    "sdd_change_advance": ("title",),
    "sdd_explore": ("project", "scope", "session_id"),
}


def facts(caller: Caller, name: str, **arguments: object) -> dict[str, object]:
    found = json.loads(call(caller, name, arguments | {"format": "json"}).text)
    assert isinstance(found, dict)
    return found


@pytest.fixture
def planned(caller: Caller, tmp_path: Path) -> Caller:
    (tmp_path / ".git").mkdir()
    return caller


@pytest.mark.parametrize("name", TAKEN)
def test_other_names_cost_nothing_in_the_list_of_tools(name: str) -> None:
    properties = input_schema(find(name))["properties"]
    assert isinstance(properties, dict)
    assert not set(TAKEN[name]) & set(properties)


def test_memories_are_compacted_and_deleted_under_them(caller: Caller) -> None:
    for number in range(3):
        call(caller, "mem_save", {"title": f"n{number}", "content": f"text {number}"})
    call(caller, "mem_session_start", {"id": "s1"})
    done = facts(
        caller, "mem_compact", older_than_days=0, compact_ids=[1], summary_content="one was there", session_id="s1"
    )
    assert done["deleted"] == [1]
    summary = facts(caller, "mem_get_observation", id=done["summary_id"])
    assert summary["session_id"] == "s1"
    assert facts(caller, "mem_delete", id=2, hard_delete=True)["hard"] is True


def test_an_alias_beside_its_own_name_is_an_error(caller: Caller) -> None:
    with pytest.raises(InvalidArgument, match="twice"):
        call(caller, "mem_delete", {"id": 1, "hard": True, "hard_delete": True})


def test_explorations_and_progress_are_kept_where_they_say(planned: Caller) -> None:
    call(planned, "mem_session_start", {"id": "s1"})
    explored = facts(
        planned, "sdd_explore", title="Maps", goals="g", project="atlas", scope="personal", session_id="s1"
    )
    held = facts(planned, "mem_get_observation", id=explored["id"])
    assert (held["project"], held["scope"], held["session_id"]) == ("atlas", "personal", "s1")
    again = facts(planned, "sdd_explore", title="Maps", goals="more", project="atlas", scope="personal")
    assert again["id"] == explored["id"]
    progress = facts(planned, "mem_progress", project="atlas", content="{}", session_id="s1")
    assert facts(planned, "mem_get_observation", id=progress["id"])["session_id"] == "s1"


def test_a_change_is_named_and_titled_under_them(planned: Caller) -> None:
    started = facts(planned, "sdd_change", type="fix", size="small", description="Broken shelf")
    call(planned, "sdd_change_advance", {"content": "It is broken.", "title": "What is wrong"})
    written = planned.workspace.root + f"/sdd/changes/{started['slug']}/describe.md"
    assert "## What is wrong\n\nIt is broken." in Path(written).read_text(encoding="utf-8")
    assert "broken-shelf" in call(planned, "sdd_change_status", {"change_id": "broken-shelf"}).text


def test_scores_are_taken_as_names_and_numbers() -> None:
    from haversack.tools.road.validation import validate

    taken = validate(find("sdd_clarify"), {"dimension_scores": "security:80, data model: 60.5"})["dimension_scores"]
    assert taken == {"security": 80.0, "data model": 60.5}
    for wrong in ("security", "security:high", ":80", "security:"):
        with pytest.raises(InvalidArgument, match="dimension_scores"):
            validate(find("sdd_clarify"), {"dimension_scores": wrong})
