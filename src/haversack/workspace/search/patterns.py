"""Search patterns: Python's regular expressions, matched line by line, and what ripgrep is asked in their place.

Python decides what matches. Ripgrep is asked for a pattern over bytes that matches at least every line Python's does,
in UTF-8 and in Windows-1252, and its lines are then checked: so both engines give the same answers whatever the
differences between their dialects. Where the two patterns cannot differ, which is so for most of both patterns and
texts, the check is left out.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal

from haversack.errors import InvalidArgument
from haversack.values import record

try:
    from re import _constants as _op  # type: ignore[attr-defined]
    from re import _parser as _syntax  # type: ignore[attr-defined]
except ImportError:  # an interpreter that keeps its parser elsewhere: ripgrep is then used for plain text only
    _op = _syntax = None

LONGEST = 4_000
"""Characters a pattern may have."""

_ANY_BYTES = r"[^\n]"
_HIGH_BYTES = r"[\x80-\xff]{1,4}"
# Python folds the dotless and the dotted i, the long s and the Kelvin sign into ASCII letters.
_FOLDED = {"i": "İı", "s": "ſ", "k": "\u212a"}


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


def may_run_long(compiled: re.Pattern[str]) -> bool:
    """Whether matching could take a time out of proportion to the text: whether anything in it is repeated."""
    # Escaped text has no repetition; a tree that cannot be had is taken for the worst.
    if _syntax is None:
        return True
    return _holds_repeat(_syntax.parse(compiled.pattern, compiled.flags))


def _holds_repeat(tree: Iterable[tuple[Any, Any]]) -> bool:
    for operation, value in tree:
        if operation in (_op.MAX_REPEAT, _op.MIN_REPEAT, _op.POSSESSIVE_REPEAT):
            if value[1] > 1:
                return True
        elif operation in (_op.GROUPREF, _op.GROUPREF_EXISTS):
            return True
        if any(_holds_repeat(each) for each in _subtrees(operation, value)):
            return True
    return False


def _subtrees(operation: Any, value: Any) -> Sequence[Any]:
    if operation is _op.BRANCH:
        subtrees: Sequence[Any] = value[1]
        return subtrees
    if operation is _op.SUBPATTERN:
        return [value[3]]
    if operation in (_op.MAX_REPEAT, _op.MIN_REPEAT, _op.POSSESSIVE_REPEAT):
        return [value[2]]
    if operation in (_op.ASSERT, _op.ASSERT_NOT):
        return [value[1]]
    if operation is _op.ATOMIC_GROUP:
        return [value]
    return []


Proof = Literal["none", "ascii", "utf-8"]
"""The text in which every line that ripgrep proposes is known to match: none, ASCII without returns, UTF-8."""


@record
class Question:
    """What ripgrep is asked: a pattern over bytes that matches wherever Python's does, and where it does no more."""

    pattern: str
    proof: Proof


def question_for(compiled: re.Pattern[str], *, is_regex: bool) -> Question | None:
    """What to ask ripgrep; None when Python's pattern has no counterpart."""
    folds = bool(compiled.flags & re.IGNORECASE)
    is_plain = compiled.pattern.isascii()
    try:
        if not is_regex:
            plain = re.sub(r"\\(.)", r"\1", compiled.pattern, flags=re.DOTALL)
            asked = "".join(_literal(ord(character), folds) for character in plain)
            # Other letters have forms in Windows-1252 that are parts of a letter in UTF-8.
            return Question("(?-u)" + asked, "utf-8" if is_plain else "none")
        if _syntax is None:
            return None
        tree = _syntax.parse(compiled.pattern, compiled.flags)
        return Question("(?-u)" + _sequence(tree, folds), "ascii" if is_plain and _is_exact(tree) else "none")
    except _Untranslatable:
        return None


def _is_exact(tree: Iterable[tuple[Any, Any]]) -> bool:
    """Whether an expression's counterpart over bytes leaves nothing out but what lies beyond ASCII."""
    for operation, value in tree:
        if (operation is _op.AT and value not in _KEPT_POSITIONS) or operation in _LOOSENED:
            return False
        if not all(_is_exact(each) for each in _subtrees(operation, value)):
            return False
    return True


class _Untranslatable(Exception):
    """A part of a pattern that has no counterpart over bytes."""


def _sequence(tree: Iterable[tuple[Any, Any]], folds: bool) -> str:
    return "".join(_node(operation, value, folds) for operation, value in tree)


