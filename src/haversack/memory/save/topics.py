"""Proposing a topic key, under which later versions of the same subject replace this one."""

from haversack.text.stems import stem
from haversack.text.stop_words import STOP_WORDS
from haversack.text.words import normalise, spell_names, symbol_words, words_in

LONGEST_SLUG = 60

_FAMILY_OF_KIND = {
    "architecture": "architecture",
    "bugfix": "bug",
    "compaction_summary": "summary",
    "config": "config",
    "decision": "decision",
    "discovery": "discovery",
    "explore": "exploration",
    "fact": "fact",
    "learning": "learning",
    "pattern": "pattern",
    "preference": "preference",
    "procedure": "procedure",
    "progress": "progress",
    "session_summary": "session",
    "todo": "todo",
}
# Kinds that say how something was saved, not what it is about.
_KINDS_WITHOUT_FAMILY = frozenset({"", "manual", "observation", "passive"})
_DEFAULT_FAMILY = "topic"

# The stems of words that imply a family, which the slug need not repeat.
_TELLING: dict[str, frozenset[str]] = {
    "bug": frozenset({"bug", "bugfix", "crash", "error", "fix", "hotfix", "panic", "regress"}),
    "decision": frozenset({"adopt", "adr", "choos", "chose", "chosen", "decid", "decis"}),
    "architecture": frozenset({"architectur", "boundari", "design", "schema"}),
    "config": frozenset({"config", "configur", "deploy", "set", "setup"}),
    "pattern": frozenset({"convent", "idiom", "pattern"}),
    "procedure": frozenset({"howto", "playbook", "procedur", "runbook"}),
    "preference": frozenset({"prefer"}),
    "learning": frozenset({"learn", "lesson"}),
    "discovery": frozenset({"discoveri", "find", "found"}),
    "todo": frozenset({"todo"}),
}


def suggest_topic_key(title: str, content: str = "", kind: str = "") -> str:
    """A key `family/slug` for what is saved: always the same for the same title and kind, never empty.

    The content decides only where the title has no words.
    """
    words = _words(title) or _words(_first_line(content))
    family = _family(kind, words)
    slug = _slug(words, _TELLING.get(family, frozenset()))
    return f"{family}/{slug or _fingerprint(title, content)}"


def _family(kind: str, words: list[str]) -> str:
    chosen = kind.strip().lower()
    if chosen in _FAMILY_OF_KIND:
        return _FAMILY_OF_KIND[chosen]
    if chosen not in _KINDS_WITHOUT_FAMILY and (own := "-".join(_words(chosen))):
        return own[:LONGEST_SLUG]
    told = (family for word in words for family, telling in _TELLING.items() if stem(word) in telling)
    return next(told, _DEFAULT_FAMILY)


def _words(text: str) -> list[str]:
    plain = spell_names(normalise(text))
    return [word.lower() for word in words_in(plain)] or symbol_words(plain)


def _slug(words: list[str], told_by_family: frozenset[str]) -> str:
    """The most significant words, as many as fit; stop words only when there is nothing else."""
    telling = [word for word in words if word not in STOP_WORDS]
    kept = [word for word in telling if stem(word) not in told_by_family] or telling or words
    slug = ""
    for word in dict.fromkeys(kept):
        longer = f"{slug}-{word}" if slug else word[:LONGEST_SLUG]
        if len(longer) > LONGEST_SLUG:
            break
        slug = longer
    return slug


def _first_line(content: str) -> str:
    return next((line for line in content.splitlines() if words_in(line)), content[:1000])


def _fingerprint(title: str, content: str) -> str:
    # Texts without a word must not share a key, or each would replace the last.
    from zlib import crc32

    return f"{crc32((title + content).encode('utf-8', 'replace')):08x}"
