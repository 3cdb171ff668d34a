"""A unified diff with a line for each file before its hunks, so that the reader knows all of it from the first page."""

from haversack.gateway.renderings.rendering import Rendering
from haversack.patterns import pattern

_FILE = pattern(r"(?m)^diff --git a/(?:.*) b/(.*)$")
_HUNK = pattern(r"(?m)^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
FEWEST_FILES = 2


def diff(text: str) -> Rendering | None:
    """A diff of several files with a summary on top; None for other texts."""
    if not _HUNK.search(text):
        return None
    files = _counted(text)
    if len(files) < FEWEST_FILES:
        return None
    added, removed = (sum(counts[side] for _, counts in files) for side in (0, 1))
    lines = [f"{name} +{plus} -{minus}" for name, (plus, minus) in files]
    about = f"diff: {len(files):,} files, +{added:,} -{removed:,}; the hunks follow"
    return Rendering(about, "\n".join([*lines, "", text]))


def _counted(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Each file with its added and removed lines."""
    found: list[tuple[str, list[int]]] = []
    named_by_git = bool(_FILE.search(text))
    left = [0, 0]
    for line in text.splitlines():
        if any(left):
            # Inside a hunk a line that begins with --- is a removed line.
            _count(line, left, found[-1][1] if found else [0, 0])
            continue
        if match := _FILE.match(line):
            found.append((match[1], [0, 0]))
        elif line.startswith("+++ ") and not named_by_git:
            found.append((line[4:].split("\t")[0].removeprefix("b/"), [0, 0]))
        elif _HUNK.match(line):
            left = _sizes(line)
    return [(name, (counts[0], counts[1])) for name, counts in found]


def _count(line: str, left: list[int], counts: list[int]) -> None:
    mark = line[:1]
    if mark == "+":
        left[1] -= 1
        counts[0] += 1
    elif mark == "-":
        left[0] -= 1
        counts[1] += 1
    elif mark != "\\":
        left[0] -= 1
        left[1] -= 1
    left[:] = [max(0, each) for each in left]


def _sizes(header: str) -> list[int]:
    """How many lines of the old and of the new text a hunk holds."""
    _, old, new, *_ = header.split(" ")
    return [int(part.split(",")[1]) if "," in part else 1 for part in (old, new)]
