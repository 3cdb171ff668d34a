"""Pipes, devices, sockets and giant files: no call hangs, and none takes the memory of the machine."""

import os
import resource
import socket
from functools import partial
from pathlib import Path

from attack.places import project
from attack.trial import Trial, answered, attack, finishes

MOST_GROWTH = 600_000
"""Kilobytes by which the largest size of the process may grow."""
CALLS: dict[str, dict[str, object]] = {
    "read_file": {"path": "{name}"},
    "file_info": {"paths": ["{name}"]},
    "search_content": {"pattern": "needle"},
    "project_files": {"sort": "size"},
    "vcs_blame": {"path": "{name}"},
    "vcs_status": {},
}


@attack("special files")
def run(trial: Trial) -> None:
    """Put something odd in the place of a file and ask for it."""
    for kind in ("pipe", "device", "socket", "sparse", "sparse text", "one line", "head", "state", "ignore", "deep"):
        if not trial.goes_on():
            return
        root = project(trial.folder / kind.replace(" ", "-"), commits=1)
        name = _place(root, kind)
        caller = trial.caller(root)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        calls = (
            CALLS if kind != "state" else {"sdd_get_context": {}, "sdd_init_project": {"name": "n", "description": "d"}}
        )
        for tool, given in calls.items():
            arguments = {key: _filled(value, name) for key, value in given.items()}
            ended = finishes(partial(answered, caller, tool, **arguments))
            trial.judge(f"{kind}: {tool} did not end", ended)
        growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        trial.judge(f"{kind}: {growth:,} KB of memory", growth < MOST_GROWTH)


def _filled(value: object, name: str) -> object:
    return [name] if isinstance(value, list) else value.format(name=name) if isinstance(value, str) else value


def _place(root: Path, kind: str) -> str:
    path = root / "odd"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        # The address of a socket has to be short.
        here = os.open(".", os.O_RDONLY)
        os.chdir(root)
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind("odd")
        os.fchdir(here)
        os.close(here)
    elif kind in ("sparse", "sparse text", "one line"):
        with open(path, "wb") as file:
            file.write(
                b"" if kind == "sparse" else b"needle\n" * 3_000 if kind == "sparse text" else b"needle " * 9_000_000
            )
            if kind != "one line":
                file.truncate(100 << 30)
    elif kind == "head":
        (root / ".git" / "HEAD").unlink()
        os.mkfifo(root / ".git" / "HEAD")
    elif kind == "state":
        (root / "sdd").mkdir()
        os.mkfifo(root / "sdd" / "sdd.json")
    elif kind == "ignore":
        os.mkfifo(root / ".gitignore")
    else:
        (root / "/".join(["d"] * 400)).mkdir(parents=True)
    return "odd"
