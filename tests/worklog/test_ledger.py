"""The ledger: tiers, allocations, warnings and leases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from haversack.config import BudgetSettings
from haversack.errors import Conflict, InvalidArgument, NotFound
from haversack.worklog.ledger import Ledger, Standing
from haversack.worklog.log import WorkLog, open_log
from tests.conftest import Clock


def used(standing: Standing) -> dict[str, int]:
    return {tier.name: tier.used for tier in standing.tiers}


def test_a_fresh_account_has_everything_but_its_reserve(ledger: Ledger) -> None:
    standing = ledger.open()
    assert standing.remaining == 70_000
    assert {tier.name: tier.limit for tier in standing.tiers} == {
        "system": 8_000,
        "history": 12_000,
        "tool_results": 40_000,
        "user": 10_000,
        "reserve": 30_000,
    }


def test_what_is_recorded_leaves_what_remains(ledger: Ledger) -> None:
    handle = ledger.open().handle
    ledger.measure_system(handle, 3_000)
    ledger.declare_system(handle, 500)
    ledger.declare_user(handle, 200)
    ledger.declare_user(handle, 300)
    standing = ledger.debit(handle, 1_234)
    assert used(standing) == {"system": 3_500, "history": 0, "tool_results": 1_234, "user": 500, "reserve": 30_000}
    assert standing.remaining == 100_000 - 3_500 - 1_234 - 500 - 30_000


def test_measuring_the_tool_list_again_replaces_the_figure(ledger: Ledger) -> None:
    handle = ledger.open().handle
    ledger.declare_system(handle, 100)
    ledger.measure_system(handle, 3_000)
    assert used(ledger.measure_system(handle, 2_000))["system"] == 2_100


def test_what_remains_is_never_below_zero_and_over_use_is_told(ledger: Ledger) -> None:
    handle = ledger.open().handle
    standing = ledger.debit(handle, 75_000)
    assert (standing.remaining, standing.over) == (0, 5_000)
    assert standing.alert == "[Budget Critical: ~5k tokens over. Complete or hand over now.]"


@pytest.mark.parametrize(
    ("left", "alert"),
    [
        (20_000, ""),
        (19_999, "[Budget Alert: ~19k tokens remaining. Consider summarizing or completing soon.]"),
        (10_000, "[Budget Alert: ~10k tokens remaining. Consider summarizing or completing soon.]"),
        (9_999, "[Budget Critical: ~9k tokens remaining. Complete or hand over now.]"),
        (999, "[Budget Critical: ~999 tokens remaining. Complete or hand over now.]"),
    ],
)
def test_the_alert_says_what_remains_now(ledger: Ledger, left: int, alert: str) -> None:
    handle = ledger.open().handle
    assert ledger.debit(handle, 70_000 - left).alert == alert


def test_a_reset_empties_the_tool_results_and_ends_the_warning(ledger: Ledger) -> None:
    handle = ledger.open().handle
    ledger.declare_user(handle, 400)
    assert ledger.debit(handle, 60_000).alert
    standing = ledger.reset(handle)
    assert used(standing)["tool_results"] == 0
    assert standing.remaining == 70_000 - 400
    assert standing.alert == ""


def test_the_allocation_falls_gradually_with_use_and_stops_at_the_minimum(ledger: Ledger) -> None:
    handle = ledger.open().handle
    allocations = []
    for _ in range(10):
        standing = ledger.standing(handle)
        allocations.append(ledger.allocation(standing, "mem_search").tokens)
        ledger.debit(handle, 4_500)
    assert allocations == [8_000, 8_000, 7_750, 6_625, 5_500, 4_375, 3_250, 2_125, 1_000, 500]


def test_an_allocation_below_the_usual_says_why(ledger: Ledger) -> None:
    handle = ledger.open().handle
    assert ledger.allocation(ledger.standing(handle), "mem_search").reason == ""
    ledger.debit(handle, 24_000)
    assert ledger.allocation(ledger.standing(handle), "mem_search").reason == snapshot(
        "[Reply limited to 4,000 of 8,000 tokens: 16,000 left for tool results. max_tokens asks for more.]"
    )


def test_the_allocation_heeds_what_remains_when_that_is_less_than_the_tier(ledger: Ledger) -> None:
    handle = ledger.open().handle
    ledger.declare_user(handle, 62_000)
    assert ledger.allocation(ledger.standing(handle), "mem_search").tokens == 2_000


def test_a_setting_for_a_tool_comes_before_its_usual_size_and_that_before_the_general_one() -> None:
    ledger = open_log(settings=BudgetSettings(overrides={"read_file": 20_000, "small": 300})).ledger
    standing = ledger.open()
    assert ledger.allocation(standing, "read_file", usual=2_000).tokens == 20_000
    assert ledger.allocation(standing, "context_pack", usual=2_000).tokens == 2_000
    assert ledger.allocation(standing, "mem_search").tokens == 8_000
    assert ledger.allocation(standing, "small").tokens == 300
    assert ledger.allocation(None, "mem_search").tokens == 8_000


def test_a_smaller_account_has_its_tiers_and_warnings_in_proportion(ledger: Ledger) -> None:
    standing = ledger.open(20_000)
    assert [tier.limit for tier in standing.tiers] == [1_600, 2_400, 8_000, 2_000, 6_000]
    assert standing.remaining == 14_000
    assert standing.alert == ""
    assert "Alert" in ledger.debit(standing.handle, 10_001).alert


def test_what_a_larger_account_has_more_is_for_tool_results(ledger: Ledger) -> None:
    standing = ledger.open(250_000)
    assert [tier.limit for tier in standing.tiers] == [8_000, 12_000, 190_000, 10_000, 30_000]
    assert standing.account.warning == 50_000


def test_a_configured_total_below_the_sum_of_the_tiers_shrinks_them() -> None:
    standing = open_log(settings=BudgetSettings(total=50_000)).ledger.open()
    assert standing.remaining == 35_000
    assert (standing.account.warning, standing.account.critical) == (10_000, 5_000)


def test_a_threshold_that_was_set_is_taken_as_it_is() -> None:
    standing = open_log(settings=BudgetSettings(total=50_000, warning=7_000)).ledger.open()
    assert (standing.account.warning, standing.account.critical) == (7_000, 5_000)


def test_a_lease_is_held_by_its_parent_and_closing_returns_the_unused_part(ledger: Ledger) -> None:
    parent = ledger.open().handle
    ledger.debit(parent, 1_000)
    lease = ledger.open(20_000, parent=parent)
    assert ledger.standing(parent).remaining == 70_000 - 1_000 - 20_000
    ledger.debit(lease.handle, 3_000)
    closed = ledger.close(lease.handle)
    assert (closed.spent, closed.returned, closed.parent) == (3_000, 17_000, parent)
    assert ledger.standing(parent).remaining == 70_000 - 1_000 - 3_000


def test_an_overdrawn_lease_is_charged_in_full(ledger: Ledger) -> None:
    parent = ledger.open().handle
    lease = ledger.open(5_000, parent=parent).handle
    ledger.debit(lease, 6_000)
    assert ledger.close(lease).returned == 0
    assert ledger.standing(parent).remaining == 70_000 - 6_000


def test_a_lease_without_a_total_is_half_of_what_the_parent_has_left(ledger: Ledger) -> None:
    parent = ledger.open().handle
    ledger.debit(parent, 10_000)
    assert ledger.open(parent=parent).total == 30_000


def test_a_lease_larger_than_the_remainder_is_refused_and_changes_nothing(ledger: Ledger) -> None:
    parent = ledger.open().handle
    with pytest.raises(Conflict, match="70,001 tokens is more than the 70,000"):
        ledger.open(70_001, parent=parent)
    assert ledger.standing(parent).remaining == 70_000
    assert ledger.recent()[1] == 1


def test_closing_an_account_closes_its_leases_first(ledger: Ledger) -> None:
    root = ledger.open().handle
    middle = ledger.open(40_000, parent=root).handle
    leaf = ledger.open(10_000, parent=middle).handle
    ledger.debit(leaf, 2_000)
    ledger.debit(middle, 1_000)
    assert ledger.close(middle).spent == 3_000
    assert ledger.standing(root).remaining == 67_000
    with pytest.raises(Conflict, match="is closed"):
        ledger.debit(leaf, 1)


def test_a_reset_leaves_open_leases_as_they_are(ledger: Ledger) -> None:
    parent = ledger.open().handle
    ledger.open(20_000, parent=parent)
    ledger.debit(parent, 5_000)
    assert ledger.reset(parent).remaining == 50_000


def test_an_unknown_account_is_an_error_that_says_where_accounts_are_listed(ledger: Ledger) -> None:
    with pytest.raises(NotFound, match="no budget account 'nope'") as caught:
        ledger.standing("nope")
    assert "budget_status" in caught.value.hint


def test_handles_may_come_with_quotes_and_capitals(ledger: Ledger) -> None:
    handle = ledger.open().handle
    assert ledger.standing(f' "{handle.upper()}" ').handle == handle


def test_negative_tokens_and_tiny_accounts_are_refused(ledger: Ledger) -> None:
    handle = ledger.open().handle
    with pytest.raises(InvalidArgument, match="below zero"):
        ledger.debit(handle, -1)
    with pytest.raises(InvalidArgument, match="too small"):
        ledger.open(999)
    with pytest.raises(InvalidArgument, match="too small"):
        ledger.open(500, parent=handle)


@given(st.integers(1_000, 3_000_000))
def test_the_tiers_of_any_account_add_up_to_no_more_than_its_total(total: int) -> None:
    standing = open_log().ledger.open(total)
    limits = sum(tier.limit for tier in standing.tiers)
    assert total - 5 < limits <= total


def test_accounts_nobody_has_used_for_long_are_forgotten_with_their_logs(log: WorkLog, clock: Clock) -> None:
    ledger = log.ledger
    idle, busy, debited, parent = (ledger.open().handle for _ in range(4))
    lease = ledger.open(2_000, parent=parent).handle
    ended = ledger.open().handle
    ledger.debit(debited, 100)
    ledger.debit(ended, 100)
    ledger.close(ended)
    for handle in (idle, busy, lease):
        log.record(handle, "tool", {}, "a result")
    clock.advance(days=60)
    for handle in (busy, lease):
        log.record(handle, "tool", {}, "another result")
    clock.advance(days=60)
    ledger.open()
    for gone in (idle, ended):
        with pytest.raises(NotFound):
            ledger.standing(gone)
    assert log.entries(idle) == []
    for kept in (busy, debited, parent, lease):
        assert ledger.standing(kept).handle == kept
    assert len(log.entries(busy)) == 2
    clock.advance(days=120)
    ledger.open()  # the lease goes
    ledger.open()  # and then its parent
    with pytest.raises(NotFound):
        ledger.standing(parent)


def test_with_no_number_of_days_accounts_are_kept_for_ever(clock: Clock) -> None:
    log = open_log(now=clock, settings=BudgetSettings(days=0))
    handle = log.ledger.open().handle
    clock.advance(days=10_000)
    log.ledger.open()
    assert log.ledger.standing(handle).handle == handle
    log.database.close()
