"""Profiles: the named ways of counting tokens.

A profile measures text in *units* that add up exactly over pieces that begin on a new line, and turns units
into tokens. Packing adds units, so rounding happens once, on the whole reply.
"""

from collections.abc import Callable, Iterator, Mapping

from haversack.errors import InvalidArgument
from haversack.values import record

DEFAULT_PROFILE = "o200k"


@record
class Profile:
    """How tokens are counted: `units * numerator / denominator`, rounded down or up.

    `overhead` is what a whole reply costs beyond its text, in units: the channel around it, a picture beside it.
    """

    name: str
    about: str
    exact: bool
    measure: Callable[[str], int]
    numerator: int = 1
    denominator: int = 1
    rounds_up: bool = False
    overhead: int = 0

    def tokens(self, units: int) -> int:
        """The tokens that `units` stand for; anything that is not empty costs at least one."""
        if units <= 0:
            return 0
        return max(1, (units * self.numerator + self._carry) // self.denominator)

    def room(self, tokens: int) -> int:
        """The most units that cost no more than `tokens`."""
        if tokens <= 0:
            return 0
        return ((tokens + 1) * self.denominator - 1 - self._carry) // self.numerator

    def count(self, text: str) -> int:
        """The tokens `text` costs."""
        return self.tokens(self.measure(text) + self.overhead)

    @property
    def _carry(self) -> int:
        return self.denominator - 1 if self.rounds_up else 0


def utf8_length(text: str) -> int:
    """The bytes of `text` in UTF-8, without encoding it when it is plain ASCII."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _o200k(text: str) -> int:
    from haversack.tokens import o200k  # the vocabulary is opened by the first count, not by an import

    return o200k.count(text)


_BUNDLED = (
    Profile(
        "bytes4",
        "UTF-8 bytes / 4: an estimate that needs no vocabulary",
        exact=False,
        measure=utf8_length,
        denominator=4,
    ),
    Profile("o200k", "byte-pair counting with the o200k vocabulary", exact=True, measure=_o200k),
    Profile(
        "claude",
        "o200k x 1.5: an upper bound, since recent Claude tokenizers are not public",
        exact=False,
        measure=_o200k,
        numerator=3,
        denominator=2,
        rounds_up=True,
    ),
)
_MODELS = {
    "cl100k": "GPT-4 and GPT-3.5",
    "llama3": "Llama 3 to 3.3",
    "qwen": "Qwen 2 and 3",
    "deepseek": "DeepSeek V3 and R1",
    "mistral": "Mistral models with the Tekken tokenizer",
}


class _Profiles(Mapping[str, Profile]):
    """Profiles by name; one of another model is made at first use, so that listing them loads nothing."""

    def __init__(self) -> None:
        self._decided = {profile.name: profile for profile in _BUNDLED}

    def __getitem__(self, name: str) -> Profile:
        if name not in self._decided and name in _MODELS:
            self._decided[name] = exact_profile(name) or estimated_profile(name)
        return self._decided[name]

    def __iter__(self) -> Iterator[str]:
        yield from profile_names()

    def __len__(self) -> int:
        return len(profile_names())


def profile_names() -> tuple[str, ...]:
    """Every profile there is, exact or not; nothing is loaded to tell."""
    return (*(profile.name for profile in _BUNDLED), *_MODELS)


def exact_profile(name: str) -> Profile | None:
    """The profile of a model as its own tokenizer counts; None without the extra `exact`."""
    from haversack.tokens import other_models

    measure = other_models.measure_of(name)
    return Profile(name, f"{_MODELS[name]}: its own vocabulary", exact=True, measure=measure) if measure else None


def estimated_profile(name: str) -> Profile:
    """The profile of a model as it is estimated from the tokens of o200k."""
    from haversack.tokens import other_model_estimates

    return Profile(
        name,
        f"{_MODELS[name]}: an estimate from o200k; haversack[exact] counts exactly",
        exact=False,
        measure=other_model_estimates.measure_of(name),
        denominator=other_model_estimates.UNITS,
        rounds_up=True,
    )


PROFILES: Mapping[str, Profile] = _Profiles()


def profile_named(name: str) -> Profile:
    """The profile called `name`; an unknown name is an error that lists the known ones."""
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(sorted(profile_names()))
        raise InvalidArgument(f"unknown token profile {name!r}", hint=f"known profiles: {known}") from None


def count_tokens(text: str, profile: str = DEFAULT_PROFILE) -> int:
    """The tokens `text` costs under a profile."""
    return profile_named(profile).count(text)


def estimate_tokens(text: str) -> int:
    """UTF-8 bytes / 4, at least 1 for text that is not empty; no vocabulary is touched."""
    return PROFILES["bytes4"].count(text)
