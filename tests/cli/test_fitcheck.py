"""`fitcheck`: this program's server has no violation, and a careless one's are found and named."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from haversack.cli import main
from haversack.fitcheck.candidates import candidates, is_reading
from haversack.fitcheck.check import has_open_fence, items_in, key_in, tells_all, wrong_totals

HERE = os.path.dirname(os.path.abspath(__file__))
CARELESS = [sys.executable, os.path.join(HERE, "careless_server.py")]
LEAKY = [sys.executable, os.path.join(HERE, "leaky_server.py")]


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


def examined(capsys: pytest.CaptureFixture[str], *typed: str, code: int = 1) -> dict[str, Any]:
    assert main(["fitcheck", "--replies", "40", "--json", *typed]) == code
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return facts


def faults(facts: dict[str, Any]) -> dict[str, set[str]]:
    return {each["tool"]: {name for name, count in each["faults"].items() if count} for each in facts["tools"]}


@pytest.mark.parametrize("annotations", ["none", "defaults"])
def test_the_leaks_of_a_server_without_annotations_are_found_once_it_is_filled(
    capsys: pytest.CaptureFixture[str], annotations: str
) -> None:
    facts = examined(capsys, "--fill", "note_save", "--", *LEAKY, annotations)
    found = faults(facts)
    assert set(found) == {"note_search", "notebook", "note_timeline"}
    assert "over budget" in found["note_search"]
    assert "footer not counted" in found["notebook"]
    assert "over budget" not in found["notebook"]
    assert "wrong totals" in found["note_timeline"]
    assert "wrong totals" not in found["notebook"] | found["note_search"]
    assert facts["by_name"] == ["note_search", "notebook", "note_timeline"]
    assert facts["not_called"] == ["save_and_show"]
    assert facts["prepared"] == [{"calls": 60, "refused": 0, "reason": ""}]


def test_a_fresh_store_has_nothing_to_leak(capsys: pytest.CaptureFixture[str]) -> None:
    assert examined(capsys, "--", *LEAKY, code=0)["violations"] == 0


def test_calls_from_a_file_come_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call = {"tool": "note_save", "arguments": {"title": "порт", "content": "数据库 " * 40}}
    calls = tmp_path / "calls.jsonl"
    calls.write_text("\n".join([json.dumps(call, ensure_ascii=False)] * 30) + "\n\n", encoding="utf-8")
    facts = examined(capsys, "--prepare", str(calls), "--", *LEAKY)
    assert "over budget" in faults(facts)["note_search"]
    assert facts["prepared"][0]["calls"] == 30


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"tool": 1}', '{"tool": "x", "arguments": []}', '{"tool": "x", "args": {}}']
)
def test_a_line_that_is_no_call_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str) -> None:
    calls = tmp_path / "calls.jsonl"
    calls.write_text('{"tool": "note_timeline", "arguments": {"max_tokens": 100}}\n' + line, encoding="utf-8")
    assert main(["fitcheck", "--prepare", str(calls), "--", *LEAKY]) == 1
    assert "line 2 of" in capsys.readouterr().err


def test_a_tool_that_is_named_is_called_too(capsys: pytest.CaptureFixture[str]) -> None:
    typed = ["fitcheck", "--replies", "20", "--fill", "note_save", "--tool", "save_and_show", "--", *LEAKY]
    assert main(typed) == 1
    shown = capsys.readouterr().out
    assert "wrong totals: save_and_show(" in shown
    assert "by their names, for want of annotations: note_search, notebook, note_timeline" in shown
    assert "not called" not in shown


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--tool", "nothing"), "the server has no tool 'nothing'"),
        (("--tool", "note_save"), "note_save takes no token budget"),
        (("--fill", "nothing"), "the server has no tool 'nothing' to fill it with"),
        (("--prepare", "no-such-file.jsonl"), "no-such-file.jsonl cannot be read"),
    ],
)
def test_what_a_server_does_not_have_is_an_error(
    capsys: pytest.CaptureFixture[str], option: tuple[str, str], said: str
) -> None:
    assert main(["fitcheck", *option, "--", *LEAKY]) == 1
    assert said in capsys.readouterr().err


def test_names_decide_word_by_word() -> None:
    schema = {"properties": {"max_tokens": {"type": "integer"}}}
    names = ["dataset", "calendarView", "mem_context", "runQuery", "note-set", "deletenotes", "mem_save_prompt"]
    chosen = candidates([{"name": name, "inputSchema": schema} for name in names])
    assert chosen.checked == chosen.by_name == ("dataset", "calendarView", "mem_context")
    assert chosen.left_out == ("runQuery", "note-set", "deletenotes", "mem_save_prompt")


def test_default_annotations_count_where_another_tool_is_said_to_read() -> None:
    schema = {"properties": {"max_tokens": {"type": "integer"}}}
    defaults = {"readOnlyHint": False, "destructiveHint": True}
    wiping = {"name": "list_wipe", "inputSchema": schema, "annotations": defaults}
    reading = {"name": "notes", "inputSchema": schema, "annotations": {"readOnlyHint": True}}
    assert candidates([wiping, reading]).checked == ("notes",)
    assert candidates([wiping]).by_name == ("list_wipe",)


def test_totals_are_held_against_what_is_listed_and_what_there_is() -> None:
    whole = "#1 a\n#2 b\n#3 c"
    assert wrong_totals("#1 a\n1 of 3 notes", whole) == ""
    assert wrong_totals("Found 3 notes\n#1 a", whole) == ""
    assert "says 1 where there are 3" in wrong_totals("#1 a\n1 of 1 notes", whole)
    assert "says 1 where there are 3" in wrong_totals("Found 1 notes\n#1 a", whole)
    assert "says it shows 2 and lists 1" in wrong_totals("#1 a\n2 of 3 notes", whole)
