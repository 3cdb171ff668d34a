"""Paths, links and races that try to leave the workspace, and plans that try to write elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

from attack.places import outside, project
from attack.trial import SECRET, Trial, answered, attack
from haversack.app import Caller

SWAPPER = """
import os, sys
os.chdir(sys.argv[1])
print("ready", flush=True)
while True:
    os.rename("src", "kept")
    os.symlink("../outside", "src")
    os.unlink("src")
    os.rename("kept", "src")
"""


@attack("paths")
def run(trial: Trial) -> None:
    """Ask for what lies outside in every way."""
    root = project(trial.folder / "project")
    beside = outside(trial.folder / "outside")
    before = {path.name: path.read_bytes() for path in beside.iterdir()}
    _links(root, beside)
    caller = trial.caller(root)
    for path in _paths(root, beside):
        for reply in _replies(caller, path):
            trial.judge(f"{path}: {reply[:120]}", SECRET not in reply)
    _race(trial, caller, root)
    _plans(trial, beside)
    trial.judge("a file outside was changed", {path.name: path.read_bytes() for path in beside.iterdir()} == before)


def _links(root: Path, beside: Path) -> None:
    (root / "folder-link").symlink_to(beside)
    (root / "relative-link").symlink_to("../outside")
    (root / "file-link").symlink_to(beside / "secret.txt")
    (root / "chain").symlink_to("chain-2")
    (root / "chain-2").symlink_to("folder-link/secret.txt")
    (root / "loop").symlink_to("loop")
    (root / "proc").symlink_to("/proc/self/cwd/../outside")
    (root / ".gitignore").symlink_to(beside / "secret.txt")
    (root / "CLAUDE.md").symlink_to(beside / "secret.txt")


def _paths(root: Path, beside: Path) -> list[str]:
    targets = ("secret.txt", "main.py", "")
    starts = (
        "../outside", str(beside), "folder-link", "relative-link", "proc", "src/../../outside", "./../outside",
        f"{root}/../outside", "folder-link/../outside", "src/../folder-link",
    )  # fmt: skip
    return [*(f"{start}/{target}" for start in starts for target in targets), "file-link", "chain", "loop", "CLAUDE.md",
            ".gitignore", "/proc/self/environ", "/etc/passwd", "..", "../", "/"]  # fmt: skip


def _replies(caller: Caller, path: str) -> list[str]:
    return [
        answered(caller, "read_file", path=path),
        answered(caller, "file_info", paths=[path]),
        answered(caller, "project_files", path=path, sort="size"),
        answered(caller, "search_content", pattern=SECRET[:12], path=path).replace(SECRET[:12], "", 1),
        answered(caller, "vcs_diff", path=path),
        answered(caller, "vcs_log", path=path),
        answered(caller, "vcs_blame", path=path),
        answered(caller, "sdd_context_check", change_description=f"{path} secret", max_tokens=4_000),
    ]


def _race(trial: Trial, caller: Caller, root: Path) -> None:
    """A folder is swapped for a link and back while it is read."""
    size = f"{(root.parent / 'outside' / 'main.py').stat().st_size / 1_024:,.1f} KB"
    swapper = subprocess.Popen([sys.executable, "-c", SWAPPER, str(root)], stdout=subprocess.PIPE)
    assert swapper.stdout
    swapper.stdout.readline()
    try:
        for _ in range(min(400, max(20, trial.count // 2))):
            if not trial.goes_on():
                break
            for reply in (
                answered(caller, "read_file", path="src/main.py", max_tokens=300),
                answered(caller, "search_content", pattern="of-a-file", max_tokens=300).replace("of-a-file", "", 1),
                answered(caller, "project_files", sort="size", max_tokens=300),
                answered(caller, "file_info", paths=["src/main.py"]),
            ):
                trial.judge(f"race: {reply[:200]}", SECRET not in reply and size not in reply)
    finally:
        swapper.kill()
        swapper.communicate()


def _plans(trial: Trial, beside: Path) -> None:
    for number, name in enumerate((".lock", "sdd.json", "design.md", "proposal.md", "adrs", "changes", "history", "")):
        root = trial.folder / f"plan-{number}"
        (root / "sdd").mkdir(parents=True)
        target = beside if name in ("adrs", "changes", "history", "") else beside / "secret.txt"
        if name:
            (root / "sdd" / name).symlink_to(target)
        else:
            (root / "sdd").rmdir()
            (root / "sdd").symlink_to(target)
        caller = trial.caller(root)
        for reply in (
            answered(caller, "sdd_init_project", name="p", description="d"),
            answered(caller, "sdd_adr", title="t", context="c", decision="d", rationale="r"),
            answered(caller, "sdd_get_context", detail_level="full", max_tokens=8_000),
            answered(caller, "sdd_context_check", change_description=SECRET[:8], max_tokens=8_000),
            answered(caller, "sdd_change", type="fix", size="small", description="d"),
        ):
            trial.judge(f"sdd/{name}: {reply[:200]}", SECRET not in reply)
        kept = [path for path in (root / "sdd").rglob("*") if path.is_file() and not path.is_symlink()] if name else []
        held = not any(SECRET.encode() in path.read_bytes() for path in kept)
        trial.judge(f"sdd/{name}: a copy of a file outside", held)
        os.unlink(root / "sdd" / name if name else root / "sdd")
