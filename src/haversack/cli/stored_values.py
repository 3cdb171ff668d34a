"""`haversack complete-values`: values of the store that continue a word, for the completion scripts."""

import os

from haversack import terminal
from haversack.app import App
from haversack.config import load
from haversack.store import observations
from haversack.store.records import Filters

SOURCES = ("project", "kind", "tag", "id", "deleted")
"""What can be completed; `id` and `deleted` are the ids of observations, each with its title."""
MOST = 100
SEARCHED_TITLES = 2_000
BUSY_MILLISECONDS = 300
"""How long a completion waits for a store that another process holds."""


def run(typed: list[str]) -> int:
    """Print one value on each line, an id with a tab and its title; whatever goes wrong, print nothing and succeed."""
    if typed[:1] in (["-h"], ["--help"]):
        _show_help()
        return 0
    source, prefix = (*typed, "", "")[:2]
    try:
        lines = continuations(source, prefix) if source in SOURCES else []
    except Exception:  # noqa: BLE001 - a message would land in the middle of the line that is being typed
        lines = []
    if lines:
        terminal.show("\n".join(map(terminal.neutralised, lines)))
    return 0


def _show_help() -> None:
    from haversack.argument_parser import plain_parser

    parser = plain_parser(
        "complete-values",
        "Print the values of the store that continue a word; completion scripts run this.",
        "haversack complete-values project the",
    )
    parser.add_argument("source", metavar="WHAT", help=f"one of: {', '.join(SOURCES)}")
    parser.add_argument(
        "prefix", metavar="PREFIX", nargs="?", help="what was typed so far; for an id, words of a title"
    )
    terminal.show(parser.format_help())


def continuations(source: str, prefix: str) -> list[str]:
    """The completions of a prefix; a missing store is not created."""
    config = load()
    if not config.store.url and not os.path.exists(config.store_path):
        return []
    app = App(config, busy_milliseconds=BUSY_MILLISECONDS)
    try:
        if source in ("id", "deleted"):
            return _identifiers(app, prefix, Filters(deleted=source == "deleted"))
        from haversack.memory.known_values import known_values
        from haversack.memory.save.checks import KINDS

        known = known_values(app.memory_at(""), source)
        if source == "kind":
            known = list(dict.fromkeys([*known, *KINDS]))
        wanted = prefix.casefold()
        # A name with a line break would be two values.
        return [name for name in known if name.casefold().startswith(wanted) and name.isprintable()][:MOST]
    finally:
        app.close()


def _identifiers(app: App, prefix: str, filters: Filters) -> list[str]:
    """Ids that begin with the digits typed, else ids whose titles contain the text typed."""
    digits = prefix.removeprefix("#")
    words = "" if digits.isdecimal() else digits.casefold()
    with app.database.read() as tx:
        if words:
            held = observations.titles(tx, filters, SEARCHED_TITLES)
        else:
            held = observations.titles(tx, filters, MOST, digits=digits)
    found = [(identifier, title) for identifier, title in held if words in title.casefold()]
    return [f"{identifier}\t{' '.join(title.split())[:60]}" for identifier, title in found[:MOST]]
