"""A real server on a free port, in a thread of the test, and a client that sends exactly what it is told to."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

import pytest

from haversack.app import App
from haversack.config import Config, HttpSettings
from haversack.values import replace
from haversack.web.credentials import Credentials
from haversack.web.server import HttpServer, Listening

pytest.importorskip("uvicorn", reason="the extra http is not installed")

# Tests call far more often than anybody who works.
UNHURRIED = HttpSettings(calls_per_minute=0, writes_per_minute=0)
MCP_HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error."""
        return str(self.json["error"]["code"])


@dataclass
class Served:
    """A running server, and how to talk to it."""

    server: HttpServer
    app: App
    home: str
    token: str = ""
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def token_for(self, scope: str, **limits: Any) -> str:
        """A token of that scope, with that limit; made once."""
        name = f"{scope} {sorted(limits.items())}"
        if name not in self.tokens:
            self.tokens[name] = Credentials(self.home).add(name, scope, **limits)[1]
        return self.tokens[name]

    def send(
        self,
        method: str,
        path: str,
        *,
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
    ) -> Reply:
        """One request on a connection of its own; `token` "" sends none, None the first one."""
        sent = {name.lower(): value for name, value in (headers or {}).items()}
        if token != "" and "authorization" not in sent:
            sent["authorization"] = f"Bearer {token or self.token}"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host="host" in sent, skip_accept_encoding=True)
            content = body.encode() if isinstance(body, str) else body
            if content is not None and "content-length" not in sent:
                sent["content-length"] = str(len(content))
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            held = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, held, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **options: Any) -> Reply:
        return self.send("GET", path, **options)

    def tool(self, name: str, arguments: Mapping[str, object] | None = None, **options: Any) -> Reply:
        """A tool called with a JSON body."""
        headers = {"content-type": "application/json"} | dict(options.pop("headers", {}))
        return self.send("POST", f"/api/v1/tools/{name}", body=json.dumps(arguments or {}), headers=headers, **options)

    def message(self, content: object, **options: Any) -> Reply:
        """An MCP message."""
        headers = MCP_HEADERS | dict(options.pop("headers", {}))
        body = content if isinstance(content, str | bytes) else json.dumps(content)
        return self.send("POST", "/mcp", body=body, headers=headers, **options)


@contextmanager
def serving(
    home: str, settings: HttpSettings = UNHURRIED, tool_names: tuple[str, ...] = (), **options: Any
) -> Iterator[Served]:
    """A server on a free port for as long as the block lasts; it must end by itself when it is told to."""
    config = replace(Config(home=home), http=settings, **options.pop("sections", {}))
    first = Credentials(home).first()
    with open(first, encoding="ascii") as file:
        token = file.read().strip()
    app = App(config, now=options.pop("now")) if "now" in options else App(config)
    server = HttpServer(app, Listening(port=0, **options.pop("listening", {})), tool_names, **options)
    started = threading.Event()
    thread = threading.Thread(target=server.run, args=(started.set,), daemon=True)
    thread.start()
    assert started.wait(30)
    try:
        yield Served(server, app, home, token)
    finally:
        server.stop()
        thread.join(30)
        assert not thread.is_alive(), "the server does not stop"
        app.close()
