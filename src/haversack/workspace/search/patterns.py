"""Search patterns: Python's regular expressions, and the ripgrep patterns that preselect files.

Python decides what matches, line by line. Ripgrep only names the files that may hold a match: it is asked for a pattern
that matches in every file in which Python's does. A pattern that cannot be shown to do so by a few simple rules is not
given to ripgrep at all.
"""

import re

from haversack.errors import InvalidArgument
from haversack.patterns import pattern as lazy_pattern

LONGEST = 4_000
"""Characters a pattern may have."""

# Python folds the dotless and the dotted i, the long s and the Kelvin sign into ASCII letters.
_FOLDED = {"i": "[iIİı]", "s": "[sSſ]", "k": "[kK\u212a]"}
_SHARED = lazy_pattern(
    r"""(?x:
      [A-Za-z0-9\ _,:;<>=!@%'"`~/&-]          # characters that stand for themselves
    | \\[wWdDsSbB.^$*+?()\[\]{}|\\/-]         # classes, word boundaries and escaped punctuation
    | \[\^?(?!\])(?:[A-Za-z0-9_\ .,:;<>=!@%'"/+*?()|$-]|\\[wdsWDS.^$*+?()\[\]{}|\\/-])+\]
    | \(\?: | \((?!\?) | [)|^$.*+?] | \{[0-9]+(?:,[0-9]*)?\}
    )*"""
)
"""Expressions that Python and ripgrep read alike in ASCII text."""
_META = lazy_pattern(r"[\\.+*?()|\[\]{}^$#&~-]")
_UNLIKE = r"(?-u:[\x0d\x1c-\x1f\x80-\xff])"
"""Bytes that the two may read differently: any file with one is left to Python."""
_MAY_BACKTRACK = frozenset("*+?{|")


def compile_pattern(pattern: str, *, is_regex: bool, case_sensitive: bool) -> re.Pattern[str]:
    """The pattern as Python reads it; one that cannot be read is an error that says where."""
    if not pattern:
        raise InvalidArgument("the pattern is empty", hint="project_files lists files without searching them")
    if len(pattern) > LONGEST:
        raise InvalidArgument(f"the pattern has {len(pattern):,} characters, more than {LONGEST:,}")
    if not is_regex and ("\n" in pattern or "\r" in pattern):
        raise InvalidArgument("the pattern holds a line end, and lines are searched one by one")
    flags = re.NOFLAG if case_sensitive else re.IGNORECASE
    try:
        return re.compile(pattern if is_regex else re.escape(pattern), flags)
    except re.error as error:
        at = "" if error.pos is None else f" at position {error.pos}"
        raise InvalidArgument(
            f"bad regular expression {pattern!r}: {error.msg}{at}",
            hint="mend it, or leave is_regex out to search for the text as it stands",
        ) from None
    except (OverflowError, RecursionError):
        raise InvalidArgument(f"the regular expression {pattern[:60]!r} is too complex") from None


def may_run_long(pattern: str, *, is_regex: bool) -> bool:
    """Whether matching could take more than linear time: the pattern has repetitions or alternatives."""
    return is_regex and not _MAY_BACKTRACK.isdisjoint(pattern)


def ripgrep_pattern(pattern: str, *, is_regex: bool, case_sensitive: bool) -> str | None:
    """The ripgrep pattern that matches in every file where Python's does; None when there is none."""
    if not pattern.isascii():
        return None
    flags = "" if case_sensitive else "i"
    if not is_regex:
        folds = {} if case_sensitive else _FOLDED
        literal = "".join(folds.get(each.lower()) or _META.sub(r"\\\g<0>", each) for each in pattern)
        return f"(?{flags or '-i'}:{literal})"
    if "--" in pattern or "&&" in pattern or "~~" in pattern or not _SHARED.fullmatch(pattern):
        return None
    return f"(?{flags}-u:{pattern})|{_UNLIKE}"
