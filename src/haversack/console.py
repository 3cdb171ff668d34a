"""What a caller at a terminal has beyond calls: standard streams, progress and an exit code."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from haversack.errors import InvalidArgument

Item = TypeVar("Item")

STANDARD = "-"
"""The name of a file that means standard input or standard output."""


class Console:
    """The console of a caller without a terminal: it refuses streams and shows no progress."""

    def __init__(self) -> None:
        self.exit_code = 0
        self.wrote = False

    def lines(self) -> Iterable[str]:
        """The lines of standard input."""
        raise InvalidArgument("there is no standard input here", hint="name a file")

    def write(self, text: str) -> None:
        """Write to standard output; the reply then goes to standard error."""
        raise InvalidArgument("there is no standard output here", hint="name a file")

    def worded(self, text: str) -> str:
        """A sentence of advice in the words of this door; it is written with the names of tools and parameters."""
        return text

    def progress(self, noun: str, done: int, total: int | None = None) -> None:
        """Show how far work has come."""

    def counted(self, noun: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
        """The items, with progress shown as they are taken."""
        for number, item in enumerate(items, 1):
            self.progress(noun, number, total)
            yield item
