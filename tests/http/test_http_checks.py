"""Who may ask: every check, in its order, with its status."""

import os
import stat
import sys
import time

import pytest

from haversack.config import HttpSettings
from haversack.web.credentials import Credentials
from haversack.web.exchange import MOST_BYTES
from haversack.web.identity import Identity
from haversack.web.rates import MOST_KEYS, Limiter, Rate
from haversack.web.sign_in import CODE_SECONDS, COOKIE_SECONDS, SignIn
from tests.http.serving import MCP_HEADERS, Served, serving

ALWAYS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{port}", "localhost", ""])
def test_another_host_is_misdirected(served: Served, host: str) -> None:
    reply = served.get("/healthz", headers={"host": host.format(port=served.port)})
    assert (reply.status, reply.code) == (421, "wrong_host")


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_the_names_of_this_machine_are_answered(served: Served, host: str) -> None:
    reply = served.get("/healthz", headers={"host": host.format(port=served.port)}, token="")
    assert (reply.status, reply.body) == (200, b"ok")


def test_a_host_that_was_allowed_is_answered_with_and_without_the_port(tmp_path: os.PathLike[str]) -> None:
    with serving(str(tmp_path), HttpSettings(allowed_hosts=("memory.example",))) as served:
        for host in ("memory.example", f"memory.example:{served.port}", "Memory.Example"):
            assert served.get("/healthz", headers={"host": host}).status == 200
        assert served.get("/healthz", headers={"host": "memory.example:1"}).status == 421
        forwarded = {"host": "evil.example", "x-forwarded-host": "memory.example", "forwarded": "host=memory.example"}
        assert served.get("/healthz", headers=forwarded).status == 421


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://127.0.0.1:1", "http://localhost", ""])
def test_another_origin_is_refused_whatever_it_asks_for(served: Served, origin: str) -> None:
    for path in ("/healthz", "/", "/api/v1/tools", "/nothing"):
        reply = served.get(path, headers={"origin": origin})
        assert (reply.status, reply.code) == (403, "foreign_origin")
        assert "access-control-allow-origin" not in reply.headers


def test_our_own_origin_is_taken(served: Served) -> None:
    assert served.get("/api/v1/tools", headers={"origin": served.url}).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "allowed"),
    [
        ("GET", "/mcp", 405, "POST"),
        ("DELETE", "/mcp", 405, "POST"),
        ("POST", "/healthz", 405, "GET"),
        ("PUT", "/api/v1/tools/mem_search", 405, "GET, POST"),
        ("GET", "/api/v1/tools/mem_save", 405, "POST"),
        ("GET", "/session", 405, "POST, DELETE"),
        ("GET", "/nothing", 404, None),
        ("GET", "/static/../commands.py", 404, None),
        ("GET", "/static/%2e%2e/commands.py", 404, None),
        ("GET", "/api/v1/tools/none_such", 404, None),
        ("GET", "/api/v1/tools/read_file", 404, None),
        ("GET", "/.well-known/oauth-protected-resource", 404, None),
    ],
)  # fmt: skip
def test_path_and_method_are_checked_before_identity(
    served: Served, method: str, path: str, status: int, allowed: str | None
) -> None:
    reply = served.send(method, path, token="")
    assert reply.status == status
    assert reply.headers.get("allow") == allowed
    assert set(reply.json["error"]) == {"code", "message", "hint"}


def test_size_and_type_are_checked_before_identity(served: Served) -> None:
    announced = JSON | {"content-length": str(MOST_BYTES + 1)}
    assert served.send("POST", "/mcp", headers=MCP_HEADERS | announced, token="").status == 413
    assert served.send("POST", "/api/v1/tools/mem_save", headers=announced, token="").status == 413
    plain = {"content-type": "text/plain"}
    assert served.send("POST", "/api/v1/tools/mem_save", body="{}", headers=plain, token="").status == 415
    assert served.send("POST", "/mcp", body="{}", headers=MCP_HEADERS | plain, token="").status == 415
    assert served.send("POST", "/mcp", body="{}", headers=JSON | {"accept": "text/html"}, token="").status == 406


def test_a_body_that_grows_beyond_the_limit_is_refused_while_it_comes(served: Served) -> None:
    pieces = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    headers = JSON | {"transfer-encoding": "chunked", "content-length": ""}
    del headers["content-length"]
    from http.client import HTTPConnection

    connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.putrequest("POST", "/api/v1/tools/mem_save")
    for name, value in (headers | {"authorization": f"Bearer {served.token}"}).items():
        connection.putheader(name, value)
    connection.endheaders()
    for _ in range(5):
        connection.send(pieces)
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    "given",
    [
        "", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "hvk_x", "Bearer hvk_aaaaaaaa_wrong", "Bearer hvk__",
        "Bearer hvk_../../x_y", "Bearer " + "x" * 20_000, "Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer \xff\xfe",
    ],
)  # fmt: skip
def test_nobody_is_anonymous(tmp_path: os.PathLike[str], given: str) -> None:
    with serving(str(tmp_path)) as served:
        headers = {"authorization": given} if given else {}
        reply = served.get("/api/v1/tools", headers=headers, token="")
        assert (reply.status, reply.code) == (401, "unauthorized")
        challenge = reply.headers["www-authenticate"]
        assert challenge.startswith('Bearer realm="haversack", scope="haversack:read"')
        assert ('error="invalid_token"' in challenge) == bool(given)


