"""The relevance of passages to a description, by the words they share; no model, no index."""

import math
from collections import Counter
from collections.abc import Sequence

from haversack.text.stems import stem
from haversack.text.stop_words import STOP_WORDS
from haversack.text.words import SPACED_WORD, UNSPACED_RUN, fold, normalise, pairs_of, parts_of


def words(text: str) -> list[str]:
    """The stems of the words that are no stop words: accents removed, camelCase split, CJK in pairs."""
    plain = normalise(text)
    found: list[str] = []
    for word in SPACED_WORD.findall(plain):
        folded = (fold(part) for part in parts_of(word) or (word,))
        found += [stem(part) for part in folded if part not in STOP_WORDS]
    if not plain.isascii():
        found += [pair for run in UNSPACED_RUN.findall(plain) for pair in pairs_of(run)]
    return found


def relevance(question: str, passages: Sequence[str]) -> list[float]:
    """For each passage a score 0..1: the share of the question's words it holds, the rare ones counting more.

    A word that occurs more often, or in a shorter passage, counts more (as in BM25), up to its full share.
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
