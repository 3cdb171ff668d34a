"""`make mutate`: change the code in small ways, one at a time, and print the changes that no test notices.

A survivor is a missing test, or a change that makes no difference; the latter are listed with their reason in
tools/mutants.toml. Exit code 1 when a survivor is not listed there.

The tests of a target run once, to learn which lines each test reaches and how long it takes. A change is then made in
a forked process, which runs the tests that reach its line, quickest first, until one fails. Every test is measured in
a forked process, too: what one has cached must neither hide a line from the next nor outlive a change.
"""

import argparse
import ast
import gc
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from types import CodeType, FrameType, FunctionType
from typing import Any, TextIO

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "haversack"
EXPLAINED = ROOT / "tools" / "mutants.toml"
TARGETS = {
    ("tokens",): (
        "tests/tokens/test_bpe.py",
        "tests/tokens/test_budget.py",
        "tests/tokens/test_cutting.py",
        "tests/tokens/test_footers.py",
        "tests/tokens/test_packing.py",
        "tests/tokens/test_profiles.py",
        "tests/tokens/test_exact_profiles.py",
        # These compare with other programs for minutes; what they say is said by the others in seconds.
        "-k",
        "not whatever_counts_them and not library_of_sources and not units_add_up and not counts_on_any_text",
    ),
    ("text/redaction.py", "text/secret_assignments.py", "text/secret_shapes.py"): ("tests/memory/test_redaction.py",),
    ("tools/road",): (
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
}
"""What is changed, and the tests that should notice, as pytest is given them."""
PATIENCE = 20.0
"""The tests of one change are the quickest ones that together took so many seconds of processor time."""
UNPREPARED = 99
"""The exit code of a forked process that could not make its change."""
SECONDS = 600
"""A change that makes the tests run for longer than this has been noticed: it never ends."""

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


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


@dataclass(frozen=True)
class Mutant:
    """One change of one file, which is the change with this number among those `changes` yields."""

    path: Path
    number: int
    line: int
    what: str
    place: str
    """Where it is: in a "function", in a "constant" of the module, or "elsewhere", as in a default."""

    @property
    def name(self) -> str:
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def module(self) -> str:
        return "haversack." + self.name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")

    @property
    def source_line(self) -> str:
        return self.path.read_text(encoding="utf-8").splitlines()[self.line - 1].strip()

    def tree(self) -> tuple[ast.Module, ast.AST]:
        """The changed source, and the node that was changed."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node = next(node for number, (node, _) in enumerate(changes(tree)) if number == self.number)
        change(node)
        return ast.fix_missing_locations(tree), node


def mutants(path: Path) -> Iterator[Mutant]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    within: dict[ast.AST, str] = {}
    for statement in tree.body:
        named = isinstance(statement, ast.Assign | ast.AnnAssign)
        within |= dict.fromkeys(ast.walk(statement), "constant" if named else "elsewhere")
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            within |= {part: "function" for statement in body for part in ast.walk(statement)}
    for number, (node, what) in enumerate(changes(tree)):
        yield Mutant(path, number, getattr(node, "lineno", 0), what, within[node])


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code objects inside a code object, at any depth."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes(constant)


def change_functions(mutant: Mutant) -> None:
    """Give the functions of the running program the changed code."""
    import_module(mutant.module)
    tree, _ = mutant.tree()
    changed = {(code.co_qualname, code.co_firstlineno): code for code in codes(compile(tree, mutant.path, "exec"))}
    for function in [found for found in gc.get_objects() if isinstance(found, FunctionType)]:
        code = function.__code__
        if code.co_filename == str(mutant.path) and (code.co_qualname, code.co_firstlineno) in changed:
            function.__code__ = changed[code.co_qualname, code.co_firstlineno]


def change_constants(mutant: Mutant) -> None:
    """Give the running program the changed constant, and the constants made from it, wherever they were imported."""
    tree, changed = mutant.tree()
    module = vars(import_module(mutant.module))
    names: set[str] = set()
    for statement in tree.body:
        parts = list(ast.walk(statement))
        uses = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or not (changed in parts or uses & names):
            continue
        stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        before = {stored_name: module[stored_name] for stored_name in stored if stored_name in module}
        exec(compile(ast.Module([statement], []), mutant.path, "exec"), module)
        for other in [vars(other) for key, other in sys.modules.items() if key.startswith(("haversack", "tests"))]:
            for stored_name, old in before.items():
                if other.get(stored_name) is old:
                    other[stored_name] = module[stored_name]
        names |= stored


def is_noticed_afresh(mutant: Mutant, tests: list[str]) -> bool:
    """Whether the tests fail in a new process that imports the changed file."""
    with tempfile.TemporaryDirectory() as folder:
        for path in [PACKAGE, *PACKAGE.rglob("*")]:
            there = Path(folder) / "haversack" / path.relative_to(PACKAGE)
            if path.is_dir():
                there.mkdir(parents=True, exist_ok=True)
            elif path.suffix != ".pyc":
                there.symlink_to(path)
        changed = Path(folder) / "haversack" / mutant.name
        changed.unlink()
        changed.write_text(ast.unparse(mutant.tree()[0]), encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", *tests]
        try:
            ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return True
    return ran.returncode != 0


def limit_processor_time(expected_seconds: float) -> None:
    """End this process when a test takes far more than it did without a change: it may never end."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(time.process_time() + expected_seconds * 4) + 3
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def fails(prepare: Callable[[], None], trial: Callable[[], bool]) -> bool:
    """Whether a trial that ends with True when all is well does not, in a forked process with limits of its own."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        signal.alarm(SECONDS)
        code = UNPREPARED
        try:
            prepare()
            code = 1
            code = 0 if trial() else 1
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.waitstatus_to_exitcode(status) == UNPREPARED:
        raise RuntimeError("the change could not be made")
    return status != 0


def traced(item: pytest.Item, paths: set[str]) -> tuple[float, set[tuple[str, int]]]:
    """Run a test: its seconds of processor time, and the lines of the files it reaches."""
    lines: set[tuple[str, int]] = set()

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return on_line

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        return on_line if frame.f_code.co_filename in paths else None

    before = time.process_time()
    threading.settrace(on_call)
    sys.settrace(on_call)
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    sys.settrace(None)
    return time.process_time() - before, lines


class Trials:
    """A pytest plugin that runs the collected tests once, and then again for each change."""

    def __init__(self, tried: list[Mutant], patience: float, survived: Callable[[Mutant], None]) -> None:
        self.tried = tried
        self.patience = patience
        self.survived = survived
        self.seconds: dict[str, float] = {}
        self.reached: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.paths = {str(mutant.path) for mutant in tried}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        failed = [item.nodeid for item in session.items if not self.measure(item)]
        if failed:
            pytest.exit(f"tests fail without any change: {', '.join(failed)}", returncode=2)
        for count, mutant in enumerate(self.tried, 1):
            if count % 20 == 0:
                print(f"{count} of {len(self.tried)} changes tried", file=sys.stderr, flush=True)
            items = self.items_for(mutant, session)
            files = list(dict.fromkeys(item.nodeid.partition("::")[0] for item in items))
            if mutant.place == "elsewhere":
                noticed = bool(files) and is_noticed_afresh(mutant, files)
            else:
                noticed = self.is_noticed(mutant, session, items)
            if not noticed:
                self.survived(mutant)
        return True

    def measure(self, item: pytest.Item) -> bool:
        """Run a test as it is, note its time and the lines it reaches, and say whether it passed."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(traced(item, self.paths), pipe)
            os._exit(item.session.testsfailed)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            sent = pipe.read()
        if os.waitpid(child, 0)[1] != 0:
            return False
        self.seconds[item.nodeid], lines = pickle.loads(sent)
        for path, line in lines:
            self.reached[path, line].add(item.nodeid)
            self.reached[path, 0].add(item.nodeid)
        return True

    def items_for(self, mutant: Mutant, session: pytest.Session) -> list[pytest.Item]:
        """The tests that reach a change, quickest first, as far as the patience goes."""
        line = mutant.line if mutant.place == "function" else 0
        reaching = self.reached[str(mutant.path), line] or self.reached[str(mutant.path), 0]
        items = sorted(
            (item for item in session.items if item.nodeid in reaching), key=lambda item: self.seconds[item.nodeid]
        )
        chosen: list[pytest.Item] = []
        spent = 0.0
        for item in items:
            spent += self.seconds[item.nodeid]
            if spent > self.patience and chosen:
                break
            chosen.append(item)
        return chosen

    def is_noticed(self, mutant: Mutant, session: pytest.Session, items: list[pytest.Item]) -> bool:
        """Whether one of the tests fails when the running program is changed."""

        def prepare() -> None:
            if mutant.place == "function":
                change_functions(mutant)
            else:
                change_constants(mutant)

        def trial() -> bool:
            for item in items:
                limit_processor_time(self.seconds[item.nodeid])
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed:
                    return False
            return True

        return fails(prepare, trial)


def chosen_mutants(places: tuple[str, ...], only: str, sample: int, seed: int) -> list[Mutant]:
    """The changes of the files of a target, or so many of them, chosen by the seed."""
    found: list[Mutant] = []
    for place in places:
        target = PACKAGE / place
        for path in sorted(target.rglob("*.py")) if target.is_dir() else [target]:
            if any(part in path.relative_to(PACKAGE).as_posix() for part in only.split(",")):
                found += mutants(path)
    if sample and sample < len(found):
        found = Random(seed).sample(found, sample)
    return sorted(found, key=lambda mutant: (mutant.name, mutant.line, mutant.number))


def report(output: TextIO, explained: dict[str, str], unexplained: list[Mutant]) -> Callable[[Mutant], None]:
    """A function that prints a survivor and collects the ones without a reason."""

    def survived(mutant: Mutant) -> None:
        reason = explained.get(f"{mutant.name}: {mutant.source_line}: {mutant.what}", "")
        if not reason:
            unexplained.append(mutant)
        label = "survived (explained)" if reason else "survived"
        print(f"{label}: {mutant.name}:{mutant.line}: {mutant.what}: {mutant.source_line}", file=output, flush=True)

    return survived


def main() -> int:
    """Try a sample of the changes of each target, or all of them, and print the survivors."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="try N changes of each target (all)")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample")
    parser.add_argument("--only", default="", help="parts of paths, such as text/redaction.py,tools/road/fit.py")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds of tests for one change")
    asked = parser.parse_args()
    explained = {entry["change"]: entry["reason"] for entry in tomllib.loads(EXPLAINED.read_text())["mutant"]}
    os.chdir(ROOT)
    settings.register_profile("mutate", phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutate")
    # The tests' own output would hide the survivors.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    unexplained: list[Mutant] = []
    count = 0
    for places, tests in TARGETS.items():
        tried = chosen_mutants(places, asked.only, asked.sample, asked.seed)
        if not tried:
            continue
        count += len(tried)
        trials = Trials(tried, asked.patience, report(output, explained, unexplained))
        with tempfile.TemporaryDirectory() as folder:
            code = pytest.main(["-s", "-p", "no:xdist", "--basetemp", folder, *tests], plugins=[trials])
        if code != pytest.ExitCode.OK:
            sys.exit(f"{', '.join(tests)} cannot be used: they do not pass, or were not found, without any change")
        print(f"{', '.join(places)}: {len(tried)} changes tried", file=output, flush=True)
    print(f"{count} changes tried, {len(unexplained)} unexplained survivors", file=output, flush=True)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
