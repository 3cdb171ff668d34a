"""Which budget account a host's server uses: servers leave a note, and the hooks of the same host find it.

A server and the hooks of one session are children of the same host, so a note names the processes above its server.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

_FOLDER = os.path.join("hosts", "servers")
_ABOVE = 2
"""Processes above a server that are noted: the host, or a wrapper and the host."""
_MOST_ABOVE = 8


def write(home: str, account: str) -> str:
    """Leave the note of this process and return its path; empty where it cannot be written."""
    path = os.path.join(home, _FOLDER, f"{os.getpid()}.json")
    note = {"account": account, "pid": os.getpid(), "above": list(_above())[:_ABOVE], "directory": os.getcwd()}
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(note, file)
    except OSError:
        return ""  # without the note the account only lacks the host's reports
    return path


def remove(home: str) -> None:
    """Delete the note of this process."""
    try:
        os.unlink(os.path.join(home, _FOLDER, f"{os.getpid()}.json"))
    except OSError:
        return


def account_of_host(home: str, directory: str) -> str:
    """The account of the server that the host of this process has started; empty when there is none."""
    notes = list(_notes(os.path.join(home, _FOLDER)))
    if not notes:
        return ""
    above = list(_above())
    of_host = [note for note in notes if not set(note["above"]).isdisjoint(above)]
    if not above:  # unknown on this system: the only server of the folder is taken
        of_host = [note for note in notes if note["directory"] == directory]
        of_host = of_host if len(of_host) == 1 else []
    nearest = min(of_host, key=lambda note: _distance(note, above), default=None)
    return str(nearest["account"]) if nearest else ""


def _distance(note: Mapping[str, Any], above: list[int]) -> int:
    return min((above.index(pid) for pid in note["above"] if pid in above), default=0)


def _notes(folder: str) -> Iterator[dict[str, Any]]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    from haversack.processes import is_running

    for name in names:
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="utf-8") as file:
                note = json.load(file)
            if is_running(note["pid"]):
                yield {"account": note["account"], "above": note["above"], "directory": note["directory"]}
            else:
                os.unlink(path)  # its server was killed
        except (OSError, ValueError, KeyError, TypeError):
            continue


def _above() -> Iterator[int]:
    """The ancestors of this process, nearest first, where the system reports them; never process 1."""
    pid = os.getppid()
    for _ in range(_MOST_ABOVE):
        if pid <= 1:
            return
        yield pid
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # The name of the program, in parentheses, may hold anything.
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return
