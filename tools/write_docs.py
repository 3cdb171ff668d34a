"""Writes the documents that are made from the code."""

from pathlib import Path

from haversack.tools.reference import reference

DOCS = Path(__file__).parent.parent / "docs"


def main() -> None:
    """Write every generated document; a test compares them with what would be written."""
    (DOCS / "tool-reference.md").write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main()
