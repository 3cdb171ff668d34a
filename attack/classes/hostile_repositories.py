"""Repositories whose configuration, hooks and pointers try to run programs or show another repository's history."""

import os
from pathlib import Path

from attack.places import git, project
from attack.trial import Trial, answered, attack

SETTINGS = {
    "fsmonitor": {"core.fsmonitor": "{trap}"},
    "external diff": {"diff.external": "{trap}", "diff.x.command": "{trap}", "diff.x.textconv": "{trap}"},
    "filters": {"filter.x.clean": "{trap}", "filter.x.process": "{trap}", "filter.x.required": "true"},
    "hooks": {"core.hooksPath": "{hooks}"},
    "pager": {"core.pager": "{trap}", "pager.log": "{trap}", "pager.diff": "{trap}"},
    "signatures": {"log.showSignature": "true", "gpg.program": "{trap}"},
    "aliases": {"alias.ls-files": "!{trap}", "alias.log": "!{trap}", "alias.status": "!{trap}"},
    "transport": {"core.sshCommand": "{trap}", "core.askPass": "{trap}", "remote.origin.url": "ext::{trap}"},
    "work tree": {"core.worktree": "{private}"},
}
PRIVATE = "a subject of a private repository"


@attack("repositories")
def run(trial: Trial) -> None:
    """Look at each repository with every tool that asks git."""
    private = project(trial.folder / "private", commits=1)
    (private / "private.txt").write_text("private\n")
    git(private, "add", "--all")
    git(private, "commit", "--quiet", "-m", PRIVATE)
    sprung = trial.folder / "sprung"
    trap = trial.folder / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{sprung}'\ncat 2>/dev/null\n")
    trap.chmod(0o755)
    hooks = trial.folder / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "pre-commit", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        (hooks / name).symlink_to(trap)
    for name, settings in SETTINGS.items():
        root = project(trial.folder / name.replace(" ", "-"))
        (root / ".gitattributes").write_text("* diff=x filter=x\n")
        for key, value in settings.items():
            git(root, "config", key, value.format(trap=trap, hooks=hooks, private=private))
        (root / "src" / "main.py").write_text("changed\n")
        _look(trial, name, root, sprung)
    for name in ("file", "link", "common", "alternates", "objects"):
        root = trial.folder / f"pointing-{name}"
        _pointing(root, private, name)
        _look(trial, f".git {name}", root, sprung)
    _own_programs(trial, trap, sprung)


def _look(trial: Trial, name: str, root: Path, sprung: Path) -> None:
    caller = trial.caller(root)
    for tool, arguments in (
        ("project_files", {}),
        ("search_content", {"pattern": "changed"}),
        ("vcs_status", {}),
        ("vcs_diff", {}),
        ("vcs_diff", {"commit": "HEAD~1..HEAD"}),
        ("vcs_log", {}),
        ("vcs_blame", {"path": "src/main.py"}),
    ):
        reply = answered(caller, tool, **arguments)
        held = not sprung.exists() and PRIVATE not in reply and "private.txt" not in reply
        trial.judge(f"{name}: {tool}: {reply[:150]}", held)
        sprung.unlink(missing_ok=True)


def _pointing(root: Path, private: Path, name: str) -> None:
    if name in ("alternates", "objects"):
        project(root, commits=1)
        head = (private / ".git" / "refs" / "heads" / "main").read_text()
        (root / ".git" / "refs" / "heads" / "main").write_text(head)
        if name == "alternates":
            (root / ".git" / "objects" / "info" / "alternates").write_text(f"{private}/.git/objects\n")
        else:
            (root / ".git" / "objects").rename(root / ".git" / "kept")
            (root / ".git" / "objects").symlink_to(private / ".git" / "objects")
        return
    root.mkdir()
    if name == "file":
        (root / ".git").write_text(f"gitdir: {private}/.git\n")
    elif name == "link":
        (root / ".git").symlink_to(private / ".git")
    else:
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (root / ".git" / "commondir").write_text(f"{private}/.git\n")


def _own_programs(trial: Trial, trap: Path, sprung: Path) -> None:
    """The workspace is on the path and has programs with the names of those that are run."""
    root = project(trial.folder / "own-programs")
    for name in ("git", "rg", "setpriv", "python3"):
        (root / name).write_text(trap.read_text())
        (root / name).chmod(0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{root}{os.pathsep}.{os.pathsep}{before}"
    try:
        _look(trial, "programs of the workspace", root, sprung)
    finally:
        os.environ["PATH"] = before
