"""The work log: lines, handles, and the order in which they leave the history."""

from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.config import BudgetSettings, StashSettings
from haversack.errors import Conflict, ExpiredKey, NotFound
from haversack.worklog.log import WorkLog, line, open_log
from tests.conftest import Clock


def small_log(history: int = 200) -> WorkLog:
    """A log whose history holds a handful of entries, counted in bytes."""
    return open_log(settings=BudgetSettings(history=history), profile="bytes4")


def keys_in_history(log: WorkLog, account: str) -> set[str]:
    return {entry.key for entry in log.entries(account, 1_000)}


def test_recording_debits_the_result_and_keeps_a_line(log: WorkLog) -> None:
    account = log.ledger.open().handle
    result = "src/a.py: match\n" * 400
    entry = log.record(
        account, "grep", {"pattern": "match"}, result, compressors={"grep": lambda _: "400 matches in 1 file"}
    )
    standing = log.ledger.standing(account)
    assert entry.before == entry.sent == log.profile.count(result) == standing.account.tool_results
    assert standing.account.history == log.profile.count(line(entry)) == entry.cost
    assert line(entry) == (
        f'[{entry.key}] grep(pattern="match") {entry.before:,}->{entry.after} tokens: 400 matches in 1 file'
    )
    assert log.expand(entry.key) == result


def test_a_result_that_is_not_text_is_kept_as_json(log: WorkLog) -> None:
    account = log.ledger.open().handle
    entry = log.record(account, "list", {}, {"files": ["ä.py", "b.py"]})
    assert log.expand(entry.key) == '{"files": ["ä.py", "b.py"]}'


@given(st.text(st.characters(codec=None), max_size=1_500), st.text(st.characters(codec=None), max_size=300))
def test_no_line_is_over_500_characters_and_every_result_comes_back(result: str, argument: str) -> None:
    log = open_log(profile="bytes4")
    account = log.ledger.open().handle
    entry = log.record(account, argument or "tool", {argument or "name": argument}, result)
    assert len(line(entry)) <= 500
    assert entry.after == log.profile.count(line(entry))
    assert log.expand(entry.key) == result


def test_the_history_stays_within_its_tier_and_the_counter_equals_a_recount() -> None:
    log = small_log()
    account = log.ledger.open().handle
    for number in range(60):
        log.record(account, "read", {"path": f"file{number}.py"}, f"line {number}\n" * 20)
        held = log.ledger.standing(account).account
        assert held.history <= 200
        assert (held.history, held.entries, held.evicted) == log.recount(account)
    assert held.entries + held.evicted == 60


def test_the_least_recently_used_entry_leaves_first_not_the_oldest() -> None:
    log = small_log()
    account = log.ledger.open().handle
    entries = [log.record(account, "read", {"number": number}, f"text {number} " * 30) for number in range(3)]
    assert keys_in_history(log, account) == {entry.key for entry in entries}
    log.expand(entries[0].key)
    log.use(account, [entries[2].id])
    log.record(account, "read", {"number": 3}, "text 3 " * 30)
    left = keys_in_history(log, account)
    assert entries[1].key not in left
    assert {entries[0].key, entries[2].key} <= left


def test_an_evicted_entry_stays_in_the_store_with_its_result() -> None:
    log = small_log(100)
    account = log.ledger.open().handle
    first = log.record(account, "read", {}, "first " * 50)
    for number in range(5):
        log.record(account, "read", {}, f"{number} " * 50)
    assert first.key not in keys_in_history(log, account)
    assert first.key in {entry.key for entry in log.entries(account, since=0)}
    assert log.expand(first.key) == "first " * 50


def test_an_entry_larger_than_a_tiny_tier_leaves_it_empty() -> None:
    log = open_log(profile="bytes4")
    account = log.ledger.open(1_000).handle
    log.record(account, "read", {"path": "x" * 100}, "€" * 5_000)
    held = log.ledger.standing(account).account
    assert (held.history, held.entries, held.evicted) == (0, 0, 1) == log.recount(account)


def test_a_history_from_before_an_eviction_can_still_be_listed() -> None:
    log = small_log()
    account = log.ledger.open().handle
    for number in range(4):
        log.record(account, "read", {}, f"text {number} " * 30)
    then = log.ledger.standing(account).account.uses
    listed = log.entries(account)
    for number in range(4, 12):
        log.record(account, "read", {}, f"text {number} " * 30)
    assert [entry.id for entry in log.entries(account, before=listed[0].id + 1, since=then)] == [
        entry.id for entry in listed
    ]


def test_the_log_is_the_same_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    first = open_log(path)
    account = first.ledger.open().handle
    entry = first.record(account, "grep", {"pattern": "ß"}, "Straße\r\n\tüber\x00\n" * 100)
    lines = [line(each) for each in first.entries(account)]
    first.database.close()
    second = open_log(path)
    assert [line(each) for each in second.entries(account)] == lines
    assert second.expand(entry.key) == "Straße\r\n\tüber\x00\n" * 100


def test_equal_results_share_one_key_and_are_both_debited(log: WorkLog) -> None:
    account = log.ledger.open().handle
    first = log.record(account, "read", {"path": "a"}, "the same " * 100)
    second = log.record(account, "read", {"path": "b"}, "the same " * 100)
    assert first.key == second.key
    assert log.ledger.standing(account).account.tool_results == 2 * first.sent


def test_an_expired_result_leaves_its_line_and_names_its_call(clock: Clock) -> None:
    log = open_log(now=clock, stash=StashSettings(hours=1))
    account = log.ledger.open().handle
    entry = log.record(account, "read", {"path": "a.py"}, "text " * 100)
    clock.advance(minutes=61)
    with pytest.raises(ExpiredKey) as caught:
        log.expand(entry.key)
    assert caught.value.hint == 'make the call again: read(path="a.py")'
    assert [each.key for each in log.entries(account)] == [entry.key]


def test_recording_on_an_account_that_is_unknown_or_closed_is_an_error(log: WorkLog) -> None:
    account = log.ledger.open().handle
    log.ledger.close(account)
    with pytest.raises(Conflict, match="closed"):
        log.record(account, "read", {}, "text")
    with pytest.raises(NotFound):
        log.record("nope", "read", {}, "text")


def test_a_reply_that_comes_after_its_lease_was_closed_is_charged_to_the_parent(
    log: WorkLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = log.ledger.open().handle
    lease = log.ledger.open(10_000, parent=parent).handle
    prepare = type(log.stash).prepare

    def closed_meanwhile(*arguments: object) -> object:
        monkeypatch.undo()
        log.ledger.close(lease)
        return prepare(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(type(log.stash), "prepare", closed_meanwhile)
    entry = log.record(lease, "read", {}, "late " * 100)
    assert entry.account == parent
    assert log.ledger.standing(parent).account.tool_results == entry.sent


def test_a_log_in_memory_is_one_for_all_threads(log: WorkLog) -> None:
    account = log.ledger.open().handle

    def work() -> None:
        for number in range(50):
            log.record(account, "read", {"number": number}, f"text {number}")

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = log.ledger.standing(account).account
    assert held.entries + held.evicted == 200
    assert (held.history, held.entries, held.evicted) == log.recount(account)
