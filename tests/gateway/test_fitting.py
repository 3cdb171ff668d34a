"""What a client shows its model of a result is within the budget, and nothing of it is lost."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from haversack.tokens import count_tokens
from tests.gateway.conftest import Open
from tests.gateway.torture_server import ODD_NUMBERS, lines, png, rows
from tests.gateway.wire import Wire, texts

KEY = re.compile(r'more\("(\w+)"\)')


def seen(result: dict[str, Any], view: str) -> str:
    """What a client with this view shows of a result without pictures."""
    structured = result.get("structuredContent")
    printed = "" if structured is None else json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    if view == "structured" and structured is not None:
        return printed
    return texts(result) + (printed if view == "both" else "")


def last_key(text: str) -> str:
    return str(KEY.findall(text)[-1])


def known(wire: Wire) -> Wire:
    """The wire after its tools were listed."""
    wire.ask("tools/list")
    wire.ask("tools/list", {"cursor": "second"})
    return wire


@pytest.mark.parametrize("view", ["content", "structured", "both"])
def test_every_result_fits_in_every_view(view: str, through: Open) -> None:
    wire = known(through("--view", view))
    for tool, n in (
        ("big", 900),
        ("json", 600),
        ("structured", 600),
        ("unlike", 300),
        ("fail", 900),
        ("log", 900),
        ("link", 300),
    ):
        for tokens in (64, 200, 2_000):
            line = wire.call(tool, meta={"haversack/max_tokens": tokens}, n=n)
            result = json.loads(line)["result"]
            assert count_tokens(seen(result, view)) <= tokens, (tool, tokens)
            if "haversack" in result.get("structuredContent", {}):
                # Both channels of what was cut are within the budget together, whatever the client shows.
                assert count_tokens(seen(result, "both")) <= tokens, (tool, tokens)
            assert wire.call(tool, meta={"haversack/max_tokens": tokens}, n=n) == line


def test_the_footer_states_the_budget_and_the_key(through: Open) -> None:
    text = texts(known(through("--budget", "500")).result("big", n=3_000))
    assert re.search(r"⚡ Budget: ~\d+/500 tokens used\. \d+ of 3,000 lines shown\. find_in\(\"\w+\", query\)", text)
    assert text.endswith(" tokens")


def test_following_the_keys_gives_every_line_once(through: Open) -> None:
    wire = known(through("--budget", "2000"))
    text = texts(wire.result("big", n=600))
    shown: list[str] = []
    while True:
        shown += [line for line in text.split("\n") if line.startswith("line ")]
        if not KEY.search(text):
            break
        text = texts(wire.result("more", key=last_key(text)))
    assert "\n".join(shown) == lines(600)


def test_ranges_of_lines_rebuild_the_text_byte_for_byte(through: Open) -> None:
    wire = known(through("--budget", "1000"))
    key = last_key(texts(wire.result("big", n=500)))
    parts = [
        texts(wire.result("find_in", key=key, lines=f"{first}-{first + 99}", max_tokens=8_000))
        for first in range(1, 501, 100)
    ]
    assert "\n".join(part.rsplit("\n📏", 1)[0] for part in parts) == lines(500)


def test_metadata_unknown_fields_and_annotations_of_a_cut_result_stay(through: Open) -> None:
    line = known(through("--budget", "300")).call("big", n=900)
    result = json.loads(line)["result"]
    assert b'"_meta": {"kept": 1.1}' in line
    assert result["unknownField"] == [1]
    assert result["content"][0]["annotations"] == {"audience": ["user"]}


def test_structured_content_is_cut_in_the_channel_the_client_shows(through: Open) -> None:
    wire = through("--budget", "300")
    wire.greet("claude-code")
    known(wire)
    result = wire.result("structured", n=500)
    assert set(result["structuredContent"]) == {"haversack"}
    assert 'more("' in result["structuredContent"]["haversack"]["text"]
    stub = texts(result)
    assert stub == f'more("{result["structuredContent"]["haversack"]["more"]}")'
    assert count_tokens(stub) <= 12
    # A client that shows the other channel after all gets everything by the stub's key.
    rest = texts(wire.result("more", key=last_key(stub), max_tokens=30_000))
    assert rest.startswith('{"rows": [{"id": 0')


def test_a_value_that_differs_from_the_text_is_not_lost(through: Open) -> None:
    wire = known(through("--budget", "400", "--view", "structured"))
    key = last_key(texts(wire.result("unlike", n=900)))
    assert "1 of" in texts(wire.result("find_in", key=key, query="A summary in prose"))
    assert "item 899" in texts(wire.result("find_in", key=key, query='"item 899"'))


def test_keep_never_cuts_structured_content_and_strip_removes_it(through: Open) -> None:
    kept = known(through("--budget", "300", "--structured", "keep")).result("structured", n=500)
    assert kept["structuredContent"] == {"rows": rows(500)}
    assert count_tokens(texts(kept)) <= 300
    wire = through("--structured", "strip")
    stripped = wire.result("structured", n=1)
    assert "structuredContent" not in stripped
    assert all("outputSchema" not in tool for tool in json.loads(wire.ask("tools/list"))["result"]["tools"])


def test_a_client_that_declares_apps_keeps_what_its_views_need(through: Open) -> None:
    wire = through("--budget", "300")
    wire.greet("test", extensions={"io.modelcontextprotocol/ui": {}})
    known(wire)
    assert "haversack" in wire.result("structured", n=500)["structuredContent"]
    whole = wire.result("app", n=500)
    assert len(whole["structuredContent"]["rows"]) == 500
    assert count_tokens(texts(whole)) <= 300
    other = through("--budget", "300")
    known(other)
    assert "haversack" in other.result("app", n=500)["structuredContent"]


def test_an_image_is_priced_by_its_pixels_and_fetched_by_its_key(through: Open) -> None:
    wire = known(through("--budget", "500"))
    text = texts(wire.result("image"))
    assert text.startswith("[image/png 1280x720, ~1,105 tokens: more(")
    key = last_key(text)
    refused = wire.result("more", key=key, max_tokens=500)
    assert refused["isError"]
    assert "1,105" in texts(refused)
    block = wire.result("more", key=key, max_tokens=2_000)["content"][0]
    assert (block["data"], block["_meta"]) == (png(1280, 720), {"k": 1})


def test_a_picture_is_priced_though_its_line_is_short(through: Open) -> None:
    wire = known(through("--budget", "500"))
    assert texts(wire.result("tiny_image")).startswith("[image/x, ~1,600 tokens: more(")


def test_a_call_is_for_the_own_tool_however_its_name_is_written(through: Open) -> None:
    wire = known(through("--budget", "300"))
    key = last_key(texts(wire.result("big", n=900)))
    call = '{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"m\\u006fre","arguments":{"key":"%s"}}}\n'
    wire.send((call % key).encode())
    assert texts(wire.message()["result"]).startswith("line ")


def test_blocks_that_fit_are_shown_whole_and_pictures_behind_a_long_text_stay_within_reach(through: Open) -> None:
    content = known(through("--budget", "1500")).result("many_blocks", n=3_000)["content"]
    assert [block["type"] for block in content] == ["text", "image", "text"]
    assert content[0]["text"] == "before"
    assert content[2]["text"].startswith("[image/png 640x480, ~425 tokens: more(")


def test_audio_and_base64_inside_text_are_kept_under_keys(through: Open) -> None:
    wire = known(through("--budget", "300"))
    assert texts(wire.result("audio", n=30_000)).startswith("[audio/wav 30,000 bytes, ~10,000 tokens: more(")
    text = texts(wire.result("base64", n=30_000))
    assert "base64 30,000 bytes" in text
    assert json.loads(text.rsplit("\n📏", 1)[0])["name"] == "a.bin"


def test_an_error_shows_its_beginning_and_its_end(through: Open) -> None:
    wire = known(through("--budget", "400"))
    result = wire.result("fail", n=2_000)
    text = texts(result)
    assert result["isError"] is True
    assert text.startswith("first words\nline 1 ")
    assert "the cause stands last\n📏" in text
    middle = texts(wire.result("more", key=last_key(text)))
    assert middle.startswith("line ")


def test_the_result_of_a_task_is_fitted_like_the_tool_s(through: Open) -> None:
    wire = through("--budget", "300")
    wire.call("task")
    result = json.loads(wire.ask("tasks/result", {"taskId": "t-1"}))["result"]
    assert count_tokens(texts(result)) <= 300
    assert result["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": "t-1"}}
    state = json.loads(wire.ask("tasks/get", {"taskId": "t-1"}))["result"]
    assert state["status"] == "completed"
    assert count_tokens(texts(state["result"])) <= 300


@pytest.mark.parametrize("tokens", [0, -1, 63, 1.5, "many", None, True])
def test_a_budget_that_is_none_is_refused_before_the_server_is_asked(tokens: object, both: tuple[Wire, Wire]) -> None:
    result = json.loads(both[0].call("die", meta={"haversack/max_tokens": tokens}))["result"]
    assert result["isError"]
    assert "haversack/max_tokens" in texts(result)


def test_odd_numbers_in_a_cut_result_can_be_read_as_they_were_written(through: Open) -> None:
    wire = known(through("--budget", "64", "--view", "structured"))
    key = last_key(texts(wire.result("numbers", n=500)))
    for number in re.findall(r":([-\dE.e+]+)", ODD_NUMBERS):
        assert number in texts(wire.result("more", key=key, max_tokens=2_000))


def test_half_a_surrogate_pair_and_broken_utf8_survive_cutting(through: Open) -> None:
    wire = known(through("--budget", "200"))
    assert json.loads(wire.call("surrogate", n=900))["result"]["content"][0]["text"].startswith("\ud800 x y")
    assert "caf" in texts(wire.result("invalid_utf8", n=900))


def test_find_in_looks_by_words_expressions_lines_and_paths(through: Open) -> None:
    wire = known(through("--budget", "300"))
    key = last_key(texts(wire.result("json", n=400)))
    assert texts(wire.result("find_in", key=key, path="$.items[10:12].name")).startswith('"item 10"\n"item 11"\n')
    assert texts(wire.result("find_in", key=key, path="$.items[-1].owner.login")).startswith('"user0"')
    assert '"item 77"' in texts(wire.result("find_in", key=key, query='"item 77"'))
    assert '"user3"' in texts(wire.result("find_in", key=key, query=r"user[3]"))
    for wrong in (
        {},
        {"query": "a", "lines": "1"},
        {"lines": "x"},
        {"path": "$.nothing"},
        {"query": "(a+)+b"},
        {"words": "a"},
    ):
        result = wire.result("find_in", key=key, **wrong)
        assert result["isError"], wrong


def test_own_tools_cost_little_and_give_way_to_the_server_s_names(through: Open) -> None:
    wire = through("--budget", "300", TORTURE_HAS_MORE="1")
    wire.ask("tools/list")
    tools = json.loads(wire.ask("tools/list", {"cursor": "second"}))["result"]["tools"]
    assert [tool["name"] for tool in tools[-3:]] == ["more", "haversack_more", "find_in"]
    assert count_tokens(json.dumps(tools[-2:], separators=(",", ":"))) <= 160
    text = texts(wire.result("big", n=900))
    assert count_tokens(text) <= 300
    key = re.findall(r'haversack_more\("(\w+)"\)', text)[-1]
    assert "line " in texts(wire.result("haversack_more", key=key))


def test_a_changed_file_is_read_anew_by_the_same_call(through: Open, tmp_path: Path) -> None:
    wire = through()
    path = tmp_path / "notes.txt"
    path.write_text("before")
    assert "before" in texts(wire.result("file", path=str(path)))
    path.write_text("after")
    assert "after" in texts(wire.result("file", path=str(path)))


def test_two_sessions_with_one_store_each_get_the_content_itself(through: Open) -> None:
    first, second = known(through("--budget", "300")), known(through("--budget", "300"))
    here, there = texts(first.result("big", n=900)), texts(second.result("big", n=900))
    assert here == there
    assert here.startswith("line 1 ")


@pytest.mark.parametrize("view", ["content", "structured", "both"])
def test_the_account_has_what_the_client_saw(view: str, through: Open, tmp_path: Path) -> None:
    haversack = [sys.executable, "-m", "haversack", "budget"]
    home = {**os.environ, "HAVERSACK_HOME": str(tmp_path)}
    opened = subprocess.run([*haversack, "open", "--json"], env=home, capture_output=True, check=True)
    handle = json.loads(opened.stdout)["account"]["handle"]
    wire = through("--budget", "300", "--account", handle, "--view", view)
    told = json.loads(wire.greet())["result"]["instructions"]
    pages = [wire.ask("tools/list").decode(), wire.ask("tools/list", {"cursor": "second"}).decode()]
    listed = "".join(page[page.index('"result": ') + 10 : -2] for page in pages)
    sent = calls = 0
    for tool, n in (("echo", 1), ("big", 900), ("structured", 2), ("fail", 900), ("log", 900), ("json", 3)):
        result = wire.result(tool, n=n)
        shown = "both" if "structuredContent" in result and view == "both" else view
        sent, calls = sent + count_tokens(seen(result, shown)), calls + 1
    for method in ("resources/read", "prompts/get"):
        held = json.loads(wire.ask(method, {"uri": "a://b", "name": "x"}))["result"]
        text = held["contents"][0]["text"] if "contents" in held else held["messages"][0]["content"]["text"]
        sent, calls = sent + count_tokens(text), calls + 1
    wire.close()
    answer = subprocess.run([*haversack, handle, "--json"], env=home, capture_output=True, check=True)
    account = json.loads(answer.stdout)["account"]
    assert account["tiers"]["system"]["used"] == count_tokens(listed + told)
    assert account["tiers"]["tool_results"]["used"] == sent
    [server] = account["servers"]
    assert (server["calls"], server["sent"]) == (calls, sent)
    # What was shown in a shorter form, or by its ends, is entered with what it stands for.
    assert server["before"] > sent + 40_000


def test_contents_kept_in_memory_never_reach_the_disk(through: Open, tmp_path: Path) -> None:
    wire = known(through("--budget", "300", "--keep", "memory"))
    key = last_key(texts(wire.result("big", n=900)))
    assert "line 900 " in texts(wire.result("find_in", key=key, query="line 900"))
    wire.close()
    other = known(through("--budget", "300"))
    assert other.result("more", key=key)["isError"]


def test_results_pass_and_keys_live_in_memory_when_the_store_cannot_be_written(through: Open, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file where the folder should be")
    wire = known(through("--budget", "300", HAVERSACK_HOME=str(home)))
    text = texts(wire.result("big", n=900))
    assert "keys last as long as this process" in text
    assert count_tokens(text) <= 300
    assert texts(wire.result("more", key=last_key(text))).startswith("line ")
