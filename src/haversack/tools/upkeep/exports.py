"""Export and import: the memory as JSON Lines, in a file or through a pipe."""

import os
from collections import Counter
from typing import Annotated

from haversack import private_files
from haversack.app import Caller
from haversack.console import STANDARD
from haversack.errors import InvalidArgument, NotFound
from haversack.memory.importers import sources
from haversack.memory.importers.sources import SOURCES
from haversack.memory.transfer import json_lines as transfer
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Done, Outcome


@tool(
    Command(
        "export",
        options=(("file", "-o", "--output"),),
        examples=("haversack export -o memory.jsonl", "haversack export --include-deleted -o everything.jsonl"),
    ),
    group="upkeep",
    writes=True,
    idempotent=True,
    terminal_only=True,
)
def export_memories(
    caller: Caller,
    *,
    file: Annotated[str, "The file to write; - is standard output"] = STANDARD,
    include_deleted: Annotated[bool, "Also what was deleted and can be restored"] = False,
) -> Outcome:
    """Write every memory as JSON Lines, for its owner alone."""
    lines = transfer.export(caller.memory, include_deleted=include_deleted)
    total = transfer.count_records(caller.memory, include_deleted=include_deleted)
    written = 0

    def counted(line: str) -> str:
        nonlocal written
        written += 1
        caller.console.progress("records", written, max(total, written))
        return line + "\n"

    try:
        if file == STANDARD:
            for line in lines:
                caller.console.write(counted(line))
        else:
            private_files.write(_path(caller, file), map(counted, lines))
    finally:
        lines.close()  # it reads from the store until it ends
    where = "standard output" if file == STANDARD else file
    return Done(f"{written:,} records written to {where}", {"records": written, "file": file})


@tool(
    Command(
        "import",
        ("file",),
        examples=(
            "haversack import memory.jsonl",
            "ssh laptop haversack export | haversack import -",
            "haversack import --from engram",
        ),
        options=(("source", "--from"),),
        optional=("file",),
    ),
    group="upkeep",
    writes=True,
    idempotent=True,
    terminal_only=True,
)
def import_memories(
    caller: Caller,
    *,
    file: Annotated[str, "JSON Lines from export or with a title and a content; - is standard input"] = "",
    source: Annotated[str, f"The program the file is of: {', '.join(SOURCES)}; its usual place when no file"] = "",
) -> Outcome:
    """Read JSON Lines or another program's memories, in batches; what is there already is not added again."""
    if not file and not source:
        raise InvalidArgument("no file is named", hint="name a file, or a program: --from engram")
    left: Counter[str] = Counter()
    try:
        if source:
            path = _path(caller, file) if file else ""
            records = caller.console.counted("records", sources.records(source, path, left))
            done = transfer.import_foreign(caller.memory, records, left)
        elif file == STANDARD:
            done = transfer.import_(caller.memory, caller.console.counted("lines", caller.console.lines()))
        else:
            path = _path(caller, file)
            with open(path, encoding="utf-8") as lines:
                total = _line_count(path)
                done = transfer.import_(caller.memory, caller.console.counted("lines", lines, total))
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}", hint="name a file that export wrote") from None
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{file} is not UTF-8 (byte {error.start})", hint="save it as UTF-8 and import it again"
        ) from None
    message = f"added {done.added:,}, updated {done.updated:,}, already there {done.known:,}"
    facts: dict[str, object] = {"added": done.added, "updated": done.updated, "known": done.known}
    if not_carried := {reason: count for reason, count in left.items() if count}:
        message += "; not carried: " + ", ".join(f"{count:,} ({reason})" for reason, count in not_carried.items())
        facts["not_carried"] = not_carried
    return Done(message, facts, brief=message)


def _line_count(path: str) -> int | None:
    """How many lines a file has; None for a pipe, which can be read once only."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _path(caller: Caller, file: str) -> str:
    return os.path.join(caller.directory, os.path.expanduser(file))
