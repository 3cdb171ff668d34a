"""A day's session on accounts of the sizes people set, checked step by step."""

from itertools import pairwise
from pathlib import Path

import pytest

from haversack.config import BudgetSettings
from haversack.worklog.log import open_log
from tools.budget_day import STEPS, TOTALS, Step, day, table

BUDGET = Path(__file__).parents[2] / "docs" / "budget.md"
EVERY_TOTAL = pytest.mark.parametrize("total", TOTALS)


def kinds(steps: list[Step]) -> list[str]:
    """How each step warned: "", "Alert" or "Critical"."""
    return [step.alert[1:].partition(":")[0].removeprefix("Budget ") for step in steps]


@EVERY_TOTAL
def test_allocations_fall_gradually_and_never_rise_before_a_reset(total: int) -> None:
    allocations = [step.allocation for step in day(total)]
    for earlier, later in pairwise(allocations):
        assert later <= earlier
        assert later >= min(500, earlier) and later >= earlier * 0.7
    assert allocations[-1] >= 500


@EVERY_TOTAL
def test_a_fresh_account_of_any_size_does_not_warn_and_a_spent_one_does(total: int) -> None:
    account = open_log(settings=BudgetSettings(total=total)).ledger.open().account
    for step, kind in zip(day(total), kinds(day(total)), strict=True):
        expected = (
            "Critical" if step.remaining < account.critical else "Alert" if step.remaining < account.warning else ""
        )
        assert kind == expected, step
    assert kinds(day(total))[:4] == [""] * 4
    assert (account.warning, account.critical) == (total // 5, total // 10)


def test_warnings_come_once_each_and_in_order_on_a_small_account() -> None:
    assert kinds(day(16_000)) == [""] * 4 + ["Alert"] * 2 + ["Critical"] * (STEPS - 6)
    assert kinds(day(70_000)) == [""] * 16 + ["Alert"] * (STEPS - 16)
    assert kinds(day(180_000)) == [""] * STEPS


def test_entries_are_evicted_only_when_the_account_is_overdrawn_or_the_history_is_full() -> None:
    steps = day(16_000)
    assert [step.evicted for step in steps[:8]] == [0] * 8
    assert steps[8].evicted > 0 and steps[8].remaining > 0, "room was made"
    assert all(step.entries + step.evicted == step.number for step in steps)
    assert all(step.entries >= 1 for step in steps), "the last call stays in the log"
    assert all(step.evicted == 0 for total in (70_000, 180_000) for step in day(total))


@EVERY_TOTAL
def test_a_reset_brings_the_allocation_back_and_ends_the_warning(total: int) -> None:
    steps = day(total, reset_after=20)
    assert steps[20].allocation == steps[0].allocation
    assert kinds(steps)[20] == ""


def test_the_guide_shows_this_very_run() -> None:
    assert table() in BUDGET.read_text(encoding="utf-8"), "run `make docs`"