def _node(operation: Any, value: Any, folds: bool) -> str:
    if operation is _op.LITERAL:
        return _literal(value, folds)
    if operation in (_op.NOT_LITERAL, _op.IN, _op.ANY):
        return _class(operation, value, folds)
    if operation is _op.BRANCH:
        return "(?:" + "|".join(_sequence(branch, folds) for branch in value[1]) + ")"
    if operation is _op.SUBPATTERN:
        _, added, removed, inner = value
        folded = (folds or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
        return f"(?:{_sequence(inner, folded)})"
    if operation is _op.ATOMIC_GROUP:
        return f"(?:{_sequence(value, folds)})"
    if operation in (_op.MAX_REPEAT, _op.MIN_REPEAT, _op.POSSESSIVE_REPEAT):
        least, most, inner = value
        bounds = f"{{{least},{'' if most is _op.MAXREPEAT else most}}}"
        return f"(?:{_sequence(inner, folds)}){bounds}"
    return _position(operation, value, folds)


def _position(operation: Any, value: Any, folds: bool) -> str:
    if operation is _op.AT:
        # Word boundaries are left to Python, whose idea of a word is not ripgrep's.
        return _KEPT_POSITIONS.get(value, "")
    if operation in (_op.ASSERT, _op.ASSERT_NOT):
        return ""
    if operation is _op.GROUPREF:
        return f"{_ANY_BYTES}*"
    if operation is _op.GROUPREF_EXISTS:
        _, then, otherwise = value
        return f"(?:{_sequence(then, folds)}|{_sequence(otherwise or [], folds)})"
    raise _Untranslatable


def _literal(code: int, folds: bool) -> str:
    variants = _variants(chr(code)) if folds else [chr(code)]
    forms = sorted({form for variant in variants for form in _byte_forms(variant)})
    if not forms or b"\n" in forms:
        raise _Untranslatable
    if len(forms) == 1:
        return _escaped(forms[0])
    if all(len(form) == 1 for form in forms):
        return "[" + "".join(_escaped(form) for form in forms) + "]"
    return "(?:" + "|".join(_escaped(form) for form in forms) + ")"


@lru_cache(maxsize=1_024)
def _variants(character: str) -> frozenset[str]:
    """The characters Python takes for the same when it ignores case."""
    lower = character.lower()
    found = {character, lower, character.upper(), character.swapcase(), lower.upper(), character.upper().lower()}
    for letter, others in _FOLDED.items():
        if character in others or lower == letter:
            found |= {letter, letter.upper(), *others}
    if not character.isascii() and len(found) > 1:
        found |= {chr(code) for code in _same_fold(character)}
    return frozenset(each for each in found if len(each) == 1)


def _same_fold(character: str) -> Iterable[int]:
    """Letters near enough to share a fold: Greek has three sigmas, and other scripts a few such cases."""
    expression = re.compile(re.escape(character), re.IGNORECASE)
    around = range(max(0x80, ord(character) - 0x400), min(0x110000, ord(character) + 0x400))
    yield from (code for code in around if not 0xD800 <= code <= 0xDFFF and expression.match(chr(code)))
    yield from (code for code in _FAR_FOLDS if expression.match(chr(code)))


_FAR_FOLDS = (*range(0x1C80, 0x1C90), *range(0x1E00, 0x2000), 0x2126, 0x212A, 0x212B, *range(0xA640, 0xA660))


def _byte_forms(character: str) -> list[bytes]:
    forms = []
    for encoding in ("utf-8", "cp1252", "latin-1"):
        try:
            forms.append(character.encode(encoding))
        except UnicodeEncodeError:
            continue
    return forms


def _escaped(raw: bytes) -> str:
    return "".join(chr(byte) if chr(byte).isalnum() and byte < 0x80 else f"\\x{byte:02x}" for byte in raw)


def _class(operation: Any, value: Any, folds: bool) -> str:
    """One character of a class: its ASCII members exactly, and any few high bytes should it have others."""
    if operation is _op.ANY:
        return f"(?:{_ANY_BYTES}|{_HIGH_BYTES})"
    items = [(_op.NEGATE, None), (_op.LITERAL, value)] if operation is _op.NOT_LITERAL else value
    negated = items[0][0] is _op.NEGATE
    members = [code for code in range(128) if code != 10 and _is_member(code, items, folds) is not negated]
    has_high = negated or folds or any(_reaches_high(kind, argument) for kind, argument in items)
    parts = ["[" + "".join(f"\\x{code:02x}" for code in members) + "]"] if members else []
    parts += [_HIGH_BYTES] if has_high else []
    if not parts:
        raise _Untranslatable
    return "(?:" + "|".join(parts) + ")"


def _is_member(code: int, items: Sequence[tuple[Any, Any]], folds: bool) -> bool:
    codes = {code}
    if folds:
        codes |= {ord(each) for each in _variants(chr(code))}
    return any(_item_holds(kind, argument, each) for kind, argument in items for each in codes)


def _item_holds(kind: Any, argument: Any, code: int) -> bool:
    if kind is _op.LITERAL:
        return bool(argument == code)
    if kind is _op.RANGE:
        return bool(argument[0] <= code <= argument[1])
    if kind is _op.CATEGORY:
        return _CATEGORIES[argument].match(chr(code)) is not None
    return False


def _reaches_high(kind: Any, argument: Any) -> bool:
    if kind is _op.LITERAL:
        return bool(argument > 127)
    if kind is _op.RANGE:
        return bool(argument[1] > 127)
    return kind is _op.CATEGORY


_CATEGORIES: dict[Any, re.Pattern[str]] = {}
_KEPT_POSITIONS: dict[Any, str] = {}
_LOOSENED: frozenset[Any] = frozenset()
"""Operations whose counterpart over bytes matches more than they do."""
if _syntax is not None:
    _KEPT_POSITIONS = {
        **dict.fromkeys((_op.AT_BEGINNING, _op.AT_BEGINNING_STRING), "^"),
        **dict.fromkeys((_op.AT_END, _op.AT_END_STRING), r"\r?$"),
    }
    _LOOSENED = frozenset(
        (
            _op.ASSERT, _op.ASSERT_NOT, _op.GROUPREF, _op.GROUPREF_EXISTS, _op.ATOMIC_GROUP, _op.POSSESSIVE_REPEAT,
        )
    )  # fmt: skip
    _CATEGORIES = {
        _syntax.parse(escape)[0][1][0][1]: re.compile(escape) for escape in (r"\d", r"\D", r"\s", r"\S", r"\w", r"\W")
    }
