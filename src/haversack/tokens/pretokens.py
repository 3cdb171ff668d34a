"""Pretokens: the pieces a text is split into before byte pairs are merged; no token crosses their bounds.

The published pattern speaks of Unicode properties, which `re` does not know. So every character outside
ASCII is first replaced by a representative of its class; the pattern runs over that copy, which has the
same length, and the pieces are cut out of the text itself.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate, chain

from haversack.tokens.vocabulary import Vocabulary

# Classes that ASCII lacks are represented by Latin-1 characters, which keeps the copy at one byte each.
_REPRESENTATIVES = {
    "other": "!",
    "upper": "A",
    "lower": "a",
    "caseless": "ª",
    "mark": "´",
    "number": "0",
    "space": "\t",
}
_LONG_S = "ß"  # stands for U+017F alone, which is an s where case does not count
_LETTER = f"A-Za-z{_LONG_S}ª"
_FIRST = "A-Zª´"
_LATER = f"a-z{_LONG_S}ª´"
_SPACE = r"\t-\r "  # not `\s`, which in Python takes in four control characters more
_LEAD = rf"[^\r\n0-9{_LETTER}]?"
_ENDING = rf"(?:'(?:[sStTmMdD{_LONG_S}]|[rRvV][eE]|[lL][lL]))?+"

# White space but for \r and \n, then what would join a piece that ends with the line feed before it.
_WITHIN_LINE = "\t\v\f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UNCLEAN_START = rf"/|[{_WITHIN_LINE}]*+[\r\n]"

_BLOCK = 1 << 12  # characters
_REPRESENTATIVES_KEPT = 1 << 14


class Representatives(dict[int, str]):
    """For `str.translate`: ASCII as it is, any other character by its class, looked up when first met."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._class_of = vocabulary.character_class

    def __missing__(self, code_point: int) -> str:
        if len(self) >= _REPRESENTATIVES_KEPT:
            self.clear()
        if code_point < 128:
            representative = chr(code_point)
        elif code_point == 0x17F:
            representative = _LONG_S
        else:
            representative = _REPRESENTATIVES[self._class_of(code_point)]
        self[code_point] = representative
        return representative


def blocks(text: str) -> Iterator[str]:
    """`text` in parts of moderate size, cut where no piece is; so no list of pieces grows with the text."""
    start = 0
    while start + _BLOCK < len(text) and (line_end := _line_end_before_clean_start().search(text, start + _BLOCK)):
        yield text[start : line_end.end()]
        start = line_end.end()
    yield text[start:]


def split(text: str, representatives: Representatives) -> Iterable[str]:
    """The pieces of `text`, in order; together they are the whole of it."""
    if text.isascii():
        return _piece().findall(text)
    ends = list(accumulate(map(len, _piece().findall(text.translate(representatives)))))
    return map(text.__getitem__, map(slice, chain((0,), ends), ends))


def starts_cleanly(text: str) -> bool:
    """Whether the tokens of `text` and of any text before it that ends with a line feed add up exactly.

    Pieces end at a line feed unless a slash, or another line end after white space or none, follows it.
    """
    return not _unclean_start().match(text)


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(
        "|".join(
            (
                rf"{_LEAD}[{_FIRST}]*[{_LATER}]++{_ENDING}",
                rf"{_LEAD}[{_FIRST}]++[{_LATER}]*+{_ENDING}",
                r"[0-9]{1,3}+",
                rf" ?[^{_SPACE}0-9{_LETTER}]++[\r\n/]*+",
                rf"[{_SPACE}]*[\r\n]++",
                rf"[{_SPACE}]+(?![^{_SPACE}])",
                rf"[{_SPACE}]",
            )
        )
    )


@cache
def _unclean_start() -> re.Pattern[str]:
    return re.compile(_UNCLEAN_START)


@cache
def _line_end_before_clean_start() -> re.Pattern[str]:
    return re.compile(rf"\n(?!{_UNCLEAN_START})")
