"""Every well-known server says the same behind the gateway as alone, byte for byte where nothing has to differ."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.conftest import Open
from tests.gateway.known_servers import Known, known_servers
from tests.gateway.packages import NODE
from tests.gateway.wire import Wire

NAMES = [each.name for each in known_servers(Path())]
LISTS = ("prompts/list", "resources/list", "resources/templates/list")


def answer(wire: Wire, line: bytes, identifier: object) -> bytes:
    """The line that answers a request, whatever the server says before it."""
    while (message := json.loads(line)).get("id") != identifier or "method" in message:
        line = wire.line()
    return line


def said(wire: Wire, server: Known) -> tuple[list[Any], dict[str, bytes]]:
    """A server's tools, and every other answer as bytes."""
    told = {"initialize": answer(wire, wire.greet(), 0)}
    tools = json.loads(answer(wire, wire.ask("tools/list", {}, "list"), "list"))["result"]["tools"]
    for method in LISTS:
        told[method] = answer(wire, wire.ask(method, {}, method), method)
    told["wrong tool"] = answer(wire, wire.call("no_such_tool", "wrong"), "wrong")
    for tool, arguments in server.calls:
        told[tool] = answer(wire, wire.call(tool, tool, **arguments), tool)
    return tools, told


@pytest.mark.parametrize("name", NAMES)
def test_a_server_says_the_same_behind_the_gateway(name: str, through: Open, direct: Open, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    server = next(each for each in known_servers(folder) if each.name == name)
    if not server.needs.exists() or NODE is None:
        pytest.skip(f"{name} is not installed (make test-gateway does it)")
    alone, told = said(direct(command=server.command, **server.variables), server)
    tools, same = said(through(command=server.command, **server.variables), server)
    assert same == told
    assert [tool["name"] for tool in tools] == [*(tool["name"] for tool in alone), "more", "find_in"]
    for here, there in zip(tools, alone, strict=False):
        assert {**here, "outputSchema": None} == {**there, "outputSchema": None}
        assert ("outputSchema" in here) == ("outputSchema" in there)
