"""The command line: one error boundary over commands that are made from the tools' declarations."""

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from haversack import terminal
from haversack.cli.commands import COMMAND_BY_NAME, COMMANDS, HOUSEKEEPING, Command
from haversack.cli.doors import HELP_GROUPS, Door, HelpGroup
from haversack.errors import HaversackError
from haversack.version import __version__

if TYPE_CHECKING:
    from haversack.tools.declaration import Tool
    from haversack.tools.road.fit import Reply

WATCH_SECONDS = 2
EXIT_DONE, EXIT_ERROR, EXIT_USAGE, EXIT_UNEXPECTED, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None, doors: Sequence[Door] = ()) -> int:
    """Run one command and return the exit code; `doors` are commands of rooms this one does not know."""
    terminal.make_utf8()
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(typed, {door.name: door for door in doors})
    except HaversackError as error:
        terminal.say(f"haversack: {error.message}")
        if error.hint:
            terminal.say(f"  {error.hint}")
        return EXIT_ERROR
    except KeyboardInterrupt:
        terminal.say("haversack: interrupted; what was written before is safe")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough.
        terminal.forget_output()
        return EXIT_DONE
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else EXIT_USAGE
    except Exception:  # noqa: BLE001 - the one boundary of this door
        return _unexpected(typed)


def _run(typed: list[str], doors: dict[str, Door]) -> int:
    if not typed or typed[0] in ("-h", "--help", "help"):
        if len(typed) > 1 and typed[0] == "help":
            return _run([*typed[1:], "--help"], doors)
        terminal.show(overview(doors))
        return EXIT_DONE if typed else EXIT_USAGE
    if typed[0] in ("-V", "--version", "version"):
        terminal.show(f"haversack {__version__}")
        return EXIT_DONE
    # The commands of a room are two words: `haversack sdd status`.
    for words in (2, 1):
        name, rest = " ".join(typed[:words]), typed[words:]
        if name in doors:
            return doors[name].open(rest)
        if name in COMMAND_BY_NAME:
            return _run_tool(COMMAND_BY_NAME[name], rest)
        if name in HOUSEKEEPING:
            from haversack.cli import housekeeping

            return housekeeping.run(name, rest)
    if any(known.startswith(f"{typed[0]} ") for known in (*COMMAND_BY_NAME, *HOUSEKEEPING, *doors)):
        return _group(typed, doors)
    return _unknown(typed[0], doors)


def _run_tool(command: Command, typed: list[str]) -> int:
    from haversack.app import open_caller
    from haversack.cli.options import arguments_from, parser_for
    from haversack.config import load
    from haversack.tools.registry import find
    from haversack.tools.road.call import Options, call
    from haversack.values import replace

    tool = find(command.tool)
    parsed = parser_for(command, tool).parse_args(typed)
    config = load()
    if getattr(parsed, "profile", None):
        config = replace(config, tokens=replace(config.tokens, profile=parsed.profile))
    arguments = arguments_from(command, tool, parsed)
    as_table = command.table and terminal.is_for_people() and not parsed.json
    if as_table:
        arguments["format"] = "json"
    caller = open_caller(config)
    try:
        reply = call(caller, tool.name, arguments, Options(footer=not command.paste))
        while getattr(parsed, "watch", False):
            terminal.show_afresh(reply.text)
            time.sleep(WATCH_SECONDS)
            reply = call(caller, tool.name, arguments)
    finally:
        caller.app.close()
    if as_table:
        _show_table(reply.text, command)
    elif getattr(parsed, "output", None):
        _write(parsed.output, reply.text)
    else:
        terminal.show(reply.text)
    if command.paste and not parsed.json:
        terminal.say(tally(reply, "memories"))
    return EXIT_DONE


def _show_table(text: str, command: Command) -> None:
    import json

    facts = json.loads(text)
    rows = next((held for held in facts.values() if isinstance(held, list)), [])
    if not rows:
        terminal.show(facts.get("reason", "Nothing."))
        return
    terminal.show(terminal.table(rows, command.table, terminal.width()))
    if more := facts.get("more"):
        terminal.show(f"Showing {facts['shown']} of {facts['total']}. The rest: haversack more {more['key']}")


def tally(reply: "Reply", noun: str) -> str:
    """What a reply holds and what it left out, for replies that are pasted without their footer."""
    said = f"{reply.shown} of {reply.total} {noun}, ~{reply.tokens:,} tokens"
    if reply.left is None:
        return said
    way = f"haversack more {reply.left.key}" if reply.left.key else "not kept, as the store cannot be written"
    return f"{said}; {reply.left.items} left out, ~{reply.left.price:,} tokens: {way}"


