"""Figures of the memory as a drawing: lines of text for a terminal, or an SVG picture."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from haversack.memory.projects.identity import project_key
from haversack.memory.statistics import Figure, Statistics
from haversack.text.clipping import one_line
from haversack.text.times import date
from haversack.values import record

WEEK = 7 * 24 * 3_600_000_000
MOST_COLUMNS = 60
MOST_BARS = 12
_HEIGHTS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BAR_WIDTH = 30
_NAME_WIDTH = 20
_NOTHING_RECALLED = "Hooks have recalled nothing yet."


@record
class Timeline:
    """Observations made over time: each count is of `weeks_each` weeks, the first of which begins at `start`."""

    start: int
    weeks_each: int
    counts: tuple[int, ...]


def timeline(rows: Sequence[Figure]) -> Timeline:
    """Counts of every week from the first to the last, several weeks together where there are many."""
    if not rows:
        return Timeline(0, 1, ())
    first, last = min(row.week for row in rows), max(row.week for row in rows)
    weeks = (last - first) // WEEK + 1
    each = -(-weeks // MOST_COLUMNS)
    counts = [0] * -(-weeks // each)
    for row in rows:
        counts[(row.week - first) // WEEK // each] += row.count
    return Timeline(first, each, tuple(counts))


def sparkline(counts: Sequence[int]) -> str:
    """One letter for each count, as high as its share of the largest; a space where there is nothing."""
    most = max(counts, default=0)
    return "".join(_HEIGHTS[-(-count * len(_HEIGHTS) // most) - 1] if count else " " for count in counts)


def bar(amount: int, most: int) -> str:
    """A bar as long as the amount's share of the largest, to an eighth of a letter; anything at all is visible."""
    eighths = max(amount * _BAR_WIDTH * 8 // most, 1) if amount and most else 0
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def tokens_by_project(rows: Sequence[Figure]) -> dict[str, int]:
    """Tokens of each project, the most first; a name written in several ways is one project."""
    names: dict[str, str] = {}
    for row in rows:
        names.setdefault(project_key(row.project), row.project or "(none)")
    return _largest([(names[project_key(row.project)], row.tokens) for row in rows], "projects")


def tokens_by_kind(rows: Sequence[Figure]) -> dict[str, int]:
    """Tokens of each kind, the most first."""
    return _largest([(row.kind, row.tokens) for row in rows], "kinds")


def _largest(pairs: Sequence[tuple[str, int]], noun: str) -> dict[str, int]:
    """The sums of each name, the largest first; the smallest of many are one sum."""
    sums: dict[str, int] = {}
    for name, tokens in pairs:
        sums[name] = sums.get(name, 0) + tokens
    ordered = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))
    if len(ordered) <= MOST_BARS:
        return dict(ordered)
    others = ordered[MOST_BARS - 1 :]
    return dict(ordered[: MOST_BARS - 1]) | {f"{len(others)} other {noun}": sum(tokens for _, tokens in others)}


def sketch(figures: Statistics, rows: Sequence[Figure]) -> str:
    """The drawing as text, at most 80 columns wide."""
    lines = [_summary(figures)]
    if not rows:
        return "\n".join([*lines, "Nothing is stored yet."])
    over = timeline(rows)
    lines += ["", f"{_made(over)}, {max(over.counts):,} at most", f"  {sparkline(over.counts)}"]
    for title, amounts in _charts(figures, rows).items():
        most = max(amounts.values())
        lines += ["", title]
        lines += [
            f"  {one_line(name, _NAME_WIDTH).ljust(_NAME_WIDTH)} {amount:>11,} {bar(amount, most)}".rstrip()
            for name, amount in amounts.items()
        ]
    if not figures.recalled:
        lines += ["", _NOTHING_RECALLED]
    return "\n".join(lines)


def _summary(figures: Statistics) -> str:
    return f"{figures.observations:,} observations, {figures.tokens:,} tokens, {figures.size_on_disk:,} bytes on disk"


def _made(over: Timeline) -> str:
    each = "week" if over.weeks_each == 1 else f"{over.weeks_each} weeks"
    last = over.start + (len(over.counts) * over.weeks_each - 1) * WEEK
    return f"Observations by {each}, {date(over.start)} to {date(last)}"


def _charts(figures: Statistics, rows: Sequence[Figure]) -> dict[str, Mapping[str, int]]:
    """The charts of bars by their titles."""
    charts: dict[str, Mapping[str, int]] = {
        "Tokens by project": tokens_by_project(rows),
        "Tokens by kind": tokens_by_kind(rows),
    }
    if figures.recalled:
        charts["Recalled by hooks"] = {"recalled": figures.recalled, "opened afterwards": figures.opened}
    return charts


def picture(figures: Statistics, rows: Sequence[Figure]) -> str:
    """The drawing as an SVG document that needs nothing else."""
    parts = [_words(20, 30, _summary(figures), "title")]
    at = 60
    if rows:
        over = timeline(rows)
        parts.append(_words(20, at, f"{_made(over)}, {max(over.counts):,} at most", "head"))
        parts += _columns(over, at + 10)
        at += 140
    else:
        parts.append(_words(20, at, "Nothing is stored yet."))
        at += 30
    for title, amounts in _charts(figures, rows).items() if rows else ():
        parts.append(_words(20, at, title, "head"))
        most = max(amounts.values())
        for row, (name, amount) in enumerate(amounts.items()):
            line = at + 24 + row * 22
            wide = max(round(320 * amount / most, 1), 1) if amount else 0
            parts.append(_words(20, line, one_line(name, _NAME_WIDTH)))
            parts.append(f'<rect x="190" y="{line - 12}" width="{wide}" height="15"/>')
            parts.append(_words(198 + int(wide), line, f"{amount:,}"))
        at += 50 + 22 * len(amounts)
    if rows and not figures.recalled:
        parts.append(_words(20, at, _NOTHING_RECALLED))
        at += 30
    body = "\n".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {at}" width="640" height="{at}" role="img">
<title>Figures of the memory</title>
<style>
svg {{ background: #fff }} text {{ font: 13px sans-serif; fill: #222 }} rect {{ fill: #2f6f9f }}
.title {{ font-size: 16px }} .head {{ font-weight: bold }}
</style>
{body}
</svg>"""


def _columns(over: Timeline, top: int) -> list[str]:
    """A column for each count; the week it begins with and the count itself are its title."""
    most, step = max(over.counts), 600 / len(over.counts)
    drawn = []
    for place, count in enumerate(over.counts):
        if count:
            high = max(round(100 * count / most, 1), 1)
            begins = date(over.start + place * over.weeks_each * WEEK)
            drawn.append(
                f'<rect x="{20 + place * step:.1f}" y="{top + 100 - high:.1f}" width="{min(step * 0.8, 40):.1f}"'
                f' height="{high}"><title>{begins}: {count:,}</title></rect>'
            )
    return drawn


def _words(x: int, y: int, text: str, look: str = "") -> str:
    # XML has no way to write control characters.
    safe = escape("".join(letter if letter.isprintable() else "\ufffd" for letter in text))
    return f'<text x="{x}" y="{y}"' + (f' class="{look}"' if look else "") + f">{safe}</text>"
