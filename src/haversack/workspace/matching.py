"""The two engines of text search: files read by Python, and lines proposed by ripgrep and checked by Python.

Run as a program it does the same in a process of its own, which can be stopped: an expression that repeats things
can take Python longer than anyone would wait, and nothing inside a process interrupts it.
"""

import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import chain

from haversack.errors import HaversackError, ToolFailed
from haversack.values import asdict, record
from haversack.workspace.collecting import Collected, Collector, FileLines
from haversack.workspace.patterns import compile_pattern
from haversack.workspace.programs import records
from haversack.workspace.root import is_work_tree, shown
from haversack.workspace.selecting import Selection
from haversack.workspace.text import SNIFFED, as_utf8, blocks_of, decode_line, sniff

PROPOSED_CAP = 4_000
"""Bytes above which ripgrep keeps a line to itself; Python then reads it from the file."""
_OMITTED = b"[Omitted long "
_PROPOSAL = re.compile(rb"([^\0]*)\0(\d+)([:-])(.*)\n")


@record
class Plan:
    """A search, in values that can be handed to another process.

    `base` is the path searched; ripgrep runs in `folder`, and `prefix` is what its paths lack to be paths from the
    workspace's root.
    """

    base: str
    folder: str
    prefix: str
    pattern: str
    is_regex: bool
    case_sensitive: bool
    context: int
    file_pattern: str
    include_hidden: bool
    allow_secrets: bool
    leaves_out_nested: bool
    seconds: float

    def collector(self) -> Collector:
        expression = compile_pattern(self.pattern, is_regex=self.is_regex, case_sensitive=self.case_sensitive)
        return Collector(expression, self.context)

    def selection(self) -> Selection:
        return Selection(
            self.base,
            pattern=self.file_pattern,
            by_name=True,
            include_hidden=self.include_hidden,
            allow_secrets=self.allow_secrets,
        )


def match_files(plan: Plan, files: Iterable[tuple[str, str]]) -> Collected:
    """The matches in files, each given as a path to open and a path to show."""
    collector = plan.collector()
    expression = compile_pattern(plan.pattern, is_regex=plan.is_regex, case_sensitive=plan.case_sensitive)
    deadline = time.monotonic() + plan.seconds
    for absolute, path in files:
        lines: FileLines | None = None
        tail: list[str] = []
        number = 0
        for text in texts_of(absolute):
            if time.monotonic() > deadline:
                raise ToolFailed(
                    f"the search did not finish within {plan.seconds:g} seconds and was stopped",
                    hint="narrow it with path or file_pattern, or install ripgrep",
                )
            # Plain text can be looked for in many lines at once; an expression might see past a line's end.
            if lines is None and not plan.is_regex and expression.search(text) is None:
                number += text.count("\n")
                if plan.context:
                    tail = [*tail, *text[:-1].rsplit("\n", plan.context)[-plan.context :]][-plan.context :]
                continue
            if lines is None:
                lines = collector.add_file(path)
                for at, line in enumerate(tail, number - len(tail) + 1):
                    lines.add(at, line.removesuffix("\r"), False)
            for line in text.split("\n")[:-1]:
                number += 1
                lines.add(number, line.removesuffix("\r"), True)
        if lines:
            lines.end()
    return collector.finish()


def texts_of(absolute: str) -> Iterator[str]:
    """The text of a regular file in pieces of whole lines, each ending in a newline; nothing for any other file."""
    try:
        if not stat.S_ISREG(os.lstat(absolute).st_mode):
            return
        descriptor = os.open(absolute, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return
    try:
        blocks = blocks_of(descriptor)
        beginning = next(blocks, b"")
        sniffed = sniff(beginning)
        if sniffed.is_binary:
            return
        rest = as_utf8(chain((beginning[sniffed.mark :],), blocks), sniffed.encoding)
        for piece in _whole_lines(rest):
            try:
                yield piece.decode()
            except UnicodeDecodeError:
                yield "\n".join([decode_line(line) for line in piece.split(b"\n")])
    except OSError:
        return
    finally:
        os.close(descriptor)


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    carried: list[bytes] = []
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*carried, block[:end]])
            carried = []
        if end < len(block):
            carried.append(block[end:])
    if carried:
        yield b"".join([*carried, b"\n"])


