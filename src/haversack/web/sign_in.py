"""Signing in to the page: a code that works once, exchanged for a cookie whose value is kept only as a digest."""

import hashlib
import secrets
import time
from collections.abc import Callable

from haversack.values import record
from haversack.web.identity import Identity

CODE_SECONDS = 300
COOKIE_SECONDS = 12 * 3_600
MOST_SESSIONS = 1_000


@record
class _Issued:
    identity: Identity
    until: float


class SignIn:
    """Codes and cookies of one running server; they end with it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[str, _Issued] = {}
        self._cookies: dict[str, _Issued] = {}

    def code(self, identity: Identity) -> str:
        """A code that signs in once, within five minutes."""
        return self._keep(self._codes, identity, CODE_SECONDS)

    def redeem(self, code: str) -> str | None:
        """The value of a new cookie, or nothing for a code that is wrong, used or too old."""
        held = self._codes.pop(_digest(code), None)
        return self.cookie(held.identity) if held and held.until > self._clock() else None

    def cookie(self, identity: Identity) -> str:
        """The value of a new cookie for somebody who has been recognized."""
        return self._keep(self._cookies, identity, COOKIE_SECONDS)

    def identity(self, cookie: str) -> Identity | None:
        """The identity of a cookie; None when it is unknown or expired."""
        held = self._cookies.get(_digest(cookie))
        return held.identity if held and held.until > self._clock() else None

    def end(self, cookie: str) -> None:
        """Forget a cookie."""
        self._cookies.pop(_digest(cookie), None)

    def _keep(self, held: dict[str, _Issued], identity: Identity, seconds: int) -> str:
        now = self._clock()
        for digest in [digest for digest, each in held.items() if each.until <= now]:
            del held[digest]
        while len(held) >= MOST_SESSIONS:
            del held[next(iter(held))]
        value = secrets.token_urlsafe(32)
        held[_digest(value)] = _Issued(identity, now + seconds)
        return value


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()
