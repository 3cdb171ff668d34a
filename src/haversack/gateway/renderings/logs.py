"""Logs as templates: lines that differ only in numbers and ids are one line with a count, the rarest first."""

from haversack.gateway.renderings.rendering import Rendering
from haversack.patterns import pattern
from haversack.values import record

FEWEST_LINES = 20
_SHARE_WITH_STAMPS = 0.6
_LINES_PER_TEMPLATE = 4
_STAMP = pattern(
    r"\d{1,2}:\d{2}:\d{2}|\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|debug|info|warn|error)\b"
)
_VARIABLE = pattern(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|0x[0-9a-fA-F]+|\b(?=[a-f]*\d)[0-9a-f]{7,}\b|\d+"
)
_TROUBLE = pattern(r"(?i)error|exception|fail|fatal|panic|critical|traceback|refused|denied|warn")
_WORD = pattern(r"[A-Za-z]{2,}")


@record
class _Template:
    count: int
    first: int
    last: int
    example: str
    is_trouble: bool


def log(text: str) -> Rendering | None:
    """A log as its templates; None for a text that is no log or whose lines have little in common."""
    lines = text.splitlines()
    if len(lines) < FEWEST_LINES or not _looks_like_log(lines):
        return None
    templates = _templates(lines)
    if len(templates) * _LINES_PER_TEMPLATE > len(lines):
        return None
    ranked = sorted(templates, key=lambda each: (each.count, not each.is_trouble, each.first))
    made = "\n".join(map(_line, ranked))
    about = f"log: {len(lines):,} lines as {len(templates):,} templates, rarest first"
    return Rendering(about, made) if len(made) < len(text) else None


def _looks_like_log(lines: list[str]) -> bool:
    sample = lines[:: max(1, len(lines) // 400)]
    stamped = sum(bool(_STAMP.search(line[:80])) for line in sample)
    # A table of measurements has times too, but hardly a word: its numbers are the content.
    worded = sum(len(_WORD.findall(_VARIABLE.sub("", line))) >= 2 for line in sample)
    return min(stamped, worded) >= _SHARE_WITH_STAMPS * len(sample)


def _templates(lines: list[str]) -> list[_Template]:
    places: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        if line.strip():
            places.setdefault(_VARIABLE.sub("#", line.strip()), []).append(place)
    return [
        _Template(len(at), at[0] + 1, at[-1] + 1, lines[at[0]].strip(), bool(_TROUBLE.search(mask)))
        for mask, at in places.items()
    ]


def _line(template: _Template) -> str:
    if template.count == 1:
        return f"line {template.first:,}: {template.example}"
    return f"{template.count:,}x, lines {template.first:,}-{template.last:,}: {template.example}"
