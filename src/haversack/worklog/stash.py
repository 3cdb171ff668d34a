"""The stash: full results and the remainders of replies, under short keys until they expire."""

import zlib
from collections.abc import Callable, Iterator, Sequence

from haversack.config import StashSettings
from haversack.errors import ExpiredKey
from haversack.store import stash as table
from haversack.store.engine import Engine, Writer
from haversack.store.stash import Stashed
from haversack.values import record, replace
from haversack.worklog.guesses import MINUTE, Guesses, OwnKeys

HOUR = 3_600_000_000
REMEMBERED = 30 * 24 * HOUR
"""How long after a text has expired its key still says which call to make again."""
_SMALL_WINDOW = 512
"""Bytes of the smallest window that zlib has."""
_DIGITS = "0123456789"
_PLACES = ("abcdefghimnoprstuvw", "abcdefghimnprstuwxy", _DIGITS, _DIGITS, _DIGITS, "abcdefghjkmnpqrstuvwxyz")
"""What may stand in each place of a key. Any such pair of letters is one token and so are three digits: a key costs
three, where letters and digits at random cost up to six. It stands in every reply that was cut."""
_TRIES = 5


@record
class PreparedText:
    """A text to be stashed, with its key and the key of the snapshot it is a position in."""

    key: str
    digest: bytes
    origin: str
    body: bytes
    snapshot: str = ""


