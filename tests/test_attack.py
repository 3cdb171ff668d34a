"""The adversary says what it tried and what held, and its exit code tells whether something broke."""

import subprocess
import sys
from pathlib import Path

import pytest

from attack.trial import ATTACKS, Trial, attack

ROOT = Path(__file__).parents[1]


def test_a_class_that_holds_is_reported_and_succeeds() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attack", "contract", "--count", "8", "--seconds", "30"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 tried       8 held" in done.stdout


def test_a_break_is_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attack.trial.ATTACKS", {})
    trial = Trial(tmp_path, count=2, seconds=60, seed=1)
    trial.judge("held", True)
    trial.judge("gave way", False)
    assert (trial.tried, trial.breaks, trial.goes_on()) == (2, ["gave way"], False)


def test_a_new_class_is_entered_by_its_decorator() -> None:
    @attack("of a test")
    def run(trial: Trial) -> None:
        trial.judge("x", True)

    assert ATTACKS.pop("of a test") is run


def test_an_unknown_class_is_an_error() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attack", "nonsense"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no class nonsense" in done.stderr
