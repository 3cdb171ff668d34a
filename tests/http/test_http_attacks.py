"""Attempts to wear the server out: it refuses them, forgets them, and answers others meanwhile."""

import asyncio
import json
import os
import socket
import threading
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from haversack.config import HttpSettings, ServerSettings
from haversack.web import connections
from tests.http.serving import UNHURRIED, Served, serving

PAUSE = threading.Event()
"""Never set: waiting for it lets the server's thread go on."""


def opened(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), 30)


def all_of(connection: socket.socket) -> bytes:
    heard = b""
    try:
        while piece := connection.recv(65_536):
            heard += piece
    except ConnectionError:
        pass
    return heard


def hold(began: threading.Event, go_on: threading.Event) -> None:
    """Work that holds its thread until the test lets it go."""
    began.set()
    go_on.wait(30)


def test_hundreds_of_wrong_tokens_let_nobody_in(tmp_path: Path) -> None:
    with serving(str(tmp_path), HttpSettings(failures_per_minute=10)) as served:
        connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
        statuses: Counter[int] = Counter()
        identifier = served.token.split("_")[1]
        for number in range(300):
            headers = {"authorization": f"Bearer hvk_{identifier}_{number}"}
            connection.request("GET", "/api/v1/tools", headers=headers)
            reply = connection.getresponse()
            reply.read()
            statuses[reply.status] += 1
        assert set(statuses) == {401, 429}
        assert statuses[401] < 100
        assert served.get("/api/v1/tools").status == 200
        connection.close()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience of a fraction of a second, so that a test can see its end."""
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.3)
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.3)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: "])
def test_headers_that_do_not_come_end_the_connection(tmp_path: Path, sent: bytes) -> None:
    with serving(str(tmp_path)) as served:
        connection = opened(served)
        connection.sendall(sent)
        assert all_of(connection).startswith(b"HTTP/1.1 408 ")
        assert served.get("/healthz").status == 200


@pytest.mark.usefixtures("hasty")
def test_headers_that_do_not_come_end_a_connection_that_was_good_before(tmp_path: Path) -> None:
    with serving(str(tmp_path)) as served:
        connection = opened(served)
        connection.sendall(f"GET /healthz HTTP/1.1\r\nhost: localhost:{served.port}\r\n\r\n".encode())
        first = connection.recv(65_536)
        assert first.startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /heal")
        assert b"HTTP/1.1 408 " in first + all_of(connection)


@pytest.mark.usefixtures("hasty")
def test_half_a_body_is_given_up(tmp_path: Path) -> None:
    with serving(str(tmp_path)) as served:
        head = (
            f"POST /api/v1/tools/mem_save HTTP/1.1\r\nhost: localhost:{served.port}\r\ncontent-length: 5000\r\n"
            f"content-type: application/json\r\nauthorization: Bearer {served.token}\r\n\r\n"
        )
        connection = opened(served)
        connection.sendall(head.encode() + b'{"title": "half')
        assert all_of(connection).startswith(b"HTTP/1.1 408 ")
        connection = opened(served)
        connection.sendall(head.encode() + b'{"title": "gone')
        connection.close()
        assert "half" not in served.get("/api/v1/tools/mem_context").text


def test_more_connections_than_allowed_are_refused_and_room_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 5)
    with serving(str(tmp_path)) as served:
        held = [opened(served) for _ in range(5)]
        for each in held:
            each.sendall(f"GET /healthz HTTP/1.1\r\nhost: localhost:{served.port}\r\n\r\n".encode())
            assert each.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert all_of(opened(served)).startswith(b"HTTP/1.1 503 ")
        for each in held:
            each.close()
        for _ in range(200):
            try:
                if served.get("/healthz").status == 200:
                    return
            except (ConnectionError, OSError):
                continue
        raise AssertionError("no room came back")


def test_a_flood_past_the_queue_is_told_to_come_back_and_loses_nothing(tmp_path: Path) -> None:
    sections = {"server": ServerSettings(workers=1)}
    with serving(str(tmp_path), UNHURRIED, sections=sections) as served:
        results: list[tuple[int, str | None]] = []
        gate, refused = threading.Barrier(90), threading.Semaphore(0)

        def save(number: int) -> None:
            gate.wait()
            reply = served.tool("mem_save", {"title": f"flood {number}", "content": f"water {number} " * 50})
            results.append((reply.status, reply.headers.get("retry-after")))
            if reply.status == 503:
                refused.release()

        # One call holds the only worker until everybody has asked.
        began, go_on = threading.Event(), threading.Event()
        served.server.door._calls.begin(lambda: hold(began, go_on))
        assert began.wait(10)
        threads = [threading.Thread(target=save, args=(number,)) for number in range(90)]
        for thread in threads:
            thread.start()
        for _ in range(90 - 64):
            assert refused.acquire(timeout=30)
        go_on.set()
        for thread in threads:
            thread.join(60)
        statuses = Counter(status for status, _ in results)
        assert statuses == {200: 64, 503: 26}
        assert all(retry == "1" for status, retry in results if status == 503)
        stored = json.loads(served.tool("list_observations", {"limit": 200, "format": "json"}).text)["total"]
        assert stored == 64, "what was answered is there, and nothing else"


def test_work_for_somebody_who_has_left_is_not_begun(tmp_path: Path) -> None:
    sections = {"server": ServerSettings(workers=1)}
    with serving(str(tmp_path), UNHURRIED, sections=sections) as served:
        began, go_on = threading.Event(), threading.Event()
        served.server.door._calls.begin(lambda: hold(began, go_on))
        assert began.wait(10)
        body = json.dumps({"title": "left", "content": "nobody waits for this"})
        head = (
            f"POST /api/v1/tools/mem_save HTTP/1.1\r\nhost: localhost:{served.port}\r\ncontent-length: {len(body)}\r\n"
            f"content-type: application/json\r\nauthorization: Bearer {served.token}\r\n\r\n"
        )
        connection = opened(served)
        connection.sendall((head + body).encode())
        calls = served.server.door._calls
        assert any(calls.waiting or PAUSE.wait(0.01) for _ in range(1_000))
        connection.close()
        assert any(not calls.waiting or PAUSE.wait(0.01) for _ in range(1_000))
        go_on.set()
        assert "left" not in served.get("/api/v1/tools/mem_context").text


def test_malformed_requests_do_not_disturb_others(served: Served) -> None:
    for raw in (
        b"\x00\x01\x02\x03\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nhost\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\ncontent-length: -1\r\n\r\n", b"POST /mcp HTTP/1.1\r\ncontent-length: 9e9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", os.urandom(3_000) + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 30_000 + b"\r\n",
    ):  # fmt: skip
        connection = opened(served)
        try:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            heard = all_of(connection)
        except OSError:
            heard = b""
        assert not heard or heard.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), heard[:100]
        connection.close()
        assert served.get("/healthz").status == 200


def test_a_fault_of_ours_says_nothing_of_its_inside(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Any:
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(served.server.door._calls, "caller", broken)
    reply = served.get("/api/v1/tools/mem_stats")
    assert (reply.status, reply.code) == (500, "internal_error")
    assert "secret" not in reply.text


def test_the_event_loop_is_not_held_by_a_call(served: Served) -> None:
    async def answered_meanwhile() -> bool:
        go_on = threading.Event()
        for _ in range(4):
            served.server.door._calls.begin(lambda: (go_on.wait(30), None)[-1])
        try:
            return (await asyncio.to_thread(served.get, "/healthz")).status == 200
        finally:
            go_on.set()

    assert asyncio.run(answered_meanwhile())


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("POST /mcp HTTP/1.1\r\n{host}transfer-encoding: chunked\r\n\r\nZZZ\r\nx\r\n", 400),
        ("POST /mcp HTTP/1.1\r\n{host}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST /mcp HTTP/1.1\r\n{host}content-length: 5\r\ncontent-length: 40\r\n\r\nhello", 400),
        ("GET /healthz HTTP/1.1\r\n{host}x: a\rinjected: b\r\n\r\n", 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        ("GET /healthz HTTP/1.1\r\n{host}x: " + "a" * 66_000 + "\r\n\r\n", 431),
        ("GET /healthz HTTP/1.1\r\n{host}" + "x: y\r\n" * 11_000 + "\r\n", 431),
        ("GET /healthz HTTP/1.1\r\n{host}host: evil.example\r\nconnection: close\r\n\r\n", 421),
    ],
    ids=["chunk", "length and chunks", "two lengths", "return", "other protocol", "long", "many", "two hosts"],
)
def test_what_is_not_sound_http_is_refused_as_everything_is(
    served: Served, capfd: pytest.CaptureFixture[str], sent: str, status: int
) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 30) as connection:
        connection.sendall(sent.format(host=f"host: 127.0.0.1:{served.port}\r\n").encode())
        heard = b""
        while piece := connection.recv(65_536):
            heard += piece
    head, _, body = heard.decode().partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert "content-security-policy: default-src 'none'" in head
    assert set(json.loads(body)["error"]) == {"code", "message", "hint"}
    assert served.get("/healthz", token="").text == "ok"
    assert capfd.readouterr().err == "", "strangers write nothing to standard error"
