"""Folders and repositories that attacks are made on."""

import os
import subprocess
from pathlib import Path

from attack.trial import SECRET


def git(folder: Path, *arguments: str) -> None:
    """Run git as an attacker prepares a repository."""
    names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **names}, check=True, capture_output=True)


def project(folder: Path, *, commits: int = 3) -> Path:
    """A small repository."""
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number in range(commits):
        (folder / "src" / "main.py").write_text("".join(f"def f{line}(): return {number}\n" for line in range(200)))
        (folder / f"note-{number}.md").write_text("# Title\n\nneedle `code` 日本語 📏 ~3 tokens\n" * 20)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", f"commit {number}")
    return folder


def outside(folder: Path) -> Path:
    """A folder beside the project whose content must never be seen."""
    folder.mkdir(parents=True)
    (folder / "secret.txt").write_text(f"{SECRET}\n" * 1_000)
    (folder / "main.py").write_text(f"{SECRET}\n" * 1_000)
    return folder
