"""Checks of a caller's texts and numbers before anything is written."""

from haversack.errors import InvalidArgument, TooLarge
from haversack.patterns import pattern

KINDS = (
    "decision", "architecture", "bugfix", "pattern", "config", "discovery", "learning", "preference", "fact",
    "procedure", "todo", "observation", "session_summary", "progress", "explore", "compaction_summary", "passive",
    "manual",
)  # fmt: skip
SCOPES = ("project", "personal")
STATUSES = ("active", "pending", "superseded", "archived")
CURRENT_STATUSES = ("active", "pending")
VERIFICATIONS = ("unverified", "verified", "disputed", "outdated")
RELATION_TYPES = (
    "relates_to", "depends_on", "caused_by", "implements", "supersedes", "part_of", "contradicts", "fixes",
)  # fmt: skip

MAX_TITLE = 500
MAX_NAME = 200
MAX_TAGS = 50
MAX_LIMIT = 200

_KIND = pattern(r"[^\W_][\w-]{0,39}")
_SURROGATE = pattern("[\ud800-\udfff]")


def check_text(name: str, text: str, limit: int) -> str:
    """The text itself; an error when it is blank, over the limit or not valid Unicode."""
    if not text.strip():
        raise InvalidArgument(f"{name} is empty", hint=f"give the {name} some text")
    return check_optional_text(name, text, limit)


def check_optional_text(name: str, text: str, limit: int) -> str:
    """The text itself; an error when it is over the limit or not valid Unicode."""
    if len(text) > limit:
        raise TooLarge(
            f"{name} has {len(text):,} characters, over the limit of {limit:,}",
            hint="split it into several, or store a summary; nothing was saved",
        )
    if found := _SURROGATE.search(text):
        raise InvalidArgument(
            f"{name} holds half a character (U+{ord(found.group()):04X}) at position {found.start()}",
            hint="send valid Unicode; nothing was saved",
        )
    return text


def check_line(name: str, text: str, limit: int = MAX_NAME) -> str:
    """A name on one line, without the white space around it."""
    cleaned = check_optional_text(name, text, limit).strip()
    if any(character in cleaned for character in "\n\r\0"):
        raise InvalidArgument(f"{name} has a line break in it", hint=f"give the {name} on one line")
    return cleaned


def check_kind(kind: str) -> str:
    """A kind in lower case; any single word will do."""
    cleaned = kind.strip().lower()
    if not _KIND.fullmatch(cleaned):
        raise InvalidArgument(
            f"kind is {kind[:60]!r}, not a word", hint=f"usual kinds: {', '.join(KINDS)}; your own word is fine too"
        )
    return cleaned


def check_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Tags trimmed, each once, in the order given."""
    cleaned = tuple(dict.fromkeys(check_line("tag", tag, 100) for tag in tags))
    if "" in cleaned:
        raise InvalidArgument("a tag is empty", hint="leave it out")
    if len(cleaned) > MAX_TAGS:
        raise InvalidArgument(f"{len(cleaned)} tags are over the limit of {MAX_TAGS}")
    return cleaned


def check_fraction(name: str, value: float) -> float:
    """A number from 0 to 1."""
    if not 0 <= value <= 1:
        raise InvalidArgument(f"{name} is {value}, not between 0 and 1")
    return value


def check_limit(limit: int, *, name: str = "limit", most: int = MAX_LIMIT) -> int:
    """A count from 1 to `most`."""
    if not 1 <= limit <= most:
        raise InvalidArgument(f"{name} is {limit}, not between 1 and {most}")
    return limit


def check_member(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """One of a closed set of words."""
    if value not in allowed:
        raise InvalidArgument(f"{name} is {value[:60]!r}", hint=f"allowed: {', '.join(allowed)}")
    return value
