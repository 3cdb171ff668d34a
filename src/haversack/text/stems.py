"""Word stems as the search index makes them, so that every engine and every comparison of words agrees."""

import threading
from functools import lru_cache
from typing import Any

TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2", "categories", "L* N* Co M*")
"""What cuts texts into words and words into stems: SQLite's own tokenizer, for every engine."""

# A tokenizer has a buffer of its own, so threads do not share one.
_local = threading.local()

# What a typed prefix may be in the middle of; see `prefix_choices`.
_INFLECTIONS = (
    "e", "s", "es", "ies", "ied", "ed", "ing", "ings", "ingly", "er", "ers", "or", "ors", "y",
    "ate", "ates", "ated", "ating", "ation", "ations", "ational", "ative", "ator",
    "icate", "ication", "ize", "ized", "izing", "izer", "ization", "ition", "ion", "ions", "ional",
    "al", "ally", "ality", "alism", "ance", "ence", "ancy", "ency", "ant", "ent", "ently",
    "able", "ably", "ability", "ible", "ibility", "ic", "ical", "ically", "icity", "ity", "ities",
    "ism", "ist", "ive", "iveness", "ivity", "ment", "ments", "ement", "ness", "ful", "fulness",
    "ous", "ously", "ousness", "ly", "logy", "logical",
)  # fmt: skip


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The token the index makes of a folded word; the same word where the index would make several or none."""
    found = stems_in(word)
    return found[0] if len(found) == 1 else word


def stems_in(text: str) -> list[str]:
    """The stem of each word of a text, in order."""
    import apsw  # the one use of apsw outside the store

    tokenizer: Any = getattr(_local, "tokenizer", None)
    if tokenizer is None:
        tokenizer = apsw.Connection(":memory:").fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
        _local.tokenizer = tokenizer
    return list(
        tokenizer(
            text.encode("utf-8", "replace"),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )
    )


def prefix_choices(prefix: str) -> tuple[str, list[str]]:
    """The prefix and the whole words to ask the index for, to find every word that begins with `prefix`.

    The index holds stems, and FTS5 stems the prefix as well: `authentica*` alone would miss
    "authentication", stored as "authent", and `copy*`, read as "copi", would miss "copyright".
    """
    # "copye" has the stem "copy": written so, the prefix reaches the index as it was typed.
    asked = next((prefix + ending for ending in ("", *_INFLECTIONS) if stem(prefix + ending) == prefix), prefix)
    words: dict[str, str] = {} if asked == prefix else {stem(prefix): prefix}
    for ending in _INFLECTIONS:
        for typed in range(len(ending)):
            if not prefix.endswith(ending[:typed]):
                continue
            word = prefix + ending[typed:]
            if not stem(word).startswith(prefix):
                words.setdefault(stem(word), word)
    return asked, list(words.values())
