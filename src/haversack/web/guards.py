"""The checks every request passes first, each with its own status."""

import asyncio
import time
from functools import lru_cache

from haversack.config import Config
from haversack.values import record
from haversack.web.credentials import Credentials
from haversack.web.exchange import MOST_BYTES, Exchange, Headers, Refused, too_large
from haversack.web.identity import Identity, identity_of
from haversack.web.rates import Limiter, Rate
from haversack.web.sign_in import SignIn
from haversack.web.signed_tokens import SCOPE_PREFIX, SignedTokens

CALL_BURST, WRITE_BURST = 60, 60
SAFE_METHODS = ("GET", "HEAD")
METADATA_PATH = "/.well-known/oauth-protected-resource"


@record
class Place:
    """Where the server is reached: the names it answers to, and the origins of its own page."""

    port: int
    hosts: frozenset[str]
    origins: frozenset[str]
    public_url: str
    is_encrypted: bool = False

    @property
    def cookie_name(self) -> str:
        # Cookies ignore ports: two servers on one machine must not sign each other out.
        return f"__Host-haversack-{self.port}" if self.is_encrypted else f"haversack-{self.port}"


def place_of(
    config: Config, address: str, port: int, *, allowed: tuple[str, ...] = (), is_encrypted: bool = False
) -> Place:
    """The place of a server that listens on an address; it never depends on a request."""
    shown = f"[{address}]" if ":" in address else address
    scheme = "https" if is_encrypted else "http"
    names = [f"{name}:{port}" for name in (shown, "127.0.0.1", "localhost", "[::1]")]
    for entry in (*config.http.allowed_hosts, *allowed):
        names += [entry.lower(), f"{entry.lower()}:{port}"]
    public = config.http.public_url.rstrip("/") or f"{scheme}://{shown}:{port}"
    origins = {f"{scheme}://{name}" for name in names} | {"/".join(public.split("/")[:3])}
    return Place(port, frozenset(name.lower() for name in names), frozenset(origins), public, is_encrypted)


def check_host(exchange: Exchange, place: Place) -> None:
    """Refuse a request for another host name: it may be a DNS rebinding attack."""
    if exchange.headers.get("host", "").lower() not in place.hosts:
        raise Refused(
            421, "wrong_host", "this server does not answer to that host",
            hint="name it with --allowed-host or http.allowed_hosts",
        )  # fmt: skip


def check_origin(exchange: Exchange, place: Place) -> None:
    """Refuse a request from a page of another origin; `null` is another origin too."""
    origin = exchange.headers.get("origin")
    if origin is not None and origin not in place.origins:
        raise Refused(403, "foreign_origin", "requests from that origin are not taken")


def check_size_and_type(exchange: Exchange, *, needs_json: bool) -> None:
    """Refuse a body that is announced as too large, or is not JSON where it must be."""
    announced = exchange.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > MOST_BYTES:
        raise too_large()
    kind = exchange.headers.get("content-type", "")
    if needs_json and not _is_json(kind):
        raise Refused(415, "wrong_type", f"Content-Type is {kind[:80]!r}", hint="send application/json, in UTF-8")
    if coding := exchange.headers.get("content-encoding"):
        raise Refused(415, "wrong_type", f"Content-Encoding is {coding[:80]!r}", hint="send the body as it is")
    if any(name == "access_token" for name, _ in exchange.query()):
        raise Refused(
            400, "token_in_address", "a token in an address ends up in logs",
            hint="send it as Authorization: Bearer; revoke this one",
        )  # fmt: skip


@lru_cache(maxsize=64)
def _is_json(content_type: str) -> bool:
    """Whether a type is JSON in the one encoding it has; a client sends the same header every time."""
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = [part.removeprefix("charset=").strip('"') for part in parameters if part.startswith("charset=")]
    return kind == "application/json" and all(each in ("utf-8", "utf8") for each in charsets)


