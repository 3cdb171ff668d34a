"""Whoever keeps a file pays nothing for the other engine."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from haversack.cli import main
main({typed!r})
print([name for name in sys.modules if name.startswith(("psycopg", "haversack.store.postgres"))], file=sys.stderr)
"""


@pytest.mark.parametrize("typed", [["save", "Kettle", "It is blue"], ["search", "kettle"], ["doctor"], ["stats"]])
def test_a_store_in_a_file_imports_nothing_of_postgresql(typed: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(typed=typed)], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr.splitlines()[-1] == "[]", done.stderr
