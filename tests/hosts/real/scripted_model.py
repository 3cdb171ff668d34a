"""A model on loopback that follows a script and speaks the four dialects the hosts use; it keeps what it was asked."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MOST_REQUESTS = 60
"""A host that asks more often than this is in a loop: it gets errors, which end it."""
USAGE = 1_234
"""Tokens of input the model claims for a request, unless it was told others for the first ones."""


class Call:
    """A call of a tool the script wants: the end of the tool's name, and its arguments."""

    def __init__(self, ending: str, arguments: Mapping[str, Any]) -> None:
        self.ending = ending
        self.arguments = dict(arguments)


Step = Call | str


class ScriptedModel:
    """Answers the first request that has tools with the first step, the one that holds its result with the next.

    A request without tools, as for a title or a summary, is answered with `aside`.
    """

    def __init__(self, steps: Sequence[Step], usage: Sequence[int] = (), aside: str = "OK") -> None:
        self.steps = list(steps)
        self.aside = aside
        self.usage = list(usage)
        self.requests: list[dict[str, Any]] = []
        self.tools: dict[str, str] = {}
        model = self

        class Exchange(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                status, kind, sent = model.answer(self.path, body)
                self._send(status, kind, sent)

            def do_GET(self) -> None:
                listed = {"object": "list", "data": [{"id": "mock", "object": "model"}], "models": []}
                self._send(200, "application/json", json.dumps(listed).encode())

            def do_HEAD(self) -> None:
                self._send(200, "application/json", b"")

            def _send(self, status: int, kind: str, sent: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where the model listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def everything_asked(self) -> str:
        """Every request as one text, for looking up what reached the model."""
        return "\n".join(json.dumps(each, ensure_ascii=False) for each in self.requests)

    def answer(self, path: str, body: bytes) -> tuple[int, str, bytes]:
        """The status, type and bytes of an answer."""
        path = path.partition("?")[0]
        asked = json.loads(body) if body.startswith(b"{") else {}
        if len(self.requests) >= MOST_REQUESTS:
            return 400, "application/json", b'{"error": {"message": "asked too often"}}'
        dialect = next((each for each in DIALECTS if path.endswith(each.ending)), None)
        if dialect is None:
            return 200, "application/json", b'{"input_tokens": 10}'
        self.requests.append(asked)
        named = dialect.tools(asked)
        self.tools |= dict.fromkeys(named, dialect.name)
        step = self._step(dialect.results(asked), named)
        usage = self.usage.pop(0) if self.usage else USAGE
        events = dialect.events(step, asked, usage)
        if "text/event-stream" in dialect.kind or asked.get("stream") or "stream" in path:
            return 200, "text/event-stream", "".join(events).encode()
        return 200, "application/json", dialect.whole(step, usage).encode()

    def _step(self, results: int, named: Mapping[str, Any]) -> tuple[str, Any, Any]:
        """What to say now: `("text", …)`, or `("call", the host's name of the tool, arguments)`."""
        if not named:
            return "text", self.aside, None
        step: Step = self.steps[min(results, len(self.steps) - 1)]
        if isinstance(step, Call):
            found = step.ending if step.ending in named else None
            found = found or next((name for name in named if name.endswith(step.ending)), None)
            if found is None:
                return "text", f"There is no tool {step.ending}.", None
            return "call", named[found], step.arguments
        return "text", step, None


def _event(value: Any, name: str = "") -> str:
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n"


class Dialect:
    """How one interface of models names tools, carries results and streams answers."""

    def __init__(
        self,
        name: str,
        ending: str,
        tools: Callable[[dict[str, Any]], dict[str, Any]],
        results: Callable[[dict[str, Any]], int],
        events: Callable[[tuple[str, Any, Any], dict[str, Any], int], Iterator[str]],
        whole: Callable[[tuple[str, Any, Any], int], str],
        kind: str = "",
    ) -> None:
        self.name, self.ending, self.tools, self.results = name, ending, tools, results
        self.events, self.whole, self.kind = events, whole, kind


def _messages_tools(asked: dict[str, Any]) -> dict[str, Any]:
    return {tool["name"]: tool["name"] for tool in asked.get("tools") or [] if "name" in tool}


def _messages_results(asked: dict[str, Any]) -> int:
    parts = [part for message in asked.get("messages", []) for part in _parts(message.get("content"))]
    return sum(part.get("type") == "tool_result" for part in parts)


def _parts(content: Any) -> list[dict[str, Any]]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _messages_events(step: tuple[str, Any, Any], asked: dict[str, Any], used: int) -> Iterator[str]:
    usage = {"input_tokens": used, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    message = {
        "id": f"msg_{_messages_results(asked)}", "type": "message", "role": "assistant", "content": [],
        "model": asked.get("model", "mock"),
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield _event({"type": "message_start", "message": message}, "message_start")
    kind, value, arguments = step
    if kind == "call":
        block = {"type": "tool_use", "id": f"toolu_{_messages_results(asked)}", "name": value, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": value}
    yield _event({"type": "content_block_start", "index": 0, "content_block": block}, "content_block_start")
    yield _event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    yield _event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    reason = {"stop_reason": "tool_use" if kind == "call" else "end_turn", "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": reason, "usage": {"output_tokens": 20}}, "message_delta")
    yield _event({"type": "message_stop"}, "message_stop")


def _messages_whole(step: tuple[str, Any, Any], used: int) -> str:
    usage = {"input_tokens": used, "output_tokens": 20}
    content = [{"type": "text", "text": step[1] if step[0] == "text" else "OK"}]
    return json.dumps(
        {"id": "msg_1", "type": "message", "role": "assistant", "model": "mock", "content": content,
         "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    )  # fmt: skip


def _responses_tools(asked: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for tool in asked.get("tools") or []:
        if tool.get("type") == "namespace":
            found |= {each["name"]: (tool["name"], each["name"]) for each in tool.get("tools", [])}
        elif "name" in tool:
            found[tool["name"]] = ("", tool["name"])
    return found


def _responses_results(asked: dict[str, Any]) -> int:
    given = asked.get("input")
    return sum(str(part.get("type", "")).endswith("_output") for part in _parts(given))


def _responses_events(step: tuple[str, Any, Any], asked: dict[str, Any], used: int) -> Iterator[str]:
    kind, value, arguments = step
    if kind == "call":
        namespace, name = value
        item: dict[str, Any] = {
            "type": "function_call", "id": "fc_1", "call_id": f"call_{_responses_results(asked)}", "name": name,
            "arguments": json.dumps(arguments),
        }  # fmt: skip
        if namespace:
            item["namespace"] = namespace
    else:
        item = {
            "type": "message",
            "id": "m_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": value}],
        }
    yield _event({"type": "response.created", "response": {"id": "r_1"}}, "response.created")
    yield _event({"type": "response.output_item.done", "output_index": 0, "item": item}, "response.output_item.done")
    usage = {
        "input_tokens": used, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": used + 20,
    }  # fmt: skip
    yield _event({"type": "response.completed", "response": {"id": "r_1", "usage": usage}}, "response.completed")


def _chat_tools(asked: dict[str, Any]) -> dict[str, Any]:
    names = [tool.get("function", {}).get("name") for tool in asked.get("tools") or []]
    return {name: name for name in names if name}


def _chat_results(asked: dict[str, Any]) -> int:
    return sum(message.get("role") == "tool" for message in asked.get("messages", []))


def _chat_events(step: tuple[str, Any, Any], asked: dict[str, Any], used: int) -> Iterator[str]:
    kind, value, arguments = step
    base = {"id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": asked.get("model", "mock")}
    if kind == "call":
        function = {"name": value, "arguments": json.dumps(arguments)}
        made = [{"index": 0, "id": f"call_{_chat_results(asked)}", "type": "function", "function": function}]
        delta: dict[str, Any] = {"role": "assistant", "tool_calls": made}
    else:
        delta = {"role": "assistant", "content": value}
    reason = "tool_calls" if kind == "call" else "stop"
    yield _event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    usage = {"prompt_tokens": used, "completion_tokens": 20, "total_tokens": used + 20}
    yield _event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage})
    yield "data: [DONE]\n\n"


def _chat_whole(step: tuple[str, Any, Any], used: int) -> str:
    usage = {"prompt_tokens": used, "completion_tokens": 20, "total_tokens": used + 20}
    kind, value, arguments = step
    message: dict[str, Any] = {"role": "assistant", "content": value if kind == "text" else None}
    if kind == "call":
        function = {"name": value, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if kind == "text" else "tool_calls"}
    return json.dumps({"id": "c_1", "object": "chat.completion", "model": "mock", "choices": [choice], "usage": usage})


def _gemini_tools(asked: dict[str, Any]) -> dict[str, Any]:
    declared = [each for tool in asked.get("tools") or [] for each in tool.get("functionDeclarations", [])]
    return {each["name"]: each["name"] for each in declared}


def _gemini_results(asked: dict[str, Any]) -> int:
    parts = [part for content in asked.get("contents", []) for part in _parts(content.get("parts"))]
    return sum("functionResponse" in part for part in parts)


def _gemini_answer(step: tuple[str, Any, Any], used: int) -> dict[str, Any]:
    kind, value, arguments = step
    part = {"functionCall": {"name": value, "args": arguments}} if kind == "call" else {"text": value}
    usage = {"promptTokenCount": used, "candidatesTokenCount": 20, "totalTokenCount": used + 20}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}


def _gemini_events(step: tuple[str, Any, Any], asked: dict[str, Any], used: int) -> Iterator[str]:
    yield _event(_gemini_answer(step, used))


DIALECTS = (
    Dialect("messages", "/v1/messages", _messages_tools, _messages_results, _messages_events, _messages_whole),
    Dialect("responses", "/responses", _responses_tools, _responses_results, _responses_events, _chat_whole,
            "text/event-stream"),
    Dialect("chat", "/chat/completions", _chat_tools, _chat_results, _chat_events, _chat_whole),
    Dialect("gemini", ":streamGenerateContent", _gemini_tools, _gemini_results, _gemini_events,
            lambda step, used: json.dumps(_gemini_answer(step, used)), "text/event-stream"),
    Dialect("gemini whole", ":generateContent", _gemini_tools, _gemini_results, _gemini_events,
            lambda step, used: json.dumps(_gemini_answer(step, used))),
)  # fmt: skip
