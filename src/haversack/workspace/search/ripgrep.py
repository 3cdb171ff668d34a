"""The lines ripgrep proposes: kept as it gives them where they are proven to match, else checked by Python."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Protocol

from haversack.repositories import is_work_tree
from haversack.workspace.files.encodings import LINE_CAP, OPENED, SNIFFED, decode_line, sniff
from haversack.workspace.files.selection import Names
from haversack.workspace.root import PLAIN, shown
from haversack.workspace.search.matches import FileLines, Keep, keeper
from haversack.workspace.search.patterns import Proof
from haversack.workspace.search.python_engine import Plan, texts_of

OPTIONS = (
    "--no-config", "--no-messages", "--no-ignore", "--no-mmap", "--text", "--color=never", "--heading",
    "--with-filename", "--null", "--line-number", "--no-context-separator", f"--max-columns={LINE_CAP}",
)  # fmt: skip
"""How ripgrep has to speak to be understood here; a line too long to be shown whole it keeps to itself."""
_OMITTED = b"[Omitted long "
_PROPOSAL = re.compile(rb"(\d+)([:-])(.*)")
_MATCHING = re.compile(rb"\n\d+:")
_MOST_CARRIED = 1_000_000

KeepTold = Callable[[Sequence[str], Sequence[bytes], Sequence[int]], None]
"""Takes the matches of files: their paths, what ripgrep says of each, how many matches each has."""


def match_proposals(
    plan: Plan,
    blocks: Iterator[bytes],
    keep: Keep,
    *,
    proof: Proof = "none",
    keep_told: KeepTold | None = None,
    doubtful: IO[bytes] | None = None,
) -> None:
    """Keep the matches among lines that ripgrep proposes.

    What is proven goes to `keep_told`. Of the rest Python checks each line; with a file for what is `doubtful`, it is
    written down there instead, as ripgrep says it.
    """
    proposals = _Proposals(plan, keep, proof, keep_told, doubtful)
    for block in blocks:
        proposals.add(block)
    proposals.end()


class _Proposals:
    """What ripgrep says: the name of a file and a NUL, the lines of it, an empty line before the next name."""

    def __init__(
        self, plan: Plan, keep: Keep, proof: Proof, keep_told: KeepTold | None, doubtful: IO[bytes] | None
    ) -> None:
        self._plan = plan
        self._folder = os.path.join(plan.folder, "")
        self._search = plan.expression().search
        self._keep = keep
        self._proof = proof
        self._keep_told = keep_told
        self._doubtful = doubtful
        self._selection = plan.selection()
        self._nested = _NestedRepositories(plan.folder) if plan.leaves_out_nested else None
        self._carried = b""
        self._long: _Lines | None = None

    def add(self, block: bytes) -> None:
        *ended, carried = (self._carried + block).split(b"\n\n")
        if self._long and ended:
            self._long.add(ended.pop(0))
            self._long.end()
            self._long = None
        told = [each.split(b"\0", 1) for each in ended]
        if not all(len(each) == 2 for each in told):
            told, carried = _with_whole_names(ended, carried)
        if told:
            self._take([name for name, _ in told], [said for _, said in told])
        if len(carried) > _MOST_CARRIED:
            carried = self._take_part(carried)
        self._carried = carried

    def end(self) -> None:
        if self._long:
            self._long.add(self._carried.removesuffix(b"\n"))
            self._long.end()
        elif b"\0" in self._carried:
            # Without a NUL it is a name cut short, by a program that was stopped.
            name, said = self._carried.removesuffix(b"\n").split(b"\0", 1)
            self._take([name], [said])

    def _take(self, names: list[bytes], said: list[bytes]) -> None:
        """All that is said of some files."""
        found = self._wanted(names)
        if len(found.raw) < len(names):
            by_name = dict(zip(self._named(names).raw, zip(names, said, strict=True), strict=True))
            names, said = [by_name[raw][0] for raw in found.raw], [by_name[raw][1] for raw in found.raw]
        if self._keep_told and said and _is_proven(b"\n".join(said), self._proof):
            self._keep_told(found.shown, said, [len(_MATCHING.findall(b"\n" + each)) for each in said])
            return
        for at, each in enumerate(said):
            if self._keep_told and _is_proven(each, self._proof):
                self._keep_told([found.shown[at]], [each], [len(_MATCHING.findall(b"\n" + each))])
                continue
            lines = self._unproven(names[at], found.raw[at], found.shown[at])
            lines.add(each)
            lines.end()

    def _take_part(self, carried: bytes) -> bytes:
        """Some of the lines of a file with very many; what of them is left for later."""
        if not self._long:
            name, _, carried = carried.partition(b"\0")
            found = self._wanted([name])
            self._long = self._unproven(name, found.raw[0], found.shown[0]) if found.raw else _Unwanted()
        # The last line stays: whether an empty one follows it is not known yet.
        end = carried.rindex(b"\n", 0, -1)
        self._long.add(carried[:end])
        return carried[end + 1 :]

    def _named(self, names: list[bytes]) -> Names:
        # Ripgrep was told to look into `./`, and all its names begin with that.
        raw = b"\0".join(names).decode("utf-8", "surrogateescape").removeprefix("./").split("\0./")
        if not self._plan.prefix and not b"".join(names).translate(None, PLAIN):
            return Names(self._folder, raw, raw)
        return Names(self._folder, raw, [self._plan.prefix + shown(name) for name in raw])

    def _wanted(self, names: list[bytes]) -> Names:
        """Those of some files that the search is about."""
        found = self._selection.taken(self._named(names))
        left_out = {raw for raw in found.raw if self._is_left_out(self._folder + raw)}
        if not left_out:
            return found
        kept = [at for at, raw in enumerate(found.raw) if raw not in left_out]
        return Names(found.folder, [found.raw[at] for at in kept], [found.shown[at] for at in kept])

    def _is_left_out(self, absolute: str) -> bool:
        return (self._nested is not None and self._nested.hold(absolute)) or _is_binary(absolute)

    def _unproven(self, name: bytes, raw: str, path: str) -> "_Lines":
        if self._doubtful:
            return _WrittenDown(self._doubtful, name)
        lines = FileLines(self._search, self._plan.context, path, keeper(self._keep, path))
        return _Checked(lines, self._folder + raw)


def _with_whole_names(ended: list[bytes], carried: bytes) -> tuple[list[list[bytes]], bytes]:
    """What is said of files one of whose names holds an empty line, and what is left for later."""
    told: list[list[bytes]] = []
    name = b""
    for each in ended:
        before, nul, said = (name + each).partition(b"\0")
        if nul:
            told.append([before, said])
        name = b"" if nul else before + b"\n\n"
    return told, name + carried


def _is_proven(said: bytes, proof: Proof) -> bool:
    """Whether each line that ripgrep proposes must match."""
    if proof == "none" or _OMITTED in said:
        return False
    if said.isascii():
        return proof == "utf-8" or b"\r" not in said
    try:
        return proof == "utf-8" and bool(said.decode())
    except UnicodeDecodeError:
        return False


class _Lines(Protocol):
    """Takes the lines of one file as ripgrep gives them."""

    def add(self, said: bytes) -> None: ...

    def end(self) -> None: ...


class _Unwanted:
    def add(self, said: bytes) -> None:
        pass

    def end(self) -> None:
        pass


class _WrittenDown:
    """Writes the lines down for another to check."""

    def __init__(self, file: IO[bytes], name: bytes) -> None:
        self._file = file
        self._file.write(name + b"\0")

    def add(self, said: bytes) -> None:
        self._file.write(said + b"\n")

    def end(self) -> None:
        self._file.write(b"\n")


class _Checked:
    """Reads the lines as text and lets Python decide which match."""

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


def _is_binary(absolute: str) -> bool:
    try:
        descriptor = os.open(absolute, OPENED)
    except OSError:
        return True
    try:
        beginning = os.read(descriptor, SNIFFED)
        return b"\0" in beginning and sniff(beginning).is_binary
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
