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
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import IO, Any

from haversack.errors import HaversackError, ToolFailed
from haversack.values import asdict, record
from haversack.workspace.collecting import FileLines, Keep, said_of
from haversack.workspace.patterns import Proof, compile_pattern
from haversack.workspace.programs import records
from haversack.workspace.root import is_work_tree, shown
from haversack.workspace.selecting import Selection
from haversack.workspace.snapshots import encode
from haversack.workspace.text import LINE_CAP, SNIFFED, as_utf8, blocks_of, decode_line, sniff

PROPOSED_CAP = LINE_CAP
"""Bytes above which ripgrep keeps a line to itself; Python then reads it from the file, and cuts it."""
_OMITTED = b"[Omitted long "
_PROPOSAL = re.compile(rb"(\d+)([:-])(.*)\n")
_MATCHING = re.compile(rb"^\d+:", re.MULTILINE)
_MOST_CARRIED = 1_000_000


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

    def expression(self) -> re.Pattern[str]:
        return compile_pattern(self.pattern, is_regex=self.is_regex, case_sensitive=self.case_sensitive)

    def selection(self) -> Selection:
        return Selection(
            self.base,
            pattern=self.file_pattern,
            by_name=True,
            include_hidden=self.include_hidden,
            allow_secrets=self.allow_secrets,
        )


def match_files(plan: Plan, files: Iterable[tuple[str, str]], keep: Keep) -> None:
    """Keep the matches in files, each given as a path to open and a path to show."""
    search = plan.expression().search
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
            if lines is None and not plan.is_regex and search(text) is None:
                number += text.count("\n")
                if plan.context:
                    tail = [*tail, *text[:-1].rsplit("\n", plan.context)[-plan.context :]][-plan.context :]
                continue
            if lines is None:
                lines = FileLines(search, plan.context, path, _keeper(keep, path))
                for at, line in enumerate(tail, number - len(tail) + 1):
                    lines.add(at, line.removesuffix("\r"), False)
            for line in text.split("\n")[:-1]:
                number += 1
                lines.add(number, line.removesuffix("\r"), True)
        if lines:
            lines.end()


def _keeper(keep: Keep, path: str) -> Callable[[list[tuple[Any, ...]]], None]:
    return lambda records: keep(path, encode(records), len(records))


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


def match_proposals(
    plan: Plan, blocks: Iterator[bytes], keep: Keep, proof: Proof = "none", doubtful: IO[bytes] | None = None
) -> None:
    """Keep the matches among lines that ripgrep proposes.

    What it says of a file is kept as it stands where it is proven to be right. Else Python checks each line, or,
    when there is a file for what is `doubtful`, it is written down there for another to check.
    """
    search = plan.expression().search
    wanted = _Wanted(plan)
    path, is_wanted, lines = "", False, None
    for name, said, is_first, is_last in _told(blocks):
        if is_first:
            relative = name.removeprefix(b"./").decode("utf-8", "surrogateescape")
            path, lines = plan.prefix + shown(relative), None
            is_wanted = wanted.takes(relative, path)
        if not is_wanted:
            continue
        if is_first and is_last and (text := _proven(said, proof)) is not None:
            keep(path, said_of(path, plan.context, text), len(_MATCHING.findall(said)))
        elif doubtful:
            doubtful.write((name + b"\0" if is_first else b"") + said + (b"\n" if is_last else b""))
        else:
            lines = lines or _ProposedLines(
                FileLines(search, plan.context, path, _keeper(keep, path)), os.path.join(plan.folder, relative)
            )
            lines.add(said)
            if is_last:
                lines.end()


def _told(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bytes, bool, bool]]:
    """What ripgrep says of each file: its name, the lines, and whether they are its first and its last.

    It names a file, with a NUL, before its first line, and leaves a line empty after its last.
    """
    name, is_first = b"", True
    carried = b""
    for block in blocks:
        *ended, carried = (carried + block).split(b"\n\n")
        before = b""
        for each in ended:
            told = before + each
            if is_first and b"\0" not in told:
                # The name itself holds an empty line.
                before = told + b"\n\n"
                continue
            before = b""
            if is_first:
                name, _, told = told.partition(b"\0")
            yield name, told + b"\n", is_first, True
            is_first = True
        carried = before + carried
        if len(carried) > _MOST_CARRIED and (not is_first or b"\0" in carried):
            if is_first:
                name, _, carried = carried.partition(b"\0")
            # The last line stays: whether an empty one follows it is not known yet.
            end = carried.rfind(b"\n", 0, -1) + 1
            if end:
                yield name, carried[:end], is_first, False
                carried = carried[end:]
                is_first = False
    if carried:
        if is_first:
            name, _, carried = carried.partition(b"\0")
        yield name, carried, is_first, True


def _proven(said: bytes, proof: Proof) -> str | None:
    """What ripgrep says of a file, when each line it proposes must match; None when that is not known."""
    if proof == "none" or _OMITTED in said or (proof == "ascii" and (b"\r" in said or not said.isascii())):
        return None
    try:
        return said.decode()
    except UnicodeDecodeError:
        return None


class _ProposedLines:
    """The lines of one file that ripgrep gives, as text."""

    def __init__(self, lines: FileLines, absolute: str) -> None:
        self._lines = lines
        self._absolute = absolute
        self._long_lines: _LongLines | None = None

    def add(self, said: bytes) -> None:
        for digits, mark, raw in _PROPOSAL.findall(said):
            if raw.startswith(_OMITTED):
                self._long_lines = self._long_lines or _LongLines(self._absolute)
                text = self._long_lines.line(int(digits))
            else:
                text = decode_line(raw.removesuffix(b"\r"))
            self._lines.add(int(digits), text, mark == b":")

    def end(self) -> None:
        self._lines.end()


class _Wanted:
    """Tells which of the files that ripgrep has looked into a search is about."""

    def __init__(self, plan: Plan) -> None:
        self._folder = plan.folder
        self._selects = plan.selection().takes
        self._nested = _NestedRepositories(plan.folder) if plan.leaves_out_nested else None

    def takes(self, relative: str, path: str) -> bool:
        absolute = os.path.join(self._folder, relative)
        is_nested = self._nested is not None and self._nested.hold(absolute)
        return self._selects(path) and not is_nested and not _is_binary(absolute)


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
    """Run the search that the arguments describe and write down what it finds."""
    engine, described = sys.argv[1:]
    plan = Plan(**json.loads(described))
    blocks = iter(lambda: os.read(0, 1 << 18), b"")
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


def read_found(stream: IO[bytes], keep: Keep) -> None:
    """Keep what a search in a process of its own has written down."""
    while head := stream.readline():
        name, found, count = map(int, head.split())
        keep(os.fsdecode(stream.read(name)), stream.read(found), count)
