"""The words of texts and queries for the full-text index, so that both are split in the same way.

The index folds case and Latin accents and stems English by itself. It needs help with what has no spaces
(camelCase, Chinese) or no letters (C++, emoji): those gain extra words here. The tokenizer this is written
for is `porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'`; the last part keeps the vowel signs
of Indic scripts inside their words.
"""

import re
import unicodedata
from collections.abc import Iterable
from operator import add

from haversack.patterns import pattern

# Han, kana, Hangul, Thai, Lao, Burmese and Khmer: scripts whose words are not separated by spaces, or
# (Hangul) whose words carry particles. The digits of those blocks are left out: they are ordinary words.
_UNSPACED_CHARACTERS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
UNSPACED_RUN = pattern(f"[{_UNSPACED_CHARACTERS}]+")
SPACED_WORD = pattern(rf"[^\W_{_UNSPACED_CHARACTERS}]+")

# Marks that only decorate: joiners, soft hyphens, variation selectors, keycaps, Hebrew and Arabic points.
_DECORATION = pattern(
    "[\u00ad\u0591-\u05bd\u05bf\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8"
    "\u06ea-\u06ed\u200b-\u200f\u20e3\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+"
)
_LONE_SURROGATE = pattern("[\ud800-\udfff]")
# A stand-alone accent is a word to Python but not to SQLite.
_LONE_ACCENT = pattern("(?<![^\\W_])(?<![\u0300-\u036f])[\u0300-\u036f]+")

ASCII_WORD = pattern(r"[A-Za-z0-9]+")
_ALPHANUMERIC = pattern(r"[^\W_]+")
# The look-ahead gives the last capital of a run to the word that follows it: HTTP Server, not HTTPS erver.
_PART = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HEXADECIMAL = pattern(r"[0-9a-f]{7,}|[0-9A-F]{7,}")

# Hashes and encoded bytes fall into dozens of parts that nobody will ever type.
_LONGEST_IDENTIFIER = 64
_MOST_PARTS = 12

# Names that would lose their signs: each is found under a word of its own.
_NAME = pattern(
    r"(?<![^\W_])(?P<plus>[A-Za-z][A-Za-z0-9]{0,31})\+\+(?P<year>[0-9]{2})?(?![^\W_])"
    r"|(?<![^\W_])(?P<sharp>[A-Za-z])\#(?![^\W\d_#])"
    r"|(?:\.NET|(?<![^\W_])\.[Nn]et)(?![^\W_])"
)

# Each ASCII byte becomes a, A, 0 or a space: a few substring searches then tell whether any word has parts.
_SHAPES = (
    bytes(
        ord("a" if chr(octet).islower() else "A" if chr(octet).isupper() else "0" if chr(octet).isdigit() else " ")
        for octet in range(128)
    )
    + b" " * 128
)
_PARTED = (b"aA", b"AAa", b"a0", b"A0", b"0a", b"0A")


def is_unspaced(text: str) -> bool:
    """Whether a text begins with a character of a script without spaces between words."""
    # The first of those characters is Thai; the pattern is slow to compile, and most texts do not need it.
    return text[:1] > "\u0e00" and UNSPACED_RUN.match(text) is not None


def index_text(text: str) -> str:
    """The text as the index should see it: its words in order, then the extra words they are known by."""
    if text.isascii():
        extras = [*_part_words_of_ascii(text), *_name_words(text)]
        return f"{text}\n{' '.join(extras)}" if extras else text
    plain = normalise(text)
    signs = sorted(character for character in set(plain) if not _is_of_a_word(character))
    named = _name_words(plain)
    # SQLite knows the characters of 2012, and takes every later sign and emoji for a letter.
    for sign in signs:
        plain = plain.replace(sign, " ")
    spaced = UNSPACED_RUN.sub(_spaced_pairs, plain)
    symbols = (symbol_word(sign) for sign in signs if is_symbol(sign))
    extras = [*_part_words(SPACED_WORD.findall(plain)), *named, *symbols]
    whole = f"{spaced}\n{' '.join(extras)}" if extras else spaced
    # It also folds the case of fewer scripts than Python does.
    return whole.lower()


def normalise(text: str) -> str:
    """The text in compatibility form, without decorating marks and what cannot be stored."""
    if text.isascii():
        return text
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return _LONE_ACCENT.sub("", _LONE_SURROGATE.sub(" ", _DECORATION.sub("", text)))


