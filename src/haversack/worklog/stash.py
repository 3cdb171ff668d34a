"""The stash: what a reply left out, under a short key, until it expires."""

import zlib
from collections.abc import Callable
from hashlib import blake2b

from haversack.config import StashSettings
from haversack.errors import ExpiredKey
from haversack.store import stash as table
from haversack.store.database import Database
from haversack.values import record

HOUR = 3_600_000_000
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""Letters and digits that cannot be mistaken for one another."""


@record
class Stash:
    """Texts kept under keys of four to six characters.

    A key is derived from the text and the store's secret: the same remainder has the same key, so a repeated
    call gives the same reply, and nobody can guess a key from what it stands for.
    """

    database: Database
    settings: StashSettings
    now: Callable[[], int]

    def keep(self, text: str, origin: str) -> str:
        """Keep a text and return its key; `origin` is the call that made it, for when it has expired."""
        body = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        now = self.now()
        with self.database.write() as tx:
            table.expire(tx, now)
            key = ""
            for key in _keys(table.salt(tx), body):
                held = table.get(tx, key, now)
                if held is None or held[1] == body:
                    break
            table.put(tx, key, origin, body, now, now + self.settings.hours * HOUR)
            excess = table.total_size(tx) - self.settings.max_megabytes * 1_000_000
            if excess > 0:
                table.drop_oldest(tx, excess)
        return key

    def fetch(self, key: str) -> tuple[str, str]:
        """The text a key stands for, and the call it came from."""
        cleaned = key.strip().strip("\"'").lower()
        with self.database.read() as tx:
            held = table.get(tx, cleaned, self.now())
        if held is None:
            raise ExpiredKey(
                f"no continuation {key[:40]!r}: it has expired (after {self.settings.hours} hours) or never existed",
                hint="make the call that gave it again",
            )
        return zlib.decompress(held[1]).decode("utf-8", "surrogatepass"), held[0]


def _keys(salt: str, body: bytes) -> list[str]:
    """Keys for a body, to be tried in turn: the short one first, longer ones should it be taken."""
    number = int.from_bytes(blake2b(body, key=salt.encode(), digest_size=16).digest(), "big")
    letters = ""
    while len(letters) < 16:
        number, index = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[index]
    return [letters[:4], letters[:5], letters[:6], letters[4:10], letters[10:16]]
