"""`sdd doctor`: what is damaged in the plan of the current folder, and mending it."""

import os
from datetime import UTC, datetime

from haversack import terminal
from haversack.config import Config, load
from haversack.sdd.checks import repair
from haversack.sdd.checks.repair import Mended, Problem
from haversack.sdd.documents.disk import find
from haversack.values import asdict
from haversack.workspace.root import open_workspace


def run(*, mend: bool, as_json: bool) -> int:
    """Say what is damaged, mend it when asked to, and return 0 when nothing is damaged any more, else 1."""
    root = _root(load())
    mended = repair.mend(root, now=datetime.now(UTC)) if mend else ()
    problems = repair.diagnose(root)
    if as_json:
        import json

        facts = {
            "root": root,
            "mended": [asdict(each.problem) | {"kept": each.kept} for each in mended],
            "damaged": [asdict(each) for each in problems],
        }
        terminal.show(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        terminal.show("\n".join(_report(root, mended, problems)))
    return 1 if problems else 0


def damage(config: Config) -> tuple[Problem, ...]:
    """What is damaged in the plan of the current folder; nothing when it has none."""
    return repair.diagnose(_root(config))


def _root(config: Config) -> str:
    return open_workspace(config.workspace, os.getcwd()).root


def _report(root: str, mended: tuple[Mended, ...], problems: tuple[Problem, ...]) -> list[str]:
    lines = []
    for each in mended:
        lines.append(f"done {_told(each.problem)}")
        lines.append(f"     {each.problem.remedy}" + (f" ({each.kept})" if each.kept else ""))
    for problem in problems:
        lines.append(f"BAD  {_told(problem)}")
        lines.append(f"     `haversack sdd doctor --mend` will {problem.remedy}")
    if not problems:
        folder = find(root)
        lines.append(f"ok   {folder.path()}: nothing is damaged" if folder else f"ok   no plan is kept in {root}")
    return lines


def _told(problem: Problem) -> str:
    named = problem.message.startswith(problem.file)
    return problem.message if named else f"{problem.file}: {problem.message}"
