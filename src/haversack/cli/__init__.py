"""The command line: one error boundary over commands that are made from the tools' declarations."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from haversack.cli import terminal
from haversack.cli.commands import COMMAND_BY_NAME, COMMANDS, HOUSEKEEPING, Command
from haversack.errors import HaversackError
from haversack.version import __version__

WATCH_SECONDS = 2
EXIT_DONE, EXIT_ERROR, EXIT_USAGE, EXIT_UNEXPECTED, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


Door = Callable[[list[str]], int]


def main(arguments: Sequence[str] | None = None, doors: Mapping[str, Door] | None = None) -> int:
    """Run one command and return the exit code; `doors` are commands of rooms this one does not know."""
    terminal.make_utf8()
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(typed, doors or {})
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


def _run(typed: list[str], doors: Mapping[str, Door]) -> int:
    if not typed or typed[0] in ("-h", "--help", "help"):
        if len(typed) > 1 and typed[0] == "help":
            return _run([*typed[1:], "--help"], doors)
        terminal.show(overview())
        return EXIT_DONE if typed else EXIT_USAGE
    if typed[0] in ("-V", "--version", "version"):
        terminal.show(f"haversack {__version__}")
        return EXIT_DONE
    if typed[0] in doors:
        return doors[typed[0]](typed[1:])
    # The commands of a room are two words: `haversack sdd status`.
    for words in (2, 1):
        name, rest = " ".join(typed[:words]), typed[words:]
        if name in COMMAND_BY_NAME:
            return _run_tool(COMMAND_BY_NAME[name], rest)
        if name in HOUSEKEEPING:
            from haversack.cli import housekeeping

            return housekeeping.run(name, rest)
    if any(known.startswith(f"{typed[0]} ") for known in (*COMMAND_BY_NAME, *HOUSEKEEPING)):
        return _group(typed)
    return _unknown(typed[0])


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
        terminal.say(terminal.tally(reply, "memories"))
    return EXIT_DONE


def _show_table(text: str, command: Command) -> None:
    import json
    import shutil

    facts = json.loads(text)
    rows = next((held for held in facts.values() if isinstance(held, list)), [])
    if not rows:
        terminal.show(facts.get("reason", "Nothing."))
        return
    terminal.show(terminal.table(rows, command.table, shutil.get_terminal_size().columns))
    if more := facts.get("more"):
        terminal.show(f"Showing {facts['shown']} of {facts['total']}. The rest: haversack more {more['key']}")


def _write(path: str, text: str) -> None:
    from haversack.errors import InvalidArgument

    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text if text.endswith("\n") else text + "\n")
    except OSError as error:
        raise InvalidArgument(
            f"{path} cannot be written: {error.strerror}", hint="choose another file for -o"
        ) from None


def overview() -> str:
    """What `haversack --help` prints."""
    from haversack.tools.registry import tools

    known = tools()
    width = max(len(name) for name in (*COMMAND_BY_NAME, *HOUSEKEEPING)) + 2
    lines = [
        "Memory and context for AI agents that always fits the token budget.",
        "",
        "usage: haversack COMMAND [options]      haversack COMMAND --help",
        "",
    ]
    for command in COMMANDS:
        about = (command.about or known[command.tool].about).split(". ")[0].rstrip(".")
        lines.append(f"  {command.name.ljust(width)}{about}")
    lines += [f"  {name.ljust(width)}{about.rstrip('.')}" for name, about in HOUSEKEEPING.items()]
    lines += [
        "",
        "examples:",
        '  haversack save --title "Tokens rotate hourly" --content "We chose JWT with RS256" --kind decision',
        '  haversack search "how did we do the jwt auth" --token-budget 300',
        "  haversack context-pack --project thesis --tokens 2000 -o context.md",
    ]
    return "\n".join(lines)


def _group(typed: list[str]) -> int:
    """What a room's commands are, when its name was typed alone or with a word it does not know."""
    from haversack.tools.registry import tools

    abouts = {command.name: command.about or tools()[command.tool].about for command in COMMANDS} | HOUSEKEEPING
    commands = {name: about for name, about in abouts.items() if name.startswith(f"{typed[0]} ")}
    width = max(map(len, commands)) + 2
    asked = len(typed) == 1 or typed[1] in ("-h", "--help")
    if not asked:
        terminal.say(f"haversack: no command {' '.join(typed[:2])!r}")
    listed = [f"  {name.ljust(width)}{about.split('. ')[0].rstrip('.')}" for name, about in commands.items()]
    (terminal.show if asked else terminal.say)("\n".join(listed))
    return EXIT_DONE if asked and len(typed) > 1 else EXIT_USAGE


def _unknown(name: str) -> int:
    from difflib import get_close_matches

    near = get_close_matches(name, [*COMMAND_BY_NAME, *HOUSEKEEPING], n=2)
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
