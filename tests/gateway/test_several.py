"""Several servers behind one door: names, ids and resources are routed, and one server's end ends nothing else."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from haversack.gateway.listing.names import door_names, shortened
from haversack.gateway.settings import Server
from tests.gateway.wire import TORTURE, Wire, texts

Start = Callable[..., Wire]
HAVERSACK = [sys.executable, "-m", "haversack"]


@pytest.fixture
def several(tmp_path: Path) -> Iterator[Start]:
    """Opens a wire to a gateway with two torture servers and what else the settings say."""
    wires: list[Wire] = []

    def start(more: str = "", first: str = "", second: str = "", **variables: str) -> Wire:
        command = json.dumps(TORTURE)
        path = tmp_path / "servers.toml"
        path.write_text(
            f'[gateway]\ntools = "pass"\n{more}\n'
            f"[gateway.servers.one]\ncommand = {command}\n{first}\n"
            f"[gateway.servers.two]\ncommand = {command}\n{second}\n"
        )
        wires.append(Wire([sys.executable, "-m", "haversack", "gateway", str(path)], tmp_path, **variables))
        return wires[-1]

    yield start
    for wire in wires:
        wire.close()


def names(wire: Wire) -> list[str]:
    return [tool["name"] for tool in json.loads(wire.ask("tools/list"))["result"]["tools"]]


def test_colliding_tools_carry_their_server_s_name_and_reach_it(several: Start) -> None:
    wire = several(second='only = ["echo", "big"]')
    told = json.loads(wire.greet())["result"]
    assert told["serverInfo"]["name"] == "haversack-gateway"
    listed = names(wire)
    assert {"one_echo", "two_echo", "one_big", "numbers", "more", "find_in"} <= set(listed)
    assert "two_numbers" not in listed
    assert json.loads(texts(wire.result("two_echo", n=4)))["n"] == 4
    assert json.loads(wire.call("two_numbers"))["result"]["isError"]
    assert json.loads(wire.call("one_echo", "1", n=1))["id"] == "1"


def test_results_fit_and_keys_work_across_servers(several: Start) -> None:
    wire = several(more="budget = 400", second="budgets = { big = 200 }")
    wire.greet()
    names(wire)
    from haversack.tokens import count_tokens

    one, two = texts(wire.result("one_big", n=900)), texts(wire.result("two_big", n=900))
    assert count_tokens(one) <= 400
    assert count_tokens(two) <= 200
    assert texts(wire.result("more", key=one.split('more("')[1].split('"')[0])).startswith("line ")


def test_an_index_stands_in_front_of_all_tools(several: Start) -> None:
    wire = several(more="", first="trust = true", second="deny = ['*']")
    wire.close()
    path = Path(str(wire.process.args[-1]))  # type: ignore[index]
    path.write_text(path.read_text().replace('"pass"', '"index"'))
    wire = Wire(list(wire.process.args), path.parent)  # type: ignore[arg-type]
    wire.greet()
    assert names(wire) == ["call_read", "call_tool", "tool_schema", "more", "find_in"]
    assert json.loads(texts(wire.result("call_read", name="echo", arguments={"n": 3})))["n"] == 3
    assert wire.result("call_read", name="numbers")["isError"]
    assert json.loads(texts(wire.result("call_tool", name="echo", arguments='{"n": 5}')))["n"] == 5
    assert "echoArguments" in texts(wire.result("tool_schema", name="echo"))
    wire.close()


def test_one_server_s_end_takes_nothing_else_down_and_it_starts_again(several: Start) -> None:
    wire = several()
    wire.greet()
    names(wire)
    result = wire.result("one_die", n=3)
    assert result["isError"]
    assert "exit code 3" in texts(result)
    assert "killed by torture" in texts(result)
    assert json.loads(texts(wire.result("two_echo", n=1)))["n"] == 1
    assert json.loads(texts(wire.result("one_echo", n=2)))["n"] == 2


def test_a_server_that_cannot_be_started_is_named_to_who_calls_its_tools(several: Start) -> None:
    wire = several(more='[gateway.servers.three]\ncommand = ["no-such-server-anywhere"]')
    wire.greet()
    assert "one_echo" in names(wire)
    told = texts(wire.result("three_tool"))
    assert "three does not run: 'no-such-server-anywhere' cannot be started" in told
    assert json.loads(texts(wire.result("one_echo", n=2)))["n"] == 2


def test_arguments_are_logged_only_where_that_is_asked_for_and_secrets_never(several: Start, tmp_path: Path) -> None:
    home = {**os.environ, "HAVERSACK_HOME": str(tmp_path)}
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    for asked, is_logged in (("", False), ("log_arguments = true", True)):
        opened = subprocess.run([*HAVERSACK, "budget", "open", "--json"], env=home, capture_output=True, check=True)
        handle = json.loads(opened.stdout)["account"]["handle"]
        wire = several(more=f'account = "{handle}"\n{asked}')
        wire.greet()
        names(wire)
        # The result has nothing of the arguments.
        wire.result("one_structured", n=1, word="marmalade", token=secret)
        wire.close()
        log = subprocess.run([*HAVERSACK, "log", handle], env=home, capture_output=True, check=True, text=True).stdout
        assert "one/structured" in log
        assert ("marmalade" in log) is is_logged
        assert secret not in log


def test_a_server_that_keeps_ending_is_given_up(several: Start) -> None:
    wire = several()
    wire.greet()
    names(wire)
    told = [texts(wire.result("one_die", n=1)) for _ in range(6)]
    assert "times within five minutes" in told[-1]
    assert "times within five minutes" not in told[2]


def test_what_a_server_asks_the_client_names_the_server_and_the_answer_finds_it(several: Start) -> None:
    wire = several()
    wire.greet(sampling={})
    names(wire)
    wire.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "two_ask", "arguments": {}}})
    asked = wire.message()
    assert asked["method"] == "sampling/createMessage"
    assert asked["params"]["_meta"]["haversack/server"] == "two"
    wire.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"said": "yes"}})
    answer = wire.message()
    assert answer["id"] == 5
    assert json.loads(texts(answer["result"])) == {"jsonrpc": "2.0", "id": "s-1", "result": {"said": "yes"}}


def test_tasks_keep_to_their_server(several: Start) -> None:
    wire = several(more="budget = 300")
    wire.greet()
    names(wire)
    task = json.loads(wire.call("two_task"))["result"]["task"]["taskId"]
    assert task == "two_t-1"
    from haversack.tokens import count_tokens

    result = json.loads(wire.ask("tasks/result", {"taskId": task}))["result"]
    assert result["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": "t-1"}}
    state = json.loads(wire.ask("tasks/get", {"taskId": task}))["result"]
    assert state["taskId"] == task
    for each in (result, state["result"]):
        assert count_tokens(texts(each)) <= 300
        assert 'more("' in texts(each)


def test_a_batch_comes_back_in_one_line(several: Start) -> None:
    wire = several(more="budget = 300")
    wire.greet()
    names(wire)

    def call(identifier: object, name: str, **arguments: object) -> dict[str, object]:
        params = {"name": name, "arguments": arguments}
        return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}

    note = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    wrong = {"jsonrpc": "2.0", "id": 3, "method": "no/such"}
    wire.send([call(1, "one_big", n=900), call("1", "two_echo", n=1), note, call(2, "more", key="zzzz"), wrong])
    answers = {json.dumps(each["id"]): each for each in wire.message()}
    assert set(answers) == {"1", '"1"', "2", "3"}
    assert 'more("' in texts(answers["1"]["result"])
    assert answers["2"]["result"]["isError"]
    assert answers["3"]["error"]["code"] == -32601
    assert json.loads(wire.ask("ping"))["result"] == {}


def test_a_cancelled_member_does_not_keep_its_batch_waiting(several: Start) -> None:
    wire = several()
    wire.greet()
    names(wire)
    calls = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": {"n": 1}}}
        for number, name in ((1, "one_slow"), (2, "two_echo"))
    ]
    wire.send([*calls])
    wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    received: list[Any] = []
    while not any(isinstance(each, list) for each in received):
        received.append(wire.message())
    assert [each["id"] for each in received[-1]] == [2]


def test_a_client_s_line_that_is_too_long_to_be_routed_is_refused_under_its_own_id(several: Start) -> None:
    wire = several()
    wire.greet()
    filler = b"x" * 66_000_000
    wire.send(b'{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"a":"' + filler + b'"}}\n')
    answer = wire.message()
    assert answer["id"] == "long"
    assert "cannot be routed" in answer["error"]["message"]
    assert json.loads(wire.ask("ping"))["result"] == {}


def test_a_client_of_the_newest_revision_is_told_which_ones_are_spoken(several: Start) -> None:
    wire = several()
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    for method in ("server/discover", "tools/list"):
        error = json.loads(wire.ask(method, {"_meta": meta}))["error"]
        assert error["code"] == -32022
        assert error["data"]["requested"] == "2026-07-28"
        assert error["data"]["supported"][0] == "2025-11-25"
    assert "result" in json.loads(wire.greet())


@pytest.mark.parametrize(
    ("asked", "spoken"), [("2025-03-26", "2025-03-26"), ("2026-07-28", "2025-11-25"), (None, "2025-11-25")]
)
def test_a_handshake_settles_on_a_revision_that_is_spoken(asked: object, spoken: str, several: Start) -> None:
    told = json.loads(several().ask("initialize", {"protocolVersion": asked, "capabilities": {}}))["result"]
    assert told["protocolVersion"] == spoken


def test_a_line_too_long_for_memory_is_kept_or_told_of_where_its_server_ended_within_it(several: Start) -> None:
    wire = several()
    wire.greet()
    names(wire)
    told = texts(wire.result("one_huge", n=64, hidden=True))
    key = told.split('more("')[1].split('"')[0]
    assert "0123456789abcdef hay" in texts(wire.result("more", key=key, max_tokens=200))
    ended = wire.result("two_huge", n=64, dies=True)
    assert ended["isError"]
    assert "exit code 7" in texts(ended)


def test_resources_are_cut_when_asked_for_but_never_the_view_of_an_app(several: Start) -> None:
    wire = several(more='budget = 400\nresources = "cut"', TORTURE_RESOURCES="1")
    wire.greet()
    names(wire)
    listed = [each["uri"] for each in json.loads(wire.ask("resources/list"))["result"]["resources"]]
    assert len(set(listed)) == 2
    from haversack.tokens import count_tokens

    for address in listed:
        held = json.loads(wire.ask("resources/read", {"uri": address}))["result"]["contents"][0]
        assert held["uri"] == address
        assert count_tokens(held["text"]) <= 400
        assert 'more("' in held["text"]
    view = json.loads(wire.ask("resources/read", {"uri": "ui://app/view.html"}))["result"]["contents"][0]
    assert view["text"].endswith("line 3000 of the long text, with café and 漢字")
    assert [each["name"] for each in json.loads(wire.ask("prompts/list"))["result"]["prompts"]] == [
        "one_ask",
        "two_ask",
    ]


def test_a_subscription_reaches_the_server_that_has_the_resource(several: Start) -> None:
    wire = several(TORTURE_RESOURCES="1")
    wire.greet()
    for each in json.loads(wire.ask("resources/list"))["result"]["resources"]:
        assert json.loads(wire.ask("resources/subscribe", {"uri": each["uri"]}))["result"] == {}
        updated = wire.message()
        assert updated["params"]["uri"] == each["uri"] == f"note://{updated['params']['by']}"


def test_the_account_tells_what_each_server_cost(several: Start, tmp_path: Path) -> None:
    home = {**os.environ, "HAVERSACK_HOME": str(tmp_path)}
    opened = subprocess.run([*HAVERSACK, "budget", "open", "--json"], env=home, capture_output=True, check=True)
    handle = json.loads(opened.stdout)["account"]["handle"]
    wire = several(more=f'budget = 300\naccount = "{handle}"')
    wire.greet()
    names(wire)
    wire.result("one_big", n=900)
    wire.result("two_echo", n=1)
    wire.result("two_echo", n=2)
    wire.close()
    told = subprocess.run([*HAVERSACK, "budget", handle, "--json"], env=home, capture_output=True, check=True)
    servers = {each["name"]: each for each in json.loads(told.stdout)["account"]["servers"]}
    assert {name: each["calls"] for name, each in servers.items()} == {"one": 1, "two": 2}
    assert servers["one"]["sent"] <= 300 < servers["one"]["before"]
    assert servers["two"]["sent"] == servers["two"]["before"]
    text = subprocess.run([*HAVERSACK, "budget", handle], env=home, capture_output=True, check=True, text=True).stdout
    assert "server two: 2 calls" in text


@pytest.mark.parametrize(
    ("command", "title"),
    [
        (["npx", "-y", "@modelcontextprotocol/server-filesystem@1.2", "."], "server-filesystem"),
        (["uvx", "mcp-server-git"], "mcp-server-git"),
        (["/usr/bin/python3", "/srv/notes.py", "--x"], "notes"),
        (["C:\\tools\\files.exe"], "files"),
        (["docker", "run", "x"], "docker"),
    ],
)
def test_a_wrapped_server_is_called_after_what_is_started(command: list[str], title: str) -> None:
    assert Server(tuple(command)).title == title


def test_a_list_is_served_from_the_last_start(several: Start) -> None:
    wire = several()
    wire.greet()
    first = names(wire)
    wire.close()
    again = several(TORTURE_NO_TOOLS="")
    again.greet()
    assert names(again) == first


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("nonsense = 1", b"gateway.nonsense"),
        ('tools = "some"', b"gateway.tools"),
        ("budget = 5", b"gateway.budget"),
        ("[gateway.servers.x]", b"gateway.servers.x.command"),
        ('[gateway.servers.x]\ncommand = ["a"]\nenv = { K = "${NO_SUCH_VARIABLE}" }', b"NO_SUCH_VARIABLE"),
        ('[gateway.servers."a b"]\ncommand = ["a"]', b"usable name"),
    ],
)
def test_a_wrong_setting_is_named(settings: str, problem: bytes, tmp_path: Path) -> None:
    path = tmp_path / "servers.toml"
    path.write_text("[gateway]\n" + settings)
    wire = Wire([sys.executable, "-m", "haversack", "gateway", str(path)], tmp_path)
    assert wire.close() == 1
    assert problem in wire.errors


def test_names_that_are_too_long_are_shortened_and_stay_apart() -> None:
    long = "a" * 60
    assert len(shortened(long)) == 48
    assert shortened(long) != shortened(long + "b")
    assert door_names([("a", "x"), ("b", "x"), ("b", "y"), ("b", "more")], ["more"]) == ["a_x", "b_x", "y", "b_more"]


def test_importing_prints_commands_and_never_a_secret(tmp_path: Path) -> None:
    servers: dict[str, Any] = {
        "git hub": {"command": "npx", "args": ["-y", "server"], "env": {"GITHUB_TOKEN": "ghp_secret", "MODE": "x"}},
        "remote": {"url": "https://example.org/mcp"},
    }
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": servers}))
    command = [sys.executable, "-m", "haversack", "gateway", "import", "claude"]
    wire = Wire(command, tmp_path, HOME=str(tmp_path))
    printed = b""
    while line := wire.line():
        printed += line
    assert wire.close() == 0
    assert b"ghp_secret" not in printed
    assert b'env = { GITHUB_TOKEN = "${GITHUB_TOKEN}", MODE = "x" }' in printed
    assert b"[gateway.servers.git-hub]\n" in printed
    assert b"remote" in wire.errors
    target = tmp_path / "servers.toml"
    target.write_text("# mine")
    assert Wire([*command, "--write", str(target)], tmp_path, HOME=str(tmp_path)).close() == 0
    assert target.read_bytes() == printed
    assert [each.read_text() for each in tmp_path.glob("servers.toml.*.bak")] == ["# mine"]
