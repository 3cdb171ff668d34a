"""Lines too long for memory, kept in a file that no other user can open and that is deleted with the process."""

from collections.abc import Iterable
from typing import IO

from haversack.errors import ExpiredKey, InvalidArgument
from haversack.patterns import pattern
from haversack.protocol.lines import Giant, RequestId
from haversack.tokens import Budget, cut

LARGEST = 512_000_000
_EDGE = 512
_MATCHES = 20
_AROUND = 160
_KEY = pattern(r"^big(\d+)(?:\.(\d+))?$")
_BYTES_PER_TOKEN = 8


class Spool:
    """One long line: its bytes up to the largest size, and both its ends."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        import tempfile

        # Unlinked as soon as it is made, and readable by its owner alone.
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as its key
        self.size = 0
        self.kept = 0
        head, tail = b"", b""
        for chunk in chunks:
            if len(head) < _EDGE:
                head += chunk[: _EDGE - len(head)]
            tail = (tail + chunk[-_EDGE:])[-_EDGE:]
            self.size += len(chunk)
            room = LARGEST - self.kept
            if room > 0:
                self.kept += self._file.write(chunk[:room])
        self._file.flush()
        self.is_complete = tail.endswith(b"\n")
        self._ends = Giant(head, tail)

    def request_id(self) -> RequestId | None:
        """The id of the request the line answers, where one of its ends shows it."""
        return self._ends.request_id()

    def notice(self, key: str) -> str:
        """The text of the answer in place of the line."""
        return (
            f'The result has {self.size:,} bytes, too many to read at once: more("{key}") gives pages of it, '
            f'find_in("{key}", "words") searches it, as long as this process lives.'
        )

    def read(self, start: int, size: int) -> bytes:
        """Some of the line."""
        self._file.seek(start)
        return self._file.read(min(size, self.kept - start))

    def matches(self, query: bytes) -> list[int]:
        """Where a text stands in the line, at most a few places."""
        import mmap

        found: list[int] = []
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            place = content.find(query)
            while place >= 0 and len(found) < _MATCHES:
                found.append(place)
                place = content.find(query, place + len(query))
        return found


def ends_of(chunks: Iterable[bytes]) -> Giant:
    """Both ends of a line of which nothing else is kept."""
    head, tail = b"", b""
    for chunk in chunks:
        if len(head) < _EDGE:
            head += chunk[: _EDGE - len(head)]
        tail = (tail + chunk[-_EDGE:])[-_EDGE:]
    return Giant(head, tail)


class Spools:
    """The long lines of this process, under keys no stash gives out."""

    def __init__(self) -> None:
        self._spools: list[Spool] = []

    def add(self, spool: Spool) -> str:
        """Keep a line and give its key."""
        self._spools.append(spool)
        return f"big{len(self._spools)}"

    def knows(self, key: str) -> bool:
        """Whether a key is of the kind given out here."""
        return bool(_KEY.match(key))

    def _find(self, key: str) -> tuple[Spool, int, str]:
        match = _KEY.match(key)
        number = int(match[1]) if match else 0
        if not 0 < number <= len(self._spools):
            raise ExpiredKey(f"no key {key[:40]!r} in this process", hint="make the call that gave it again")
        assert match
        return self._spools[number - 1], int(match[2] or 0), f"big{number}"

    def page(self, key: str, budget: Budget) -> str:
        """A page of a line, as it came over the wire, with the key of the next."""
        spool, start, name = self._find(key)
        if start >= spool.kept:
            raise InvalidArgument(f"{key!r} is beyond the end", hint=f'more("{name}") begins again')
        measure = budget.profile.measure
        widest = f'\n[bytes {spool.size:,}-{spool.size:,} of {spool.size:,}; more("{name}.{spool.size}")]'
        content = spool.read(start, budget.tokens * _BYTES_PER_TOKEN)
        text = _whole_characters(content)
        page = cut(text, max(1, budget.units - measure(widest) - 2), measure).shown or text[:1]
        end = start + len(page.encode("utf-8", "surrogateescape"))
        following = f'; more("{name}.{end}")' if end < spool.kept else ""
        if end >= spool.kept < spool.size:
            following = f"; the {spool.size - spool.kept:,} bytes after that were not kept"
        return f"{page}\n[bytes {start:,}-{end:,} of {spool.size:,}{following}]"

    def find(self, key: str, query: str) -> str:
        """Where a text stands in a line, with what is around it."""
        spool, _, name = self._find(key)
        places = spool.matches(query.encode("utf-8", "surrogatepass"))
        if not places:
            return f"No match for {query[:80]!r} in {spool.kept:,} bytes (only literal text is searched)."
        lines = [
            f'{place:,}: …{_around(spool, place, len(query))}… more("{name}.{max(0, place - _AROUND)}")'
            for place in places
        ]
        return "\n".join(lines)


def _around(spool: Spool, place: int, size: int) -> str:
    start = max(0, place - _AROUND)
    content = spool.read(start, place - start + size + _AROUND)
    return content.decode("utf-8", "ignore").replace("\n", " ")


def _whole_characters(content: bytes) -> str:
    """The text of some bytes, without the part of a character at the end."""
    for size in range(4):
        try:
            return content[: len(content) - size].decode()
        except UnicodeDecodeError as error:
            if error.start < len(content) - 4:
                break
    return content.decode("utf-8", "surrogateescape")
