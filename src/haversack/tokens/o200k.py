"""Byte-pair counting: exactly the tokens the o200k vocabulary gives a text, with nothing to install."""

from functools import cache
from heapq import heapify, heappop, heappush

from haversack.tokens import pretokens
from haversack.tokens.pretokens import starts_cleanly
from haversack.tokens.vocabulary import ABSENT, Vocabulary, open_vocabulary

__all__ = ["Counter", "count", "starts_cleanly"]

_RANKS_KEPT = 1 << 16
_PIECES_KEPT = 1 << 16
_RELEASED_AFTER = 32  # new pieces
_LONGEST_PIECE_KEPT = 64  # characters; longer ones seldom come twice


def count(text: str) -> int:
    """The tokens of `text`; what looks like a special token counts as ordinary text."""
    return _counter().count(text)


def whole_characters(text: str) -> str:
    """`text` as it can be encoded: halves of a character that stand together joined, lone ones as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Counter(dict[str, int]):
    """A cache of costs by piece, each computed at first use; here every token costs one."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.rank = vocabulary.rank
        self.ranks = _Ranks(vocabulary)
        self._release = vocabulary.release
        self._met = 0
        self._representatives = pretokens.Representatives(vocabulary)

    def count(self, text: str) -> int:
        """The total cost of `text`."""
        try:
            return self._sum(text)
        except UnicodeEncodeError:
            return self._sum(whole_characters(text))
        finally:
            if self._met >= _RELEASED_AFTER:
                # Words are spread over the file: after a while all its pages would be in memory for a few lookups.
                self._met = 0
                self._release()

    def cost(self, piece: bytes) -> int:
        """The cost of one piece."""
        return len(merge(piece, self.ranks)) if self.rank(piece) == ABSENT else 1

    def _sum(self, text: str) -> int:
        total = 0
        for block in pretokens.blocks(text):
            total += sum(map(self.__getitem__, pretokens.split(block, self._representatives)))
        return total

    def __missing__(self, piece: str) -> int:
        cost = self.cost(piece.encode())
        self._met += 1
        if len(piece) <= _LONGEST_PIECE_KEPT:
            if len(self) >= _PIECES_KEPT:
                self.clear()
            self[piece] = cost
        return cost


class _Ranks(dict[bytes, int]):
    """Ranks by token, each looked up in the vocabulary when first asked for."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._rank = vocabulary.rank

    def __missing__(self, token: bytes) -> int:
        if len(self) >= _RANKS_KEPT:
            self.clear()
        rank = self[token] = self._rank(token)
        return rank


@cache
def _counter() -> Counter:
    return Counter(open_vocabulary())


def merge(piece: bytes, ranks: _Ranks) -> list[int]:
    """Where the tokens end that are left when always the first pair of the lowest rank is merged, until none has one.

    Every token of this vocabulary is made of merges of lower rank, so a merge never brings up a pair that
    should have come before it: all pairs of one rank can be merged in one sweep, which keeps the time nearly
    proportional to the length.
    """
    size = len(piece)
    ends = list(range(1, size + 1))  # of parts, by where they start
    previous = list(range(-1, size))  # the start of the part before, by where a part starts
    pairs = [ranks[piece[start : start + 2]] for start in range(size - 1)]  # the rank of a part and the next
    pairs.append(ABSENT)
    waiting: dict[int, list[int]] = {ABSENT: []}
    for start, rank in enumerate(pairs):
        waiting.setdefault(rank, []).append(start)
    queue = list(waiting)
    heapify(queue)
    while (rank := heappop(queue)) != ABSENT:
        for start in sorted(waiting.pop(rank)):
            if pairs[start] != rank:
                continue
            middle = ends[start]
            end = ends[start] = ends[middle]
            previous[end] = start
            pairs[middle] = ABSENT
            changed = [(start, ends[end])] if end < size else []
            if start:
                changed.append((previous[start], end))
            pairs[start] = ABSENT
            for left, right in changed:
                pairs[left] = new = ranks[piece[left:right]]
                if new not in waiting:
                    waiting[new] = []
                    heappush(queue, new)
                waiting[new].append(left)
    return _bounds(ends)


def _bounds(ends: list[int]) -> list[int]:
    bounds = [ends[0]]
    while bounds[-1] < len(ends):
        bounds.append(ends[bounds[-1]])
    return bounds
