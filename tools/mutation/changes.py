"""Small changes of a source file, each made in a syntax tree or in the running program."""

import ast
import gc
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "haversack"

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
    lines: frozenset[int]
    """The lines that run differently: its own in a function, those that use it for a constant."""

    @property
    def name(self) -> str:
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def module(self) -> str:
        return "haversack." + self.name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")

    @property
    def source_line(self) -> str:
        return self.path.read_text(encoding="utf-8").splitlines()[self.line - 1].strip()

    @property
    def description(self) -> str:
        """What was changed, in the words by which `explained.toml` names it: stable while other lines change."""
        return f"{self.name}: {self.source_line}: {self.what}"

    def tree(self) -> tuple[ast.Module, ast.AST]:
        """The changed source, and the node that was changed."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node = next(node for number, (node, _) in enumerate(changes(tree)) if number == self.number)
        change(node)
        return ast.fix_missing_locations(tree), node


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    within: dict[ast.AST, str] = {}
    for statement in tree.body:
        named = isinstance(statement, ast.Assign | ast.AnnAssign)
        within |= dict.fromkeys(ast.walk(statement), "constant" if named else "elsewhere")
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            within |= {part: "function" for statement in body for part in ast.walk(statement)}
    users = _users(tree)
    for number, (node, what) in enumerate(changes(tree)):
        line: int = getattr(node, "lineno", 0)
        lines = {"function": frozenset((line,)), "constant": users.get(node, frozenset())}.get(within[node])
        yield Mutant(path, number, line, what, within[node], lines or frozenset())


def _users(tree: ast.Module) -> dict[ast.AST, frozenset[int]]:
    """The lines that use the constant each node is a part of, directly or through other constants."""
    loads: dict[str, set[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loads.setdefault(node.id, set()).add(node.lineno)
    users: dict[ast.AST, frozenset[int]] = {}
    for statement in reversed(tree.body):
        parts = list(ast.walk(statement))
        stored = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        lines = {line for name in stored for line in loads.get(name, ())}
        for later, its_lines in list(users.items()):
            if getattr(later, "lineno", 0) in lines:
                lines |= its_lines
        users |= dict.fromkeys(parts, frozenset(lines))
    return users


def apply(mutant: Mutant) -> None:
    """Make the change in the running program."""
    import_module(mutant.module)
    if mutant.place == "function":
        _change_functions(mutant)
    else:
        _change_constants(mutant)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code objects inside a code object, at any depth."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _change_functions(mutant: Mutant) -> None:
    """Give the functions of the running program the changed code."""
    tree, _ = mutant.tree()
    changed = {(code.co_qualname, code.co_firstlineno): code for code in _codes(compile(tree, mutant.path, "exec"))}
    for function in [object_ for object_ in gc.get_objects() if isinstance(object_, FunctionType)]:
        code = function.__code__
        if code.co_filename == str(mutant.path) and (code.co_qualname, code.co_firstlineno) in changed:
            function.__code__ = changed[code.co_qualname, code.co_firstlineno]


def _change_constants(mutant: Mutant) -> None:
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
