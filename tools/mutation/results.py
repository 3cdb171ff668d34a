"""Results of earlier runs, so that a run that was stopped goes on where it was, and a finished one is soon repeated.

A change that a test noticed stays noticed while the changed file and the test's file are as they were; a survivor
stays one while the changed file and every test of its target are. Changes of other files are not looked at: `--afresh`
tries everything again.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutation.changes import ROOT, Mutant

FOLDER = ROOT / ".mutation"
SOURCES = ROOT / "src"


def digest(paths: Iterable[Path]) -> str:
    """One digest of the contents of files."""
    content = b"\0".join(path.read_bytes() for path in sorted(set(paths)))
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def test_file(test: str) -> Path:
    """The file of a test, by the name pytest has for it."""
    return ROOT / test.partition("::")[0]


@dataclass(frozen=True)
class Reach:
    """What a test costs and which lines of the changed files it reaches."""

    seconds: float
    lines: frozenset[tuple[str, int]]


class Results:
    """What is known of a target's changes and tests; kept in one file, written after every change that was tried."""

    def __init__(self, target: str, sources: Iterable[Path], tests: Iterable[Path], *, afresh: bool) -> None:
        self._path = FOLDER / f"{target}.json"
        self._sources = digest(sources)
        self._tests = digest(tests)
        self._digests: dict[Path, str] = {}
        self._kept: dict[str, Any] = {"mutants": {}, "reach": {}}
        if self._path.exists() and not afresh:
            self._kept = json.loads(self._path.read_text(encoding="utf-8"))

    def _digest(self, path: Path) -> str:
        if path not in self._digests:
            self._digests[path] = digest([path]) if path.is_file() else ""
        return self._digests[path]

    def _key(self, mutant: Mutant) -> str:
        return f"{mutant.name} {self._digest(mutant.path)} {mutant.number}"

    def was_noticed(self, mutant: Mutant, patience: float) -> bool | None:
        """Whether a test noticed the change in an earlier run; None when that is not known any more."""
        entry = self._kept["mutants"].get(self._key(mutant))
        if entry is None:
            return None
        if entry["by"]:
            return True if self._digest(test_file(entry["by"])) == entry["digest"] else None
        return False if entry["digest"] == self._tests and entry["patience"] >= patience else None

    def keep(self, mutant: Mutant, noticed_by: str, patience: float) -> None:
        """Remember which test noticed a change, or that none did."""
        known = self._digest(test_file(noticed_by)) if noticed_by else self._tests
        self._kept["mutants"][self._key(mutant)] = {"by": noticed_by, "digest": known, "patience": patience}
        self.write()

    def reach(self, test: str) -> Reach | None:
        """What an earlier run measured of a test."""
        entry = self._kept["reach"].get(test)
        if entry is None or entry["digest"] != self._sources + self._digest(test_file(test)):
            return None
        return Reach(entry["seconds"], frozenset((str(SOURCES / path), line) for path, line in entry["lines"]))

    def keep_reach(self, test: str, reach: Reach) -> None:
        """Remember what was measured of a test; `write` makes it last."""
        lines = sorted((Path(path).relative_to(SOURCES).as_posix(), line) for path, line in reach.lines)
        known = self._sources + self._digest(test_file(test))
        self._kept["reach"][test] = {"digest": known, "seconds": reach.seconds, "lines": lines}

    def write(self) -> None:
        """Write what is known, all of it or nothing."""
        FOLDER.mkdir(exist_ok=True)
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self._kept), encoding="utf-8")
        new.replace(self._path)
