"""Counting leaves no pages of the vocabulary in the memory of the process."""

import sys
from pathlib import Path

import pytest

from haversack.tokens import o200k
from haversack.tokens.vocabulary import PATH, open_vocabulary

MAPS = Path("/proc/self/smaps")


def resident_kilobytes() -> int:
    """What of the vocabulary's file is in the memory of this process."""
    total, is_vocabulary = 0, False
    for line in MAPS.read_text().splitlines():
        first, *rest = line.split()
        if "-" in first and not first.endswith(":"):
            is_vocabulary = line.endswith(PATH)
        elif first == "Rss:" and is_vocabulary:
            total += int(rest[0])
    return total


@pytest.mark.skipif(not MAPS.exists() or sys.platform != "linux", reason="only Linux tells what is in memory")
def test_counting_new_words_gives_pages_back_by_itself() -> None:
    vocabulary = open_vocabulary()
    words = [token.decode() for token in vocabulary if token.isalpha() and token.isascii()][:20_000:10]
    vocabulary.release()
    counter = o200k.Counter(vocabulary)
    before = resident_kilobytes()
    text = " ".join(words)
    counted = counter.count(text)
    assert resident_kilobytes() <= before
    assert o200k.Counter(vocabulary).count(text) == counted