def _write(path: str, text: str) -> None:
    from haversack.errors import InvalidArgument

    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text if text.endswith("\n") else text + "\n")
    except OSError as error:
        raise InvalidArgument(
            f"{path} cannot be written: {error.strerror}", hint="choose another file for -o"
        ) from None


def overview(doors: dict[str, Door]) -> str:
    """What `haversack --help` prints: every command under the heading of its group, wrapped to the terminal."""
    from haversack.tools.registry import tools

    known = tools()
    grouped: dict[HelpGroup, list[tuple[str, str]]] = {group: [] for group in HELP_GROUPS}
    for command in COMMANDS:
        grouped[_help_group(command, known[command.tool])].append(
            (command.name, command.about or known[command.tool].about)
        )
    for name, about in HOUSEKEEPING.items():
        grouped["plan" if name.startswith("sdd") else "upkeep"].append((name, about))
    for door in doors.values():
        grouped[door.group].append((door.name, door.about))
    lines = [
        "Memory and context for AI agents that always fits the token budget.",
        "",
        "usage: haversack COMMAND [options]      haversack COMMAND --help",
    ]
    for group, commands in grouped.items():
        if commands:
            lines += ["", f"{HELP_GROUPS[group]}:", *_listed(commands)]
    lines += [
        "",
        "examples:",
        '  haversack save --title "Tokens rotate hourly" --content "We chose JWT with RS256" --kind decision',
        '  haversack search "how did we do the jwt auth" --token-budget 300',
        "  haversack context-pack --project thesis --tokens 2000 -o context.md",
    ]
    return "\n".join(lines)


def _listed(commands: Sequence[tuple[str, str]]) -> list[str]:
    """Names and the first sentence of what they do, in two columns."""
    from textwrap import wrap

    width = max(len(name) for name, _ in commands) + 4
    lines = []
    for name, about in commands:
        sentence = about.split(". ")[0].rstrip(".")
        first, *others = wrap(sentence, max(terminal.width() - width - 1, 30)) or [""]
        lines += [f"  {name}".ljust(width) + first, *(" " * width + other for other in others)]
    return lines


def _help_group(command: Command, tool: "Tool") -> HelpGroup:
    if tool.group in ("workspace", "sdd"):
        return "workspace" if tool.group == "workspace" else "plan"
    if tool.group == "budget" or tool.name == "context_pack":
        return "packs and budget"
    return "remember" if tool.writes else "find"


def _group(typed: list[str], doors: dict[str, Door]) -> int:
    """List a room's commands, when its name was typed alone or with a word it does not know."""
    from haversack.tools.registry import tools

    abouts = {command.name: command.about or tools()[command.tool].about for command in COMMANDS} | HOUSEKEEPING
    abouts |= {door.name: door.about for door in doors.values()}
    commands = [(name, about) for name, about in abouts.items() if name.startswith(f"{typed[0]} ")]
    asked = len(typed) == 1 or typed[1] in ("-h", "--help")
    if not asked:
        terminal.say(f"haversack: no command {' '.join(typed[:2])!r}")
    (terminal.show if asked else terminal.say)("\n".join(_listed(commands)))
    return EXIT_DONE if asked and len(typed) > 1 else EXIT_USAGE


def _unknown(name: str, doors: dict[str, Door]) -> int:
    from difflib import get_close_matches

    near = get_close_matches(name, [*COMMAND_BY_NAME, *HOUSEKEEPING, *doors], n=2)
    hint = f"Did you mean {' or '.join(near)}?" if near else "See `haversack --help`."
    terminal.say(f"haversack: no command {name[:80]!r}. {hint}")
    return EXIT_USAGE


def _unexpected(typed: list[str]) -> int:
    """Keep the traceback for a report and tell where it is."""
    import tempfile
    import traceback

    from haversack.config import default_home

    trace = traceback.format_exc()
    for folder in (os.path.join(default_home(os.environ), "logs"), tempfile.gettempdir()):
        path = os.path.join(folder, "haversack-error.log")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"haversack {__version__} {typed[:1]}\n{trace}\n")
            break
        except OSError:
            continue
    last = trace.strip().splitlines()[-1]
    terminal.say(f"haversack: unexpected error ({last}). The details are in {path}")
    return EXIT_UNEXPECTED