def words_in(text: str) -> list[str]:
    """The words the index would make of a text; vowel signs belong to the letters they stand on."""
    if text.isascii():
        return ASCII_WORD.findall(text)
    if not any(c > "\x7f" and not c.isalnum() and _is_of_a_word(c) for c in set(text)):
        return _ALPHANUMERIC.findall(text)
    spaced = "".join(c if c.isalnum() or (c > "\x7f" and _is_of_a_word(c)) else " " for c in text)
    return spaced.split()


def parts_of(word: str) -> tuple[str, ...]:
    """The parts of a camelCase word or of letters with digits; empty when the word has no inner parts."""
    if word.isalpha() and (word[1:] == word[1:].lower() or word == word.upper()):
        return ()
    if word.isdigit() or len(word) > _LONGEST_IDENTIFIER or _HEXADECIMAL.fullmatch(word):
        return ()
    parts = _PART.findall(word) if word.isascii() else _parts_by_shape(word)
    return tuple(parts) if 1 < len(parts) <= _MOST_PARTS else ()


def pairs_of(run: str) -> tuple[str, ...]:
    """The overlapping pairs of an unspaced run as a query asks for them; a run of one is that character."""
    return tuple(run[place : place + 2] for place in range(len(run) - 1)) or (run,)


def spell_names(text: str) -> str:
    """The text with names such as C++, C# and .NET written as the words they are indexed under."""
    return _NAME.sub(_spelled, text) if "+" in text or "#" in text or "." in text else text


def symbol_words(text: str) -> list[str]:
    """The index words of the symbols in a normalised text, each once, in code order."""
    return [symbol_word(character) for character in sorted(set(text)) if is_symbol(character)]


def symbol_word(character: str) -> str:
    """The word one symbol is indexed under: 🎉 is `u1f389`."""
    return f"u{ord(character):x}"


def is_symbol(character: str) -> bool:
    """Whether a character is a symbol one can search for; lines of boxes and ASCII signs are not."""
    if character < "\x80" or character.isalnum() or "\u2500" <= character <= "\u259f":
        return False
    return unicodedata.category(character) in {"So", "Sm", "Sc"}


def fold(word: str) -> str:
    """The word without case and Latin accents, character for character where that is possible."""
    return word.lower() if word.isascii() else word.translate(_FOLDED)


class _Folding(dict[int, str]):
    """Folded characters, each worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_character(chr(code))
        return folded


_FOLDED = _Folding()


def _fold_character(character: str) -> str:
    """One character or none: a text folded to its own length keeps its positions."""
    if "\u0300" <= character <= "\u036f" or _DECORATION.match(character):
        return ""
    lowered = character.casefold()
    bare = unicodedata.normalize("NFKD", lowered)
    if bare[0].isascii() and all(unicodedata.combining(mark) for mark in bare[1:]):
        return bare[0]
    return lowered if len(lowered) == 1 else character


def _is_of_a_word(character: str) -> bool:
    """Whether a character belongs to a word, or is an ASCII sign, which Python and SQLite read alike."""
    if character < "\x80" or character.isalnum() or unicodedata.category(character)[0] == "M":
        return True
    # Han characters newer than this Python.
    return UNSPACED_RUN.match(character) is not None


def _spaced_pairs(match: re.Match[str]) -> str:
    # The last character stands alone too, so that each one begins some word and a prefix query finds it.
    run = match.group()
    return f" {' '.join(map(add, run, run[1:] + ' '))}"


def _part_words_of_ascii(text: str) -> Iterable[str]:
    shape = text.encode("ascii").translate(_SHAPES)
    if not any(parted in shape for parted in _PARTED):
        return ()
    return _part_words(ASCII_WORD.findall(text))


def _part_words(words: list[str]) -> Iterable[str]:
    for word in dict.fromkeys(words):
        yield from parts_of(word)


def _parts_by_shape(word: str) -> list[str]:
    shape = "".join("A" if c.isupper() else "0" if c.isdigit() else "a" for c in word)
    return [word[match.start() : match.end()] for match in _PART.finditer(shape)]


def _name_words(text: str) -> Iterable[str]:
    if "++" not in text and "#" not in text and ".NET" not in text and ".net" not in text.lower():
        return ()
    words: dict[str, None] = {}
    for match in _NAME.finditer(text):
        spelled = _spelled(match)
        words[spelled] = None
        if match["year"]:
            words[spelled.removesuffix(match["year"])] = None
    return words


def _spelled(match: re.Match[str]) -> str:
    if match["plus"]:
        return f"{match['plus'].lower()}plusplus{match['year'] or ''}"
    if match["sharp"]:
        return f"{match['sharp'].lower()}sharp"
    return "dotnet"