@pytest.mark.parametrize("path", ["/api/v1/tools", "/api/v1/openapi.json", "/metrics", "/api/v1/tools/mem_stats"])
def test_a_token_in_the_address_is_refused_even_if_it_is_good(served: Served, path: str) -> None:
    reply = served.get(f"{path}?access_token={served.token}", token="")
    assert (reply.status, reply.code) == (400, "token_in_address")
    assert served.token not in reply.text


def test_a_token_that_was_revoked_or_has_expired_is_refused_at_once(served: Served) -> None:
    held = Credentials(served.home)
    token, text = held.add("short", "read", seconds=1)
    assert served.get("/api/v1/tools", token=text).status == 200
    held._write(type(token)(**{name: getattr(token, name) for name in token.__slots__} | {"expires": int(time.time())}))  # type: ignore[attr-defined]
    assert served.get("/api/v1/tools", token=text).status == 401
    _, text = held.add("gone", "read")
    assert served.get("/api/v1/tools", token=text).status == 200
    held.revoke("gone")
    assert served.get("/api/v1/tools", token=text).status == 401


def test_tokens_are_kept_as_digests_readable_by_the_owner_alone(tmp_path: os.PathLike[str]) -> None:
    held = Credentials(str(tmp_path))
    path = held.first()
    with open(path, encoding="ascii") as file:
        text = file.read().strip()
    assert held.first() == path, "there is one first token"
    assert len(text.split("_", 2)[2]) >= 43, "32 random bytes"
    kept = [os.path.join(tmp_path, "http-tokens", name) for name in os.listdir(os.path.join(tmp_path, "http-tokens"))]
    for each in kept:
        with open(each, encoding="utf-8") as file:
            assert text.split("_", 2)[2] not in file.read()
    if sys.platform != "win32":
        assert all(stat.S_IMODE(os.stat(each).st_mode) == 0o600 for each in [path, *kept])


def test_each_scope_includes_those_below_it_and_no_more(served: Served) -> None:
    saved = served.tool("mem_save", {"title": "Scopes", "content": "a text to be deleted", "format": "json"}).json["id"]
    for scope, may_write, may_erase in (("read", False, False), ("write", True, False), ("admin", True, True)):
        token = served.token_for(scope)
        assert served.get("/api/v1/tools/mem_stats", token=token).status == 200
        reply = served.tool("mem_update", {"id": saved, "importance": 0.5, "pinned": scope == "write"}, token=token)
        assert reply.status == (200 if may_write else 403)
        if not may_write:
            assert reply.headers["www-authenticate"].endswith(
                'scope="haversack:read haversack:write", error="insufficient_scope"'
            )
        for hard in (True, "true", 1, "yes"):
            reply = served.tool("mem_delete", {"id": 10**6, "hard": hard}, token=token)
            assert reply.status == (404 if may_erase else 403)
        assert served.get("/metrics", token=token).status == (200 if may_erase else 403)