class Guards:
    """Checks the identity of a caller, its scope and its rate."""

    def __init__(self, config: Config, place: Place, sign_in: SignIn) -> None:
        self.place = place
        self._credentials = Credentials(config.home)
        self._signed = SignedTokens(config.http) if config.http.issuers else None
        self._sign_in = sign_in
        settings = config.http
        self._failures = Limiter(Rate(settings.failures_per_minute, settings.failures_per_minute))
        self._calls = Limiter(Rate(settings.calls_per_minute, CALL_BURST))
        self._writes = Limiter(Rate(settings.writes_per_minute, WRITE_BURST))

    async def identity(self, exchange: Exchange) -> Identity:
        """The identity of the caller; a request without one is refused."""
        given = exchange.headers.get("authorization", "")
        cookie = exchange.cookie(self.place.cookie_name)
        if cookie:
            self._check_same_origin(exchange)
        found = await self._bearer(given) if given else self._by_cookie(cookie)
        if found is None:
            raise self.unrecognized(exchange, tried=bool(given or cookie))
        exchange.who = found.id
        return found

    async def _bearer(self, given: str) -> Identity | None:
        scheme, _, text = given.partition(" ")
        text = text.strip()
        if scheme.lower() != "bearer" or not text or len(text) > 16_384:
            return None
        if text.startswith("hvk_"):
            token = self._credentials.verified(text)
            return identity_of(token) if token else None
        if self._signed is None:
            return None
        return await asyncio.to_thread(self._signed.verified, text)

    def _by_cookie(self, cookie: str) -> Identity | None:
        found = self._sign_in.identity(cookie) if cookie else None
        if found and found.token_id and not self._credentials.is_valid(found.token_id):
            return None  # the token it was given for has been revoked
        if found and found.expires and found.expires <= time.time():
            return None
        return found

    def _check_same_origin(self, exchange: Exchange) -> None:
        """Refuse a cookie on a cross-origin request: a browser sends cookies with requests of any page."""
        site = exchange.headers.get("sec-fetch-site")
        if site is not None:
            is_ours = site == "same-origin" or (site == "none" and exchange.method in SAFE_METHODS)
        else:
            is_ours = exchange.method in SAFE_METHODS or exchange.headers.get("origin") in self.place.origins
        if not is_ours:
            raise Refused(403, "cross_site", "with a cookie only the page itself may ask")

    def unrecognized(self, exchange: Exchange, *, tried: bool) -> Refused:
        """The refusal of somebody without a valid token; too many wrong ones are slowed."""
        if tried and (seconds := self._failures.wait(exchange.address)):
            return Refused(
                429, "too_many_failures", "too many wrong tokens from this address",
                headers=(("retry-after", str(seconds)),),
            )  # fmt: skip
        return Refused(
            401, "unauthorized", "a valid token is needed",
            hint="Authorization: Bearer hvk_…; `haversack token add` makes one, `haversack web` signs the page in",
            headers=self._challenge("read", "invalid_token" if tried else ""),
        )  # fmt: skip

    def check_scope(self, who: Identity, scope: str) -> None:
        """Refuse what the identity may not do, naming what it would need."""
        if not who.may(scope):
            raise Refused(
                403, "insufficient_scope", f"this needs the scope {scope}, and the token has {who.scope}",
                headers=self._challenge(scope, "insufficient_scope"),
            )  # fmt: skip

    def check_rate(self, who: Identity, *, writes: bool) -> None:
        """Refuse a caller that asks too often."""
        seconds = self._calls.wait(who.id) or (self._writes.wait(who.id) if writes else 0)
        if seconds:
            raise Refused(
                429, "too_many_calls", "this token calls too often", hint=f"try again in {seconds} s",
                headers=(("retry-after", str(seconds)),),
            )  # fmt: skip

    def _challenge(self, scope: str, error: str) -> Headers:
        scopes = " ".join(f"{SCOPE_PREFIX}{each}" for each in _up_to(scope))
        text = f'Bearer realm="haversack", scope="{scopes}"'
        if self._signed is not None:
            text += f', resource_metadata="{self.place.public_url}{METADATA_PATH}/mcp"'
        return (("www-authenticate", text + (f', error="{error}"' if error else "")),)


def _up_to(scope: str) -> tuple[str, ...]:
    return {"read": ("read",), "write": ("read", "write"), "admin": ("read", "write", "admin")}[scope]
