"""What the workspace tools cost beside `git` and `rg` alone, on a repository of many files.

Generates a repository, then asks each question in a process of its own: a few rounds in which the bare program and
the tool take turns, each timed to its first page of 100 items with exact totals and the snapshot of the rest taken.
Prints the medians, their ratio on the clock and in processor time, and the peak memory of the process that asked.

The bare side of each question is what gives the same answer without the tool: a listing leaves out what has been
deleted, for which git has to be asked too (`-d`); one by size needs `stat` and `sort` behind git; a log with its
total is two commands. `git ls-files` that names deleted files as well is measured too, without an aim.
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from haversack.workspace.files.listing import project_files
from haversack.workspace.files.reader import read_file
from haversack.workspace.git.blame import vcs_blame
from haversack.workspace.git.diff import vcs_diff
from haversack.workspace.git.log import vcs_log
from haversack.workspace.git.status import vcs_status
from haversack.workspace.programs import find_program
from haversack.workspace.root import Workspace
from haversack.workspace.search.content_search import search_content

PAGE = 100
WORDS = ("alpha", "beta", "gamma", "delta", "import", "return", "class", "function", "value", "result", "total")
RARE, COMMON = "needle_word", "gamma delta"
LOG_FILE = "big.log"


def generate(folder: str, files: int, commits: int) -> None:
    """A repository with `files` small files, one of them in a hundred holding the rare word, and some changes."""
    chance = random.Random(7)
    for number in range(files):
        place = os.path.join(folder, f"pkg{number // 1000:03d}", f"mod{number // 50 % 20:02d}")
        os.makedirs(place, exist_ok=True)
        lines = [" ".join(chance.choices(WORDS, k=8)) for _ in range(30)]
        if number % 100 == 0:
            lines.append(f"the {RARE} is here")
        write(os.path.join(place, f"file_{number:06d}.{'md' if number % 3 == 0 else 'py'}"), "\n".join(lines) + "\n")
    write(
        os.path.join(folder, LOG_FILE), "".join(f"{number:09d} a line of a log file\n" for number in range(files * 40))
    )
    write(os.path.join(folder, ".gitignore"), f"ignored/\n{LOG_FILE}\n")
    os.makedirs(os.path.join(folder, "ignored"))
    for number in range(files // 20):
        write(os.path.join(folder, "ignored", f"{number}.py"), RARE)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    for number in range(commits):
        git(folder, "commit", "--quiet", "--allow-empty", "-m", f"commit {number}")
    for number in range(0, files, 50):
        place = os.path.join(folder, f"pkg{number // 1000:03d}", f"mod{number // 50 % 20:02d}")
        path = os.path.join(place, f"file_{number:06d}.{'md' if number % 3 == 0 else 'py'}")
        with open(path, "a") as file:
            file.write("a line more\n")


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def git(folder: str, *arguments: str) -> None:
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@dataclass(frozen=True, slots=True)
class Question:
    """The bare commands that answer a question, one after another, or piped when `is_piped`; and the call."""

    ask: Callable[[], object]
    bare: list[list[str]]
    is_piped: bool = False
    has_aim: bool = True


def questions(workspace: Workspace) -> dict[str, Question]:
    """Each question by name."""
    ripgrep = find_program("rg", outside=workspace.root) or "rg"
    with open(os.path.join(workspace.root, LOG_FILE), "rb") as file:
        lines = sum(1 for _ in file)
    searched = [ripgrep, "--line-number", "--ignore-case", "--context=2", "--regexp"]
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    page = ["git", "log", "--max-count=10", "--format=%H %h %aI %aN %s"]
    blamed = "pkg000/mod00/file_000000.md"
    return {
        "list files": Question(
            lambda: project_files(workspace).files.first(PAGE),
            [[*listed, "--deleted", "-t"]],
        ),
        "list files, beside names alone": Question(
            lambda: project_files(workspace).files.first(PAGE), [listed], has_aim=False
        ),
        "list by size": Question(
            lambda: project_files(workspace, sort="size").files.first(PAGE),
            [listed, ["xargs", "-0", "stat", "--format=%s %Y %n"], ["sort", "-rn"]],
            is_piped=True,
        ),
        "search, rare": Question(lambda: search_content(workspace, RARE).matches.first(PAGE), [[*searched, RARE]]),
        "search, common": Question(
            lambda: search_content(workspace, COMMON).matches.first(PAGE), [[*searched, COMMON]]
        ),
        "search, expression": Question(
            lambda: search_content(workspace, r"needle_\w+", is_regex=True).matches.first(PAGE),
            [[*searched, r"needle_\w+"]],
        ),
        "read the end of a long file": Question(
            lambda: read_file(workspace, LOG_FILE, start_line=lines - PAGE), [[ripgrep, "--count", "", LOG_FILE]]
        ),
        "status": Question(
            lambda: vcs_status(workspace).entries.first(PAGE),
            [["git", "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"]],
        ),
        "diff": Question(lambda: vcs_diff(workspace).parts.first(PAGE), [["git", "diff"]]),
        "log with total": Question(
            lambda: vcs_log(workspace).commits.first(PAGE), [page, ["git", "rev-list", "--count", "HEAD"]]
        ),
        "blame": Question(
            lambda: vcs_blame(workspace, blamed).runs.first(PAGE), [["git", "blame", "--porcelain", blamed]]
        ),
    }


def measure(folder: str, name: str, rounds: int) -> None:
    """Time one question and its bare command in turns, and print the figures as JSON."""
    question = questions(Workspace(folder))[name]
    start_memory = peak_memory()
    bare, tool = [], []
    for _ in range(rounds + 1):
        begun = spent()
        run_bare(question, folder)
        between = spent()
        question.ask()
        ended = spent()
        bare.append([after - before for before, after in zip(begun, between, strict=True)])
        tool.append([after - before for before, after in zip(between, ended, strict=True)])
    # The first round only warms the caches of the machine.
    medians = [statistics.median(figures) for each in (bare, tool) for figures in zip(*each[1:], strict=True)]
    print(json.dumps([*medians, start_memory, peak_memory()]))


def run_bare(question: Question, folder: str) -> None:
    """Run programs and read what they say, as a tool has to, but keep nothing of it: memory is measured too."""
    running: list[subprocess.Popen[bytes]] = []
    for command in question.bare:
        source = running[-1].stdout if running and question.is_piped else subprocess.DEVNULL
        running.append(subprocess.Popen(command, cwd=folder, stdin=source, stdout=subprocess.PIPE))
        if not question.is_piped:
            read_all(running[-1])
    if question.is_piped:
        for earlier in running[:-1]:
            assert earlier.stdout
            earlier.stdout.close()
        read_all(running[-1])
    for each in running:
        each.wait()


def read_all(running: "subprocess.Popen[bytes]") -> None:
    assert running.stdout
    with running.stdout:
        while os.read(running.stdout.fileno(), 1 << 18):
            pass


def spent() -> tuple[float, float]:
    """Seconds on the clock, and seconds of processor time of this process and those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(each.ru_utime + each.ru_stime for each in used)


