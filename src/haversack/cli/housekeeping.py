"""The commands that are not tools: export, import, demo, doctor, completion."""

import sys
import time
from collections.abc import Iterable, Iterator

from haversack import terminal
from haversack.app import open_caller
from haversack.argument_parser import plain_parser
from haversack.errors import InvalidArgument


class _Progress:
    """A count on standard error for work that takes over a second; nothing into a pipe."""

    def __init__(self, what: str) -> None:
        self.what, self.done = what, 0
        self.next_report = time.monotonic() + 1

    def step(self, count: int = 1) -> None:
        before, self.done = self.done, self.done + count
        if before // 100 != self.done // 100 and sys.stderr.isatty() and time.monotonic() > self.next_report:
            sys.stderr.write(f"\r{self.done:,} {self.what}")
            self.next_report = time.monotonic() + 0.2

    def close(self) -> None:
        if sys.stderr.isatty() and self.done > 100:
            sys.stderr.write("\r\x1b[K")


def tokens(typed: list[str]) -> int:
    """Run `haversack tokens`."""
    from haversack.cli import token_counts

    parser = plain_parser(
        "tokens",
        "Count the tokens of files under each profile.",
        "haversack tokens README.md src/*.py",
        "git diff | haversack tokens - --profile o200k",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="files, or - for standard input")
    parser.add_argument("--profile", action="append", help="only this profile; may be given several times")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parsed = parser.parse_args(typed)
    return token_counts.run(parsed.files, parsed.profile or [], as_json=parsed.json)


