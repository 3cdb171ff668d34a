"""What a listing leaves out below a folder, for a program that walks the folder by itself."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from haversack.errors import ToolFailed
from haversack.workspace.candidates import git_refusal, raw_start
from haversack.workspace.git import Repository, failure, find_repository
from haversack.workspace.root import Place, Workspace, shown
from haversack.workspace.secrecy import suspects
from haversack.workspace.selecting import Selection
from haversack.workspace.walking import Walk

_SUBMODULE = re.compile(rb"(?:^|\0)160000 [^\t]+\t([^\0]+)")
_NESTED = re.compile(rb"(?:^|\0)([^\0]+/)(?=\0|$)")


@dataclass(frozen=True, slots=True)
class Excluded:
    """Names below a folder that a listing of it leaves out; folders end in a slash."""

    names: tuple[bytes, ...]
    notes: tuple[str, ...] = ()


def excluded_from(workspace: Workspace, place: Place, selection: Selection) -> Excluded:
    """What is ignored, or belongs to another repository, below a folder; the selection counts what is withheld."""
    repository = find_repository(workspace, place)
    if repository is None:
        return _walked(workspace, place, selection, ())
    try:
        names = tuple(_by_git(repository, place, selection))
    except ToolFailed as refusal:
        return _walked(workspace, place, selection, git_refusal(refusal))
    return Excluded(names, (f"{place.relative} is ignored by git.",) if b"*" in names else ())


def _walked(workspace: Workspace, place: Place, selection: Selection, notes: tuple[str, ...]) -> Excluded:
    start = raw_start(workspace, place)
    walk = Walk(workspace.root, start)
    for path, _ in walk.files():
        selection.takes(shown(path))
    below = len(start) + 1 if start else 0
    return Excluded(tuple(os.fsencode(each[below:]) for each in walk.excluded), notes)


def _by_git(repository: Repository, place: Place, selection: Selection) -> Iterator[bytes]:
    path = repository.path_of(place)
    questions = (
        ("-o", "-i", "--exclude-standard", "--directory"),
        ("-o", "--exclude-standard"),
        ("-c", "-s"),
    )
    said = []
    with ExitStack() as stack:
        commands = [
            stack.enter_context(repository.start("ls-files", "-z", *question, "--", path)) for question in questions
        ]
        for running in commands:
            said.append(b"".join(running.blocks()))
            ended = running.ended()
            if ended.code != 0:
                raise failure(repository.top, "ls-files", ended.errors)
    ignored, untracked, tracked = said
    name = repository.namer()
    for suspect in sorted({*suspects(untracked), *(each.partition(b"\t")[2] for each in suspects(tracked))}):
        if not suspect.endswith(b"/") and (shown_path := name(suspect)) is not None:
            selection.takes(shown_path)
    prefix = b"" if path == "." else os.fsencode(path) + b"/"
    left_out = ignored.split(b"\0")[:-1]
    left_out += [found[1] for found in _NESTED.finditer(untracked)]
    left_out += [found[1] + b"/" for found in _SUBMODULE.finditer(tracked)]
    for each in left_out:
        if each.startswith(prefix):
            # The folder itself being ignored leaves nothing to search.
            yield each[len(prefix) :] or b"*"
        elif prefix.startswith(each):
            yield b"*"
