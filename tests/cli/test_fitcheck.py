"""`fitcheck`: this program's server has no violation, and a careless one's are found and named."""

import json
import os
import sys
from pathlib import Path

import pytest

from haversack.cli import main
from haversack.fitcheck.check import has_open_fence, is_reading, items_in, key_in, tells_all

CARELESS = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "careless_server.py")]


def test_our_own_server_keeps_every_budget(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fitcheck", "--replies", "250", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["replies"] >= 250
    assert facts["violations"] == 0
    heard = {each["tool"] for each in facts["tools"] if each["replies"]}
    assert {"mem_search", "mem_context", "context_pack", "read_file"} <= heard
    assert sum(each["pages"] for each in facts["tools"]) > 20


def test_a_server_that_takes_budgets_for_hints_is_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fitcheck", "--replies", "60", "--json", "--", *CARELESS]) == 1
    facts = json.loads(capsys.readouterr().out)
    found = {each["tool"]: each["faults"] for each in facts["tools"]}
    assert set(found) == {"recall_notes", "get_page"}
    assert found["recall_notes"]["over budget"] > 0
    assert found["get_page"]["cut characters"] > 0
    assert found["get_page"]["open fence"] > 0
    assert found["get_page"]["no totals"] > 0
    assert found["get_page"]["out of reach"] > 0
    assert facts["without_budget"] == ["list_all"]


def test_the_table_names_each_fault_with_the_call_that_showed_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fitcheck", "--replies", "20", "--", *CARELESS]) == 1
    shown = capsys.readouterr().out
    assert "over budget: recall_notes(" in shown
    assert "violations (counted with o200k)" in shown


def test_a_command_that_is_no_server_is_an_error_not_a_wait(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["fitcheck", "--", sys.executable, "-c", "pass"]) == 1
    assert "ended before it answered" in capsys.readouterr().err
    assert main(["fitcheck", "--", str(tmp_path / "nothing")]) == 1
    assert "cannot be started" in capsys.readouterr().err


def test_only_tools_that_read_are_called() -> None:
    assert is_reading({"name": "anything", "annotations": {"readOnlyHint": True}})
    assert is_reading({"name": "search_notes"})
    assert not is_reading({"name": "search_notes", "annotations": {"readOnlyHint": False}})
    assert not is_reading({"name": "get_and_delete"})
    assert not is_reading({"name": "search_notes", "annotations": {"destructiveHint": True}})


def test_keys_items_and_fences_are_read_from_replies() -> None:
    assert key_in('#1 x\n⚡ ... more("k7f2"), ~9 tokens.\n📏 ~3 tokens') == "k7f2"
    assert key_in('{"items":[],"more":{"key":"k7f2","left":3}}') == "k7f2"
    assert key_in("nothing more") == ""
    assert items_in('#12 [x] a\n  see #13\n{"id":7,"title":"t"}') == {"12", "7"}
    assert has_open_fence("```py\nx")
    assert not has_open_fence("```py\nx\n```\n``` not a `fence` ```")


def test_items_shown_in_less_detail_are_not_taken_for_left_out() -> None:
    whole = "#1 a title\nits long text\n#2 another\nits long text"
    assert tells_all("#1 a title\n#2 another\n2 of 2 notes shown", whole)
    assert not tells_all("#1 a title\n2 of 2 notes shown", whole)
    assert not tells_all("#1 a title\n#2 another", whole)
    assert not tells_all("#1 a title\n#2 another, 1 of 1\n2 of 3 notes shown", whole)
    assert not tells_all("half of a text, 1 of 1", "a whole text without items")
