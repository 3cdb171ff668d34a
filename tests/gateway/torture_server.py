"""An MCP server on plain standard input and output that does everything a server may do, and much that it may not."""

import base64
import json
import os
import struct
import sys
import zlib

ODD_NUMBERS = (
    '{"a":1.10,"b":1e400,"c":12345678901234567890123,"d":-0.0,"e":1E+2,"f":0.1000000000000000055511151231257827}'
)
CANCELLED: set[object] = set()


def png(width: int, height: int) -> str:
    """A real picture of one colour, in base64."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + bytes(width) for _ in range(height)))
    return base64.b64encode(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    ).decode()


def write(text: str) -> None:
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


def send(message: object) -> None:
    write(json.dumps(message, ensure_ascii=False, separators=(", ", ": ")))


def text(content: str, **more: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": content, "annotations": {"audience": ["user"]}}], **more}


def lines(count: int) -> str:
    return "\n".join(f"line {number} of the long text, with café and 漢字" for number in range(1, count + 1))


def rows(count: int) -> list[dict[str, object]]:
    return [{"id": n, "name": f"item {n}", "owner": {"login": f"user{n % 7}", "site": None}} for n in range(count)]


OUTPUT = {
    "type": "object",
    "properties": {"rows": {"type": "array"}},
    "required": ["rows"],
    "additionalProperties": False,
}
TOOLS = [
    "echo", "numbers", "surrogate", "audio", "image", "many_blocks", "big", "json", "fail", "structured", "progress",
    "ask", "junk", "die", "half", "no_newline", "huge", "slow", "task", "input", "duplicate", "unknown", "refuse",
    "base64", "link", "file", "invalid_utf8", "log", "unlike", "app",
]  # fmt: skip


def definition(name: str) -> dict[str, object]:
    tool: dict[str, object] = {
        "name": name,
        "title": name.title(),
        "description": f"Does {name}. And more, which is told in a second sentence.",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "title": f"{name}Arguments",
            "properties": {"n": {"type": "integer", "title": "N"}, "title": {"type": "string"}},
            "required": ["n"],
            "additionalProperties": False,
        },
        "icons": [{"src": "data:,x"}],
        "annotations": {"readOnlyHint": name in ("echo", "big")},
        "execution": {"taskSupport": "optional"},
        "_meta": {"anthropic/maxResultSizeChars": 500_000, "odd": 1.10},
    }
    if name in ("structured", "unlike", "app"):
        tool["outputSchema"] = OUTPUT
    if name == "app":
        tool["_meta"] = {"ui": {"resourceUri": "ui://app/view.html"}}
    return tool


def call(identifier: object, name: str, given: dict[str, object]) -> None:  # noqa: C901 - a branch for each misdeed
    n = int(str(given.get("n", 10)))

    def answer(result: object) -> None:
        send({"jsonrpc": "2.0", "id": identifier, "result": result})

    if name == "echo":
        answer(text(json.dumps(given, ensure_ascii=False)))
    elif name == "numbers":
        write(
            f'{{"id":{json.dumps(identifier)},  "result":{{"content":[],"structuredContent":{ODD_NUMBERS[:-1]},"pad":"{"x y " * n}"}}}},"jsonrpc":"2.0"}}'
        )
    elif name == "surrogate":
        padding = "x y " * n
        write(
            f'{{"jsonrpc":"2.0","id":{json.dumps(identifier)},"result":{{"content":[{{"type":"text","text":"\\ud800 {padding}"}}]}}}}'
        )
    elif name == "audio":
        answer({"content": [{"type": "audio", "data": base64.b64encode(bytes(n)).decode(), "mimeType": "audio/wav"}]})
    elif name == "image":
        answer({"content": [{"type": "image", "data": png(1280, 720), "mimeType": "image/png", "_meta": {"k": 1}}]})
    elif name == "tiny_image":
        answer({"content": [{"type": "image", "data": "AAAA", "mimeType": "image/x"}]})
    elif name == "many_blocks":
        picture = {"type": "image", "data": png(640, 480), "mimeType": "image/png"}
        answer({"content": [{"type": "text", "text": "before"}, picture, {"type": "text", "text": lines(n)}, picture]})
    elif name == "big":
        answer(text(lines(n), _meta={"kept": 1.10}, unknownField=[1]))
    elif name == "json":
        answer(text(json.dumps({"total": n, "items": rows(n)}, indent=1)))
    elif name == "fail":
        answer(text("first words\n" + lines(n) + "\nthe cause stands last", isError=True))
    elif name in ("structured", "app"):
        held = {"rows": rows(n)}
        answer({**text(json.dumps(held)), "structuredContent": held})
    elif name == "unlike":
        answer({**text("A summary in prose."), "structuredContent": {"rows": rows(n)}})
    elif name == "progress":
        for step in range(n):
            send(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/progress",
                    "params": {"progressToken": given.get("token"), "progress": step},
                }
            )
        answer(text("done"))
    elif name == "ask":
        send({"jsonrpc": "2.0", "id": "s-1", "method": "sampling/createMessage", "params": {"messages": []}})
        answer(text(sys.stdin.buffer.readline().decode()))
    elif name == "junk":
        sys.stdout.write("Starting up...\n\n")
        sys.stdout.flush()
        write('{"half": ')
        answer(text("after junk"))
    elif name == "die":
        sys.stderr.write("out of memory\nkilled by torture\n")
        sys.stderr.flush()
        os._exit(n)
    elif name == "half":
        whole = json.dumps({"jsonrpc": "2.0", "id": identifier, "result": text("whole")}) + "\n"
        sys.stdout.write(whole[:n])
        sys.stdout.flush()
        os._exit(7)
    elif name == "no_newline":
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": identifier, "result": text(lines(n))}))
        sys.stdout.flush()
        os._exit(0)
    elif name == "huge":
        out = sys.stdout.buffer
        own = json.dumps(identifier).encode()
        head = b'{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' % own
        tail = b'needle in the hay"}]}}\n'
        if given.get("hidden"):
            # The id stands at neither end of the line.
            head, tail = b'{"result":{"content":[],"pad":"', b'"},"id":%s,"pad":"%s"}\n' % (own, b"x" * 2_000)
        out.write(head)
        for _ in range(n):
            out.write(b"0123456789abcdef hay " * 49_932)
        if given.get("dies"):
            out.flush()
            os._exit(7)
        out.write(tail)
        out.flush()
    elif name == "slow":
        CANCELLED.add(identifier)
    elif name == "task":
        answer({"task": {"taskId": "t-1", "status": "working", "ttl": None}})
    elif name == "input":
        answer({"resultType": "input_required", "inputRequests": {}, "filler": "x " * 40_000})
    elif name == "duplicate":
        answer(text("one"))
        answer(text("two"))
    elif name == "unknown":
        send({"jsonrpc": "2.0", "id": "nobody asked", "result": {}})
        answer(text("known"))
    elif name == "refuse":
        send(
            {
                "jsonrpc": "2.0",
                "id": identifier,
                "error": {"code": -32042, "message": "no", "data": {"url": "https://e.org"}},
            }
        )
    elif name == "base64":
        answer(text(json.dumps({"name": "a.bin", "content": base64.b64encode(os.urandom(n)).decode()})))
    elif name == "link":
        answer({"content": [{"type": "resource_link", "uri": f"file:///{k}", "name": f"file {k}"} for k in range(n)]})
    elif name == "file":
        with open(str(given["path"]), encoding="utf-8") as file:
            answer(text(file.read()))
    elif name == "invalid_utf8":
        sys.stdout.buffer.write(
            b'{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"caf\xe9 %s"}]}}\n'
            % (json.dumps(identifier).encode(), b"x y " * n)
        )
        sys.stdout.buffer.flush()
    elif name == "log":
        made = [
            f"2026-11-18 10:{k // 60 % 60:02d}:{k % 60:02d} INFO request {k} took {k * 7 % 90} ms" for k in range(n)
        ]
        made[n // 2] = "2026-11-18 10:33:20 ERROR disk /dev/sda1 is full"
        answer(text("\n".join(made)))
    else:
        send({"jsonrpc": "2.0", "id": identifier, "error": {"code": -32602, "message": f"no tool {name}"}})


def request(message: dict[str, object]) -> None:  # noqa: C901 - a branch for each method
    identifier, method = message.get("id"), message.get("method")
    params = message.get("params")
    given: dict[str, object] = params if isinstance(params, dict) else {}

    def answer(result: object) -> None:
        send({"jsonrpc": "2.0", "id": identifier, "result": result})

    if method == "initialize":
        server = {"name": "torture", "version": "1"}
        capabilities: dict[str, object] = {"tools": {"listChanged": True}, "odd": {"x": 1.10}}
        if os.environ.get("TORTURE_RESOURCES"):
            capabilities |= {"resources": {"subscribe": True}, "prompts": {}, "logging": {}}
        answer({"protocolVersion": given.get("protocolVersion"), "capabilities": capabilities, "serverInfo": server,
                "instructions": "Be gentle.", "seen": given})  # fmt: skip
    elif method == "tools/list":
        if os.environ.get("TORTURE_NO_TOOLS"):
            answer({"tools": []})
        elif given.get("cursor") == "second":
            names = TOOLS[10:] + (["more"] if os.environ.get("TORTURE_HAS_MORE") else [])
            answer({"tools": [definition(name) for name in names], "ttlMs": 60_000, "cacheScope": "public"})
        else:
            answer({"tools": [definition(name) for name in TOOLS[:10]], "nextCursor": "second"})
    elif method == "tools/call":
        arguments = given.get("arguments")
        call(identifier, str(given.get("name")), arguments if isinstance(arguments, dict) else {})
    elif method == "tasks/result":
        answer(text(lines(3_000), _meta={"io.modelcontextprotocol/related-task": {"taskId": "t-1"}}))
    elif method == "tasks/get":
        answer({"taskId": "t-1", "status": "completed", "result": text(lines(3_000))})
    elif method == "resources/read":
        answer({"contents": [{"uri": given.get("uri"), "text": lines(3_000)}]})
    elif method == "resources/list":
        answer({"resources": [{"uri": f"note://{os.getpid()}", "name": "note"}]})
    elif method == "resources/templates/list":
        answer({"resourceTemplates": [{"uriTemplate": "ui://{view}", "name": "views"}]})
    elif method in ("resources/subscribe", "logging/setLevel"):
        answer({})
        told = {"method": "notifications/resources/updated", "params": {"uri": given.get("uri"), "by": os.getpid()}}
        send({"jsonrpc": "2.0", **told})
    elif method == "prompts/list":
        answer({"prompts": [{"name": "ask", "description": "Asks."}]})
    elif method == "prompts/get":
        answer({"messages": [{"role": "user", "content": {"type": "text", "text": lines(2_000)}}]})
    elif method == "custom/echo":
        answer(given)
    elif method == "ping":
        answer({})
    else:
        send({"jsonrpc": "2.0", "id": identifier, "error": {"code": -32601, "message": f"no method {method}"}})


def batch(messages: list[dict[str, object]]) -> None:
    answers = []
    for message in messages:
        if "id" in message:
            n = int(str((message.get("params") or {}).get("arguments", {}).get("n", 1)))  # type: ignore[attr-defined]
            answers.append({"jsonrpc": "2.0", "id": message["id"], "result": text(lines(n))})
    if answers:
        send(answers)


def main() -> None:
    if os.environ.get("TORTURE_DIES_AT_ONCE"):
        sys.stderr.write("no licence\n")
        sys.exit(9)
    if os.environ.get("TORTURE_DEAF"):
        import signal
        import time

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.fork()
        sys.stderr.write(f"pid {os.getpid()}\n")
        sys.stderr.flush()
        while True:
            time.sleep(1)
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "not JSON"}})
            continue
        if isinstance(message, list):
            batch(message)
        elif "method" in message and "id" in message:
            request(message)
        elif message.get("method") == "notifications/cancelled":
            send(
                {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "cancelled"}}
            )


if __name__ == "__main__":
    main()
