"""Finding the learnings in a text: the list items under headings such as "Key learnings"."""

import re
import unicodedata
from collections.abc import Iterator

from haversack.patterns import pattern
from haversack.text.fences import ANY_INDENT, with_fences
from haversack.text.words import SPACED_WORD, UNSPACED_RUN
from haversack.values import record

# Headings without accents and in lower case; what they may begin and end with is the same for all of English.
_ENGLISH = (
    r"(?:(?:the|our|my|some|key|main|major|important|new|top|notable|technical|other|final|session) ){0,3}"
    r"(?:learnings?|lessons?(?: (?:learned|learnt))?|take ?aways?|discover(?:y|ies)|insights?|decisions?|findings?"
    r"|things (?:i|we) (?:have )?(?:learned|learnt))"
    r"|what (?:i|we|was|i've|we've|i have|we have) (?:learned|learnt|discovered|decided)"
)
_ENGLISH_TAIL = r"(?: (?:and|from|for|of|in|on|this|today|so|made|during|about|&) ?.{0,60})?"
_OTHERS = (
    # Spanish, Portuguese
    r"(?:principales |principais )?(?:aprendizajes|aprendizados|aprendizagens)(?: claves?| principales| principais)?",
    r"lecciones aprendidas|licoes aprendidas",
    r"(?:lo|o) que (?:he |hemos )?(?:aprendi|aprendimos|aprendido|aprendemos)",
    r"(?:principales )?hallazgos|descubrimientos|descobertas|decisiones|decisoes|conclusiones clave",
    # German
    r"(?:wichtige |wichtigste |zentrale |meine |unsere )?(?:erkenntnisse|lehren|entdeckungen|entscheidungen|learnings)",
    r"gelerntes|was (?:ich|wir) gelernt haben?|das habe ich gelernt",
    # French
    r"(?:principaux )?apprentissages(?: cles?)?|lecons apprises|(?:principaux )?enseignements",
    r"ce que (?:j[' ]?ai|nous avons|l'on a|on a) appris|decouvertes|decisions(?: prises)?",
    # Chinese, Japanese
    r"(?:关键|關鍵|主要|重要)?(?:学习|學習|收获|收穫|要点|要點|发现|發現|洞察|见解|見解|决定|決定|决策|決策|心得)(?:要点|要點)?",
    r"(?:我|我们|我們)?(?:学到|學到)(?:了)?(?:什么|什麼|的)?(?:东西|東西|内容|內容|知识|知識)?|经验教训|經驗教訓",
    r"(?:主な|重要な|今回の)?(?:学び|学んだこと|教訓|知見|気づき|発見|決定事項|得られた知見)",
)
_LEARNED = pattern(f"(?:{_ENGLISH}){_ENGLISH_TAIL}|{'|'.join(_OTHERS)}")

_HASH_HEADING = pattern(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<title>\S.*)$")
_BOLD_HEADING = pattern(r" {0,3}(?P<mark>\*\*|__)(?P<title>[^*_]{1,80})(?P=mark)[ \t]*[:：]?[ \t]*$")
_COLON_HEADING = pattern(r" {0,3}(?P<title>[^\s*+#>•|-][^:：]{0,79})[:：][ \t]*$")
_UNDERLINE = pattern(r" {0,3}(?:(?P<first>=+)|-{2,})[ \t]*$")
_TITLE_EDGES = pattern(r"^(?:[\d.)]+[ \t]+)?[\W_]*|[\W_]*$")