def peak_memory() -> int:
    """The most memory this process has held, in kilobytes."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--files", type=int, nargs="+", default=[10_000, 100_000], help="files of each repository")
    parser.add_argument("--rounds", type=int, default=9, help="timed rounds of each question (default 9)")
    parser.add_argument("--quick", action="store_true", help="a small repository, to see that everything runs")
    parser.add_argument("--measure", nargs=2, metavar=("FOLDER", "QUESTION"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        folder, question = given.measure
        measure(folder, question, given.rounds)
        return 0
    sizes, rounds = ([300], 2) if given.quick else (given.files, given.rounds)
    for files in sizes:
        report(files, rounds, commits=20 if given.quick else 200)
    return 0


def report(files: int, rounds: int, commits: int) -> None:
    """Make a repository of so many files, ask every question of it, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="bench-workspace-") as folder:
        folder = os.path.realpath(folder)
        generate(folder, files, commits)
        print(f"\n{files:,} files, median of {rounds} rounds, first page of {PAGE}")
        print(
            f"{'question':32}{'bare ms':>10}{'tool ms':>10}{'ratio':>8}{'cpu ratio':>11}{'peak MB':>9}{'start MB':>10}"
        )
        for name, question in questions(Workspace(folder)).items():
            command = [sys.executable, os.path.abspath(__file__), "--rounds", str(rounds), "--measure", folder, name]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            bare, bare_cpu, tool, tool_cpu, start, peak = json.loads(done.stdout)
            ratios = f"{tool / bare:>8.2f}{tool_cpu / bare_cpu:>11.2f}"
            figures = f"{bare * 1000:>10.1f}{tool * 1000:>10.1f}{ratios}{peak / 1024:>9.0f}{start / 1024:>10.0f}"
            print(f"{name:32}{figures}", flush=True)
            if question.has_aim:
                where = f"{name} in {files:,} files"
                print(f"claim: {where}, beside the bare programs | {tool / bare:.2f} | at most 1.5 | : 1")


if __name__ == "__main__":
    sys.exit(main())
