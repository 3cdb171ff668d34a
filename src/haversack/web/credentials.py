"""Bearer tokens: one file per token in the home folder, which holds a digest and never the secret."""

import hashlib
import hmac
import json
import os
import secrets
import tempfile
import time
from typing import Any

from haversack.errors import Conflict, InvalidArgument, NotFound
from haversack.patterns import pattern
from haversack.values import asdict, record, replace

SCOPES = ("read", "write", "admin")
"""What a token may do; each includes those before it."""
FOLDER = "http-tokens"
FIRST_TOKEN_FILE = "http-token"
_PREFIX = "hvk"
_ID = pattern(r"[a-z0-9]{8}")
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_USE_NOTED_EVERY = 60
"""Seconds between two writes of a token's last use, so that not every request writes a file."""


@record
class Token:
    """The stored facts of a token: everything but its secret. Times are seconds since 1970; 0 is never.

    `member` is the member it acts for in a team's store; empty for the server's own member.
    """

    id: str
    name: str
    digest: str
    scope: str
    project: str = ""
    namespace: str | None = None
    member: str = ""
    created: int = 0
    expires: int = 0
    used: int = 0


class Credentials:
    """The tokens of a home folder, shared by every process that uses it; a revoked one is refused at once."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._folder = os.path.join(home, FOLDER)
        self._noted: dict[str, int] = {}
        self._held: dict[str, tuple[tuple[int, int, int], Token]] = {}

    def add(
        self,
        name: str,
        scope: str,
        *,
        project: str = "",
        namespace: str | None = None,
        member: str = "",
        seconds: int = 0,
    ) -> tuple[Token, str]:
        """A new token and its secret text, which is shown once and cannot be recovered."""
        cleaned = " ".join(name.split())
        if not cleaned or len(cleaned) > 80:
            raise InvalidArgument(f"the name has {len(cleaned)} characters", hint="give a name of 1 to 80 characters")
        if scope not in SCOPES:
            raise InvalidArgument(f"scope is {scope[:40]!r}", hint=f"allowed: {', '.join(SCOPES)}")
        if any(held.name == cleaned for held in self.all()):
            raise Conflict(f"there is a token called {cleaned!r}", hint="choose another name, or revoke that one")
        secret = secrets.token_urlsafe(32)
        now = int(time.time())
        token = Token(
            id="".join(secrets.choice(_ALPHABET) for _ in range(8)),
            name=cleaned,
            digest=_digest(secret),
            scope=scope,
            project=project,
            namespace=namespace,
            member=member,
            created=now,
            expires=now + seconds if seconds else 0,
        )
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._write(token)
        return token, f"{_PREFIX}_{token.id}_{secret}"

    def all(self) -> list[Token]:
        """Every token, the oldest first."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return []
        held = (self._read(name.removesuffix(".json")) for name in names if name.endswith(".json"))
        return sorted((each for each in held if each), key=lambda each: (each.created, each.id))

    def revoke(self, name: str) -> Token:
        """Forget the token of that name or id."""
        for token in self.all():
            if name in (token.name, token.id):
                os.unlink(self._path(token.id))
                return token
        raise NotFound(f"no token called {name[:80]!r}", hint="`haversack token list` shows them")

    def verified(self, text: str) -> Token | None:
        """The token a text belongs to; None for unknown, revoked, expired and wrong ones alike."""
        prefix, _, rest = text.partition("_")
        identifier, _, secret = rest.partition("_")
        token = self._read(identifier) if prefix == _PREFIX else None
        # An unknown token is compared too, so that the time taken reveals nothing.
        is_right = hmac.compare_digest(_digest(secret), token.digest if token else _NO_DIGEST)
        now = int(time.time())
        if token is None or not is_right or (token.expires and token.expires <= now):
            return None
        self._note_use(token, now)
        return token

    def is_valid(self, identifier: str) -> bool:
        """Whether the token of that id is still there and has not expired."""
        token = self._read(identifier)
        return token is not None and not (token.expires and token.expires <= int(time.time()))

    def first(self) -> str:
        """The path of the file with the first token, made with the rights of an owner where there is none yet."""
        path = os.path.join(self._home, FIRST_TOKEN_FILE)
        if os.path.exists(path):
            return path
        name = "first"
        taken = {token.name for token in self.all()}
        while name in taken:
            name += "+"
        _, text = self.add(name, "admin")
        os.makedirs(self._home, mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text + "\n")
        return path

    def _note_use(self, token: Token, now: int) -> None:
        if now - self._noted.get(token.id, token.used) < _USE_NOTED_EVERY:
            return
        self._noted[token.id] = now
        try:
            if os.path.exists(self._path(token.id)):  # else it has been revoked meanwhile
                self._write(replace(token, used=now))
        except OSError:
            return  # a full or read-only disk must not lock anybody out

    def _path(self, identifier: str) -> str:
        return os.path.join(self._folder, f"{identifier}.json")

    def _read(self, identifier: str) -> Token | None:
        if not _ID.fullmatch(identifier):
            return None
        try:
            status = os.stat(self._path(identifier))
        except OSError:
            self._held.pop(identifier, None)
            return None
        # Files are replaced, never changed: the same file at the same time is the same token.
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        held = self._held.get(identifier)
        if held is not None and held[0] == seen:
            return held[1]
        token = self._parsed(identifier)
        if token is not None:
            self._held[identifier] = (seen, token)
        return token

    def _parsed(self, identifier: str) -> Token | None:
        try:
            with open(self._path(identifier), encoding="utf-8") as file:
                held: dict[str, Any] = json.load(file)
            token = Token(**held)
        except (OSError, ValueError, TypeError):
            return None
        return token if token.id == identifier and token.scope in SCOPES else None

    def _write(self, token: Token) -> None:
        descriptor, written = tempfile.mkstemp(dir=self._folder)  # readable by the owner alone
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(asdict(token), file, ensure_ascii=False)
            os.replace(written, self._path(token.id))
        except BaseException:
            os.unlink(written)
            raise


def parse_age(text: str) -> int:
    """Seconds in an age such as 90d, 12h or 30m."""
    units = {"d": 86_400, "h": 3_600, "m": 60}
    number, unit = text[:-1], text[-1:].lower()
    if unit in units and number.isascii() and number.isdigit() and 0 < int(number) <= 36_500:
        return int(number) * units[unit]
    raise InvalidArgument(f"--expires is {text[:40]!r}", hint="write an age such as 90d, 12h or 30m")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


_NO_DIGEST = _digest("")
