"""Stores cut short, scribbled over or swapped: each is refused with a reason or read, and never replaced."""

import shutil
from pathlib import Path

from attack.trial import Trial, answered, attack
from haversack.errors import HaversackError


@attack("stores")
def run(trial: Trial) -> None:
    """Damage a copy of a store, open it, read, search and write."""
    root = trial.folder / "project"
    root.mkdir()
    caller = trial.caller(root)
    for number in range(40):
        answered(caller, "mem_save", title=f"title {number}", content=f"content {number} " * 200)
    caller.app.close()
    home = trial.folder / "home-o200k"
    sound = trial.folder / "sound"
    shutil.copytree(home, sound)
    kinds = ("cut", "empty", "header", "flip", "flip", "flip", "zeroes", "text", "folder", "journal")
    number = 0
    while trial.goes_on():
        shutil.rmtree(home)
        shutil.copytree(sound, home)
        kind = kinds[number % len(kinds)]
        number += 1
        _damage(trial, home / "haversack.db", kind)
        before = (home / "haversack.db").stat().st_size
        try:
            damaged = trial.caller(root)
            for tool, arguments in (
                ("mem_stats", {}),
                ("mem_search", {"query": "title content"}),
                ("mem_get_observation", {"id": 7}),
                ("mem_save", {"title": "new", "content": "new"}),
            ):
                answered(damaged, tool, **arguments)
            damaged.app.close()
        except HaversackError:
            pass
        except Exception as error:  # noqa: BLE001 - anything but a refusal is a break
            trial.judge(f"{kind}: {type(error).__name__}: {error}", False)
            continue
        kept = (home / "haversack.db").stat().st_size
        trial.judge(
            f"{kind}: a damaged store of {before:,} bytes was replaced", kept >= before or kind in ("journal", "flip")
        )


def _damage(trial: Trial, path: Path, kind: str) -> None:
    content = bytearray(path.read_bytes())
    if kind == "cut":
        del content[trial.random.randrange(len(content)) :]
    elif kind == "empty":
        content = bytearray()
    elif kind == "header":
        content[:100] = trial.random.randbytes(100)
    elif kind == "flip":
        for _ in range(trial.random.randrange(1, 200)):
            content[trial.random.randrange(len(content))] = trial.random.randrange(256)
    elif kind == "zeroes":
        at = trial.random.randrange(len(content))
        content[at : at + 8_192] = bytes(len(content[at : at + 8_192]))
    elif kind == "text":
        content = bytearray(b"this is no database\n" * 100)
    elif kind == "journal":
        path.with_name(path.name + "-wal").write_bytes(trial.random.randbytes(50_000))
    if kind == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(content)
