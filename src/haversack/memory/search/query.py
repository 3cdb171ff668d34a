"""Parsing a query of a person or a model, and the expressions the index is searched with.

There is no query syntax to get wrong: everything is words, except that a trailing `*` asks for a prefix and that
"quoted phrases" rank high. A phrase is required when the query is nothing but quotes, or with `match=all`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Literal

from haversack.patterns import pattern
from haversack.store.expressions import NOTHING, Expression, Phrase, Prefix, Word, all_of, any_of
from haversack.text.inflections import forms, stems
from haversack.text.stems import prefix_choices, stem
from haversack.text.stop_words import STOP_WORDS
from haversack.text.words import (
    UNSPACED_RUN,
    fold,
    is_symbol,
    is_unspaced,
    normalise,
    pairs_of,
    parts_of,
    spell_names,
    symbol_word,
    words_in,
)
from haversack.values import record, replace

Kind = Literal["word", "phrase", "prefix", "identifier"]
Mode = Literal["any", "all"]

MOST_TERMS = 64
REPEATS_POWER = 0.5
"""A word asked for n times weighs n to this power; 1 measured worse, since long questions repeat words by habit."""
PHRASE_WEIGHT = 3.0
"""What a quoted phrase counts beside a word that stands in as many rows; its words count beside it."""
MOST_PAIRS = 8
"""How many pairs of neighbouring words of a query are looked for as such, the first ones."""
IDENTIFIER_WEIGHT = 0.5
"""What an identifier as a whole counts beside its parts, which count in full: at 1 it outweighed the question."""

# A longer path is searched as separate words, a longer run of Chinese in slices.
_MOST_PARTS = 16
_LONGEST_RUN = 16

_QUOTED = pattern(r'["“”„‟«»]([^"“”„‟«»]*)["“”„‟«»]')
_CONTRACTION = pattern(r"['’](?:s|t|d|m|re|ve|ll)(?![^\W_])", re.IGNORECASE)
_NOT_IN_QUERY = str.maketrans({"\0": " ", '"': " "})


@record
class Term:
    """One thing a query asks for.

    `text` is what was typed; `tokens` are the words the index knows it by: the parts of an identifier, the
    pairs of an unspaced run, the words of a phrase in order. `count` is how often it was typed.
    """

    text: str
    tokens: tuple[str, ...]
    kind: Kind
    required: bool = False
    count: int = 1


@record
class Query:
    """A parsed query without stop words; without terms, the text was empty.

    `pairs` are words that were typed side by side, with none left out between them.
    """

    terms: tuple[Term, ...]
    pairs: tuple[tuple[str, str], ...] = ()


@record
class Sought:
    """One item to look up: stems in the index, or an expression where stems are not enough."""

    expression: Expression
    stems: tuple[str, ...] = ()
    weight: float = 1.0


def sought(query: Query) -> tuple[Sought, ...]:
    """The items a query looks up, word by word; an identifier counts as one and by each of its parts."""
    found: dict[Expression | tuple[str, ...], Sought] = {}
    for term in query.terms:
        for each in _sought_in(term):
            found.setdefault(each.stems or each.expression, each)
    return tuple(found.values())


def _sought_in(term: Term) -> Iterator[Sought]:
    weight = term.count**REPEATS_POWER
    if term.kind == "word" and len(term.tokens) == 1 and not _is_lone(term.tokens[0]):
        yield Sought(term_expression(term), stems(fold(term.tokens[0])), weight)
        return
    if term.kind != "identifier":
        yield Sought(term_expression(term), weight=weight * (PHRASE_WEIGHT if term.kind == "phrase" else 1.0))
        return
    yield Sought(any_of(_spelled(_whole(term)), _spelled(term.tokens)), weight=weight * IDENTIFIER_WEIGHT)
    for token in dict.fromkeys(term.tokens):
        if _is_telling(token):
            yield Sought(_spelled([token]), () if _is_lone(token) else stems(fold(token)), weight)


def spoken_words(text: str) -> list[str]:
    """Every word of a query in lower case, stop words too."""
    return [piece.lower() for piece in words_in(normalise(text))]


def parse_query(text: str) -> Query:
    """The terms of a query, each once, in the order typed; any text at all is a query.

    Stop words go, unless there is nothing else. Of more than 64 terms the quoted phrases stay first, then what
    was said most often, then the longest, which are the rarest as a rule; of equal ones the earlier.
    """
    plain = normalise(text)
    quotes: list[str] = []
    outside: list[str] = []
    end = 0
    for quoted in _QUOTED.finditer(plain) if _may_quote(plain) else ():
        outside.append(plain[end : quoted.start()])
        quotes.append(quoted[1])
        end = quoted.end()
    outside.append(plain[end:])
    typed = " ".join(outside).translate(_NOT_IN_QUERY).split()
    words = [(term, count) for chunk, count in Counter(typed).items() for term in _chunk_terms(chunk)]
    phrases = [term for quote in quotes for term in _phrase_terms(quote)]
    if any(not _is_noise(term) for term, _ in words):
        # Beside other words a phrase is not required: what holds it ranks high, what holds its words is found too.
        wished = [(replace(term, required=False), 1) for term in phrases if len(term.tokens) > 1]
        spelled = [(term, 1) for quote in quotes for chunk in quote.split() for term in _chunk_terms(chunk)]
        counted = [*wished, *words, *spelled]
    else:
        counted = [*((term, 1) for term in phrases), *words]
    # Before repeats are joined: "on" and "one" have one stem, but only one of them is noise.
    telling = [(term, count) for term, count in counted if not _is_noise(term)]
    return Query(_at_most(MOST_TERMS, _without_repeats(telling or counted)), _pairs(plain))


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    words = [word.lower() for word in words_in(text)]
    pairs = ((first, second) for first, second in pairwise(words) if _may_pair(first) and _may_pair(second))
    return tuple(islice(dict.fromkeys(pairs), MOST_PAIRS))


def _may_pair(word: str) -> bool:
    return word not in STOP_WORDS and not is_unspaced(word)


def _may_quote(text: str) -> bool:
    return '"' in text or not text.isascii()


def match_expression(query: Query, *, mode: Mode = "any") -> Expression:
    """The expression that rows must match for the query; nothing matches an empty one.

    `any` finds what holds any of the words, `all` what holds every one; required terms are required in both, and
    beside them the others only rank.
    """
    if not query.terms:
        return NOTHING
    if mode == "all":
        return all_of(*(term_expression(term, mode="all") for term in query.terms))
    if required := [term_expression(term) for term in query.terms if term.required]:
        return all_of(*required)
    return any_of(*(term_expression(term) for term in query.terms))


def term_expression(term: Term, *, mode: Mode = "any") -> Expression:
    """The expression that rows must match for one term."""
    if term.kind == "prefix":
        return _prefix_expression(term)
    phrase = _spelled(term.tokens)
    if term.kind == "word":
        spellings = forms(fold(term.tokens[0]))
        return any_of(*(_spelled([each]) for each in spellings)) if len(spellings) > 1 else phrase
    if term.kind != "identifier":
        return phrase
    parts = [_spelled([token]) for token in dict.fromkeys(term.tokens) if mode == "all" or _is_telling(token)]
    return any_of(_spelled(_whole(term)), phrase, *([all_of(*parts)] if mode == "all" else parts))


def _prefix_expression(term: Term) -> Expression:
    if len(term.tokens) > 1:
        return any_of(_spelled(_whole(term), is_open=True), _spelled(term.tokens, is_open=True))
    prefix, words = prefix_choices(fold(term.tokens[0]))
    return any_of(Prefix(prefix), *map(Word, words))


def _whole(term: Term) -> list[str]:
    """The words of a term as they stand in the text: `getusername`, not its parts."""
    if is_unspaced(term.text):
        return list(term.tokens)
    return [piece.lower() for piece in words_in(spell_names(term.text))]


def _spelled(tokens: Sequence[str], *, is_open: bool = False) -> Expression:
    """The words as they stand in a text, one after the other."""
    is_open = is_open or _is_lone(tokens[-1])
    if len(tokens) > 1:
        return Phrase(tuple(tokens), is_open)
    return Prefix(tokens[0]) if is_open else Word(tokens[0])


def _is_lone(token: str) -> bool:
    """Whether a token is one character of an unspaced script: it begins a pair in the index, so it is a prefix."""
    return len(token) == 1 and is_unspaced(token)


def _is_telling(part: str) -> bool:
    """Whether a part of an identifier is worth finding alone: single letters and stop words are not."""
    return (len(part) > 1 or not part.isascii()) and part not in STOP_WORDS


def _is_noise(term: Term) -> bool:
    if term.required or term.kind == "prefix":
        return False
    if is_symbol(term.text[0]) and len(term.text) == 1:
        # Arrows and mathematical signs are too common; only pictographs are searched.
        return unicodedata.category(term.text) != "So"
    return all(token in STOP_WORDS for token in term.tokens)


def _without_repeats(counted: list[tuple[Term, int]]) -> list[tuple[Term, int]]:
    """Terms the index cannot tell apart as the first of them, with how often they occur together."""
    together: dict[tuple[object, ...], tuple[Term, int]] = {}
    for term, count in counted:
        sort = term.kind if term.kind in ("prefix", "phrase") else ""
        key = (sort, term.required, *[stem(fold(token)) for token in term.tokens])
        first, before = together.get(key, (term, 0))
        together[key] = (first, before + count)
    return list(together.values())


def _at_most(limit: int, counted: list[tuple[Term, int]]) -> tuple[Term, ...]:
    if len(counted) > limit:
        ranked = sorted(range(len(counted)), key=lambda place: _worth(*counted[place]), reverse=True)
        counted = [counted[place] for place in sorted(ranked[:limit])]
    return tuple(replace(term, count=count) if count > 1 else term for term, count in counted)


def _worth(term: Term, count: int) -> tuple[bool, int, int]:
    return term.kind == "phrase", count, len(term.text)


def _phrase_terms(quoted: str) -> Iterator[Term]:
    text = quoted.translate(_NOT_IN_QUERY)
    runs = _runs(text)
    tokens = [token for run in runs for token in _phrase_tokens(run, is_last=run is runs[-1])]
    if tokens:
        yield Term(text.strip(), tuple(token.lower() for token in tokens), "phrase", required=True)
    yield from (_symbol_term(character, required=True) for character in text if is_symbol(character))
    for name in text.split():
        if spell_names(name) != name:
            yield from (replace(term, required=True) for term in _chunk_terms(name))


def _phrase_tokens(run: str, *, is_last: bool) -> list[str]:
    if not is_unspaced(run):
        return words_in(run)
    # Inside a phrase a run ends where the indexed run ended, and there its last character stands alone.
    return [*pairs_of(run), *(run[-1] if not is_last and len(run) > 1 else "")]


def _chunk_terms(chunk: str) -> Iterator[Term]:
    """The terms of text without white space: several where scripts or symbols meet."""
    if chunk.isascii():
        yield from _spaced_terms(chunk)
        return
    for run in _runs(chunk):
        if not is_unspaced(run):
            yield from _spaced_terms(run)
            continue
        for start in range(0, len(run), _LONGEST_RUN):
            # Slices share a character, or the pair between them would be lost.
            part = run[start : start + _LONGEST_RUN + 1]
            yield Term(part, pairs_of(part), "identifier" if len(part) > 2 else "word")
    yield from (_symbol_term(character) for character in chunk if is_symbol(character))


def _runs(text: str) -> list[str]:
    """The text cut where unspaced scripts begin and end, without empty pieces."""
    found: list[str] = []
    end = 0
    for match in UNSPACED_RUN.finditer(text):
        found.extend((text[end : match.start()], match.group()))
        end = match.end()
    return [run for run in (*found, text[end:]) if run.strip()]


def _spaced_terms(chunk: str) -> Iterator[Term]:
    text = _CONTRACTION.sub("", chunk)
    is_prefix = text.rstrip(".,;:!?)]}'’").endswith("*")
    pieces = words_in(spell_names(text))
    if not pieces:
        return
    tokens = tuple(token.lower() for piece in pieces for token in parts_of(piece) or (piece,))
    if len(tokens) > _MOST_PARTS:
        yield from (Term(piece, (piece.lower(),), "word") for piece in pieces)
        return
    kind: Kind = "prefix" if is_prefix else "identifier" if len(tokens) > 1 else "word"
    yield Term(_trimmed(text), tokens, kind)


def _symbol_term(character: str, *, required: bool = False) -> Term:
    return Term(character, (symbol_word(character),), "word", required)


def _trimmed(text: str) -> str:
    """The text without punctuation around it, but with the signs that belong to a name."""
    return text.strip("'’`´‘‚,;:!?()[]{}<>*=~|^&%$@\\/_-…").rstrip(".") or text
