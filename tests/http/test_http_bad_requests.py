"""Requests nobody should send: each has its status and an error body, and the connection goes on or ends as it should."""

import json
import re
import socket

import pytest

from tests.http.serving import Served

STATS = "/api/v1/tools/mem_stats"
JSON = "content-type: application/json\r\n"
SIZE = "content-length: 2\r\n"
CHUNKED = "transfer-encoding: chunked\r\n"


def heard(served: Served, sent: str) -> tuple[list[int], str]:
    """The statuses and the last body that come back on one connection, which is then asked to end."""
    host = f"host: 127.0.0.1:{served.port}\r\n"
    token = f"authorization: Bearer {served.token}\r\n"
    text = sent.replace("{host}", host).replace("{token}", token)
    last = f"GET /healthz HTTP/1.1\r\n{host}connection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", served.port), 30) as connection:
        connection.sendall((text + last).encode("latin-1"))
        answer = b""
        try:
            while piece := connection.recv(65_536):
                answer += piece
        except ConnectionError:
            pass
    replies = re.split(r"(?=HTTP/1\.1 \d{3} )", answer.decode())[1:]
    bodies = [reply.partition("\r\n\r\n")[2] for reply in replies]
    statuses = [int(reply.split()[1]) for reply in replies]
    if statuses[-1] == 200 and bodies[-1] == "ok":
        return statuses[:-1], bodies[-2] if len(bodies) > 1 else ""
    return statuses, bodies[-1]


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}\r\n{{}}", [415]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}content-type: text/json\r\n\r\n{{}}", [415]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}{JSON}{JSON}\r\n{{}}", [415]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}content-type: application/json;charset=utf-16\r\n\r\n{{}}", [415]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}{JSON}content-encoding: gzip\r\n\r\n{{}}", [415]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}{JSON}haversack-footer: none\r\n\r\n{{}}", [400]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}{JSON}haversack-profile: none\r\n\r\n{{}}", [400]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}{JSON}haversack-budget: {'x' * 81}\r\n\r\n{{}}", [400]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}{JSON}\r\n\xff\xfe", [400]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{JSON}{CHUNKED}\r\n2\r\n{{}}XX\r\n0\r\n\r\n", [400]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{JSON}{CHUNKED}\r\nFFFFFFFFFFFFFFFFF\r\n", [400]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{JSON}transfer-encoding: gzip\r\n\r\n", [400]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{JSON}content-length: +2\r\n\r\n{{}}", [400]),
        (f"GET {STATS} HTTP/1.1\r\n{{host}}{{token}}{{token}}\r\n", [401]),
        (f"GET {STATS} HTTP/1.0\r\n{{token}}\r\n", [421]),
        ("GET http://evil.example/healthz HTTP/1.1\r\n{host}\r\n", [421]),
        ("GET /healthz HTTP/1.1\r\n{host}{host}\r\n", [421]),
        ("OPTIONS * HTTP/1.1\r\n{host}\r\n", [404]),
        ("OPTIONS /mcp HTTP/1.1\r\n{host}\r\n", [405]),
        ("OPTIONS /mcp HTTP/1.1\r\n{host}origin: https://evil.example\r\naccess-control-request-method: POST\r\n\r\n", [403]),
        ("TRACE / HTTP/1.1\r\n{host}\r\n", [405]),
        ("CONNECT evil.example:80 HTTP/1.1\r\n{host}\r\n", [400]),
        ("BREW / HTTP/1.1\r\n{host}\r\n", [400]),
        ("GET /healthz HTTP/1.1\n{host}\n", [400]),
        ("GET /healthz HTTP/1.1\r\n{host}x: a\r\n b\r\n\r\n", [400]),
        ("GET /healthz HTTP/1.1\r\n{host}x: a\0b\r\n\r\n", [400]),
        ("GET /healthz HTTP/1.1\r\n{host}x : a\r\n\r\n", [400]),
        *((f"GET {path} HTTP/1.1\r\n{{host}}{{token}}\r\n", [404]) for path in (
            "/static/..%2fdoor.py", "/static/%2e%2e/door.py", "/static/app.js%00.css", "/static//app.js", "/static/",
            "//static/app.js", "/./static/app.js", "/%c0%ae%c0%ae/", "/%ff", "/mcp/", "/API/v1/tools", f"{STATS}/",
            f"{STATS}%2f..%2fmem_search", "/api/v1/tools/..%2f..%2fmetrics", "/api/v1/tools/" + "x" * 50_000,
        )),
        (f"GET /nothing HTTP/1.1\r\n{{host}}\r\nGET {STATS} HTTP/1.1\r\n{{host}}\r\n", [404, 401]),
    ],
)  # fmt: skip
def test_a_bad_request_has_its_status_and_an_error_body(served: Served, sent: str, statuses: list[int]) -> None:
    told, body = heard(served, sent)
    assert told == statuses
    assert set(json.loads(body)["error"]) == {"code", "message", "hint"}


@pytest.mark.parametrize(
    ("sent", "statuses"),
    [
        ("GET http://localhost:{port}/healthz HTTP/1.1\r\nhost: evil.example\r\n\r\n", [200]),
        (f"HEAD {STATS} HTTP/1.1\r\n{{host}}{{token}}\r\n", [200]),
        (f"GET {STATS} HTTP/1.1\r\n{{host}}{{token}}{SIZE}{JSON}\r\n{{}}", [200]),
        (f"GET {STATS} HTTP/1.1\r\n{{host}}{{token}}upgrade: websocket\r\nconnection: upgrade\r\n\r\n", [200]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{JSON}{CHUNKED}\r\n2;a=b\r\n{{}}\r\n0\r\nx: y\r\n\r\n", [200]),
        (f"POST {STATS} HTTP/1.1\r\n{{host}}{{token}}{JSON}{SIZE}expect: 100-continue\r\n\r\n{{}}", [100, 200]),
        (f"GET {STATS} HTTP/1.1\r\n{{host}}{{token}}\r\n" * 5, [200] * 5),
    ],
)
def test_what_is_odd_but_sound_is_answered(served: Served, sent: str, statuses: list[int]) -> None:
    assert heard(served, sent.replace("{port}", str(served.port)))[0] == statuses


def test_the_rest_of_a_body_that_was_refused_is_not_taken_for_a_request(served: Served) -> None:
    body = "GET /healthz HTTP/1.1\r\n\r\n" + " " * 300_000
    sent = f"POST {STATS} HTTP/1.1\r\n{{host}}{JSON}content-length: {len(body)}\r\n\r\n{body}"
    assert heard(served, sent)[0] == [401]
    assert heard(served, sent * 2)[0] == [401, 401]


def test_one_version_of_http_is_as_good_as_the_other(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), 30) as connection:
        connection.sendall(
            f"GET {STATS} HTTP/1.0\r\nhost: localhost:{served.port}\r\nauthorization: Bearer {served.token}\r\n\r\n".encode()
        )
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"observations" in answer


def test_a_stranger_is_not_told_which_tools_there_are(served: Served) -> None:
    for token in ("", "hvk_aaaaaaaa_wrong"):
        for path in ("/api/v1/tools/mem_serch", "/api/v1/tools/x", "/api/v1/tools/"):
            reply = served.get(path, token=token)
            assert reply.status == 404
            assert "mem_" not in reply.text
    known = served.get("/api/v1/tools/mem_serch")
    assert (known.status, known.code) == (404, "unknown_tool")
    assert "mem_search" in known.json["error"]["hint"]
