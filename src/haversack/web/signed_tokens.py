"""Signed tokens of an authorization server: this server only checks them (RFC 9068, RFC 8707)."""

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from haversack.config import HttpSettings
from haversack.errors import ConfigError
from haversack.web.credentials import SCOPES
from haversack.web.identity import Identity

ALGORITHMS = ["RS256", "ES256", "EdDSA"]
SLACK_SECONDS = 60
KEYS_LAST_SECONDS = 3_600
ASK_AGAIN_SECONDS = 60
"""A token signed with an unknown key makes the keys be read again, but not more often than this."""
MOST_BYTES = 1_000_000
FETCH_SECONDS = 5
SCOPE_PREFIX = "haversack:"


class SignedTokens:
    """The tokens of the configured issuers, checked with their keys."""

    def __init__(self, settings: HttpSettings, clock: Callable[[], float] = time.time) -> None:
        if missing := [name for name in ("resource", "jwks") if not getattr(settings, name)]:
            raise ConfigError(
                f"http.issuers needs {' and '.join(f'http.{name}' for name in missing)}",
                hint="resource is the address of /mcp as clients type it, jwks a file or an address of keys",
            )
        if settings.resource.endswith("/"):
            raise ConfigError("http.resource ends with a slash", hint="write it without")
        try:
            import joserfc  # noqa: F401 - whether it is there is all that is asked
        except ImportError:
            raise ConfigError("http.issuers needs the package joserfc", hint="pip install 'haversack[oauth]'") from None
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: Any = None
        self._read_at = float("-inf")

    def verified(self, text: str) -> Identity | None:
        """The identity in a signed token, or None; this may read the keys, so it must not run in the event loop."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        keys = self._current_keys(text)
        if keys is None:
            return None
        try:
            claims = jwt.decode(text, keys, algorithms=ALGORITHMS).claims
        except (JoseError, ValueError, TypeError, KeyError):
            return None
        return self._identity(claims)

    def _identity(self, claims: Mapping[str, Any]) -> Identity | None:
        now = self._clock()
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        expires, begins, subject = _time(claims.get("exp")), _time(claims.get("nbf", 0)), claims.get("sub")
        is_good = (
            claims.get("iss") in self._settings.issuers
            and self._settings.resource in audiences
            and expires is not None
            and expires > now - SLACK_SECONDS
            and begins is not None
            and begins < now + SLACK_SECONDS
            and isinstance(subject, str)
            and bool(subject)
        )
        scope = _highest(claims.get("scope"))
        if not is_good or scope is None:
            return None
        assert isinstance(subject, str) and expires is not None
        # Two issuers may use the same name for different people.
        member = subject if len(self._settings.issuers) == 1 else f"{claims['iss']}#{subject}"
        shown = _short(member)
        return Identity(id=f"sub:{shown}", name=shown, scope=scope, member=member, expires=expires + SLACK_SECONDS)

    def _current_keys(self, text: str) -> Any:
        with self._lock:
            age = self._clock() - self._read_at
            if age > KEYS_LAST_SECONDS or (age > ASK_AGAIN_SECONDS and not self._knows(text)):
                self._read_at = self._clock()
                self._keys = self._read() or self._keys
            return self._keys

    def _knows(self, text: str) -> bool:
        from joserfc import jws
        from joserfc.errors import JoseError

        try:
            wanted = jws.extract_compact(text.encode()).protected.get("kid")
        except (JoseError, ValueError, TypeError, KeyError):
            return True  # not a signed token: other keys would not make it one
        return self._keys is not None and (wanted is None or any(key.kid == wanted for key in self._keys.keys))

    def _read(self) -> Any:
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            return KeySet.import_key_set(json.loads(_content(self._settings.jwks)))
        except (OSError, ValueError, TypeError, KeyError, JoseError):
            return None


def _content(place: str) -> bytes:
    parts = urlsplit(place)
    if parts.scheme not in ("http", "https"):
        with open(os.path.expanduser(place), "rb") as file:
            return file.read(MOST_BYTES)
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise ValueError("keys are fetched over https")
    from urllib.request import Request, urlopen

    with urlopen(Request(place, headers={"accept": "application/json"}), timeout=FETCH_SECONDS) as reply:
        content: bytes = reply.read(MOST_BYTES)
    return content


def _highest(claim: object) -> str | None:
    """The highest of our scopes in a `scope` claim."""
    words = claim.split() if isinstance(claim, str) else []
    held = [scope for scope in SCOPES if f"{SCOPE_PREFIX}{scope}" in words]
    return held[-1] if held else None


def _short(name: str) -> str:
    """A unique short name for the journal and the rates, on one line."""
    if len(name) <= 80 and name.isprintable():
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return "".join(each for each in name[:40] if each.isprintable()) + f"…{digest}"


def _time(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