def export(typed: list[str]) -> int:
    """Run `haversack export`."""
    from haversack.memory import transfer

    parser = plain_parser("export", "Write everything as JSON Lines.", "haversack export -o memory.jsonl")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of standard output")
    parsed = parser.parse_args(typed)
    caller = open_caller()
    progress = _Progress("records")
    lines = transfer.export(caller.memory)
    try:
        if parsed.output is None:
            for line in lines:
                sys.stdout.write(line + "\n")
            sys.stdout.flush()
            return 0
        with open(parsed.output, "w", encoding="utf-8", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
                progress.step()
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        if parsed.output is None:
            terminal.forget_output()
        raise InvalidArgument(f"{parsed.output or 'the output'} cannot be written: {error.strerror}") from None
    finally:
        progress.close()
        lines.close()  # it reads from the store until it ends
        caller.app.close()
    terminal.say(f"{progress.done:,} records written to {parsed.output}")
    return 0


def import_(typed: list[str]) -> int:
    """Run `haversack import`."""
    from haversack.memory import transfer

    parser = plain_parser(
        "import",
        "Read JSON Lines written by export; what is there already is not added again.",
        "haversack import memory.jsonl",
        "ssh laptop haversack export | haversack import -",
    )
    parser.add_argument("file", metavar="FILE", help="a file, or - for standard input")
    parser.add_argument("--json", action="store_true", help="say what was done as JSON")
    parsed = parser.parse_args(typed)
    caller = open_caller()
    progress = _Progress("lines")

    def counted(lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            progress.step()
            yield line

    try:
        if parsed.file == "-":
            sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
            done = transfer.import_(caller.memory, counted(sys.stdin))
        else:
            with open(parsed.file, encoding="utf-8") as file:
                done = transfer.import_(caller.memory, counted(file))
    except OSError as error:
        raise InvalidArgument(f"{parsed.file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{parsed.file} is not UTF-8 (byte {error.start}); nothing was imported") from None
    finally:
        progress.close()
        caller.app.close()
    if parsed.json:
        terminal.show(f'{{"added":{done.added},"updated":{done.updated},"known":{done.known}}}')
    else:
        terminal.show(f"added {done.added:,}, updated {done.updated:,}, already there {done.known:,}")
    return 0


def backup(typed: list[str]) -> int:
    """Run `haversack backup`."""
    from haversack.cli import backups

    parser = plain_parser(
        "backup",
        "Write the whole store to one checked file, while it is in use.",
        "haversack backup ~/haversack-monday.db",
    )
    parser.add_argument("file", metavar="FILE", help="the file to write")
    parser.add_argument("--force", action="store_true", help="replace the file if it is there")
    parser.add_argument("--json", action="store_true", help="say what was done as JSON")
    parsed = parser.parse_args(typed)
    return backups.back_up(parsed.file, force=parsed.force, as_json=parsed.json)


def restore_backup(typed: list[str]) -> int:
    """Run `haversack restore-backup`."""
    from haversack.cli import backups

    parser = plain_parser(
        "restore-backup",
        "Put a backup in the place of the store; the old store is kept beside it.",
        "haversack restore-backup ~/haversack-monday.db --force",
    )
    parser.add_argument("file", metavar="FILE", help="a file that `haversack backup` wrote")
    parser.add_argument("--force", action="store_true", help="also where there is a store already")
    parser.add_argument("--json", action="store_true", help="say what was done as JSON")
    parsed = parser.parse_args(typed)
    return backups.restore(parsed.file, force=parsed.force, as_json=parsed.json)


def fitcheck(typed: list[str]) -> int:
    """Run `haversack fitcheck`."""
    parser = plain_parser(
        "fitcheck",
        "Try any MCP server's tools at many token budgets and report what does not fit. Only tools that read are\n"
        "called. Without a command it is this program's own server, on a store made up for the purpose.",
        "haversack fitcheck --replies 10000",
        "haversack fitcheck -- uvx some-memory-server --db notes.db",
    )
    parser.add_argument("--replies", type=int, default=1_000, metavar="N", help="how many to look at (1000)")
    parser.add_argument("--profile", default="o200k", help="how tokens are counted (o200k)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="other arguments are made up for another")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="after --, what starts the server")
    parsed = parser.parse_args(typed)
    from haversack.fitcheck import check

    report, violations = check.run(
        parsed.command, replies=parsed.replies, profile=parsed.profile, seed=parsed.seed, as_json=parsed.json
    )
    terminal.show(report)
    return 1 if violations else 0


def reembed(typed: list[str]) -> int:
    """Run `haversack reembed`."""
    from haversack.memory.meaning import similarity

    parser = plain_parser(
        "reembed",
        "Give memories the vectors that search by meaning needs; what was interrupted goes on where it was.",
        "haversack reembed",
        "haversack reembed --all --json",
    )
    parser.add_argument("--all", action="store_true", help="compute every vector anew")
    parser.add_argument("--json", action="store_true", help="say what was done as JSON")
    parsed = parser.parse_args(typed)
    caller = open_caller()
    progress = _Progress("memories")
    try:
        done = similarity.reembed(caller.memory, anew=parsed.all, step=progress.step)
    finally:
        progress.close()
        caller.app.close()
    if parsed.json:
        terminal.show(f'{{"model":"{done.model}","embedded":{done.embedded},"lacking":{done.lacking}}}')
    else:
        counted = "1 memory" if done.embedded == 1 else f"{done.embedded:,} memories"
        later = f"; {done.lacking:,} more were saved meanwhile" if done.lacking else ""
        terminal.show(f"{counted} embedded with {done.model}{later}")
    return 0


def pack_diff(typed: list[str]) -> int:
    """Run `haversack pack diff`."""
    from haversack.cli import pack_diff as packs

    parser = plain_parser(
        "pack diff",
        "Say what changed between two packs: the memories added, removed and changed.",
        "haversack pack diff p038467120952 p720184463301",
        "haversack pack diff monday.json friday.json --json",
    )
    parser.add_argument("before", metavar="A", help="a pack_id, or a file written by context-pack --json")
    parser.add_argument("after", metavar="B", help="the same, of the later pack")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parsed = parser.parse_args(typed)
    return packs.compare(parsed.before, parsed.after, as_json=parsed.json)


def demo(typed: list[str]) -> int:
    """Run `haversack demo`."""
    from haversack.cli.demo import show

    plain_parser("demo", "Show the main job on a small store in a temporary place.").parse_args(typed)
    return show()


def doctor(typed: list[str]) -> int:
    """Run `haversack doctor`."""
    from haversack.cli.doctor import run

    parser = plain_parser(
        "doctor", "Say what is wrong, and how to mend it.", "haversack doctor", "haversack doctor --mend"
    )
    parser.add_argument("--mend", action="store_true", help="rebuild the search index if it disagrees with the store")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parsed = parser.parse_args(typed)
    return run(mend=parsed.mend, as_json=parsed.json)


def sdd_doctor(typed: list[str]) -> int:
    """Run `haversack sdd doctor`."""
    from haversack.cli import plan_doctor

    parser = plain_parser(
        "sdd doctor",
        "Say what is damaged in the plan kept here, and mend it.",
        "haversack sdd doctor",
        "haversack sdd doctor --mend",
    )
    parser.add_argument("--mend", action="store_true", help="rebuild what is damaged; the damaged files are kept")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parsed = parser.parse_args(typed)
    return plan_doctor.run(mend=parsed.mend, as_json=parsed.json)


def completion(typed: list[str]) -> int:
    """Run `haversack completion`."""
    from haversack.cli.completion import script

    parser = plain_parser(
        "completion",
        "Print a completion script for a shell.",
        'eval "$(haversack completion bash)"',
        "haversack completion fish > ~/.config/fish/completions/haversack.fish",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    terminal.show(script(parser.parse_args(typed).shell))
    return 0
