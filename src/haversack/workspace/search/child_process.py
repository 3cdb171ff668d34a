"""A search in a process of its own, which can be stopped.

An expression that repeats things can take Python longer than anyone would wait, and nothing inside a process
interrupts it.
"""

import json
import os
import sys
from collections.abc import Iterator

from haversack.errors import HaversackError
from haversack.values import asdict
from haversack.workspace.programs import BLOCK, records
from haversack.workspace.search.matches import Keep
from haversack.workspace.search.python_engine import Plan, match_files
from haversack.workspace.search.ripgrep import match_proposals


def command_for(plan: Plan, engine: str) -> list[str]:
    """The command that runs a search: ripgrep's lines or file names come on standard input."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    program = (
        f"import sys; sys.path.insert(0, {source!r}); from haversack.workspace.search.child_process import main; main()"
    )
    return [sys.executable, "-I", "-S", "-c", program, engine, json.dumps(asdict(plan))]


def main() -> None:
    """Run the search that the arguments describe and write down what it finds."""
    engine, described = sys.argv[1:]
    plan = Plan(**json.loads(described))
    blocks = iter(lambda: os.read(0, BLOCK), b"")
    try:
        if engine == "rg":
            match_proposals(plan, blocks, _write_found)
        else:
            names = (os.fsdecode(name) for name in records(blocks))
            match_files(plan, zip(names, names, strict=False), _write_found)
    except HaversackError as error:
        sys.exit(error.message)
    sys.stdout.buffer.flush()


def _write_found(path: str, found: bytes, count: int) -> None:
    name = os.fsencode(path)
    sys.stdout.buffer.write(b"%d %d %d\n%b%b" % (len(name), len(found), count, name, found))


def read_found(blocks: Iterator[bytes], keep: Keep) -> None:
    """Keep what a search has written down."""
    carried = b""
    for block in blocks:
        carried += block
        at = 0
        while (newline := carried.find(b"\n", at)) >= 0:
            name, found, count = map(int, carried[at:newline].split())
            begin, end = newline + 1 + name, newline + 1 + name + found
            if end > len(carried):
                break
            keep(os.fsdecode(carried[newline + 1 : begin]), carried[begin:end], count)
            at = end
        carried = carried[at:]
