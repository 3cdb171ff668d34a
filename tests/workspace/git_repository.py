"""A real git repository to test on."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from haversack.workspace.root import Workspace

AUTHOR = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}


@dataclass(frozen=True)
class GitRepository:
    path: Path

    @classmethod
    def create(cls, path: Path) -> "GitRepository":
        path.mkdir(parents=True, exist_ok=True)
        repository = cls(path)
        repository.git("init", "--quiet", "--initial-branch=main")
        return repository

    @property
    def workspace(self) -> Workspace:
        return Workspace(os.path.realpath(self.path))

    def git(self, *arguments: str, check: bool = True, **variables: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            **AUTHOR,
            **variables,
        }
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=environment, capture_output=True, check=False, text=True
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def write(self, name: str, content: str | bytes = "text\n") -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str = "change", *, day: int = 1, author: str = "Ada") -> str:
        self.git("add", "--all", "--force")
        date = f"2026-01-{day:02d}T12:00:00+02:00"
        self.git(
            "commit", "--quiet", "--allow-empty", "-m", message,
            GIT_AUTHOR_NAME=author, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date,
        )  # fmt: skip
        return self.git("rev-parse", "HEAD").strip()
