"""The diagram and the table of rooms in docs/architecture.md, made from the import contract and the packages."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "haversack"


def layers() -> list[list[str]]:
    """The rooms from the doors down to the leaves, as the import contract has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    listed = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[room.strip() for room in layer.split("|")] for layer in listed]


def diagram() -> str:
    """The layers as boxes, one below the other: a room imports only from boxes below its own."""
    rows = [" | ".join(layer) for layer in layers()]
    width = max(map(len, rows))
    rule = f"+{'-' * (width + 2)}+"
    lines = [rule]
    for row in rows:
        lines += [f"| {row.center(width)} |", rule]
    return "```\n" + "\n".join(lines) + "\n```"


def rooms() -> str:
    """Every room with its own first sentence and its folders."""
    rows = ["| room | what it is | inside |", "|---|---|---|"]
    for room in (room for layer in layers() for room in layer):
        rows.append(f"| `{room}` | {_about(room)} | {', '.join(_inside(room))} |")
    return "\n".join(rows)


def written() -> str:
    """What stands between the marks in docs/architecture.md."""
    return f"{diagram()}\n\n{rooms()}"


def _about(room: str) -> str:
    place = SOURCE / room / "__init__.py" if (SOURCE / room).is_dir() else SOURCE / f"{room}.py"
    about = ast.get_docstring(ast.parse(place.read_text(encoding="utf-8"))) or ""
    return " ".join(about.split("\n\n")[0].split()).replace("|", "\\|")


def _inside(room: str) -> list[str]:
    place = SOURCE / room
    folders = sorted(each.parent.name + "/" for each in place.glob("*/__init__.py"))
    modules = sorted(each.stem for each in place.glob("*.py") if each.stem != "__init__")
    return [f"`{name}`" for name in (*folders, *modules)]
