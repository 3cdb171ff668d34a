"""The console of a command: standard streams as UTF-8, and progress on standard error."""

import sys
from collections.abc import Iterable

from haversack import terminal
from haversack.console import Console
from haversack.errors import InvalidArgument
from haversack.tools.declaration import Command, Tool


class CommandConsole(Console):
    """The console of a command: standard input, output and error of this process."""

    def __init__(self, command: Command | None = None, tool: Tool | None = None) -> None:
        super().__init__()
        self._progress = terminal.ProgressLine()
        self._command, self._tool = command, tool
        self._worded: dict[str, str] = {}

    def lines(self) -> Iterable[str]:
        sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        return sys.stdin

    def write(self, text: str) -> None:
        self.wrote = True
        try:
            sys.stdout.write(terminal.neutralised(text) if terminal.is_for_people() else text)
        except BrokenPipeError:
            raise
        except OSError as error:
            terminal.forget_output()
            raise InvalidArgument(f"the output cannot be written: {error.strerror}") from None

    def worded(self, text: str) -> str:
        from haversack.cli.wording import worded  # few replies carry advice

        if text not in self._worded:
            # A reply is laid out several times until it fits.
            self._worded[text] = worded(text, self._command, self._tool)
        return self._worded[text]

    def progress(self, noun: str, done: int, total: int | None = None) -> None:
        self._progress.show(noun, done, total)

    def close(self) -> None:
        """Remove the line of progress."""
        self._progress.close()
