"""The types a program outside this repository sees, checked with its own settings by two checkers."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAM = """
from typing import assert_type

from haversack import AsyncMemory, Found, Memory, Saved, count_tokens
from haversack.store.records import Observation

with Memory(project="thesis") as memory:
    assert_type(memory.save("title", "content", tags=["a"]), Saved)
    found = memory.search("question", max_tokens=300)
    assert_type(found, Found)
    assert_type(found.items, tuple[Observation, ...])
    assert_type(found.more(), Found | None)
    assert_type(count_tokens(found.text), int)


async def session() -> None:
    async with AsyncMemory() as memory:
        assert_type(await memory.search("question"), Found)
"""
WRONG = PROGRAM + '\nMemory(project=3).search(query=None, max_tokens="many")\n'


@pytest.mark.parametrize(
    "checker", [["mypy", "--strict"], ["pyright", "--pythonpath", sys.executable]], ids=["mypy", "pyright"]
)
def test_a_program_of_a_user_is_fully_typed(checker: list[str], tmp_path: Path) -> None:
    if find_spec(checker[0]) is None:
        pytest.skip(f"{checker[0]} is not installed")
    for text, accepted in ((PROGRAM, True), (WRONG, False)):
        program = tmp_path / "program.py"
        program.write_text(text)
        ran = subprocess.run(
            [sys.executable, "-m", *checker, str(program)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (ran.returncode == 0) == accepted, ran.stdout + ran.stderr
