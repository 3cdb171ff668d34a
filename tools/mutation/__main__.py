"""`make mutate`: change the code in small ways, one at a time, and print the changes that no test notices.

A survivor is a missing test, or a change that makes no difference; the latter are listed with their reason in
tools/mutation/explained.toml. Exit code 1 when a survivor is not listed there.

The tests of a target run once, to learn which lines each test reaches and how long it takes. A change is then made in
a forked process, which runs the tests that reach its line until one fails. Every test is measured in a forked process,
too: what one has cached must neither hide a line from the next nor outlive a change.
"""

import argparse
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from random import Random

import pytest

from tools.mutation.changes import PACKAGE, ROOT, Mutant, mutants
from tools.mutation.results import Results
from tools.mutation.trials import Trials

EXPLAINED = Path(__file__).with_name("explained.toml")
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "tokens": (
        ("tokens",),
        (
            "tests/tokens/test_bpe.py",
            "tests/tokens/test_budget.py",
            "tests/tokens/test_cutting.py",
            "tests/tokens/test_footers.py",
            "tests/tokens/test_packing.py",
            "tests/tokens/test_profiles.py",
            "tests/tokens/test_exact_profiles.py",
        ),
        # These compare with other programs for minutes; what they say is said by the others in seconds.
        "not whatever_counts_them and not library_of_sources and not units_add_up and not counts_on_any_text",
    ),
    "redaction": (
        ("text/redaction.py", "text/secret_assignments.py", "text/secret_shapes.py"),
        ("tests/memory/test_redaction.py", "tests/memory/test_redaction_borders.py"),
        # Long texts, for the time they take; tracing makes it minutes.
        "not linear_time",
    ),
    "road": (
        ("tools/road",),
        (
            "tests/tools/test_fitting.py",
            "tests/tools/test_delivery.py",
            "tests/tools/test_validating.py",
            "tests/tools/test_quoting.py",
            "tests/tools/test_page_tools.py",
            "tests/tools/test_budget_road.py",
            "tests/tools/test_budget_tools.py",
            "tests/contract/test_fit_contract.py",
            "tests/contract/test_known_weaknesses.py",
        ),
        "",
    ),
}
"""By name: the files that are changed, the tests that should notice, and which of these (`pytest -k`)."""
PATIENCE = 20.0
"""The tests of one change are those that together took so many seconds of processor time."""


def sources_of(places: tuple[str, ...]) -> list[Path]:
    """The files of a target."""
    sources: list[Path] = []
    for place in places:
        path = PACKAGE / place
        sources += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return sources


def main() -> int:
    """Try the changes of each target, or a sample of them, and print the survivors."""
    parser = argparse.ArgumentParser(prog="make mutate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (all)")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="try N changes of each target (all)")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample")
    parser.add_argument("--only", default="", help="parts of paths, such as text/redaction.py,tools/road/fit.py")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds of tests for one change")
    parser.add_argument("--afresh", action="store_true", help="forget the results of earlier runs (.mutation/)")
    asked = parser.parse_args()
    if unknown := set(asked.targets) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    explained = {entry["change"]: entry["reason"] for entry in tomllib.loads(EXPLAINED.read_text())["mutant"]}
    os.chdir(ROOT)
    # The tests' own output would hide the survivors.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    unexplained: list[Mutant] = []

    def survived(mutant: Mutant) -> None:
        reason = explained.get(mutant.description)
        if not reason:
            unexplained.append(mutant)
        label = "survived (explained)" if reason else "survived"
        print(f"{label}: {mutant.name}:{mutant.line}: {mutant.what}: {mutant.source_line}", file=output, flush=True)

    count = 0
    for target in asked.targets or TARGETS:
        places, tests, chosen = TARGETS[target]
        sources = sources_of(places)
        known = [mutant for path in sources for mutant in mutants(path)]
        wanted = [mutant for mutant in known if any(part in mutant.name for part in asked.only.split(","))]
        if asked.sample and asked.sample < len(wanted):
            wanted = Random(asked.seed).sample(wanted, asked.sample)
        wanted.sort(key=lambda mutant: (mutant.name, mutant.line, mutant.number))
        results = Results(target, sources, map(Path, tests), afresh=asked.afresh)
        tried: list[Mutant] = []
        for mutant in wanted:
            match results.was_noticed(mutant, asked.patience):
                case None:
                    tried.append(mutant)
                case False:
                    survived(mutant)
        if tried:
            trials = Trials(tried, sources, results, asked.patience, survived)
            options = ["-s", "-p", "no:xdist", "--tb=no", "--assert=plain", "-k", chosen]
            with tempfile.TemporaryDirectory() as folder:
                code = pytest.main([*options, "--basetemp", folder, *tests], plugins=[trials])
            if code != pytest.ExitCode.OK:
                sys.exit(f"the tests of {target} cannot be used: they do not pass, or were not found, as they are")
        print(f"{target}: {len(wanted)} changes, {len(tried)} of them tried now", file=output, flush=True)
        count += len(wanted)
    print(f"{count} changes, {len(unexplained)} unexplained survivors", file=output, flush=True)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
