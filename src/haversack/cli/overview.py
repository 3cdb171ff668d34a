"""The lists of commands: `haversack --help`, the commands of a group, and the nearest names to an unknown one."""

from collections.abc import Sequence
from textwrap import wrap

from haversack import terminal
from haversack.cli.doors import HELP_GROUPS, Door
from haversack.tools.declaration import Command, Tool
from haversack.tools.registry import tools
from haversack.values import record

_HEADINGS = {"workspace": "workspace", "sdd": "plan", "budget": "packs and budget", "upkeep": "upkeep"}
EXAMPLES = """\
examples:
  haversack save "Tokens rotate hourly: we chose JWT with RS256" --kind decision
  haversack search "how did we do the jwt auth" --token-budget 300
  haversack context-pack --project thesis --tokens 2000 -o context.md

exit codes: 0 done, 1 an error that says what to do, 2 wrong usage, 3 unexpected, 130 interrupted;
  with --json an error is JSON too, on standard error"""


@record
class Listed:
    """One command as the lists show it."""

    name: str
    about: str
    heading: str
    aliases: tuple[str, ...] = ()
    is_core: bool = False


def commands() -> list[tuple[Command, Tool]]:
    """Every command of a tool, in the order of the tools."""
    return [(command, tool) for tool in tools().values() for command in tool.commands]


def listed(doors: Sequence[Door]) -> list[Listed]:
    """Every command there is, those of other rooms among them."""
    own = [
        Listed(command.name, command.about or tool.about, heading(command, tool), command.aliases, tool.always_loaded)
        for command, tool in commands()
    ]
    return own + [Listed(door.name, door.about, door.group) for door in doors if door.listed]


def heading(command: Command, tool: Tool) -> str:
    """The heading of a command in the help."""
    return command.heading or _HEADINGS.get(tool.group) or ("remember" if tool.writes else "find")


def overview(doors: Sequence[Door]) -> str:
    """What `haversack --help` prints: every command under the heading of its group, wrapped to the terminal."""
    found = listed(doors)
    lines = [
        "Memory and context for AI agents that always fits the token budget.",
        "",
        "usage: haversack COMMAND [options]      haversack COMMAND --help",
    ]
    for group, title in HELP_GROUPS.items():
        # The most used commands come first in their group.
        if members := sorted((each for each in found if each.heading == group), key=lambda each: not each.is_core):
            lines += ["", f"{title}:", *columns(members)]
    return "\n".join([*lines, "", EXAMPLES])


def columns(members: Sequence[Listed]) -> list[str]:
    """Names and the first sentence of what they do, in two columns as wide as the terminal."""
    names = [", ".join((each.name, *each.aliases)) for each in members]
    width = max(map(len, names)) + 4
    lines = []
    for name, each in zip(names, members, strict=True):
        sentence = each.about.split(". ")[0].rstrip(".")
        first, *others = wrap(sentence, max(terminal.width() - width - 1, 30)) or [""]
        lines += [f"  {name}".ljust(width) + first, *(" " * width + other for other in others)]
    return lines


def nearest(typed: str, doors: Sequence[Door]) -> list[str]:
    """The names of commands most like what was typed."""
    from difflib import get_close_matches

    return get_close_matches(typed, [name for each in listed(doors) for name in (each.name, *each.aliases)], n=2)
