"""Globs as regular expressions, and the rules of `.gitignore` files."""

import os
import re

from haversack.errors import InvalidArgument
from haversack.patterns import pattern
from haversack.values import record

_CLASS = pattern(r"\[([!^]?)(\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*)\]", re.DOTALL)
_NAMED_CLASSES = {
    "[:alnum:]": "a-zA-Z0-9", "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:lower:]": "a-z", "[:upper:]": "A-Z",
    "[:space:]": r"\s", "[:xdigit:]": "0-9a-fA-F", "[:blank:]": r" \t",
}  # fmt: skip
_CLASS_PART = pattern(r"\[:[a-z]+:\]|\\.|.", re.DOTALL)
_RULES_KEPT = 1_000_000
"""Bytes of one `.gitignore` that are read; a longer one is no list of rules."""


def compile_glob(glob: str, *, anywhere: bool = False) -> re.Pattern[str]:
    """A reader's glob: `*` and `?` stay in a folder, `**` crosses folders, `{a,b}` is either.

    With `anywhere`, a glob without a slash is matched against names in every folder.
    """
    cleaned = glob.removeprefix("./")
    parts = [_translate(each, crossing=".*") for each in _alternatives(cleaned)]
    if not cleaned or any(part is None for part in parts):
        raise InvalidArgument(f"{glob!r} is not a glob: a bracket is not closed", hint="write [[] for a literal [")
    prefix = "(?:.*/)?" if anywhere and "/" not in cleaned else ""
    return re.compile(prefix + "(?:" + "|".join(part for part in parts if part is not None) + ")", re.DOTALL)


def _alternatives(glob: str) -> list[str]:
    """A glob with its braces written out; braces without a comma, and more than 256 choices, stay as they are."""
    choices = [glob]
    while len(choices) <= 256:
        spread = [found for found in (_first_braces(each) for each in choices) if found]
        if not spread:
            return choices
        choices = [piece for each in choices for piece in (_first_braces(each) or [each])]
    return [glob]


def _first_braces(glob: str) -> list[str] | None:
    found = re.search(r"\{([^{}]*,[^{}]*)\}", glob)
    if not found:
        return None
    return [glob[: found.start()] + choice + glob[found.end() :] for choice in found[1].split(",")]


def _translate(glob: str, *, crossing: str) -> str | None:
    """The regular expression of a glob; None when a bracket is not closed. `crossing` is what a bare `**` means."""
    parts: list[str] = []
    at = 0
    while at < len(glob):
        character = glob[at]
        at_start = at == 0 or glob[at - 1] == "/"
        if character == "*":
            stars = len(glob[at:]) - len(glob[at:].lstrip("*"))
            after = at + stars
            if stars > 1 and at_start and glob[after : after + 1] == "/":
                parts.append("(?:.*/)?")
                after += 1
            elif stars > 1 and at_start and after == len(glob):
                parts.append(".+")
            else:
                parts.append(crossing if stars > 1 else "[^/]*")
            at = after
        elif character == "[":
            found = _CLASS.match(glob, at)
            if not found:
                return None
            parts.append(_character_class(found[1], found[2]))
            at = found.end()
        elif character == "\\" and at + 1 < len(glob):
            parts.append(re.escape(glob[at + 1]))
            at += 2
        else:
            parts.append("[^/]" if character == "?" else re.escape(character))
            at += 1
    return "".join(parts)


def _character_class(negation: str, body: str) -> str:
    pieces: list[str] = _CLASS_PART.findall(body)
    parts: list[str] = []
    at = 0
    while at < len(pieces):
        if pieces[at] in _NAMED_CLASSES:
            parts.append(_NAMED_CLASSES[pieces[at]])
        elif at + 2 < len(pieces) and pieces[at + 1] == "-" and pieces[at + 2] not in _NAMED_CLASSES:
            first, last = pieces[at][-1], pieces[at + 2][-1]
            # A range that runs backwards holds nothing.
            parts.append(f"{re.escape(first)}-{re.escape(last)}" if first <= last else "")
            at += 2
        else:
            parts.append(re.escape(pieces[at][-1]))
        at += 1
    inner = "".join(parts)
    if not inner:
        return "[^/]" if negation else "(?!)"
    return f"(?!/)[{'^' if negation else ''}{inner}]"


@record
class IgnoreRule:
    """One line of a `.gitignore`."""

    expression: re.Pattern[str]
    negated: bool
    folders_only: bool
    by_name: bool


def parse_rule(line: str) -> IgnoreRule | None:
    """The rule a line of a `.gitignore` states; None for comments, blank lines and what can match nothing."""
    pattern = _without_trailing_spaces(line)
    if not pattern or pattern.startswith("#"):
        return None
    negated = pattern.startswith("!")
    pattern = pattern[1:] if negated else pattern
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    by_name = "/" not in pattern
    expression = _translate(pattern.removeprefix("/"), crossing="[^/]*")
    if not pattern or expression is None:
        return None
    return IgnoreRule(re.compile(expression, re.DOTALL), negated, folders_only, by_name)


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    if backslashes % 2 and len(stripped) < len(line):
        return stripped + " "
    return stripped


@record
class IgnoreFile:
    """The rules of one `.gitignore`, for the folder it stands in (`""` is the root)."""

    folder: str
    rules: tuple[IgnoreRule, ...]

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Whether a path is ignored; None when no rule speaks of it. The last rule that does decides."""
        below = path[len(self.folder) + 1 :] if self.folder else path
        for rule in reversed(self.rules):
            if rule.folders_only and not is_folder:
                continue
            if rule.expression.fullmatch(name if rule.by_name else below):
                return not rule.negated
        return None


def read_ignore_file(folder: str, relative: str) -> IgnoreFile | None:
    """The rules a folder states; None when it has no `.gitignore` that can be read."""
    try:
        # A FIFO of that name would block the open, a link could lead anywhere.
        descriptor = os.open(
            os.path.join(folder, ".gitignore"),
            os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0),
        )
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        try:
            text = file.read(_RULES_KEPT).decode("utf-8", "surrogateescape")
        except OSError:
            return None
    lines = text.removeprefix("\ufeff").split("\n")
    rules = tuple(rule for line in lines if (rule := parse_rule(line.removesuffix("\r"))))
    return IgnoreFile(relative, rules) if rules else None
