"""How much a passage has to do with a description, by the words they share; no model, no index."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from haversack.patterns import pattern

_PART = pattern(r"[^\W_]+")
_HUMP = pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WITHOUT_SPACES = pattern(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0eff]+")
_STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been but by can could do does for from had has have how if in into is it its
        may might more most must no not of on or our shall should so such than that the their them then there
        these they this those to was we were what when where which who why will with would you your""",
    )
)
# Longest first among those that share an end, so that "izations" goes before "s".
_ENDINGS = tuple(
    re.findall(
        r"\w+",
        """izations ization ations ation ating ated ates ate ments ment ings ing ities ity ions ion ies ers er ors
        or ed es e s y""",
    )
)


def words(text: str) -> list[str]:
    """The words that carry meaning, folded: parts of camelCase, bare of accents and endings, CJK in pairs."""
    spaced = _HUMP.sub(" ", text)
    folded = unicodedata.normalize("NFKD", spaced.casefold())
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    found: list[str] = []
    for word in _PART.findall(unicodedata.normalize("NFC", plain)):
        if _WITHOUT_SPACES.fullmatch(word):
            found += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        elif word not in _STOP_WORDS:
            found.append(stem(word))
    return found


def stem(word: str) -> str:
    """The word without its ending, where enough of it is left."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stemmed = word[: -len(ending)]
            doubled = len(stemmed) > 3 and stemmed[-1] == stemmed[-2] and stemmed[-1] not in "aeiouls"
            return stemmed[:-1] if doubled else stemmed
    return word


def relevance(question: str, passages: Sequence[str]) -> list[float]:
    """For each passage a score 0..1: the share of the question's words it holds, the rare ones counting more.

    A word said more often, or in a shorter passage, counts more (as in BM25), up to its whole share.
    """
    counts = [Counter(words(passage)) for passage in passages]
    asked = set(words(question))
    if not asked or not counts:
        return [0.0] * len(passages)
    lengths = [sum(count.values()) for count in counts]
    average = max(1.0, sum(lengths) / len(lengths))
    holding = {word: sum(1 for count in counts if word in count) for word in asked}
    total = len(counts)
    weight = {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in holding.items()}
    possible = math.fsum(sorted(weight.values()))

    def score(count: Counter[str], length: int) -> float:
        damping = 0.9 * (0.6 + 0.4 * length / average)
        parts = (weight[word] * count[word] / (count[word] + damping) for word in asked if word in count)
        return math.fsum(sorted(parts)) / possible

    return [score(count, length) for count, length in zip(counts, lengths, strict=True)]
