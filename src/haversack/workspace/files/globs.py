"""Globs as regular expressions that match in linear time, and the rules of `.gitignore` files.

A star is translated so that the text after it is looked for once, from the left, and never again: with only stars
between them, the leftmost match of each piece leaves most text for the next. So no glob can make matching backtrack.
"""

import re

from haversack.errors import InvalidArgument
from haversack.files import Tree
from haversack.patterns import pattern
from haversack.values import record

LONGEST = 1_000
"""Characters a glob may have, also with its choices written out."""
MOST_RULES = 5_000
"""Rules of one `.gitignore` that are read."""

_CLASS = pattern(r"\[([!^]?)(\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*)\]", re.DOTALL)
_NAMED_CLASSES = {
    "[:alnum:]": "a-zA-Z0-9", "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:lower:]": "a-z", "[:upper:]": "A-Z",
    "[:space:]": r"\s", "[:xdigit:]": "0-9a-fA-F", "[:blank:]": r" \t",
}  # fmt: skip
_CLASS_PART = pattern(r"\[:[a-z]+:\]|\\.|.", re.DOTALL)
_BRACES = pattern(r"\{([^{}]*,[^{}]*)\}")
_STARS = pattern(r"\*+")
_RULES_KEPT = 1_000_000
_MOST_CHOICES = 256


def compile_glob(glob: str, *, anywhere: bool = False) -> re.Pattern[str]:
    """A caller's glob: `*` and `?` stay in a folder, `**` crosses folders, `{a,b}` is either.

    With `anywhere`, a glob without a slash is matched against names in every folder.
    """
    cleaned = glob.removeprefix("./").lstrip("/")
    if len(cleaned) > LONGEST:
        raise InvalidArgument(f"the glob has {len(cleaned):,} characters, more than {LONGEST:,}")
    if anywhere and "/" not in cleaned:
        cleaned = f"**/{cleaned}"
    choices = _written_out(cleaned)
    expressions = [_expression(choice) for choice in choices]
    if not cleaned or cleaned == "**/" or None in expressions:
        raise InvalidArgument(f"{glob!r} is not a glob: a bracket is not closed", hint="write [[] for a literal [")
    return re.compile("|".join(f"(?:{each})" for each in expressions), re.DOTALL)


def _written_out(glob: str) -> list[str]:
    """A glob as globs without braces, in which `**` is always a whole component."""
    waiting, done = [glob], []
    while waiting:
        current = waiting.pop(0)
        if found := _BRACES.search(current):
            before, after = current[: found.start()], current[found.end() :]
            waiting += [before + choice + after for choice in found[1].split(",")]
        elif (split := _split_crossing(current)) is not None:
            waiting += split
        else:
            done.append(current)
        if len(waiting) + len(done) > _MOST_CHOICES:
            raise InvalidArgument(f"the glob {glob[:60]!r} has more than {_MOST_CHOICES} choices", hint="simplify it")
    return done


def _split_crossing(glob: str) -> list[str] | None:
    """A glob whose first `**` stands beside other characters, as globs that mean the same; None when none does."""
    components = _components(glob)
    for at, component in enumerate(components):
        if "**" in component and component.strip("*"):
            found = next(each for each in _STARS.finditer(component) if len(each[0]) > 1)
            before, after = component[: found.start()], component[found.end() :]
            crossing = [*([f"{before}*"] if before else []), "**", *([f"*{after}"] if after else [])]
            choices = [crossing] if not before else [[f"{before}*{after}"], crossing]
            return ["/".join([*components[:at], *choice, *components[at + 1 :]]) for choice in choices]
    return None


def _components(glob: str) -> list[str]:
    """A glob split at its slashes; one in brackets is no separator."""
    components = [""]
    at = 0
    while at < len(glob):
        end = at + 2 if glob[at] == "\\" else at + 1
        if glob[at] == "[" and (found := _CLASS.match(glob, at)):
            end = found.end()
        if glob[at] == "/":
            components.append("")
        else:
            components[-1] += glob[at:end]
        at = end
    return components