def match_proposals(plan: Plan, blocks: Iterator[bytes]) -> Collected:
    """The matches among lines that ripgrep proposes."""
    collector = plan.collector()
    takes = plan.selection().takes
    nested = _NestedRepositories(plan.folder) if plan.leaves_out_nested else None
    previous = b""
    lines: FileLines | None = None
    long_lines: _LongLines | None = None
    for name, digits, mark, raw in _proposals(blocks):
        if name != previous:
            previous = name
            if lines:
                lines.end()
            lines, long_lines = None, None
            relative = name.removeprefix(b"./").decode("utf-8", "surrogateescape")
            path = plan.prefix + shown(relative)
            absolute = os.path.join(plan.folder, relative)
            if takes(path) and not (nested and nested.hold(absolute)) and not _is_binary(absolute):
                lines = collector.add_file(path)
        if lines is None:
            continue
        if raw.startswith(_OMITTED):
            long_lines = long_lines or _LongLines(absolute)
            text = long_lines.line(int(digits))
        else:
            text = decode_line(raw.removesuffix(b"\r"))
        lines.add(int(digits), text, mark == b":")
    if lines:
        lines.end()
    return collector.finish()


def _proposals(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bytes, bytes, bytes]]:
    """Ripgrep's lines: a path and a NUL, a number, `:` for a match or `-` for a line beside one, and the line."""
    carried = b""
    for block in blocks:
        whole = carried + block
        end = 0
        for found in _PROPOSAL.finditer(whole, 0, whole.rfind(b"\n") + 1):
            yield found[1], found[2], found[3], found[4]
            end = found.end()
        carried = whole[end:]


def _is_binary(absolute: str) -> bool:
    try:
        descriptor = os.open(absolute, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return True
    try:
        return sniff(os.read(descriptor, SNIFFED)).is_binary
    except OSError:
        return True
    finally:
        os.close(descriptor)


class _NestedRepositories:
    """The repositories below a folder, whose files are not its own."""

    def __init__(self, folder: str) -> None:
        self._known = {folder.rstrip("/"): False}

    def hold(self, absolute: str) -> bool:
        return self._covers(absolute.rpartition("/")[0])

    def _covers(self, folder: str) -> bool:
        known = self._known.get(folder)
        if known is None:
            known = is_work_tree(folder) or self._covers(folder.rpartition("/")[0])
            self._known[folder] = known
        return known


class _LongLines:
    """Lines of a file by number, asked for in rising order."""

    def __init__(self, absolute: str) -> None:
        self._lines = (line for text in texts_of(absolute) for line in text.split("\n")[:-1])
        self._number = 0

    def line(self, number: int) -> str:
        for text in self._lines:
            self._number += 1
            if self._number == number:
                return text.removesuffix("\r")
        return ""


def command_for(plan: Plan, engine: str) -> list[str]:
    """The command that runs a search in a process of its own: ripgrep's lines or file names come on standard input."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    program = f"import sys; sys.path.insert(0, {source!r}); from haversack.workspace.matching import main; main()"
    return [sys.executable, "-I", "-S", "-c", program, engine, json.dumps(asdict(plan))]


def main() -> None:
    """Run the search that the arguments describe and write down what it collected."""
    engine, described = sys.argv[1:]
    plan = Plan(**json.loads(described))
    blocks = iter(lambda: os.read(0, 1 << 18), b"")
    try:
        if engine == "rg":
            collected = match_proposals(plan, blocks)
        else:
            names = (os.fsdecode(name) for name in records(blocks))
            collected = match_files(plan, zip(names, names, strict=False))
    except HaversackError as error:
        sys.exit(error.message)
    sys.stdout.buffer.write(collected.dump())
