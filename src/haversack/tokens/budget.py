"""A budget: the ceiling a reply must stay under, in the tokens of one profile."""

from haversack.errors import BudgetTooSmall, InvalidArgument
from haversack.tokens.profiles import Profile
from haversack.values import record

FLOOR = 64
"""The smallest budget accepted: the footer and one title."""
MOST = 10**9
"""The largest budget accepted; a larger number is a typing mistake."""


@record
class Budget:
    """At most `tokens`, as `profile` counts them."""

    tokens: int
    profile: Profile

    @property
    def units(self) -> int:
        """The budget in the profile's units, which add up exactly, less what surrounds the text."""
        return self.profile.room(self.tokens) - self.profile.overhead

    def holds(self, text: str) -> bool:
        """Whether `text` fits."""
        return self.profile.count(text) <= self.tokens


def parse_max_tokens(value: object, *, name: str = "max_tokens") -> int:
    """A budget as callers send it: a whole number or a string of digits, at least the floor."""
    number = _whole_number(value)
    if number is None:
        raise InvalidArgument(
            f"{name} is {_shown(value)}, not a whole number",
            hint=f"give a whole number of tokens, {FLOOR} or more",
        )
    if number < FLOOR:
        raise BudgetTooSmall(
            f"{name} is {number}, below the floor of {FLOOR} tokens (a footer and one title)",
            hint=f"ask for {FLOOR} or more",
        )
    if number > MOST:
        raise InvalidArgument(
            f"{name} is {_shown(value)}, over the most that is accepted",
            hint=f"ask for {FLOOR} to {MOST:,} tokens",
        )
    return number


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        digits = value.strip()
        # int() would take "1_500" and Arabic digits; a budget is written plainly or not at all. A number of
        # more than 18 digits is no budget either, and Python refuses to parse the longest ones.
        bare = digits[1:] if digits[:1] in {"-", "+"} else digits
        if bare.isascii() and bare.isdigit() and len(bare) <= 18:
            return int(digits)
    return None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
