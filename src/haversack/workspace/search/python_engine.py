"""A search as values, and the engine that needs no other program: files read by Python."""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from itertools import chain

from haversack.errors import ToolFailed
from haversack.values import record
from haversack.workspace.files.encodings import OPENED, as_utf8, blocks_of, decode_line, sniff
from haversack.workspace.files.selection import Selection
from haversack.workspace.search.matches import FileLines, Keep, keeper
from haversack.workspace.search.patterns import compile_pattern


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
                lines = FileLines(search, plan.context, path, keeper(keep, path))
                for at, line in enumerate(tail, number - len(tail) + 1):
                    lines.add(at, line.removesuffix("\r"), False)
            for line in text.split("\n")[:-1]:
                number += 1
                lines.add(number, line.removesuffix("\r"), True)
        if lines:
            lines.end()


def texts_of(absolute: str) -> Iterator[str]:
    """The text of a regular file in pieces of whole lines, each ending in a newline; nothing for any other file."""
    try:
        if not stat.S_ISREG(os.lstat(absolute).st_mode):
            return
        descriptor = os.open(absolute, OPENED)
    except OSError:
        return
    try:
        blocks = blocks_of(descriptor, 3_600)
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
