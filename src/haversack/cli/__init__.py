"""The command line: one error boundary over commands that are made from the tools' declarations."""

import os
import sys
from collections.abc import Sequence

from haversack import terminal
from haversack.cli.doors import OWN, Door
from haversack.errors import HaversackError, WrongUsage
from haversack.version import __version__

EXIT_DONE, EXIT_ERROR, EXIT_USAGE, EXIT_UNEXPECTED, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None, doors: Sequence[Door] = ()) -> int:
    """Run one command and return the exit code; `doors` are commands of rooms this one does not know."""
    terminal.make_utf8()
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(typed, (*OWN, *doors))
    except HaversackError as error:
        return _failed(error, as_json="--json" in typed)
    except KeyboardInterrupt as interrupt:
        # Work that counts what it wrote says so itself.
        terminal.say(f"haversack: interrupted; {interrupt or 'what was written before is safe'}")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe.
        terminal.forget_output()
        return EXIT_DONE
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else EXIT_USAGE
    except Exception:  # noqa: BLE001 - the one boundary of this door
        return _unexpected(typed)


def _failed(error: HaversackError, *, as_json: bool) -> int:
    """Print an error on standard error, as JSON where JSON was asked for, and return its exit code."""
    from haversack.cli.wording import printed, reworded

    terminal.say(printed(reworded(error), as_json=as_json))
    return EXIT_USAGE if isinstance(error, WrongUsage) else EXIT_ERROR


def _run(typed: list[str], doors: Sequence[Door]) -> int:
    if not typed or typed[0] in ("-h", "--help", "help"):
        if len(typed) > 1 and typed[0] == "help":
            return _run([*typed[1:], "--help"], doors)
        from haversack.cli.overview import overview

        terminal.show(overview(doors))
        return EXIT_DONE if typed else EXIT_USAGE
    if typed[0] in ("-V", "--version", "version"):
        terminal.show(f"haversack {__version__}")
        return EXIT_DONE
    # The commands of a room are two words: `haversack sdd status`.
    for words in (2, 1) if len(typed) > 1 and typed[1][:1].isalpha() else (1,):
        name, rest = " ".join(typed[:words]), typed[words:]
        for door in doors:
            if name == door.name:
                return door.open(rest, doors)
        from haversack.tools.registry import find_command  # a door opens without loading the tools

        if found := find_command(name):
            from haversack.cli import tool_command

            return tool_command.run(*found, rest)
    return _unknown(typed, doors)


def _unknown(typed: list[str], doors: Sequence[Door]) -> int:
    """The error for an unknown command: the commands of a group when its name was typed, else the nearest names."""
    from haversack.cli.overview import columns, listed, nearest

    asked = len(typed) == 1 or typed[1] in ("-h", "--help")
    if members := [each for each in listed(doors) if each.name.startswith(f"{typed[0]} ")]:
        if not asked:
            terminal.say(f"haversack: no command {' '.join(typed[:2])[:80]!r}")
        (terminal.show if asked else terminal.say)("\n".join(columns(members)))
        return EXIT_DONE if asked and len(typed) > 1 else EXIT_USAGE
    near = nearest(typed[0], doors)
    hint = f"Did you mean {' or '.join(near)}?" if near else "See `haversack --help`."
    raise WrongUsage(f"no command {typed[0][:80]!r}", hint=hint)


def _unexpected(typed: list[str]) -> int:
    """Write the traceback to a file for a report, and print the path of that file."""
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
