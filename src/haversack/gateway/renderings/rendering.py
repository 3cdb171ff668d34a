"""Which rendering a text gets, if any."""

from haversack.values import record

LARGEST = 32_000_000
"""Characters beyond which a text is only cut."""


@record
class Rendering:
    """A text in a shorter form, and a note on how it was made."""

    about: str
    text: str


def rendered(text: str) -> Rendering | None:
    """The text in a more compact form; None where plain cutting shows as much."""
    if len(text) > LARGEST:
        return None
    try:
        found = _rendered(text)
    except (ValueError, RecursionError, LookupError, AssertionError):
        # A rendering is a convenience: what it cannot read is cut plainly.
        return None
    if found is None or not found.text.strip():
        return None
    return found


def _rendered(text: str) -> Rendering | None:
    beginning = text[:2_000].lstrip()
    if beginning[:1] in ("[", "{"):
        from haversack.gateway.renderings.tables import table

        if (found := table(text)) is not None:
            return found
    if beginning[:1] == "<":
        from haversack.gateway.renderings.pages import page

        return page(text)
    from haversack.gateway.renderings import diffs, logs, reports

    return diffs.diff(text) or reports.report(text) or logs.log(text) or reports.folded(text)
