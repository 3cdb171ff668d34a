"""Links from the best notes: to related notes, and to notes whose titles they mention.

A question often names one note while the answer stands in another that the first one mentions. Only notes lead
further: the turns of a conversation have their neighbours instead.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from haversack.memory.search import relevance as scoring
from haversack.patterns import pattern
from haversack.store import observations, places, relations
from haversack.store.engine import Reader
from haversack.store.places import SESSION_BITS
from haversack.store.records import Filters, Observation
from haversack.text.stems import stem, stems_in
from haversack.text.words import fold, index_text, words_in
from haversack.values import record

NAMED = 0.6
"""Share of its own score that a note earns whose whole title stands in the question, word for word."""
LINK_SOURCES = 4
"""How many of the best notes lead to the notes they mention or are related to."""
LINK = 0.7
"""Share of a note's score that a note earns whose title it mentions, or that it is related to (times the strength)."""
LINK_CEILING = 0.95
"""Share of a note's score that no note it mentions rises above: what was asked for stays ahead of what it leads to."""
LOOKED_UP = 32
"""Names and numbers of a note whose frequency is looked up, the longest first."""
RARE_WORDS = 12
"""How many words of a note, the rarest, are looked for in the titles of others; a note with fewer names is looked
through for its longest words too."""
MOST_READ = 200
"""Rows that are read for those words of one note."""
COMMON_TITLES = 3
"""A title that more notes than this share names none of them."""
LONGEST_NAME = 80
"""Characters of a title that may be a name; a longer one is a sentence, which nobody mentions."""
_BEGINNING = 3
"""Letters that the inflections of a word have in common."""
_BETWEEN_WORDS = pattern(r"[^\w\n]+|_+")
_QUALIFIER = pattern(r"(?<=\S)\s*\([^()]*\)$")


@record
class _Step:
    """The gain one source gives a place, and the score it may not exceed."""

    gain: float
    ceiling: float


class _Name(NamedTuple):
    """A note by its title, and how the words of the title begin."""

    place: int
    title: str
    beginnings: list[str]


def followed(
    tx: Reader, scores: Mapping[int, float], chosen: Filters, conversations: frozenset[int]
) -> dict[int, float]:
    """Place -> gain, for what the best notes among the scored places lead to."""
    notes = {place: score for place, score in scores.items() if place >> SESSION_BITS not in conversations}
    best = scoring.best_places(notes, LINK_SOURCES)
    if not best:
        return {}
    ids = {row.place: row.id for row in places.placed(tx, best, chosen)}
    held = observations.get_many(tx, list(ids.values()))
    sources = {place: held[ids[place]] for place in best if place in ids}
    steps: dict[int, list[_Step]] = {}
    for place, other in _mentions(tx, sources, chosen):
        steps.setdefault(other, []).append(_Step(LINK * scores[place], LINK_CEILING * scores[place]))
    _follow_relations(tx, {ids[place]: scores[place] for place in sources}, chosen, steps)
    return {place: gain for place in steps if (gain := _gain(scores.get(place, 0.0), steps[place])) > 0}


def named(tx: Reader, text: str, scores: Mapping[int, float]) -> dict[int, float]:
    """Place -> gain, for the notes among the scored places that a question calls by their whole title."""
    names = _names(places.titles(tx, scores)) if scores else []
    likely = _likely(names, text)
    asked = _spaced(stems_in(text)) if likely else ""
    return {each.place: NAMED * scores[each.place] for each in likely if _spaced(stems_in(each.title)) in asked}


def _spaced(stems: Sequence[str]) -> str:
    """Stems joined by spaces, for substring search; a title without words never matches."""
    return f" {' '.join(stems)} "


def _likely(names: Iterable[_Name], text: str) -> list[_Name]:
    """The names a text may mention: a check of word beginnings excludes almost all before stemming."""
    beginnings = {word[:_BEGINNING] for word in words_in(fold(text))}
    return [each for each in names if each.beginnings and beginnings.issuperset(each.beginnings)]


