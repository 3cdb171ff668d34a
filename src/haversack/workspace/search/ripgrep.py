"""Ripgrep, asked which files may hold a match."""

import os
import re
from collections.abc import Sequence
from tempfile import NamedTemporaryFile

from haversack.errors import ToolFailed
from haversack.workspace.programs import Running, clean_environment, find_program, records
from haversack.workspace.root import Place, Workspace

_OPTIONS = (
    "--no-config", "--no-messages", "--no-ignore", "--no-mmap", "--text", "--color=never", "--files-with-matches",
    "--null",
)  # fmt: skip


def find_ripgrep(workspace: Workspace) -> str | None:
    """The ripgrep to use; None when there is none or the settings choose Python."""
    if workspace.engine == "python":
        return None
    program = find_program("rg", outside=workspace.root)
    if workspace.engine == "rg" and not program:
        raise ToolFailed("ripgrep is not installed", hint="install haversack[rg], or set workspace.engine = auto")
    return program


def files_with(
    workspace: Workspace,
    program: str,
    place: Place,
    pattern: str,
    *,
    left_out: Sequence[str],
    include_hidden: bool,
    largest: int,
) -> set[str] | None:
    """The paths from the root of files below a folder in which `pattern` occurs; None when ripgrep cannot say.

    `left_out` are paths from the root that need not be searched, folders with a slash at the end.
    """
    prefix = f"{place.raw}/" if place.raw else ""
    options = [*_OPTIONS, f"--max-filesize={largest}", *(["--hidden"] if include_hidden else [])]
    with NamedTemporaryFile(prefix="haversack-") as rules:
        names = [os.fsencode(path[len(prefix) :]) for path in left_out if path.startswith(prefix)]
        rules.write(b".git\n" + b"".join(b"/%b\n" % _rule(name) for name in names))
        rules.flush()
        command = [program, *options, f"--ignore-file={rules.name}", f"--regexp={pattern}", "--", "./"]
        with Running(
            command,
            cwd=place.absolute,
            environment=clean_environment(),
            limits=workspace.limits,
            name="the search",
        ) as running:
            found = {prefix + os.fsdecode(name.removeprefix(b"./")) for name in records(running.blocks())}
            ended = running.ended()
    # 1 is "no match"; 2 with nothing to say is a file that could not be read, which Python passes over too.
    return found if ended.code in (0, 1) or not ended.errors else None


def _rule(name: bytes) -> bytes:
    # A line end cannot be written in a rule; a question mark matches it.
    return re.sub(rb"[\\*?\[\]!# ]", rb"\\\g<0>", name).replace(b"\n", b"?")