_ITEM = pattern(
    r"(?P<indent>[ \t]*)(?:[-*+•‣◦▪●–—·]|(?:\d{1,3}|[a-z])[.)]|\d{1,3}[、．]|\(\d{1,3}\)|[①-⑳])"
    r"(?:[ \t]+|(?<=[•‣◦▪●、．①-⑳]))(?:\[[ xX]\][ \t]+)?(?P<text>\S.*)$"
)
_RULE = pattern(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE_MARK = pattern(r"^ {0,3}>[ \t]?")
_NOTHING = pattern(
    r"[\W_]*(?:none|n/?a|nothing|tbd|todo|ninguno|nenhum|keine|aucune?|无|無|なし)?[\W_]*$", re.IGNORECASE
)

LEAST_SUBSTANCE = 3
"""Words a learning must have to be worth keeping; two characters of a script without spaces count as a word."""
_LONGEST_TITLE = 120
_LONGEST_NOTHING = 40

# The level of headings that are not marked by hashes.
_UNMARKED = 6


@record
class _Heading:
    title: str
    level: int


class _Item:
    """A list item, while it is being read: its first line and its nested items, each as pieces of text."""

    def __init__(self, indent: int, first: str) -> None:
        self.indent = indent
        self.lines = [[first]]

    def __str__(self) -> str:
        return "\n".join(" ".join(pieces) for pieces in self.lines).strip()


class _Section:
    """A section of learnings, while it is being read."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.has_items = False
        self.has_labels = False

    def ends_at(self, heading: _Heading) -> bool:
        """Whether a heading ends the section; a bold line does not where the section's items began under one."""
        if heading.level == _UNMARKED > self.level:
            self.has_labels = self.has_labels or not self.has_items
            return not self.has_labels
        return heading.level <= self.level


def find_learnings(text: str) -> tuple[str, ...]:
    """The list items under headings about what was learned, each once and whole, in order.

    An item's lines are joined; nested items stay with their parent, one to a line. Fenced code is neither
    heading nor item. A section ends at the next heading that is not a part of it.
    """
    found = map(str, _items(text))
    return tuple(dict.fromkeys(learned for learned in found if not _says_nothing(learned)))


def _says_nothing(learned: str) -> bool:
    return len(learned) <= _LONGEST_NOTHING and _NOTHING.match(learned) is not None


def has_substance(learned: str) -> bool:
    """Whether a learning says enough to be understood without the text it stood in."""
    unspaced = sum(len(run) for run in UNSPACED_RUN.findall(learned)) if not learned.isascii() else 0
    return unspaced // 2 + len(SPACED_WORD.findall(learned)) >= LEAST_SUBSTANCE


def _items(text: str) -> Iterator[_Item]:
    lines = [_QUOTE_MARK.sub("", line.expandtabs(4)) for line in text.splitlines()]
    section: _Section | None = None
    item: _Item | None = None
    after_blank = True
    for place, (line, in_fence) in enumerate(with_fences(lines, indent=ANY_INDENT)):
        following = None
        if heading := None if in_fence else _heading(lines, place, after_blank):
            section = _section_after(section, heading)
        elif section:
            following = _following(item, line, in_fence, after_blank)
            section.has_items = section.has_items or following is not None
        if item and following is not item:
            yield item
        item, after_blank = following, not line.strip()
    if item:
        yield item


def _section_after(section: _Section | None, heading: _Heading) -> _Section | None:
    if _is_about_learning(heading.title):
        return _Section(heading.level)
    return None if section is None or section.ends_at(heading) else section


def _following(item: _Item | None, line: str, in_fence: bool, after_blank: bool) -> _Item | None:
    """The item this line belongs to: the one being read, a new one, or none."""
    indent = len(line) - len(line.lstrip())
    if in_fence:
        if item is None or indent <= item.indent:
            return None
        item.lines.append([line.rstrip()])
        return item
    match = None if _RULE.match(line) else _ITEM.match(line)
    if match:
        if item is None or indent <= item.indent:
            return _Item(indent, match["text"].strip())
        item.lines.append([f"- {match['text'].strip()}"])
        return item
    if item is None or _RULE.match(line) or (after_blank and line.strip() and indent <= item.indent):
        return None
    if line.strip():
        item.lines[-1].append(line.strip())
    return item


def _heading(lines: list[str], place: int, after_blank: bool) -> _Heading | None:
    line = lines[place]
    if match := _HASH_HEADING.match(line):
        return _Heading(match["title"].rstrip().rstrip("#"), len(match["marks"]))
    following = lines[place + 1] if place + 1 < len(lines) else ""
    under = _UNDERLINE.match(following) if line.strip() and not _ITEM.match(line) else None
    # Hyphens below the last line of an item are a rule; only after a blank line are they an underline.
    if under and (after_blank or under["first"]):
        return _Heading(line, 1 if under["first"] else 2)
    if match := _BOLD_HEADING.match(line):
        return _Heading(match["title"], _UNMARKED)
    # A line that ends in a colon is a heading only where a paragraph could begin.
    if (match := _COLON_HEADING.match(line)) and (after_blank or _is_about_learning(match["title"])):
        return _Heading(match["title"], _UNMARKED) if not _ITEM.match(line) else None
    return None


def _is_about_learning(title: str) -> bool:
    if len(title) > _LONGEST_TITLE:
        return False
    bare = unicodedata.normalize("NFKD", title.replace("’", "'")).casefold()
    bare = "".join(character for character in bare if not "\u0300" <= character <= "\u036f")
    bare = unicodedata.normalize("NFC", bare)
    return _LEARNED.fullmatch(" ".join(_TITLE_EDGES.sub("", bare).split())) is not None
