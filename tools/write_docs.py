"""Write what is generated in docs/: run by `make docs`, and compared with the files by tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    from tools.sdd_guide import guide

    (ROOT / "docs" / "sdd-guide.md").write_text(guide(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