def test_the_same_scopes_hold_for_mcp(served: Served) -> None:
    call = {"name": "mem_save", "arguments": {"title": "t", "content": "c"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    reply = served.message(message, token=served.token_for("read"))
    assert (reply.status, reply.code) == (403, "insufficient_scope")
    assert served.message(message, token=served.token_for("write")).status == 200


def test_wrong_tokens_are_slowed_and_the_right_one_still_works(tmp_path: os.PathLike[str]) -> None:
    with serving(str(tmp_path), HttpSettings(failures_per_minute=10)) as served:
        statuses = [served.get("/api/v1/tools", token=f"hvk_aaaaaaaa_{n}").status for n in range(40)]
        assert statuses[:10] == [401] * 10
        assert set(statuses[10:]) == {429}
        late = served.get("/api/v1/tools", token="hvk_aaaaaaaa_x")
        assert int(late.headers["retry-after"]) >= 1
        assert served.get("/api/v1/tools").status == 200


def test_a_token_that_calls_too_often_is_told_when_to_come_back(tmp_path: os.PathLike[str]) -> None:
    with serving(str(tmp_path), HttpSettings(calls_per_minute=60, writes_per_minute=6)) as served:
        statuses = [served.get("/api/v1/tools/mem_stats").status for _ in range(65)]
        assert statuses[0] == 200
        assert 429 in statuses
        other = served.token_for("read")
        assert served.get("/api/v1/tools/mem_stats", token=other).status == 200, "others are not slowed with it"


def test_buckets_refill_and_the_least_recent_of_too_many_is_forgotten() -> None:
    now = [0.0]
    limiter = Limiter(Rate(60, 2), lambda: now[0])
    assert [limiter.wait("a") for _ in range(3)] == [0, 0, 1]
    now[0] += 1
    assert [limiter.wait("a") for _ in range(2)] == [0, 1]
    for number in range(MOST_KEYS):
        limiter.wait(str(number))
    assert limiter.wait("a") == 0, "forgotten, so it begins again"
    assert all(Limiter(Rate(0, 0)).wait("b") == 0 for _ in range(1000))


def test_every_reply_carries_the_headers_that_protect_it(served: Served) -> None:
    replies = [
        served.get(path, token=token)
        for path in ("/", "/healthz", "/metrics", "/nothing", "/api/v1/tools", "/api/v1/tools/mem_stats", "/mcp")
        for token in ("", None)
    ]
    replies += [served.get("/", headers={"host": "evil.example"}), served.message("not json"), served.tool("mem_save")]
    for reply in replies:
        assert {name: reply.headers.get(name) for name in ALWAYS} == ALWAYS
        assert reply.headers["cache-control"] in ("no-store", "no-cache")
        assert "server" not in reply.headers


def test_a_login_code_works_once_and_not_for_ever(served: Served) -> None:
    code = served.server.door.sign_in.code(Identity("page", "page", "admin"))
    body = f'{{"code": "{code}"}}'
    first = served.send("POST", "/session", body=body, headers=JSON, token="")
    assert first.status == 204
    cookie = first.headers["set-cookie"]
    assert cookie.startswith(f"haversack-{served.port}=")
    assert all(
        part in cookie for part in ("; HttpOnly", "; SameSite=Strict", "; Path=/", f"; Max-Age={COOKIE_SECONDS}")
    )
    assert served.send("POST", "/session", body=body, headers=JSON, token="").status == 401, "replayed"
    now = [0.0]
    sign_in = SignIn(lambda: now[0])
    late = sign_in.code(Identity("page", "page", "admin"))
    now[0] += CODE_SECONDS
    assert sign_in.redeem(late) is None
    kept = sign_in.cookie(Identity("page", "page", "admin"))
    now[0] += COOKIE_SECONDS
    assert sign_in.identity(kept) is None


def signed_in(served: Served) -> str:
    code = served.server.door.sign_in.code(Identity("page", "page", "admin"))
    reply = served.send("POST", "/session", body=f'{{"code": "{code}"}}', headers=JSON, token="")
    return reply.headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"origin": "ours"}, 200),
        ({}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "none"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "ours"}, 403),
        ({"origin": "null"}, 403),
    ],
)  # fmt: skip
def test_with_a_cookie_only_the_page_itself_may_write(served: Served, sent: dict[str, str], status: int) -> None:
    headers = {"cookie": signed_in(served)} | {
        name: served.url if text == "ours" else text for name, text in sent.items()
    }
    draft = {"title": "From the page", "content": f"with {sorted(sent)}"}
    assert served.tool("mem_save", draft, headers=headers, token="").status == status


def test_a_form_of_another_site_reaches_nothing_with_the_cookie(served: Served) -> None:
    headers = {"cookie": signed_in(served), "content-type": "application/x-www-form-urlencoded", "origin": "null"}
    assert served.send("POST", "/api/v1/tools/mem_save", body="title=x", headers=headers, token="").status == 403


def test_signing_out_ends_the_cookie_and_revoking_ends_those_of_its_token(served: Served) -> None:
    cookie = signed_in(served)
    ours = {"cookie": cookie, "sec-fetch-site": "same-origin"}
    assert served.get("/api/v1/tools", headers=ours, token="").status == 200
    assert served.send("DELETE", "/session", headers=ours, token="").status == 204
    assert served.get("/api/v1/tools", headers=ours, token="").status == 401
    held = Credentials(served.home)
    _, text = held.add("for the page", "read")
    by_token = served.send("POST", "/session", body="{}", headers=JSON, token=text)
    ours = {"cookie": by_token.headers["set-cookie"].partition(";")[0], "sec-fetch-site": "same-origin"}
    assert served.get("/api/v1/tools", headers=ours, token="").status == 200
    assert served.get("/metrics", headers=ours, token="").status == 403, "a cookie may do what its token may"
    held.revoke("for the page")
    assert served.get("/api/v1/tools", headers=ours, token="").status == 401


def test_the_journal_holds_no_content_and_no_secret(tmp_path: os.PathLike[str]) -> None:
    log = os.path.join(tmp_path, "server.log")
    with serving(os.path.join(tmp_path, "home"), log_file=log) as served:
        served.tool("mem_save", {"title": "Confidential title", "content": "confidential content"})
        served.get("/api/v1/tools/mem_search?query=confidential")
        served.get(f"/nothing?access_token={served.token}")
        served.get("/evil%0d%0aforged%20line")
    # A line is written once its reply has been sent: the last one is there when the server has stopped.
    with open(log, encoding="utf-8") as file:
        lines = file.read()
    identifier = served.token.split("_")[1]
    assert f"POST /api/v1/tools/mem_save 200 {identifier}" in lines
    assert "GET /evil%0D%0Aforged%20line 404 -" in lines
    assert "onfidential" not in lines
    assert served.token.split("_", 2)[2] not in lines