def _gain(score: float, steps: Sequence[_Step]) -> float:
    ceiling = max(step.ceiling for step in steps)
    return max(0.0, min(sum(step.gain for step in steps), ceiling - score))


def _mentions(tx: Reader, sources: Mapping[int, Observation], chosen: Filters) -> Iterator[tuple[int, int]]:
    """Each source with each note whose whole title it mentions, word for word, in any order, by place."""
    rare = _rare_words(tx, sources.values())
    names = _names(tx.words.titled(rare, chosen)) if rare else []
    for place, source in sources.items() if names else ():
        likely = [each for each in _likely(names, source.content) if each.place != place]
        held = set(stems_in(index_text(source.content))) if likely else ()
        for each in likely:
            if (stems := stems_in(index_text(each.title))) and all(one in held for one in stems):
                yield place, each.place


def _short_titles(titles: Mapping[int, str]) -> dict[int, str]:
    """Those of the titles that may be names, without what tells namesakes apart: "Li Yu (director)" is "Li Yu"."""
    bare = {place: _QUALIFIER.sub("", title) if title.endswith(")") else title for place, title in titles.items()}
    shared = Counter(bare.values())
    return {
        place: title for place, title in bare.items() if len(title) <= LONGEST_NAME and shared[title] <= COMMON_TITLES
    }


def _names(titles: Mapping[int, str]) -> list[_Name]:
    """The titles that may be names, and how their words begin."""
    short = _short_titles(titles)
    if not short:
        return []
    # All of them are cut into words at once: one by one this would cost as much as the rest of a search.
    written = fold("\n".join(title.replace("\n", " ") for title in short.values()))
    lines = _BETWEEN_WORDS.sub(" ", written).split("\n")
    return [
        _Name(place, title, [word[:_BEGINNING] for word in line.split()])
        for (place, title), line in zip(short.items(), lines, strict=True)
    ]


def _rare_words(tx: Reader, sources: Iterable[Observation]) -> list[str]:
    """The rarest stems of the notes that also occur in other rows, while their rows are few in total."""
    telling = [dict.fromkeys(stem(fold(word)) for word in _telling(source.content)) for source in sources]
    stems = list({word for words in telling for word in words})
    counted = dict(zip(stems, tx.words.rows_with_stems([[each] for each in stems]), strict=True)) if stems else {}
    rare: set[str] = set()
    for words in telling:
        shared = sorted((counted[word], word) for word in words if counted[word] > 1)
        room = MOST_READ
        for rows, word in shared[:RARE_WORDS]:
            if (room := room - rows) < 0:
                break
            rare.add(word)
    return sorted(rare)


def _telling(text: str) -> list[str]:
    """The words of a text that are likely names: those with capitals or digits, else the longest."""
    typed = dict.fromkeys(words_in(text))
    names = [word for word in typed if word != word.lower() or not word.isalpha()]
    if len(names) >= RARE_WORDS:
        return sorted(names, key=len, reverse=True)[:LOOKED_UP]
    for word in names:
        del typed[word]
    return names + sorted(typed, key=len, reverse=True)[: RARE_WORDS - len(names)]


def _follow_relations(tx: Reader, sources: Mapping[int, float], chosen: Filters, steps: dict[int, list[_Step]]) -> None:
    """Add the gains along the relations of the sources."""
    ends: dict[int, list[_Step]] = {}
    for relation in relations.touching(tx, list(sources)) if sources else ():
        for here, there in ((relation.from_id, relation.to_id), (relation.to_id, relation.from_id)):
            if here in sources:
                step = _Step(LINK * relation.strength * sources[here], LINK_CEILING * sources[here])
                ends.setdefault(there, []).append(step)
    for identifier, place in places.of(tx, list(ends), chosen).items() if ends else ():
        steps.setdefault(place, []).extend(ends[identifier])
