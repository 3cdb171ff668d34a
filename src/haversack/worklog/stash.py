"""The stash: full results, and what replies left out, under short keys until they expire."""

import zlib
from collections.abc import Callable, Sequence

from haversack.config import StashSettings
from haversack.errors import ExpiredKey
from haversack.store import stash as table
from haversack.store.engine import Engine, Reader, Writer
from haversack.store.stash import Stashed
from haversack.values import record, replace

HOUR = 3_600_000_000
REMEMBERED = 30 * 24 * HOUR
"""How long after a text has expired its key still says which call to make again."""
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that cannot be mistaken for one another."""


@record
class Kept:
    """A text on its way into the stash, with the key it will have and that of the snapshot it is a position in."""

    key: str
    digest: bytes
    origin: str
    body: bytes
    snapshot: str = ""


@record
class Stash:
    """Texts kept under keys of four to six characters.

    A key is derived from the text and the store's secret: the same remainder has the same key, so a repeated
    call gives the same reply, and nobody can guess a key from what it stands for.
    """

    database: Engine
    settings: StashSettings
    now: Callable[[], int]

    def keep(self, text: str, origin: str) -> str:
        """Keep a text and return its key; `origin` is the call that made it, for when it has expired."""
        raw = text.encode("utf-8", "surrogatepass")
        return self._keep(raw, origin, zlib.compress(raw, 1))

    def keep_bytes(self, packed: bytes, origin: str, identity: bytes) -> str:
        """As `keep`, for bytes that are already compressed; those with one `identity` count as the same."""
        return self._keep(identity, origin, zlib.compress(packed, 0))

    def _keep(self, identity: bytes, origin: str, body: bytes) -> str:
        while True:
            kept = self._prepare(identity, origin, body)
            with self.database.write() as tx:
                if self.put(tx, (kept,)):
                    return kept.key

    def prepare(self, text: str, origin: str, *, snapshot: str = "") -> Kept:
        """A text with its key, for `put` to store; nothing is written yet.

        A text that is a position in the one kept under `snapshot` keeps that one as long as itself.
        """
        raw = text.encode("utf-8", "surrogatepass")
        return replace(self._prepare(raw, origin, zlib.compress(raw, 1)), snapshot=snapshot)

    def _prepare(self, identity: bytes, origin: str, body: bytes) -> Kept:
        from haversack.digests import blake2b  # a reply that was not cut needs no key

        with self.database.read() as tx:
            digest = blake2b(identity, key=table.salt(tx).encode(), digest_size=16).digest()
            key = _free_key(tx, digest)
        # Halves of surrogate pairs cannot be stored in a column of text.
        return Kept(key, digest, origin.encode("utf-8", "replace").decode(), body)

    def put(self, tx: Writer, texts: Sequence[Kept]) -> bool:
        """Store prepared texts; False, with nothing stored, when another text has taken a key meanwhile."""
        now = self.now()
        for kept in texts:
            if table.digest(tx, kept.key) not in (None, kept.digest):
                return False
        table.expire(tx, now, now - REMEMBERED)
        for kept in texts:
            expires = now + self.settings.hours * HOUR
            table.put(tx, kept.key, Stashed(kept.digest, kept.origin, expires, kept.body))
            if kept.snapshot:
                table.renew(tx, kept.snapshot, expires)
        excess = table.total_size(tx) - self.settings.max_megabytes * 1_000_000
        if excess > 0:
            table.drop_oldest(tx, excess)
        return True

    def fetch(self, key: str) -> tuple[str, str]:
        """The text a key stands for, and the call it came from."""
        raw, origin = self._fetch(key)
        return raw.decode("utf-8", "surrogatepass"), origin

    def fetch_bytes(self, key: str) -> bytes:
        """The bytes a key stands for."""
        return self._fetch(key)[0]

    def _fetch(self, key: str) -> tuple[bytes, str]:
        cleaned = clean(key)
        with self.database.read() as tx:
            held = table.get(tx, cleaned)
        now = self.now()
        if held is None:
            raise ExpiredKey(
                f"no key {cleaned[:40]!r}: it was never given, or is long forgotten",
                hint="make the call that gave it again",
            )
        if held.expires_at <= now or held.body is None:
            why = f"it is kept for {self.settings.hours} hours"
            if held.expires_at > now:
                why = f"the stash keeps {self.settings.max_megabytes} MB, and newer results took its place"
            raise ExpiredKey(f"what {cleaned!r} stood for is gone: {why}", hint=f"make the call again: {held.origin}")
        return zlib.decompress(held.body), held.origin


def as_document(text: str, name: str, *, lines_before: int = 0, fence: str = "") -> str:
    """A text in the form in which `more` shows it in pages."""
    from json import dumps

    held = {"document": text, "name": name, "lines_before": lines_before, "fence": fence}
    return dumps(held, ensure_ascii=False, separators=(",", ":"))


def clean(key: str) -> str:
    """A key as callers copy it, without quotes and white space."""
    return key.strip().strip("\"'").lower()


def _free_key(tx: Reader, digest: bytes) -> str:
    """The shortest key that no other text has."""
    number = int.from_bytes(digest, "big")
    letters = ""
    while len(letters) < 16:
        number, index = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[index]
    keys = (letters[:4], letters[:5], letters[:6], letters[4:10], letters[10:16], letters)
    return next((key for key in keys if table.digest(tx, key) in (None, digest)), keys[-1])