def _expression(glob: str) -> str | None:
    """The regular expression of a glob without braces; None when a bracket is not closed."""
    blocks: list[list[str]] = [[]]
    for component in _components(glob):
        if len(component) > 1 and not component.strip("*"):
            blocks.append([])
            continue
        translated = _component(component)
        if translated is None:
            return None
        blocks[-1].append(translated)
    first, *others = ["/".join(block) for block in blocks]
    if not others:
        return first
    expression = f"{first}/" if first else ""
    for block in others[:-1]:
        # Leftmost and final: what follows may begin in any folder, so an earlier place is never worse.
        expression += f"(?>(?:[^/]*/)*?{block}/)" if block else ""
    return expression + (f"(?:[^/]*/)*?{others[-1]}" if others[-1] else ".+")


def _component(text: str) -> str | None:
    """The regular expression of one component of a path."""
    pieces: list[str] = [""]
    at = 0
    while at < len(text):
        character = text[at]
        if character == "*":
            at = _STARS.match(text, at).end()  # type: ignore[union-attr]
            pieces.append("")
        elif character == "[":
            found = _CLASS.match(text, at)
            if not found:
                return None
            pieces[-1] += _character_class(found[1], found[2])
            at = found.end()
        elif character == "\\" and at + 1 < len(text):
            pieces[-1] += re.escape(text[at + 1])
            at += 2
        else:
            pieces[-1] += "[^/]" if character == "?" else re.escape(character)
            at += 1
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _character_class(negation: str, body: str) -> str:
    pieces: list[str] = _CLASS_PART.findall(body)
    parts: list[str] = []
    at = 0
    while at < len(pieces):
        if pieces[at] in _NAMED_CLASSES:
            parts.append(_NAMED_CLASSES[pieces[at]])
        elif at + 2 < len(pieces) and pieces[at + 1] == "-" and pieces[at + 2] not in _NAMED_CLASSES:
            first, last = pieces[at][-1], pieces[at + 2][-1]
            # A reversed range matches nothing.
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
    if not pattern or len(pattern) > LONGEST:
        return None
    expression = _expression(_single_stars(pattern.removeprefix("/")))
    if expression is None:
        return None
    return IgnoreRule(re.compile(expression, re.DOTALL), negated, folders_only, by_name)


def _single_stars(rule: str) -> str:
    """A rule in which `**` is always a whole component: git reads it as one star elsewhere."""
    components = _components(rule)
    return "/".join([each if not each.strip("*") else _STARS.sub("*", each) for each in components])


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    if backslashes % 2 and len(stripped) < len(line):
        return stripped + " "
    return stripped


@record
class IgnoreFile:
    """The rules of one `.gitignore`, for the folder it stands in (`""` is the root); `is_cut` when it has more."""

    folder: str
    rules: tuple[IgnoreRule, ...]
    is_cut: bool = False

    def verdict(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Whether a path is ignored; None when no rule matches it. The last matching rule decides."""
        below = path[len(self.folder) + 1 :] if self.folder else path
        for rule in reversed(self.rules):
            if rule.folders_only and not is_folder:
                continue
            if rule.expression.fullmatch(name if rule.by_name else below):
                return not rule.negated
        return None


def read_ignore_file(tree: Tree, folder: str) -> IgnoreFile | None:
    """The rules a folder states; None when it has no `.gitignore` that can be read."""
    try:
        content = tree.read(f"{folder}/.gitignore" if folder else ".gitignore", limit=_RULES_KEPT)
    except OSError:
        return None
    lines = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n")
    rules = [rule for line in lines[:MOST_RULES] if (rule := parse_rule(line.removesuffix("\r")))]
    return IgnoreFile(folder, tuple(rules), is_cut=len(lines) > MOST_RULES) if rules else None
