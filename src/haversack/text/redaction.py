"""Redaction: removing text marked private, and secrets recognised by their shape or name."""

import re
from collections import Counter
from collections.abc import Iterator

from haversack.patterns import pattern
from haversack.text.secret_assignments import assigned_secrets, secret_under_name
from haversack.text.secret_shapes import Span, header_secrets, shaped_secrets
from haversack.values import record

PRIVATE = "private-tag"

_PRIVATE_TAG = pattern(r"<\s{0,16}(?P<close>/?)\s{0,16}private(?=[\s/>])[^<>]*>", re.IGNORECASE)
# Removing one secret can expose another, such as a password that was joined to it; more rounds find nothing.
_MOST_ROUNDS = 8
_SHORT_WORD = 20
"""The shortest secret of letters alone has as many."""


@record
class Redacted:
    """A text without its secrets, and the name of each that was taken out, in the order they stood."""

    text: str
    found: tuple[str, ...]

    @property
    def summary(self) -> str:
        """A summary of the removed secrets; empty when there were none."""
        return describe(self.found)


def redact(text: str) -> Redacted:
    """The text with private parts as `[private]` and secrets as `[redacted:name]`; takes linear time.

    A `<private>` that is never closed hides everything after it. A `</private>` that was never opened hides
    everything before it, as its opening was lost.
    """
    found: tuple[str, ...] = ()
    for _ in range(_MOST_ROUNDS):
        spans = list(_merged(_secrets(text)))
        if not spans:
            break
        text = _without(text, spans)
        found += tuple(span.name for span in spans)
    return Redacted(text, found)


def redact_json(document: object) -> tuple[object, tuple[str, ...]]:
    """A copy of a decoded JSON document without its secrets, and what was found.

    Strings are redacted one by one, and whole where their key names a secret, so the document stays valid.
    """
    found: list[str] = []
    root = [document]
    # A stack of its own: documents may be nested deeper than calls may be.
    waiting: list[tuple[list[object] | dict[str, object], int | str]] = [(root, 0)]
    while waiting:
        holder, place = waiting.pop()
        value = holder[place]  # type: ignore[index]
        if isinstance(value, str):
            new: object = _redacted_string(value, place, found)
        elif isinstance(value, list):
            new = copy = list(value)
            waiting.extend((copy, index) for index in reversed(range(len(copy))))
        elif isinstance(value, dict):
            new = named = _with_redacted_keys(value, found)
            waiting.extend((named, key) for key in reversed(named))
        else:
            continue
        holder[place] = new  # type: ignore[index]
    return root[0], tuple(found)


def describe(found: tuple[str, ...]) -> str:
    """`redacted 3 secrets (github-token x2, jwt)`; empty when nothing was found."""
    if not found:
        return ""
    named = ", ".join(name if count == 1 else f"{name} x{count}" for name, count in Counter(found).items())
    return f"redacted {len(found)} secret{'s' if len(found) > 1 else ''} ({named})"


def _with_redacted_keys(held: dict[str, object], found: list[str]) -> dict[str, object]:
    named: dict[str, object] = {}
    for key, value in held.items():
        # Most field names are one short word, too short for a secret.
        new = key if key.isalpha() and len(key) < _SHORT_WORD else _redacted_string(key, "", found)
        # Two redacted keys may become equal; neither value may be lost.
        named[new if new not in named else f"{new} {len(named)}"] = value
    return named


def _redacted_string(text: str, name: object, found: list[str]) -> str:
    redacted = redact(text)
    found.extend(redacted.found)
    if not redacted.found and isinstance(name, str) and (shape := secret_under_name(name, text)):
        found.append(shape)
        return f"[redacted:{shape}]"
    return redacted.text


def _secrets(text: str) -> Iterator[Span]:
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.translate(_ASCII_LOWER)
    if "private" in lowered:
        yield from _private_parts(text)
    yield from shaped_secrets(text)
    yield from header_secrets(text, lowered)
    yield from assigned_secrets(text, lowered)


# For texts whose length changes in lower case: positions found in the copy must be valid in the text.
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def _private_parts(text: str) -> Iterator[Span]:
    depth = start = visible = 0
    for tag in _PRIVATE_TAG.finditer(text):
        if tag["close"]:
            # The part of an inner tag lies within that of the outer one, and is merged with it.
            yield Span(start if depth else visible, tag.end(), PRIVATE)
            visible = tag.end()
            depth = max(0, depth - 1)
        elif not tag.group().endswith("/>"):
            start = start if depth else tag.start()
            depth += 1
    if depth:
        yield Span(start, len(text), PRIVATE)


def _merged(spans: Iterator[Span]) -> Iterator[Span]:
    """Spans in order, those that overlap as one: private parts give it their name, then what was found first."""
    merged: Span | None = None
    for span in sorted(spans, key=lambda span: span.start):
        if merged is None or span.start >= merged.end:
            if merged:
                yield merged
            merged = span
        else:
            name = PRIVATE if span.name == PRIVATE else merged.name
            merged = Span(merged.start, max(merged.end, span.end), name)
    if merged:
        yield merged


def _without(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        pieces.append(text[end : span.start])
        pieces.append("[private]" if span.name == PRIVATE else f"[redacted:{span.name}]")
        end = span.end
    pieces.append(text[end:])
    return "".join(pieces)
