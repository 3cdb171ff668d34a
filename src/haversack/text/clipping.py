"""Short texts: on one line, and cut at the end of a word."""

ELLIPSIS = "…"


def one_line(text: str, width: int) -> str:
    """The text on one line of at most `width` characters, cut at a word end and marked `…` where it is longer."""
    if width <= 0:
        return ""
    # Folding white space only shortens, so the beginning of a long text is enough unless it is nearly all space.
    beginning = text[: 8 * width]
    folded = " ".join(beginning.split())
    if len(folded) <= width and len(beginning) < len(text):
        folded = " ".join(text.split())
    return clipped(folded, width)


def clipped(text: str, width: int) -> str:
    """At most `width` characters of the text as it is, cut at a word end and marked `…` where it is longer."""
    if len(text) <= width:
        return text
    beginning = text[: max(width - len(ELLIPSIS), 0)]
    return beginning[: word_end(beginning)].rstrip() + ELLIPSIS if width > 0 else ""


def word_end(text: str) -> int:
    """Where the last whole word of a cut text ends; its length where that would lose half of it or more."""
    space = text.rfind(" ")
    return space if space > len(text) // 2 else len(text)
