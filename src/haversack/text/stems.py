"""The Porter stemmer of SQLite's FTS5, in Python, so that a reader can be shown where a search matched."""

from functools import lru_cache
from itertools import pairwise

_VOWELS = frozenset("aeiou")

# FTS5 passes tokens outside these UTF-8 lengths through unstemmed.
_SHORTEST_STEMMED = 3
_LONGEST_STEMMED = 64

# Each step tries its endings under the last letter but one, in this order, and stops at the first that fits.
_STEP_2: dict[str, tuple[tuple[str, str], ...]] = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "g": (("logi", "log"),),
    "l": (("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    "t": (("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
}
_STEP_3: dict[str, tuple[tuple[str, str], ...]] = {
    "a": (("ical", "ic"),),
    "s": (("ness", ""),),
    "t": (("icate", "ic"), ("iciti", "ic")),
    "u": (("ful", ""),),
    "v": (("ative", ""),),
    "z": (("alize", "al"),),
}
_STEP_4: dict[str, tuple[str, ...]] = {
    "a": ("al",),
    "c": ("ance", "ence"),
    "e": ("er",),
    "i": ("ic",),
    "l": ("able", "ible"),
    "n": ("ant", "ement", "ment", "ent"),
    "o": ("ion", "ou"),
    "s": ("ism",),
    "t": ("ate", "iti"),
    "u": ("ous",),
    "v": ("ive",),
    "z": ("ize",),
}

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
    """The token FTS5's `porter` makes of a folded word; the same word when it is too short or too long."""
    if not word.isascii():
        return _stem_bytes(word)
    return _stem_letters(word) if _SHORTEST_STEMMED <= len(word) <= _LONGEST_STEMMED else word


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


def _stem_bytes(word: str) -> str:
    # FTS5 works on UTF-8 bytes, where every byte above 127 counts as a consonant.
    octets = word.encode("utf-8", "surrogatepass").decode("latin-1")
    if not _SHORTEST_STEMMED <= len(octets) <= _LONGEST_STEMMED:
        return word
    return _stem_letters(octets).encode("latin-1").decode("utf-8", "surrogatepass")


def _stem_letters(word: str) -> str:
    word = _without_past_or_gerund(_without_plural(word))
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_ending(word, _STEP_2)
    word = _replace_ending(word, _STEP_3)
    word = _without_suffix(word)
    return _without_final_e(word)


def _without_plural(word: str) -> str:
    if word[-1] != "s":
        return word
    if word[-2] == "e":
        drops_two = (len(word) > 4 and word.endswith("sses")) or (len(word) > 3 and word.endswith("ies"))
        return word[:-2] if drops_two else word[:-1]
    return word if word[-2] == "s" else word[:-1]


def _without_past_or_gerund(word: str) -> str:
    if len(word) > 3 and word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    if len(word) > 2 and word.endswith("ed"):
        root = word[:-2]
    elif len(word) > 3 and word.endswith("ing"):
        root = word[:-3]
    else:
        return word
    if not _has_vowel(root):
        return word
    if len(root) > 2 and root.endswith(("at", "bl", "iz")):
        return root + "e"
    last = root[-1]
    if len(root) > 1 and last not in _VOWELS and last not in "lsz" and last == root[-2]:
        return root[:-1]
    if _measure(root) == 1 and _ends_in_short_syllable(root):
        return root + "e"
    return root


def _replace_ending(word: str, endings: dict[str, tuple[tuple[str, str], ...]]) -> str:
    if len(word) < 2:
        return word
    for ending, replacement in endings.get(word[-2], ()):
        if len(word) > len(ending) and word.endswith(ending):
            root = word[: -len(ending)]
            return root + replacement if _measure(root) > 0 else word
    return word


def _without_suffix(word: str) -> str:
    if len(word) < 2:
        return word
    for ending in _STEP_4.get(word[-2], ()):
        if len(word) > len(ending) and word.endswith(ending):
            root = word[: -len(ending)]
            if ending == "ion" and root[-1] not in "st":
                return word
            return root if _measure(root) > 1 else word
    return word


def _without_final_e(word: str) -> str:
    if word[-1] == "e":
        root = word[:-1]
        measure = _measure(root)
        if measure > 1 or (measure == 1 and not _ends_in_short_syllable(root)):
            word = root
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _consonants(word: str) -> list[bool]:
    """For each letter, whether it sounds as a consonant; a y does after a vowel and at the beginning."""
    marks: list[bool] = []
    after_consonant = False
    for letter in word:
        after_consonant = not (letter in _VOWELS or (after_consonant and letter == "y"))
        marks.append(after_consonant)
    return marks


def _measure(root: str) -> int:
    """How many times a vowel is followed by a consonant."""
    marks = _consonants(root)
    return sum(1 for before, after in pairwise(marks) if after and not before)


def _has_vowel(root: str) -> bool:
    return any(letter in _VOWELS or (letter == "y" and place > 0) for place, letter in enumerate(root))


def _ends_in_short_syllable(root: str) -> bool:
    if not root or root[-1] in "wxy":
        return False
    return _consonants(root)[-3:] == [True, False, True]
