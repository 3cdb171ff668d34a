"""Test output with its failures first, and stack traces with repeated frames folded."""

from haversack.gateway.renderings.rendering import Rendering
from haversack.patterns import pattern

FEWEST_LINES = 30
_RULE = pattern(r"^=+ (.*?) =+$")
_PASSED = pattern(
    r"^\s*(?:✓|√|✔|PASS\b|ok \d|ok\b|--- PASS|=== (?:RUN|PAUSE|CONT)|test .* \.\.\. ok$)|\bPASSED\b|^[.sxX]{20,}"
)
_FAILED = pattern(r"^\s*(?:✕|✗|✘|×|FAIL\b|not ok\b|--- FAIL|test .* \.\.\. FAILED$|●)|\bFAILED\b|^E\s{2,}")
_SUMMARY = pattern(
    r"(?i)^\s*(?:tests?|test suites?|suites|# (?:pass|fail|tests)|test result|ran \d+|failures?)\b.*\d"
    r"|\d+ (?:passed|failed)"
)
_FAILURE_SECTIONS = ("FAILURES", "ERRORS", "short test summary info")
_MOST_REPEATED_FRAME = 6
"""Lines of a frame that may repeat."""


def report(text: str) -> Rendering | None:
    """Test output with failures whole, then the summary, the rest counted; None for other texts."""
    lines = text.splitlines()
    if len(lines) < FEWEST_LINES:
        return None
    chosen = _pytest(lines) or _other(lines)
    if chosen is None:
        return None
    left_out = len(lines) - sum(chosen)
    made = "\n".join(line for line, keep in zip(lines, chosen, strict=True) if keep)
    return Rendering(f"test output: failures and summary; {left_out:,} other lines left out", made)


def _pytest(lines: list[str]) -> list[bool] | None:
    """Which lines of pytest's output are in its failure sections or are its last line."""
    ruled = [(place, line) for place, line in enumerate(lines) if line[:1] == "="]
    titles = [(place, match[1]) for place, line in ruled if (match := _RULE.match(line.rstrip()))]
    if not any("test session starts" in title for _, title in titles):
        return None
    chosen = [False] * len(lines)
    ends = [place for place, _ in titles[1:]] + [len(lines)]
    for (place, title), end in zip(titles, ends, strict=True):
        if title in _FAILURE_SECTIONS:
            chosen[place:end] = [True] * (end - place)
        elif _SUMMARY.search(title):
            chosen[place] = True
    return chosen


def _other(lines: list[str]) -> list[bool] | None:
    """Which lines are failures with their details, or the summary."""
    sample = lines[:: max(1, len(lines) // 200)]
    if sum(bool(_PASSED.search(line) or _FAILED.search(line)) for line in sample) * 8 < len(sample):
        return None
    passed = sum(bool(_PASSED.search(line)) for line in lines)
    failed = [place for place, line in enumerate(lines) if _FAILED.search(line)]
    if passed + len(failed) < len(lines) // 4 or not any(_SUMMARY.search(line) for line in lines):
        return None
    chosen = [bool(_SUMMARY.search(line)) for line in lines]
    for place in failed:
        end = place + 1
        while end < len(lines) and not _PASSED.search(lines[end]) and not _FAILED.search(lines[end]):
            end += 1
        chosen[place:end] = [True] * (end - place)
    return chosen


def folded(text: str) -> Rendering | None:
    """A text in which a group of lines repeats many times in a row, as the frames of a deep recursion do."""
    lines = text.splitlines()
    if len(set(lines)) * 2 > len(lines):
        return None
    made: list[str] = []
    place = folds = 0
    while place < len(lines):
        size, times = _repeated(lines, place)
        made += lines[place : place + size]
        if times > 2:
            made.append(f"[the {'line' if size == 1 else f'{size} lines'} above {times - 1:,} more times]")
            folds += 1
            place += size * times
        else:
            place += size
    if not folds or len(made) * 2 > len(lines):
        return None
    return Rendering(f"{len(lines):,} lines, repeated ones folded", "\n".join(made))


def _repeated(lines: list[str], place: int) -> tuple[int, int]:
    """The size of the group of lines that repeats most here, and how often it stands in a row."""
    best = (1, 1)
    for size in range(1, _MOST_REPEATED_FRAME + 1):
        group = lines[place : place + size]
        times = 1
        while lines[place + times * size : place + (times + 1) * size] == group:
            times += 1
        if times > 2 and times * size > best[0] * best[1]:
            best = (size, times)
    return best
