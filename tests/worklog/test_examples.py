"""The examples and the code of the library guide run, and say what they claim."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def output_of(path: Path) -> list[str]:
    ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def test_the_anthropic_example_fits_and_reads_back() -> None:
    lines = output_of(ROOT / "examples" / "anthropic_messages.py")
    assert lines[1].startswith("the oldest result: 120 lines, from 'def function0():' [540 tokens in full: more(")
    assert lines[2:4] == ["read back whole: True", "the newest is whole: True"]


def test_the_openai_example_fits_and_repeats_itself() -> None:
    lines = output_of(ROOT / "examples" / "openai_messages.py")
    assert "user: [8 earlier messages left out, 2,692 tokens]" in lines
    assert "tool: 40 matches, the first in src/client_0.py [600 tokens in full: call_4]" in lines
    assert lines[-1] == "the same history gives the same bytes: True"


def test_the_sub_agents_example_gives_back_what_was_not_used() -> None:
    lines = output_of(ROOT / "examples" / "sub_agents.py")
    assert lines[:2] == ["the parent has 70,000 tokens", "with three leases out it has 10,000"]
    assert lines[-2] == "52,290 tokens came back, 62,290 remain"
    assert lines[-1].startswith("[Budget Alert: ~12k tokens remaining.")


EXAMPLES = {
    "memory.py": ["best: Tokens rotate hourly", "the next page goes on: True", "a pack to paste: True"],
    "function_calling.py": ["gemini: 5 tools", "mem_search: Error: mem_search has no parameter 'quary'"],
    "openai_agents_session.py": ["kept: 17 items; fits: True", "read back: True"],
    "pydantic_ai_agent.py": ["Noted; the model saw 3 messages.", "remembered: 1"],
    "langchain_agent.py": ["the state is whole: 41 messages; Done.", "found: editor"],
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_library_say_what_they_claim(name: str) -> None:
    lines = output_of(ROOT / "examples" / name)
    for claim in EXAMPLES[name]:
        assert any(line.startswith(claim) for line in lines), (claim, lines)


def test_every_example_is_tested_here() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in (ROOT / "examples").glob("*.py") if path.name not in tested] == []


def test_the_code_of_the_library_guide_runs_and_prints_what_its_comments_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guide = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    code = "\n".join(part.split("```")[0] for part in guide.split("```python\n")[1:])
    exec(compile(code, "docs/library.md", "exec"), {})
    printed = capsys.readouterr().out
    claims = [line.split("  # ", 1)[1] for line in code.splitlines() if line.startswith("print(") and "  # " in line]
    assert len(claims) == 5
    for claim in claims:
        assert claim.split(" until ")[0] in printed
    assert "src/part2.py [2,000 tokens in full: more(" in printed
