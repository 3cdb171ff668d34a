"""Commands of rooms beside this one, which this one does not import: a name, a line of help and where to find it."""

from collections.abc import Callable
from importlib import import_module
from typing import Literal

from haversack.values import record

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

    The module is imported only when the command is typed. A name may have two words.
    """

    name: str
    group: HelpGroup
    about: str
    address: str

    def open(self, typed: list[str]) -> int:
        """Run the command with what was typed after its name."""
        module, _, function = self.address.partition(":")
        run: Callable[[list[str]], int] = getattr(import_module(module), function)
        return run(typed)


OWN = (
    Door(
        "tokens",
        "packs and budget",
        "Count the tokens of files under each profile.",
        "haversack.cli.housekeeping:tokens",
    ),
    Door("export", "upkeep", "Write everything as JSON Lines.", "haversack.cli.housekeeping:export"),
    Door(
        "import",
        "upkeep",
        "Read JSON Lines written by export; what is there already is not added again.",
        "haversack.cli.housekeeping:import_",
    ),
    Door(
        "backup",
        "upkeep",
        "Write the whole store to one checked file, while it is in use.",
        "haversack.cli.housekeeping:backup",
    ),
    Door(
        "restore-backup",
        "upkeep",
        "Put a backup in the place of the store; the old store is kept beside it.",
        "haversack.cli.housekeeping:restore_backup",
    ),
    Door(
        "fitcheck",
        "hosts and servers",
        "Try any MCP server's tools at many token budgets and report what does not fit.",
        "haversack.cli.housekeeping:fitcheck",
    ),
    Door(
        "reembed",
        "upkeep",
        "Give memories the vectors that search by meaning needs.",
        "haversack.cli.housekeeping:reembed",
    ),
    Door(
        "pack diff", "packs and budget", "Say what changed between two packs.", "haversack.cli.housekeeping:pack_diff"
    ),
    Door(
        "demo", "upkeep", "Show the main job on a small store in a temporary place.", "haversack.cli.housekeeping:demo"
    ),
    Door("doctor", "upkeep", "Say what is wrong, and how to mend it.", "haversack.cli.housekeeping:doctor"),
    Door(
        "sdd doctor",
        "plan",
        "Say what is damaged in the plan kept here, and mend it.",
        "haversack.cli.housekeeping:sdd_doctor",
    ),
    Door(
        "completion",
        "upkeep",
        "Print a completion script for bash, zsh or fish.",
        "haversack.cli.housekeeping:completion",
    ),
)
"""The commands of this room that are not tools."""
