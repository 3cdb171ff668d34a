"""MCP over Streamable HTTP in both eras, by raw requests and by the SDK's own client."""

import asyncio
import base64
import json
import socket
from typing import Any

import pytest

from tests.http.serving import MCP_HEADERS, Served

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def request(method: str, params: dict[str, Any] | None = None, identifier: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params or {}}


def modern(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return request(method, {**(params or {}), "_meta": {**META, **(params or {}).get("_meta", {})}})


def headers(method: str, name: str | None = None) -> dict[str, str]:
    return {"mcp-protocol-version": MODERN, "mcp-method": method} | ({"mcp-name": name} if name else {})


def events(body: bytes) -> list[Any]:
    return [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ")]


def test_the_older_era_needs_no_session(served: Served) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    reply = served.message(request("initialize", hello))
    assert reply.status == 200
    assert "mcp-session-id" not in reply.headers
    assert reply.json["result"]["protocolVersion"] == "2025-11-25"
    assert served.message({"jsonrpc": "2.0", "method": "notifications/initialized"}).status == 202
    version = {"mcp-protocol-version": "2025-11-25"}
    listed = served.message(request("tools/list"), headers=version).json["result"]["tools"]
    assert "mem_search" in {tool["name"] for tool in listed}
    assert "pack_candidates" not in {tool["name"] for tool in listed}, "offered only by name"
    assert served.message(request("ping")).json["result"] == {}, "without a header it is 2025-03-26"
    called = served.message(request("tools/call", {"name": "mem_stats", "arguments": {}}), headers=version)
    assert called.json["result"]["content"][0]["text"]
    unknown = served.message(request("none/such"), headers=version)
    assert (unknown.status, unknown.json["error"]["code"]) == (200, -32601)


def test_the_newer_era_speaks_for_itself(served: Served) -> None:
    found = served.message(modern("server/discover"), headers=headers("server/discover"))
    assert (found.status, found.json["result"]["resultType"]) == (200, "complete")
    assert MODERN in found.json["result"]["supportedVersions"]
    call = modern("tools/call", {"name": "mem_stats", "arguments": {}})
    assert served.message(call, headers=headers("tools/call", "mem_stats")).json["result"]["content"]
    coded = "=?base64?" + base64.b64encode(b"mem_stats").decode() + "?="
    assert served.message(call, headers=headers("tools/call", coded)).status == 200
    spaced = {"mcp-protocol-version": f" {MODERN} ", "mcp-method": " tools/call", "mcp-name": "mem_stats  "}
    assert served.message(call, headers=spaced).status == 200
    assert served.message({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}, headers={"mcp-protocol-version": MODERN}).status == 202  # fmt: skip


@pytest.mark.parametrize(
    ("message", "sent", "status", "code"),
    [
        (modern("tools/list"), {}, 400, -32020),
        (modern("tools/list"), {"mcp-protocol-version": MODERN}, 400, -32020),
        (modern("tools/list"), headers("tools/call"), 400, -32020),
        (modern("tools/list"), {**headers("tools/list"), "mcp-protocol-version": "2025-11-25"}, 400, -32020),
        (modern("tools/call", {"name": "mem_stats"}), headers("tools/call"), 400, -32020),
        (modern("tools/call", {"name": "mem_stats"}), headers("tools/call", "mem_search"), 400, -32020),
        (modern("tools/call", {"name": "mem_stats"}), headers("tools/call", "=?base64?%%%?="), 400, -32020),
        (modern("resources/read", {"uri": "haversack://stats"}), headers("resources/read", "x"), 400, -32020),
        (modern("none/such"), headers("none/such"), 404, -32601),
        (modern("initialize"), headers("initialize"), 404, -32601),
        (modern("ping"), headers("ping"), 404, -32601),
        (request("tools/list"), headers("tools/list"), 400, -32602),
        (modern("tools/call", {"name": "none_such"}), headers("tools/call", "none_such"), 400, -32602),
        (modern("prompts/get", {"name": "none"}), headers("prompts/get", "none"), 400, -32602),
        (request("tools/list"), {"mcp-protocol-version": "1999-01-01"}, 400, -32022),
        ([request("ping")], {}, 400, -32600),
        ([], {}, 400, -32600),
        ("not json", {}, 400, -32700),
        (b"\xff\xfe{}", {}, 400, -32700),
        ("[" * 100_000, {}, 400, -32700),
        ('{"jsonrpc":"2.0","id":NaN,"method":"ping"}', {}, 400, -32700),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, {}, 400, -32600),
        ({"jsonrpc": "2.0", "id": 1}, {}, 400, -32600),
    ],
)  # fmt: skip
def test_a_wrong_message_has_its_status_and_code(
    served: Served, message: object, sent: dict[str, str], status: int, code: int
) -> None:
    reply = served.message(message, headers=sent)
    assert (reply.status, reply.json["error"]["code"]) == (status, code)
    if code == -32022:
        assert MODERN in reply.json["error"]["data"]["supported"]


def test_an_unknown_version_in_the_body_is_refused_with_the_list(served: Served) -> None:
    message = modern("tools/list")
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
    reply = served.message(message, headers=headers("tools/list") | {"mcp-protocol-version": "2099-01-01"})
    assert (reply.status, reply.json["error"]["code"]) == (400, -32022)


def test_a_reply_with_notifications_is_a_stream(served: Served) -> None:
    asked = {"name": "mem_stats", "arguments": {}, "_meta": {"io.modelcontextprotocol/logLevel": "info"}}
    reply = served.message(modern("tools/call", asked), headers=headers("tools/call", "mem_stats"))
    assert reply.headers["content-type"] == "text/event-stream"
    assert reply.headers["x-accel-buffering"] == "no"
    sent = events(reply.body)
    assert [each.get("method", "answer") for each in sent] == ["notifications/message", "answer"]
    with_progress = {"name": "mem_stats", "arguments": {}, "_meta": {"progressToken": "t"}}
    reply = served.message(request("tools/call", with_progress), headers={"mcp-protocol-version": "2025-11-25"})
    assert reply.headers["content-type"] == "text/event-stream"
    assert events(reply.body)[-1]["result"]["content"]


def test_whoever_listens_hears_the_end_when_the_server_stops(tmp_path_factory: pytest.TempPathFactory) -> None:
    from tests.http.serving import serving

    body = json.dumps(modern("subscriptions/listen", {"notifications": {}}))
    with serving(str(tmp_path_factory.mktemp("home"))) as served:
        lines = [f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{served.port}\r\nauthorization: Bearer {served.token}\r\n"]
        sent = MCP_HEADERS | headers("subscriptions/listen") | {"content-length": str(len(body))}
        lines += [f"{name}: {value}\r\n" for name, value in sent.items()]
        connection = socket.create_connection(("127.0.0.1", served.port), 30)
        connection.sendall(("".join(lines) + "\r\n" + body).encode())
        heard = b""
        while b"acknowledged" not in heard:
            heard += connection.recv(65_536)
    while piece := connection.recv(65_536):
        heard += piece
    assert b'"resultType":"complete"' in heard
    connection.close()


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_the_client_of_the_sdk_works_in_both_eras(served: Served, mode: str) -> None:
    client = pytest.importorskip("mcp.client")
    transport = pytest.importorskip("mcp.client.streamable_http")
    import httpx2

    async def talk() -> tuple[set[str], str, str, str]:
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {served.token}"}) as http:
            over = transport.streamable_http_client(f"{served.url}/mcp", http_client=http)
            async with client.Client(over, mode=mode) as session:
                listed = await session.list_tools()
                text = {"title": f"From {mode}", "content": "by the client of the SDK"}
                saved = await session.call_tool("mem_save", text)
                found = await session.call_tool("mem_search", {"query": "client SDK", "max_tokens": 200})
                read = await session.read_resource("haversack://stats")
                return (
                    {tool.name for tool in listed.tools},
                    saved.content[0].text,
                    found.content[0].text,
                    read.contents[0].text,
                )

    names, saved, found, read = asyncio.run(talk())
    assert {"mem_search", "more"} <= names
    assert saved.startswith(("saved #", "duplicate of #"))
    assert f"From {mode}" in found
    assert "observation" in read


def test_an_account_named_in_a_header_is_debited_and_no_other(served: Served) -> None:
    opened = served.tool("budget_open", {"total": 50_000, "format": "json"}).json["account"]["handle"]
    call = request("tools/call", {"name": "mem_context", "arguments": {}})
    served.message(call)
    before = served.tool("budget_status", {"account": opened, "format": "json"}).json["account"]["entries"]
    served.message(call, headers={"haversack-budget": opened})
    served.get("/api/v1/tools/mem_stats", headers={"haversack-budget": opened})
    after = served.tool("budget_status", {"account": opened, "format": "json"}).json["account"]["entries"]
    assert (before, after) == (0, 2)
    unknown = served.get("/api/v1/tools/mem_stats", headers={"haversack-budget": "none"})
    assert unknown.status == 404
