"""Whether texts fit a budget, counting no more of them than necessary."""

from haversack.tokens import Budget, Profile, utf8_length
from haversack.values import replace

_PART = 16_384
_MARGIN = 1.03
"""By how much a text counted in parts may cost more than the same text counted whole."""
_BYTE_BOUND = frozenset(("o200k", "bytes4", "claude"))
"""Profiles in which no byte costs more than one unit."""


def escaped(profile: Profile) -> Profile:
    """The profile that counts a text as it stands inside a JSON string."""
    from json import JSONEncoder

    encode = JSONEncoder(ensure_ascii=False).encode
    return replace(profile, measure=lambda text: profile.measure(encode(text)[1:-1]))


def remembering(profile: Profile) -> Profile:
    """The profile with a cache of its last measures: fitting measures the same page several times."""
    from functools import lru_cache

    return replace(profile, measure=lru_cache(maxsize=32)(profile.measure))


def units_of(profile: Profile, tokens: int) -> int:
    """Units that cost at least so many tokens."""
    return -(-tokens * profile.denominator // profile.numerator)


class Meter:
    """Adds up what texts and pictures cost, until that is over the budget."""

    def __init__(self, budget: Budget) -> None:
        self._profile = budget.profile
        self._limit = budget.profile.room(budget.tokens)
        self.units = 0
        self.is_over = False

    def add(self, text: str) -> None:
        """Add a text."""
        if not self.is_over:
            self.units += measured_up_to(self._profile, text, self._limit - self.units)
            self.is_over = self.units > self._limit

    def add_tokens(self, tokens: int) -> None:
        """Add what has a price of its own."""
        self.units += units_of(self._profile, tokens)
        self.is_over = self.units > self._limit

    @property
    def tokens(self) -> int:
        return self._profile.tokens(self.units)


def measured_up_to(profile: Profile, text: str, limit: int) -> int:
    """What a text measures; of one that is far over the limit, a part of it that is over the limit too."""
    if len(text) <= _PART:
        return profile.measure(text)
    running, place = 0, 0
    while place < len(text):
        end = text.find("\n", place + _PART)
        end = place + 2 * _PART if end < 0 or end > place + 2 * _PART else end + 1
        running += profile.measure(text[place:end])
        if running > limit * _MARGIN + 16:
            return running
        place = end
    return profile.measure(text)


def fits_surely(profile: Profile, size: int, tokens: int) -> bool:
    """Whether anything of so many bytes fits, whatever it is."""
    return profile.name in _BYTE_BOUND and profile.tokens(size) <= tokens


def price(profile: Profile, text: str) -> int:
    """About what a text costs: counted when it is short, else from its beginning."""
    if len(text) <= 4 * _PART:
        return profile.count(text)
    sample = text[:_PART]
    return max(1, profile.count(sample) * utf8_length(text) // max(1, utf8_length(sample)))
