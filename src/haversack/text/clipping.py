"""Short texts: on one line, and cut at the end of a word."""

ELLIPSIS = "…"


def one_line(text: str, width: int, *, at_word: bool = True) -> str:
    """The text on one line of at most `width` characters, cut and marked `…` where it is longer."""
    if width <= 0:
        return ""
    # Folding white space only shortens, so the beginning of a long text is enough unless it is nearly all space.
    beginning = text[: 8 * width]
    folded = " ".join(beginning.split())
    if len(folded) <= width and len(beginning) < len(text):
        folded = " ".join(text.split())
    return clipped(folded, width, at_word=at_word)


def clipped(text: str, width: int, *, at_word: bool = True) -> str:
    """At most `width` characters of the text as it is, cut and marked `…` where it is longer."""
    if len(text) <= width:
        return text
    if width <= 0:
        return ""
    beginning = text[: width - len(ELLIPSIS)]
    return (beginning[: word_end(beginning)] if at_word else beginning).rstrip() + ELLIPSIS


def word_end(text: str) -> int:
    """The end of the last complete word of a cut text; its length where that would drop half of it or more."""
    space = text.rfind(" ")
    return space if space > len(text) // 2 else len(text)
