"""Estimates for other models: each o200k token has a measured price in the other model's tokens.

Models split texts into nearly the same words, and most words are one token of o200k. So a table of what each
of these tokens costs elsewhere, measured once, prices a text to within a few per cent whatever its language;
the best formula from counts of letters and digits has several times the error. Prices add up
wherever o200k counts add up. `tools/fit_profiles.py` makes the tables.
"""

import os.path
import zlib
from collections.abc import Callable, Sequence
from functools import cache

from haversack.errors import DamagedFile
from haversack.tokens import o200k
from haversack.tokens.vocabulary import ABSENT, Vocabulary, open_vocabulary

UNITS = 16
"""The units of a price that make one token."""

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def path_of(name: str) -> str:
    """The table of a profile: a compressed byte for each token of o200k, in rank order."""
    return os.path.join(_FOLDER, f"{name}.prices")


def measure_of(name: str) -> Callable[[str], int]:
    """The function that prices a text in units for a profile; its table is read at first use."""
    return lambda text: _counter(name).count(text)


class _PricingCounter(o200k.Counter):
    """Prices by piece."""

    def __init__(self, vocabulary: Vocabulary, prices: Sequence[int]) -> None:
        super().__init__(vocabulary)
        self._prices = prices

    def cost(self, piece: bytes) -> int:
        rank = self.rank(piece)
        if rank != ABSENT:
            return self._prices[rank]
        price = start = 0
        for end in o200k.merge(piece, self.ranks):
            price += self._prices[self.ranks[piece[start:end]]]
            start = end
        return price


@cache
def _counter(name: str) -> _PricingCounter:
    vocabulary = open_vocabulary()
    return _PricingCounter(vocabulary, _read(path_of(name), len(vocabulary)))


def _read(path: str, tokens: int) -> bytes:
    try:
        with open(path, "rb") as file:
            prices = zlib.decompress(file.read())
    except OSError as error:
        raise DamagedFile(f"the prices {path} cannot be read: {error.strerror}", hint="reinstall haversack") from None
    except zlib.error:
        prices = b""
    if len(prices) != tokens:
        raise DamagedFile(f"the prices {path} are damaged", hint="reinstall haversack")
    return prices
