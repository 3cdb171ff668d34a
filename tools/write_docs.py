"""Write what is generated in docs/, and the manual page: run by `make docs`, and compared with the files by tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS, END = "<!-- written by make docs -->", "<!-- end -->"
DAY = "<!-- the table below is written by make docs -->"


def main() -> int:
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    from haversack.__main__ import DOORS
    from haversack.cli.manual import manual
    from haversack.tools.reference import reference
    from tools.architecture import written
    from tools.budget_day import table
    from tools.recall_plot import plot
    from tools.sdd_guide import guide

    for name, text in {"tool-reference.md": reference(), "sdd-guide.md": guide()}.items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8", newline="\n")
    (ROOT / "packaging" / "haversack.1").write_text(manual(DOORS), encoding="utf-8", newline="\n")
    architecture = ROOT / "docs" / "architecture.md"
    before, mark, rest = architecture.read_text(encoding="utf-8").partition(ROOMS)
    after = rest.partition(END)[2]
    text = f"{before}{mark}\n{written()}\n{END}{after}"
    architecture.write_text(text, encoding="utf-8", newline="\n")
    budget = ROOT / "docs" / "budget.md"
    before, mark, _ = budget.read_text(encoding="utf-8").partition(DAY)
    budget.write_text(f"{before}{mark}\n\n{table()}\n", encoding="utf-8", newline="\n")
    figures = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    (ROOT / "docs" / "pictures" / "recall.svg").write_text(plot(figures), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
