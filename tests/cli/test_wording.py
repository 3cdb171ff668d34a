"""An error is written once; the command line names commands and options, the server tools and parameters."""

import json
import re

import pytest

from haversack.app import Caller
from haversack.cli import main
from haversack.cli.overview import commands
from haversack.cli.wording import worded
from haversack.errors import HaversackError
from haversack.tokens import profile_named
from haversack.tools.road.call import call


def said(capsys: pytest.CaptureFixture[str], *typed: str) -> str:
    assert main(list(typed)) in (1, 2)
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("get 99", "`haversack search` finds ids by content"),
        ("search", "`haversack search` needs QUERY"),
        ("search x --token-budget 5", "--token-budget"),
        ("search x --limit 0", "--limit is '0'"),
        ("compact --older-than-days never", "--older-than-days is 'never'"),
        ("timeline never", "OBSERVATION_ID is 'never'"),
        ("more nope", "nope"),
        ("timeline 1 --before 99999999999999999999", "not a whole number of at most 18 digits"),
        ("ws log --until nonsense", "--until 'nonsense' is not a date"),
        ("list --tag \ud800", "--tag holds half of a surrogate pair"),
        (f"session-start --id {'x' * 300}", "--id has 300 characters"),
        ("log", "give ACCOUNT, or set"),
        ("budget declare", "give either --tokens or --text"),
        ("topic-key", "give TITLE, --content or both"),
    ],
)
def test_the_command_line_says_what_can_be_typed(typed: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    complaint = said(capsys, *typed.split())
    assert expected in complaint
    assert not any(name in complaint for name in ("mem_", "max_tokens", "older_than_days", "observation_id"))


def test_a_call_of_the_tool_says_what_can_be_called(caller: Caller) -> None:
    with pytest.raises(HaversackError) as raised:
        call(caller, "mem_get_observation", {"id": 99})
    assert raised.value.hint == "mem_search finds ids by content"
    with pytest.raises(HaversackError, match=r"^max_tokens"):
        call(caller, "mem_search", {"query": "x", "max_tokens": 5})


def test_what_was_given_is_quoted_as_it_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'mem_search'" in said(capsys, "search", "x", "--limit", "mem_search")


@pytest.mark.parametrize(
    ("typed", "code", "exit_code"),
    [
        ("get 99 --json", "not_found", 1),
        ("search x --limit 0 --json", "invalid_argument", 1),
        ("search x --limt 3 --json", "wrong_usage", 2),
        ("serach x --json", "wrong_usage", 2),
        ("backup /nowhere/x.db --json", "not_found", 1),
    ],
)
def test_errors_are_json_for_whoever_asked_for_json(
    typed: str, code: str, exit_code: int, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if engine == "postgres" and typed.startswith("backup"):
        code = "conflict"  # a server backs its stores up itself
    assert main(typed.split()) == exit_code
    printed = capsys.readouterr()
    error = json.loads(printed.err)["error"]
    assert error["code"] == code and error["message"] and printed.out == ""


def test_escapes_in_what_was_typed_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for typed in (["search", "--\x1b[2Jwrong"], ["\x1b[2Jwrong"], ["get", "\x1b[2J"]):
        assert "\x1b" not in said(capsys, *typed)


def test_advice_in_a_reply_names_commands_too(caller: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    call(caller, "mem_save", {"title": "mem_update is a tool", "content": "c"})
    assert main(["delete", "1"]) == 0
    assert "deleted: #1 mem_update is a tool. `haversack restore 1` brings it back" in capsys.readouterr().out
    assert "mem_update(id=2, restore=true)" in call(caller, "mem_delete", {"id": saved(caller)}).text
    for form in ([], ["--json"]):
        assert main(["search", "nowhere", *form]) == 0
        printed = capsys.readouterr().out
        assert "`haversack context`" in printed and "mem_context" not in printed


def saved(caller: Caller) -> int:
    return int(json.loads(call(caller, "mem_save", {"title": "T", "content": "C", "format": "json"}).text)["id"])


@pytest.mark.parametrize("profile", ["o200k", "claude", "bytes4"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_error_fits_the_budget_as_it_is_printed(
    profile: str, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = "mem_search " * 400
    for budget in (64, 65, 66, 70, 100):
        typed = ["search", "x", "--match", wrong, "--token-budget", str(budget), "--profile", profile, *form]
        complaint = said(capsys, *typed).rstrip("\n")
        assert profile_named(profile).count(complaint) <= budget
        assert "match" in complaint


@pytest.mark.parametrize("budget", [100, 250, 500])
def test_the_footer_names_the_command_that_goes_on_and_still_fits(
    budget: int, caller: Caller, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(60):
        call(caller, "mem_save", {"title": f"Note {number}", "content": f"deploy {number} " * 8})
    caller.app.close()
    assert main(["search", "deploy", "--limit", "50", "--token-budget", str(budget)]) == 0
    text = capsys.readouterr().out.rstrip("\n")
    assert profile_named("o200k").count(text) <= budget
    assert not any(name in text for name in ('more("', "max_tokens", "detail_level"))
    found = re.search(r"`haversack (more \w{6})`, ~([\d,]+) tokens\.\n📏 ~([\d,]+) tokens$", text)
    assert found and int(found[3].replace(",", "")) == profile_named("o200k").count(text)
    assert main([*found[1].split(), "--token-budget", "100000"]) == 0
    rest = capsys.readouterr().out.rstrip("\n")
    assert profile_named("o200k").count(rest) == int(found[2].replace(",", "")), "the price is exact at this door too"


def test_a_switch_is_advised_as_it_is_typed() -> None:
    command, tool = next(each for each in commands() if each[0].name == "sdd init")
    said = worded("sdd_init_project with reopen=true writes init again", command, tool)
    assert said == "`haversack sdd init` with --reopen writes init again"
