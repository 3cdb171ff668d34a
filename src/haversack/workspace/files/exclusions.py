"""What a listing leaves out below a folder, for a program that walks the folder by itself."""

import os

from haversack.errors import ToolFailed
from haversack.values import record
from haversack.workspace.files.secret_names import suspects
from haversack.workspace.files.selection import Selection
from haversack.workspace.files.unignored import git_refusal, raw_start
from haversack.workspace.files.walk import Walk
from haversack.workspace.git.command import Repository, failure
from haversack.workspace.programs import Running, wholes
from haversack.workspace.root import Place, Workspace, shown


@record
class Excluded:
    """Names below a folder that a listing of it leaves out, or all of it; folders end in a slash.

    With a `repository`, the repositories nested in it are left out too, and what is withheld is still to be counted.
    """

    repository: Repository | None
    names: tuple[bytes, ...] = ()
    is_all: bool = False
    notes: tuple[str, ...] = ()


def excluded_from(workspace: Workspace, place: Place, repository: Repository | None, selection: Selection) -> Excluded:
    """What is ignored below a folder; without git the selection counts what is withheld on the way."""
    if repository is None:
        return _walked(workspace, place, selection, ())
    path = repository.path_of(place)
    question = ("-o", "-i", "--exclude-standard", "--directory", "--", path)
    try:
        ignored = list(repository.records("ls-files", "-z", *question))
    except ToolFailed as refusal:
        return _walked(workspace, place, selection, git_refusal(refusal))
    prefix = b"" if path == "." else os.fsencode(path) + b"/"
    if prefix and any(prefix.startswith(name) for name in ignored):
        return Excluded(repository, is_all=True, notes=(f"{place.relative} is ignored by git.",))
    return Excluded(repository, tuple(name[len(prefix) :] for name in ignored if name.startswith(prefix)))


def _walked(workspace: Workspace, place: Place, selection: Selection, notes: tuple[str, ...]) -> Excluded:
    start = raw_start(workspace, place)
    walk = Walk(workspace.root, start)
    for path in walk.files():
        selection.takes(shown(path))
    below = len(start) + 1 if start else 0
    return Excluded(None, tuple(os.fsencode(each[below:]) for each in walk.excluded), notes=notes)


def start_listing(repository: Repository, place: Place) -> Running:
    """The names of the files at a place, tracked and untracked, as they are being listed."""
    return repository.start("ls-files", "-z", "-c", "-o", "--exclude-standard", "--", repository.path_of(place))


def count_withheld(repository: Repository, listing: Running, selection: Selection) -> None:
    """Let a selection see every name that might be a secret's, so that it counts what it withholds."""
    name = repository.namer()
    found: list[bytes] = []
    for text in wholes(listing.blocks()):
        names = text.removesuffix(b"\0").decode("utf-8", "surrogateescape").split("\0")
        found += [os.fsencode(suspect) for suspect in suspects(names)]
    ended = listing.ended()
    if ended.code != 0:
        raise failure(repository.top, "ls-files", ended.errors)
    # A file in conflict is listed once for each side.
    for suspect in sorted(set(found)):
        if not suspect.endswith(b"/") and (path := name(suspect)) is not None:
            selection.takes(path)
