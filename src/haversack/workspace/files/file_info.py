"""`file_info`: facts about paths, without their contents."""

import os
import stat
from collections.abc import Sequence
from itertools import chain
from typing import Literal

from haversack.errors import HaversackError, InvalidArgument, NotFound, SecretWithheld
from haversack.files import Tree, special_kind
from haversack.values import record
from haversack.workspace.files.encodings import Line, as_utf8, blocks_of, cut_line, sniff
from haversack.workspace.files.line_scan import LineScan
from haversack.workspace.files.reader import LARGEST
from haversack.workspace.root import Place, Workspace, locate, locate_readable, opened

MOST = 100
"""Paths one question may be about."""

Kind = Literal["text", "binary", "folder", "link", "special", "missing", "withheld", "unreadable"]


@record
class FileInfo:
    """What a path is: `lines`, `encoding` and `first_line` for text, `entries` for a folder, `target` for a link.

    `modified` is in seconds since 1970. A link is described as what it leads to, as long as that is inside the root;
    `target` is where that is. `detail` describes special files and read errors.
    """

    path: str
    kind: Kind
    size: int = 0
    modified: int = 0
    lines: int = 0
    encoding: str = ""
    first_line: Line | None = None
    entries: int = 0
    target: str = ""
    detail: str = ""


def file_info(workspace: Workspace, paths: Sequence[str]) -> tuple[FileInfo, ...]:
    """The facts of 1 to MOST paths, in the order given; a path that leaves the root is an error."""
    if not 1 <= len(paths) <= MOST:
        raise InvalidArgument(f"{len(paths)} paths were given", hint=f"give 1 to {MOST}")
    return tuple(_describe(workspace, path) for path in paths)


def _describe(workspace: Workspace, path: str) -> FileInfo:
    try:
        place = locate(workspace, path)
    except NotFound as error:
        return FileInfo(path, "missing", detail=error.message)
    with Tree(workspace.root) as tree:
        try:
            facts = tree.facts(place.raw)
        except OSError as error:
            return FileInfo(path, "missing", detail=error.strerror or "")
        return _described(workspace, tree, place, path, facts)


def _described(workspace: Workspace, tree: Tree, place: Place, path: str, facts: os.stat_result) -> FileInfo:
    size, modified = facts.st_size, int(facts.st_mtime)
    name = place.relative or "."
    given = os.path.normpath(os.path.join(workspace.root, path))
    target = name if os.path.islink(given) else ""
    shown_name = path if target else name
    if stat.S_ISDIR(facts.st_mode):
        return _folder(tree, place, shown_name, modified, target)
    if not stat.S_ISREG(facts.st_mode):
        return FileInfo(shown_name, "special", modified=modified, target=target, detail=special_kind(facts.st_mode))
    try:
        locate_readable(workspace, path)
        with opened(workspace, place, path) as descriptor:
            return _file(descriptor, workspace.limits.seconds, shown_name, size, modified, target)
    except SecretWithheld as error:
        return FileInfo(shown_name, "withheld", size, modified, target=target, detail=error.message)
    except HaversackError as error:
        return FileInfo(shown_name, "unreadable", size, modified, target=target, detail=error.message)


def _folder(tree: Tree, place: Place, name: str, modified: int, target: str) -> FileInfo:
    try:
        count = len(tree.names(place.raw))
    except OSError as error:
        return FileInfo(name, "unreadable", modified=modified, target=target, detail=error.strerror or "")
    return FileInfo(name, "folder", modified=modified, entries=count, target=target)


def _file(descriptor: int, seconds: float, name: str, size: int, modified: int, target: str) -> FileInfo:
    blocks = blocks_of(descriptor, seconds)
    beginning = next(blocks, b"")
    sniffed = sniff(beginning)
    if sniffed.is_binary:
        return FileInfo(name, "binary", size, modified, target=target)
    if size > LARGEST:
        detail = f"its lines are not counted: it has more than {LARGEST:,} bytes"
        return FileInfo(name, "text", size, modified, target=target, detail=detail)
    scan = LineScan(1, 1)
    scan.run(as_utf8(chain((beginning[sniffed.mark :],), blocks), sniffed.encoding))
    first = None
    if scan.lines:
        kept = scan.lines[0]
        line = cut_line(1, kept.text)
        first = Line(1, line.text, kept.length)
    encoding = sniffed.encoding or ("utf-8" if scan.is_utf8 else "windows-1252")
    return FileInfo(name, "text", size, modified, scan.total, encoding, first, target=target)
