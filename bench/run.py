"""Every claim the project makes, measured on this machine: one table with the figure, the aim and the ratio.

Each `bench_*.py` prints lines `claim: WHAT | FIGURE | at most AIM | UNIT` (or `at least`) among its own figures; they
are run one after another, so that none disturbs the others, and the lines are gathered here.
"""

import argparse
import glob
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

FOLDER = os.path.dirname(os.path.abspath(__file__))
PREFIX = "claim: "
MARKS = ("<!-- figures of the last full run -->", "<!-- end of figures -->")


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure with the bound it is held against."""

    bench: str
    what: str
    figure: float
    bound: str
    aim: float
    unit: str

    @property
    def is_kept(self) -> bool:
        return self.figure <= self.aim if self.bound == "at most" else self.figure >= self.aim


def parsed(bench: str, line: str) -> Claim:
    """The claim on a line of a benchmark's output."""
    what, figure, bound, unit = (part.strip() for part in line.removeprefix(PREFIX).split("|"))
    words = bound.split()
    return Claim(bench, what, float(figure.replace(",", "")), " ".join(words[:2]), float(words[2]), unit)


def run(path: str, *, quick: bool, folder: str) -> tuple[list[Claim], str]:
    """The claims of one benchmark, and its whole output."""
    name = os.path.basename(path).removeprefix("bench_").removesuffix(".py")
    done = subprocess.run(
        [sys.executable, path, *(["--quick"] if quick else [])],
        capture_output=True,
        text=True,
        env={**os.environ, "HAVERSACK_HOME": os.path.join(folder, name)},
    )
    if done.returncode:
        raise SystemExit(f"{path} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    lines = done.stdout.splitlines()
    return [parsed(name, line) for line in lines if line.startswith(PREFIX)], done.stdout


def machine() -> str:
    """What the figures were measured on."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    memory = ""
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = f", {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.0f} GB"
    system = f"{platform.system()} {platform.machine()}"
    return f"{system}, {os.cpu_count()} processors{memory}{load}, Python {platform.python_version()}"


def table(claims: list[Claim]) -> str:
    """The claims as aligned lines."""
    width = max(len(claim.what) for claim in claims) + 2
    lines = [f"{'bench':<11}{'claim':<{width}}{'measured':>10}{'aim':>17}{'of the aim':>12}  kept  unit"]
    for claim in claims:
        share = f"{claim.figure / claim.aim:.2f}" if claim.aim else "-"
        bound = f"{claim.bound} {claim.aim:g}"
        lines.append(
            f"{claim.bench:<11}{claim.what:<{width}}{claim.figure:>10,.2f}{bound:>17}{share:>12}"
            f"  {'yes ' if claim.is_kept else 'NO  '}  {claim.unit}"
        )
    return "\n".join(lines)


def markdown(claims: list[Claim]) -> str:
    """The claims as a table for a document."""
    lines = ["| bench | claim | measured | aim | kept |", "|---|---|---|---|---|"]
    for claim in claims:
        figure = f"{claim.figure:,.2f}".rstrip("0").rstrip(".")
        unit = claim.unit if claim.unit.startswith(("%", ":")) else f" {claim.unit}"
        measured = f"{figure}{unit.replace(': 1', ' : 1')}"
        aim = f"{claim.bound} {claim.aim:g}"
        lines.append(f"| {claim.bench} | {claim.what} | {measured} | {aim} | {'yes' if claim.is_kept else 'no'} |")
    return "\n".join(lines)


def written(document: str, figures: str) -> str:
    """A document with new figures between its marks."""
    before, _, rest = document.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n{figures}\n{MARKS[1]}{after}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="small inputs, to see that everything runs")
    parser.add_argument("--verbose", action="store_true", help="print each benchmark's own figures too")
    parser.add_argument("--write", metavar="FILE", help="put the table into a Markdown file, between its marks")
    parser.add_argument("only", nargs="*", metavar="NAME", help="only these, such as start or recall")
    given = parser.parse_args(arguments)
    claims: list[Claim] = []
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(FOLDER, "bench_*.py"))):
            name = os.path.basename(path).removeprefix("bench_").removesuffix(".py")
            if given.only and name not in given.only:
                continue
            began = time.monotonic()
            found, output = run(path, quick=given.quick, folder=folder)
            claims += found
            print(f"{name}: {len(found)} claims in {time.monotonic() - began:.0f} s", file=sys.stderr)
            if given.verbose:
                print(output)
    print(table(claims) if claims else "no claims")
    if given.write:
        with open(given.write, encoding="utf-8") as file:
            document = file.read()
        with open(given.write, "w", encoding="utf-8") as file:
            file.write(written(document, f"{machine()}\n\n{markdown(claims)}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
