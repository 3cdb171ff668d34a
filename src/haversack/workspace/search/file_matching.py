"""Files read and matched by Python, in this process or in one that can be stopped.

An expression that repeats things can take Python longer than anyone would wait, and nothing inside a process
interrupts it.
"""

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator

from haversack.cancellation import check
from haversack.errors import ToolFailed
from haversack.files import Tree
from haversack.values import asdict, record
from haversack.workspace.files.encodings import decode_line, sniff
from haversack.workspace.programs import BLOCK, Limits, Running, clean_environment, records
from haversack.workspace.search.matches import Row, rows_of
from haversack.workspace.search.patterns import compile_pattern

LARGEST = 64_000_000
"""Bytes of a file that is searched."""


@record
class Plan:
    """A search, in values that can be passed to another process."""

    root: str
    pattern: str
    is_regex: bool
    case_sensitive: bool
    context: int
    seconds: float

    def expression(self) -> re.Pattern[str]:
        return compile_pattern(self.pattern, is_regex=self.is_regex, case_sensitive=self.case_sensitive)


def match_files(plan: Plan, files: Iterable[tuple[str, str]]) -> Iterator[list[Row]]:
    """The matches of each file that has any; files are given as paths from the root, to open and to show."""
    expression = plan.expression()
    deadline = time.monotonic() + plan.seconds
    with Tree(plan.root) as tree:
        for raw, path in files:
            check()
            if time.monotonic() > deadline:
                raise ToolFailed(
                    f"the search did not finish within {plan.seconds:g} seconds and was stopped",
                    hint="narrow it with path or file_pattern, or install ripgrep",
                )
            text = _text_of(tree, raw)
            # Plain text is looked for in the whole file at once; an expression might match across line ends.
            if text and (plan.is_regex or expression.search(text)):
                lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
                if rows := rows_of(path, lines, expression, plan.context):
                    yield rows


def _text_of(tree: Tree, path: str) -> str:
    """The text of a regular file; empty for any other file, and for one that is binary or too large."""
    try:
        content = tree.read(path, limit=LARGEST)
    except OSError:
        return ""
    sniffed = sniff(content)
    if sniffed.is_binary:
        return ""
    content = content[sniffed.mark :]
    if sniffed.encoding.startswith("utf-16"):
        return content.decode(sniffed.encoding, "replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return "\n".join([decode_line(line) for line in content.split(b"\n")])


def match_files_apart(plan: Plan, files: Iterable[tuple[str, str]], limits: Limits) -> Iterator[list[Row]]:
    """As `match_files`, in a process of its own that is ended when its time is up or the call is cancelled."""
    from tempfile import TemporaryFile

    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    program = (
        f"import sys; sys.path.insert(0, {source!r}); from haversack.workspace.search.file_matching import main; main()"
    )
    command = [sys.executable, "-I", "-S", "-c", program, json.dumps(asdict(plan))]
    with TemporaryFile() as names:
        for raw, path in files:
            names.write(os.fsencode(raw) + b"\0" + os.fsencode(path) + b"\0")
        names.seek(0)
        with Running(
            command, cwd=plan.root, environment=clean_environment(), limits=limits, stdin=names, name="the search"
        ) as running:
            for line in records(running.blocks(), b"\n"):
                # The last line of a process that was stopped may be cut.
                if line.endswith(b"]"):
                    yield json.loads(line)
            ended = running.ended()
    if ended.code != 0:
        reason = ended.errors.splitlines()[-1] if ended.errors else f"exit code {ended.code}"
        raise ToolFailed(f"the search failed: {reason}", hint="narrow it with path or file_pattern")


def main() -> None:
    """Run the search that the argument describes in the files named on standard input."""
    plan = Plan(**json.loads(sys.argv[1]))
    names = (os.fsdecode(name) for name in records(iter(lambda: os.read(0, BLOCK), b"")))
    try:
        for rows in match_files(plan, zip(names, names, strict=False)):
            sys.stdout.write(json.dumps(rows, separators=(",", ":")) + "\n")
    except ToolFailed as error:
        sys.exit(error.message)
    sys.stdout.flush()
