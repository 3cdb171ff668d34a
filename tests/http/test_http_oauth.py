"""Signed tokens of a real, small authorization server: it publishes keys, issues tokens, and rotates."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from haversack.config import HttpSettings
from haversack.errors import ConfigError
from haversack.values import replace
from haversack.web.signed_tokens import ASK_AGAIN_SECONDS, SLACK_SECONDS, SignedTokens
from tests.http.serving import UNHURRIED, Served, serving

pytest.importorskip("joserfc", reason="the extra oauth is not installed")
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, OKPKey, RSAKey

RESOURCE = "https://memory.example/mcp"


class Authority:
    """An authorization server: a key set at an address, and tokens signed with its keys."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {
            "RS256": RSAKey.generate_key(2048, {"kid": "rsa"}),
            "ES256": ECKey.generate_key("P-256", {"kid": "ec"}),
            "EdDSA": OKPKey.generate_key("Ed25519", {"kid": "ed"}),
        }
        self.asked = 0
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                authority.asked += 1
                body = json.dumps(KeySet(list(authority.keys.values())).as_dict(private=False)).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def settings(self) -> HttpSettings:
        return replace(UNHURRIED, issuers=(self.issuer,), resource=RESOURCE, jwks=f"{self.issuer}/jwks", failures_per_minute=0)  # fmt: skip

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": RESOURCE, "sub": "ada", "exp": now + 600, "nbf": now, "scope": "haversack:read"}  # fmt: skip
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def token(self, algorithm: str = "RS256", **changes: Any) -> str:
        key = self.keys[algorithm]
        header = {"alg": algorithm, "kid": key.kid}
        return str(jwt.encode(header, self.claims(**changes), key, algorithms=[algorithm]))


@pytest.fixture(scope="module")
def authority() -> Iterator[Authority]:
    held = Authority()
    yield held
    held.server.shutdown()


@pytest.fixture(scope="module")
def protected(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(str(tmp_path_factory.mktemp("home")), authority.settings()) as served:
        yield served


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_a_token_the_authority_signed_is_taken(authority: Authority, protected: Served, algorithm: str) -> None:
    token = authority.token(algorithm, aud=["https://other.example", RESOURCE])
    assert protected.get("/api/v1/tools/mem_stats", token=token).status == 200
    write = authority.token(algorithm, scope="openid haversack:write")
    assert protected.tool("mem_save", {"title": algorithm, "content": "by a member"}, token=write).status == 200
    reply = protected.tool("mem_save", {"title": "t", "content": "c"}, token=token)
    assert reply.status == 403
    assert 'scope="haversack:read haversack:write"' in reply.headers["www-authenticate"]
    assert protected.get("/metrics", token=write).status == 403


def test_the_keys_are_fetched_once_for_many_tokens(authority: Authority, protected: Served) -> None:
    protected.get("/api/v1/tools/mem_stats", token=authority.token())
    before = authority.asked
    for _ in range(5):
        assert protected.get("/api/v1/tools/mem_stats", token=authority.token()).status == 200
    assert authority.asked == before


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"}, {"iss": None}, {"aud": "https://memory.example"}, {"aud": f"{RESOURCE}/"},
        {"aud": None}, {"aud": [RESOURCE + "x"]}, {"exp": 1}, {"exp": None}, {"exp": "soon"}, {"exp": True},
        {"nbf": 4_000_000_000}, {"scope": "read"}, {"scope": None}, {"scope": ["haversack:admin"]},
        {"scope": "haversack:adminx"}, {"sub": None}, {"sub": ""}, {"sub": 7},
    ],
    ids=str,
)  # fmt: skip
def test_a_token_that_is_not_for_us_is_refused(
    authority: Authority, protected: Served, changes: dict[str, Any]
) -> None:
    reply = protected.get("/api/v1/tools/mem_stats", token=authority.token(**changes))
    assert reply.status == 401
    assert reply.headers["www-authenticate"] == (
        'Bearer realm="haversack", scope="haversack:read", '
        f'resource_metadata="{protected.url}/.well-known/oauth-protected-resource/mcp", error="invalid_token"'
    )


def test_forged_signatures_are_refused(authority: Authority, protected: Served) -> None:
    good = authority.token()
    head, body, signature = good.split(".")
    other = RSAKey.generate_key(2048, {"kid": "rsa"})
    public = authority.keys["RS256"].as_pem(private=False)
    forged = [
        jwt.encode({"alg": "RS256", "kid": "rsa"}, authority.claims(), other, algorithms=["RS256"]),
        jwt.encode({"alg": "HS256", "kid": "rsa"}, authority.claims(), OctKey.import_key(b"x" * 40), algorithms=["HS256"]),
        f"{head}.{body}.", f"{head}.{body}", f"{head}.{body}.{signature[:-4]}AAAA", f"..{signature}", "a.b.c", public.decode()[:60].replace("\n", ""),
        "eyJhbGciOiJub25lIn0." + body + ".", head + "." + body + "." + signature + ".x.y",
    ]  # fmt: skip
    for token in forged:
        assert protected.get("/api/v1/tools/mem_stats", token=str(token)).status == 401
    assert protected.get("/api/v1/tools/mem_stats", token=good).status == 200


def test_clocks_may_differ_by_a_minute_and_keys_may_rotate(authority: Authority) -> None:
    now = [time.time()]
    held = SignedTokens(authority.settings(), lambda: now[0])
    token = authority.token(exp=int(now[0]) + 10)
    found = held.verified(token)
    assert found is not None
    assert (found.id, found.scope) == ("sub:ada", "read")
    now[0] += 10 + SLACK_SECONDS - 1
    assert held.verified(token) is not None
    now[0] += 2
    assert held.verified(token) is None
    fresh = Authority()
    fresh.issuer, fresh.keys["RS256"] = authority.issuer, RSAKey.generate_key(2048, {"kid": "rotated"})
    authority.keys["RS256"] = fresh.keys["RS256"]
    fresh.server.shutdown()
    asked = authority.asked
    rotated = authority.token(exp=int(now[0]) + 600)
    now[0] += ASK_AGAIN_SECONDS + 1
    assert held.verified(rotated) is not None
    assert authority.asked == asked + 1
    unknown = jwt.encode({"alg": "ES256", "kid": "unknown"}, authority.claims(), authority.keys["ES256"], algorithms=["ES256"])  # fmt: skip
    for _ in range(50):
        assert held.verified(str(unknown)) is None
    assert authority.asked == asked + 1, "unknown keys do not make it ask again and again"


def test_what_clients_are_told_of_the_authority(authority: Authority, protected: Served) -> None:
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        assert protected.get(path, token="").json == {
            "resource": RESOURCE,
            "authorization_servers": [authority.issuer],
            "scopes_supported": ["haversack:read"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Haversack",
        }


def test_keys_may_be_in_a_file_and_a_broken_set_up_is_an_error(authority: Authority, tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    path.write_text(json.dumps(KeySet(list(authority.keys.values())).as_dict(private=False)))
    assert SignedTokens(replace(authority.settings(), jwks=str(path))).verified(authority.token()) is not None
    path.write_text("no keys")
    assert SignedTokens(replace(authority.settings(), jwks=str(path))).verified(authority.token()) is None
    assert SignedTokens(replace(authority.settings(), jwks="http://keys.example/x")).verified(authority.token()) is None
    for changes in ({"resource": ""}, {"jwks": ""}, {"resource": RESOURCE + "/"}):
        with pytest.raises(ConfigError):
            SignedTokens(replace(authority.settings(), **changes))
