"""Write what is generated in docs/: run by `make docs`, and compared with the files by tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    from haversack.tools.reference import reference
    from tools.sdd_guide import guide

    for name, text in {"tool-reference.md": reference(), "sdd-guide.md": guide()}.items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
