"""`make mutate`: change the code in small ways, one at a time, and print the changes that no test notices.

A survivor is a missing test, or a change that makes no difference; the latter are listed with their reason in
tools/mutants.toml. Exit code 1 when a survivor is in neither.
"""

import argparse
import ast
import copy
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
EXPLAINED = ROOT / "tools" / "mutants.toml"
TESTS = {
    "tokens": ("tests/tokens", "tests/tools/test_fitting.py"),
    "tools/road": ("tests/tools", "tests/contract"),
    "text/redaction.py": ("tests/memory/test_redaction.py",),
    "text/secret_assignments.py": ("tests/memory/test_redaction.py",),
    "text/secret_shapes.py": ("tests/memory/test_redaction.py",),
}
"""What is changed, and the tests that should notice."""
SECONDS = 300
"""A change that makes the tests run for longer than this has been noticed: it never ends."""

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv}


def changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Every place that can be changed, with a word on what the change is; applied by `change`."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(ops=[operator]) if type(operator) in COMPARED:
                yield node, f"{type(operator).__name__} -> {COMPARED[type(operator)].__name__}"
            case ast.BinOp(op=operation) if type(operation) in COMPUTED and not isinstance(node.left, ast.Constant):
                yield node, f"{type(operation).__name__} -> {COMPUTED[type(operation)].__name__}"
            case ast.BoolOp(op=operation):
                yield node, "and -> or" if isinstance(operation, ast.And) else "or -> and"
            case ast.UnaryOp(op=ast.Not()):
                yield node, "not dropped"
            case ast.Constant(value=bool(value)):
                yield node, f"{value} -> {not value}"
            case ast.Constant(value=int(value)):
                yield node, f"{value} -> {value + 1}"


def change(node: ast.AST) -> None:
    """Change one place of a tree, as `changes` described it."""
    match node:
        case ast.Compare(ops=[operator]):
            node.ops = [COMPARED[type(operator)]()]
        case ast.BinOp(op=operation):
            node.op = COMPUTED[type(operation)]()
        case ast.BoolOp(op=operation):
            node.op = ast.Or() if isinstance(operation, ast.And) else ast.And()
        case ast.UnaryOp():
            node.op = ast.UAdd()
            node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + 1


def mutants(path: Path) -> Iterator[tuple[int, str, str]]:
    """The line, the description and the whole source of each changed version of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for number, (node, what) in enumerate(changes(tree)):
        other = copy.deepcopy(tree)
        change(next(each for place, (each, _) in enumerate(changes(other)) if place == number))
        yield getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(other))


def is_noticed(source: Path, tests: tuple[str, ...]) -> bool:
    """Whether the tests fail with the package at `source`."""
    environment = os.environ | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", *tests]
    try:
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return True
    return ran.returncode != 0


def main() -> int:
    """Try a sample of the changes, or all of them, and print the survivors."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="try N changes chosen by --seed (all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the path, such as text/redaction.py")
    asked = parser.parse_args()
    explained = {entry["change"]: entry["reason"] for entry in tomllib.loads(EXPLAINED.read_text())["mutant"]}
    tries = []
    for place, tests in TESTS.items():
        held = ROOT / "src" / "haversack" / place
        for path in sorted(held.rglob("*.py")) if held.is_dir() else [held]:
            name = path.relative_to(ROOT / "src" / "haversack").as_posix()
            if asked.only in name:
                tries += [(path, name, tests, *mutant) for mutant in mutants(path)]
    if asked.sample:
        tries = sorted(Random(asked.seed).sample(tries, min(asked.sample, len(tries))), key=lambda each: each[1])
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        shutil.copytree(ROOT / "src" / "haversack", source / "haversack")
        for count, (path, name, tests, line, what, text) in enumerate(tries, 1):
            target = source / "haversack" / name
            target.write_text(text, encoding="utf-8")
            if not is_noticed(source, tests):
                shown = path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
                reason = explained.get(f"{name}: {shown}: {what}", "")
                survivors += not reason
                print(f"survived{' (explained)' if reason else ''}: {name}:{line}: {what}: {shown}", flush=True)
            shutil.copy(path, target)
            if sys.stderr.isatty():
                print(f"\r{count}/{len(tries)}", end="", file=sys.stderr)
    print(f"{len(tries)} changes tried, {survivors} unexplained survivors")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
