"""Commands of rooms beside this one, which this one does not import: a name, a line of help and where to find it."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from haversack.values import record

if TYPE_CHECKING:
    from haversack.argument_parser import Parser

HelpGroup = Literal[
    "remember", "find", "packs and budget", "workspace", "plan", "hosts and servers", "upkeep"
]  # fmt: skip
HELP_GROUPS: dict[HelpGroup, str] = {
    "remember": "Remember",
    "find": "Find",
    "packs and budget": "Packs and budget",
    "workspace": "Workspace",
    "plan": "Plan",
    "hosts and servers": "Hosts and servers",
    "upkeep": "Upkeep",
}
"""The headings of `haversack --help`, in order."""


@record
class Door:
    """A command whose function `(typed: list[str]) -> exit code` is at `address`, as in `haversack.room.module:name`.

    The module is imported only when the command is typed. A name may have two words. One that programs type, not
    people, is not `listed`. One that `sees_doors` is given all of them as a second argument.
    """

    name: str
    group: HelpGroup
    about: str
    address: str
    listed: bool = True
    sees_doors: bool = False

    def open(self, typed: list[str], doors: Sequence["Door"] = ()) -> int:
        """Run the command with what was typed after its name."""
        module, _, function = self.address.partition(":")
        run: Callable[..., int] = getattr(import_module(module), function)
        return run(typed, doors) if self.sees_doors else run(typed)

    def parser(self) -> "Parser | None":
        """What reads the words after the name; None for a command that reads them itself."""
        from haversack.argument_parser import parser_of

        return parser_of(self.open)


OWN = (
    Door("demo", "upkeep", "Show the main job on a small store in a temporary place.", "haversack.cli.demo:run"),
    Door(
        "completion",
        "upkeep",
        "Print a completion script for a shell.",
        "haversack.cli.completion:run",
        sees_doors=True,
    ),
    Door(
        "complete-values",
        "upkeep",
        "Print the values that continue a word; completion scripts run this.",
        "haversack.cli.stored_values:run",
        listed=False,
    ),
    Door(
        "fitcheck",
        "hosts and servers",
        "Try any MCP server's tools at many token budgets and report what does not fit.",
        "haversack.fitcheck.command:run",
    ),
)
"""The commands that are neither tools nor another room's."""
