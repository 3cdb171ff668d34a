"""Search expressions: a query tree that every engine compiles into its own form."""

from typing import Any

from haversack.values import record


@record
class Word:
    """A word as it was typed, in lower case; the index stems it."""

    text: str


@record
class Prefix:
    """Every word whose stem begins with the stem of this text."""

    text: str


@record
class Phrase:
    """Words that follow one another; when it is open, the last of them is a prefix."""

    words: tuple[str, ...]
    is_open: bool = False


@record
class AnyOf:
    """Matches rows that match at least one of the parts; an empty one matches nothing."""

    parts: "tuple[Expression, ...]"


@record
class AllOf:
    """Matches rows that match every part."""

    parts: "tuple[Expression, ...]"


Expression = Word | Prefix | Phrase | AnyOf | AllOf

NOTHING = AnyOf(())


def any_of(*parts: Expression) -> Expression:
    """An `AnyOf` of the parts, without repeats."""
    distinct = tuple(dict.fromkeys(parts))
    return distinct[0] if len(distinct) == 1 else AnyOf(distinct)


def all_of(*parts: Expression) -> Expression:
    """An `AllOf` of the parts, without repeats."""
    distinct = tuple(dict.fromkeys(parts))
    return distinct[0] if len(distinct) == 1 else AllOf(distinct)


def freeze(expression: Expression) -> list[Any]:
    """An expression as JSON values."""
    match expression:
        case Word(text):
            return ["word", text]
        case Prefix(text):
            return ["prefix", text]
        case Phrase(words, is_open):
            return ["open phrase" if is_open else "phrase", *words]
        case AnyOf(parts):
            return ["any", *map(freeze, parts)]
        case AllOf(parts):
            return ["all", *map(freeze, parts)]


def thaw(frozen: list[Any]) -> Expression:
    """The expression that `freeze` made this from."""
    sort, *parts = frozen
    if sort == "word":
        return Word(*parts)
    if sort == "prefix":
        return Prefix(*parts)
    if sort in ("phrase", "open phrase"):
        return Phrase(tuple(parts), sort == "open phrase")
    branches = tuple(map(thaw, parts))
    return AnyOf(branches) if sort == "any" else AllOf(branches)