class Stash:
    """Texts kept under keys of six characters, as one caller sees them.

    A key is derived from the text and the store's secret: the same remainder has the same key, so a repeated
    call gives the same reply, and nobody can guess a key from what it stands for. Short keys could be found by
    trying many, so after some unknown ones only those are answered that this caller was given; callers of one
    store share `guesses`, so that to connect again does not help. A key belongs to its `owner`, whom a shared server
    knows by credentials: to anybody else it is unknown, and the same text has another row.
    """

    def __init__(
        self,
        database: Engine,
        settings: StashSettings,
        now: Callable[[], int],
        guesses: Guesses | None = None,
        own: OwnKeys | None = None,
        owner: str = "",
    ) -> None:
        self.database = database
        self.settings = settings
        self.now = now
        self._guesses = guesses or Guesses()
        self._own = own if own is not None else OwnKeys()
        self._owner = owner
        self._expired_at = 0

    def keep(self, text: str, origin: str) -> str:
        """Keep a text and return its key; `origin` is the call that made it, for when it has expired."""
        raw = text.encode("utf-8", "surrogatepass")
        return self._keep(raw, origin, _compressed(raw))

    def keep_bytes(self, packed: bytes, origin: str, identity: bytes) -> str:
        """As `keep`, for bytes that are already compressed; the same `identity` means the same content."""
        return self._keep(identity, origin, zlib.compress(packed, 0))

    def _keep(self, identity: bytes, origin: str, body: bytes) -> str:
        while True:
            kept = self._prepare(identity, origin, body)
            with self.database.write() as tx:
                if self.put(tx, (kept,)):
                    return kept.key

    def prepare(self, text: str, origin: str, *, snapshot: str = "") -> PreparedText:
        """A text with its key, for `put` to store; nothing is written yet.

        A text that is a position in the one kept under `snapshot` keeps that one as long as itself.
        """
        raw = text.encode("utf-8", "surrogatepass")
        kept = self._prepare(raw, origin, _compressed(raw))
        return replace(kept, snapshot=snapshot) if snapshot else kept

    def _prepare(self, identity: bytes, origin: str, body: bytes) -> PreparedText:
        from haversack.digests import blake2b  # a reply that was not cut needs no key

        with self.database.read() as tx:
            digest = blake2b(identity, key=table.salt(tx).encode(), digest_size=16).digest()
            free = (each for each in _keys(digest) if table.digest(tx, self._row(each)) in (None, digest))
            key = next(free, digest.hex())
        # Halves of surrogate pairs cannot be stored in a column of text.
        return PreparedText(key, digest, origin.encode("utf-8", "replace").decode(), body)

    def put(self, tx: Writer, texts: Sequence[PreparedText]) -> bool:
        """Store prepared texts; False, with nothing stored, when another text has taken a key meanwhile."""
        now = self.now()
        texts = list({kept.key: kept for kept in texts}.values())  # a text may be taken out twice
        held = [table.digest(tx, self._row(kept.key)) for kept in texts]
        if any(digest not in (None, kept.digest) for digest, kept in zip(held, texts, strict=True)):
            return False
        if not 0 <= now - self._expired_at < MINUTE:
            # Expired texts are refused anyway, so they are dropped at most once a minute.
            table.expire(tx, now, now - REMEMBERED)
            self._expired_at = now
        for digest, kept in zip(held, texts, strict=True):
            expires = now + self.settings.hours * HOUR
            put = table.insert if digest is None else table.put
            put(tx, self._row(kept.key), Stashed(kept.digest, kept.origin, expires, kept.body))
            self._own.add(kept.key)
            if kept.snapshot:
                table.renew(tx, self._row(kept.snapshot), expires)
        excess = table.total_size(tx) - self.settings.max_megabytes * 1_000_000
        if excess > 0:
            table.drop_oldest(tx, excess)
        return True

    def fetch(self, key: str) -> tuple[str, str]:
        """The text of a key, and the call it came from."""
        cleaned = clean(key)
        is_own = cleaned in self._own
        # The pause is checked before the key, so that right and wrong keys cannot be distinguished.
        if not is_own and (wait := self._guesses.wait(self.now())):
            raise ExpiredKey(
                f"{cleaned[:40]!r} is not looked up: too many unknown keys were asked for",
                hint=f"make the call that gave it again, or wait {-(-wait // MINUTE)} minutes",
            )
        held = self._row_for(cleaned)
        if held is None:
            if not is_own:
                self._guesses.note(self.now())
            raise _unknown(cleaned)
        self._own.add(cleaned)
        return self._body(cleaned, held).decode("utf-8", "surrogatepass"), held.origin

    def fetch_bytes(self, key: str) -> bytes:
        """The bytes behind a key that another kept text names; one that a caller names is for `fetch`."""
        cleaned = clean(key)
        held = self._row_for(cleaned)
        if held is None:
            raise _unknown(cleaned)
        return self._body(cleaned, held)

    def _row_for(self, key: str) -> Stashed | None:
        if not key.isalnum():
            return None
        with self.database.read() as tx:
            return table.get(tx, self._row(key))

    def _row(self, key: str) -> str:
        """The name of a key's row, which no key that a caller can ask for is equal to where it has another owner."""
        return f"{self._owner}/{key}" if self._owner else key

    def _body(self, key: str, held: Stashed) -> bytes:
        now = self.now()
        if held.expires_at <= now or held.body is None:
            why = f"it is kept for {self.settings.hours} hours"
            if held.expires_at > now:
                why = f"the stash keeps {self.settings.max_megabytes} MB, and newer results took its place"
            raise ExpiredKey(f"what {key!r} stood for is gone: {why}", hint=f"make the call again: {held.origin}")
        return zlib.decompress(held.body)


def _compressed(raw: bytes) -> bytes:
    if len(raw) > _SMALL_WINDOW:
        return zlib.compress(raw, 1)
    # Setting up the default window takes longer than compressing a short text.
    small = zlib.compressobj(1, wbits=_SMALL_WINDOW.bit_length() - 1, memLevel=1)
    return small.compress(raw) + small.flush()


def _unknown(key: str) -> ExpiredKey:
    return ExpiredKey(
        f"no key {key[:40]!r}: it was never given, or is long forgotten", hint="make the call that gave it again"
    )


def as_document(text: str, name: str, *, lines_before: int = 0, fence: str = "") -> str:
    """A text in the form in which `more` shows it in pages."""
    from json import dumps

    held = {"document": text, "name": name, "lines_before": lines_before, "fence": fence}
    return dumps(held, ensure_ascii=False, separators=(",", ":"))


def clean(key: str) -> str:
    """A key as callers copy it, without quotes and white space."""
    return key.strip().strip("\"'").lower()


def _keys(digest: bytes) -> Iterator[str]:
    """The keys a text may have, the first of which is free but for a rare chance."""
    number = int.from_bytes(digest, "big")
    for _ in range(_TRIES):
        key = ""
        for choices in _PLACES:
            number, index = divmod(number, len(choices))
            key += choices[index]
        yield key
