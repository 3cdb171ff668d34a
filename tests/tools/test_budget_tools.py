"""The tools of the account: status, leases, reset and the work log."""

import json
from pathlib import Path

import pytest

from haversack.app import Caller, open_caller
from haversack.errors import Conflict, InvalidArgument, NotFound
from haversack.tools.road.call import call
from tests.conftest import Clock


@pytest.fixture
def agent(caller: Caller, tmp_path: Path, clock: Clock) -> Caller:
    """A program with an account of its own."""
    return open_caller(caller.config, directory=str(tmp_path), now=clock, own_account=True)


def listed(caller: Caller, **arguments: object) -> list[str]:
    return [line for line in call(caller, "work_log", arguments).text.splitlines() if line.startswith("[")]


def test_the_status_is_a_table_with_a_bar_for_each_tier(agent: Caller) -> None:
    agent.ledger.measure_system(agent.account, 3_120)
    agent.ledger.declare_user(agent.account, 12_000)
    agent.ledger.debit(agent.account, 6_830)
    agent.ledger.open(5_000, parent=agent.account)
    text = call(agent, "budget_status", {}).text
    assert text.splitlines()[:-1] == [
        f"Budget {agent.account}: 43,050 of 100,000 tokens remaining",
        "system prompt   [####------] 3,120 of 8,000",
        "work history    [----------] 0 of 12,000",
        "tool results    [###-------] 11,830 of 40,000 (5,000 leased)",
        "user message    [##########] 12,000 of 10,000",
        "response buffer [##########] 30,000 reserved",
        "Sources: system measured, work history measured, tool results measured, user message declared by the agent.",
        "A reply may have 7,042 tokens when max_tokens is not given.",
    ]


def test_the_status_as_json_adds_up(agent: Caller) -> None:
    call(agent, "mem_save", {"title": "T", "content": "C"})
    facts = json.loads(call(agent, "budget_status", {"format": "json"}).text)["account"]
    assert facts["remaining"] == facts["total"] - sum(tier["used"] for tier in facts["tiers"].values())
    assert set(facts["tiers"]) == {"system", "history", "tool_results", "user", "reserve"}
    assert facts["entries"] == 1
    assert facts["allocation"] == 8_000


def test_without_an_account_the_status_lists_the_open_ones(caller: Caller, agent: Caller) -> None:
    assert call(caller, "budget_status", {}).text.startswith("No account is open. budget_open opens one.")
    other = caller.ledger.open(50_000).handle
    lines = call(caller, "budget_status", {}).text.splitlines()
    assert lines[1:-1] == [f"{other}: 35,000 of 50,000 tokens remaining"]
    assert call(caller, "budget_status", {"account": other}).text.startswith(f"Budget {other}: 35,000")


def test_a_lease_is_opened_and_closed_by_tools(agent: Caller) -> None:
    opened = json.loads(call(agent, "budget_open", {"total": 20_000, "parent": agent.account, "format": "json"}).text)
    lease = opened["account"]["handle"]
    assert opened["account"]["parent"] == agent.account
    assert opened["account"]["remaining"] == 14_000
    assert f"HAVERSACK_BUDGET={lease}" in opened["message"]
    agent.ledger.debit(lease, 4_000)
    text = call(agent, "budget_reset", {"account": lease, "close": True}).text
    assert text == f"closed account {lease}: 4,000 tokens used, 16,000 returned to {agent.account}"
    assert agent.ledger.standing(agent.account).account.leased == 0


def test_a_lease_beyond_what_is_left_is_refused_with_the_figure(agent: Caller) -> None:
    with pytest.raises(Conflict, match="more than the") as caught:
        call(agent, "budget_open", {"total": 90_000, "parent": agent.account})
    assert "or less" in caught.value.hint


def test_a_reset_clears_the_tool_results(agent: Caller) -> None:
    agent.ledger.debit(agent.account, 65_000)
    assert "Budget Critical" in call(agent, "mem_stats", {}).text
    call(agent, "budget_reset", {})
    assert "Budget Critical" not in call(agent, "mem_stats", {}).text


def test_the_account_of_the_process_itself_is_not_closed_under_it(agent: Caller) -> None:
    with pytest.raises(Conflict, match="needs"):
        call(agent, "budget_reset", {"account": f'"{agent.account}"', "close": True})
    assert agent.ledger.standing(agent.account).account.closed_at is None


@pytest.mark.parametrize("name", ["budget_reset", "work_log"])
def test_without_an_account_in_force_one_must_be_named(caller: Caller, name: str) -> None:
    with pytest.raises(InvalidArgument, match="no budget account is in force"):
        call(caller, name, {})
    with pytest.raises(NotFound, match="no budget account 'bxxxxx'"):
        call(caller, name, {"account": "bxxxxx"})


def test_the_work_log_lists_what_was_called_newest_first(agent: Caller) -> None:
    call(agent, "mem_save", {"title": "Ports", "content": "The gateway listens on 443."})
    call(agent, "mem_search", {"query": "gateway"})
    lines = listed(agent)
    assert 'mem_search(query="gateway")' in lines[0]
    assert 'mem_save(title="Ports", content="The gateway listens on 443.")' in lines[1]
    facts = json.loads(call(agent, "work_log", {"format": "json", "limit": 1}).text)
    assert facts["entries"][0]["tool"] == "work_log"
    assert facts["total"] == 3


def test_an_empty_work_log_says_so(agent: Caller) -> None:
    assert call(agent, "work_log", {}).text.startswith(f"Nothing has been logged in {agent.account} yet.")


def test_all_pages_of_the_log_hold_every_entry_once_though_entries_are_evicted_meanwhile(agent: Caller) -> None:
    for number in range(330):
        call(agent, "mem_session_start", {"id": f"session-{number}", "project": "a-project-with-a-long-name"})
    held = agent.ledger.standing(agent.account).account
    assert held.evicted > 0
    reply = call(agent, "work_log", {"limit": 20, "max_tokens": 600})
    assert f"{held.evicted} older entries evicted" in reply.text
    names, shown = list(reply.names), reply.shown
    while reply.left:
        reply = call(agent, "more", {"key": reply.left.key, "max_tokens": 900})
        names += reply.names
        shown += reply.shown
    assert len(set(names)) == len(names) == shown == held.entries
    assert agent.ledger.standing(agent.account).account.evicted > held.evicted


def test_entries_that_are_shown_stay_longer_than_those_left_out(agent: Caller) -> None:
    for number in range(40):
        call(agent, "mem_session_start", {"id": f"session-{number}"})
    everything = {f"entry {entry.id}": entry for entry in agent.log.entries(agent.account, 100)}
    shown = call(agent, "work_log", {"limit": 40, "max_tokens": 500}).names
    assert 3 < len(shown) < 40
    used = {name: entry.used for name, entry in everything.items()}
    now = {f"entry {entry.id}": entry.used for entry in agent.log.entries(agent.account, 100)}
    assert {name for name in used if now[name] > used[name]} == set(shown)


def test_a_reply_that_more_expands_counts_as_used(agent: Caller) -> None:
    call(agent, "mem_stats", {})
    first = agent.log.entries(agent.account, 1)[0]
    call(agent, "mem_session_start", {"id": "later"})
    call(agent, "more", {"key": first.key})
    after = {entry.id: entry.used for entry in agent.log.entries(agent.account)}
    assert after[first.id] > after[first.id + 1]


def test_evicted_entries_can_be_listed_and_read(agent: Caller) -> None:
    call(agent, "mem_stats", {})
    first = agent.log.entries(agent.account, 1)[0]
    for number in range(330):
        call(agent, "mem_session_start", {"id": f"session-{number}", "project": "a-project-with-a-long-name"})
    assert first.id not in {entry.id for entry in agent.log.entries(agent.account, 1_000)}
    everything = agent.log.entries(agent.account, 1_000, since=0)
    assert everything[-1].id == first.id
    assert call(agent, "work_log", {"evicted": True, "limit": 200}).total == 331
    assert "observations" in call(agent, "more", {"key": first.key}).text


def test_what_the_user_said_can_be_declared_as_tokens_or_as_text(agent: Caller) -> None:
    told = call(agent, "budget_declare", {"tokens": 250}).text
    assert told.startswith(f"entered 250 tokens in the user tier of {agent.account}: ")
    call(agent, "budget_declare", {"text": "Please fix the tests", "tier": "system"})
    tiers = {tier.name: tier.used for tier in agent.ledger.standing(agent.account).tiers}
    assert (tiers["user"], tiers["system"]) == (250, agent.profile.count("Please fix the tests"))
    for wrong in ({}, {"tokens": 3, "text": "both"}, {"tokens": -1}):
        with pytest.raises(InvalidArgument):
            call(agent, "budget_declare", wrong)


@pytest.mark.parametrize(
    ("name", "arguments"), [("mem_session_end", {"id": "s-1"}), ("mem_session_summary", {"content": "Done."})]
)
def test_the_end_of_a_session_says_how_the_account_stands(
    agent: Caller, name: str, arguments: dict[str, object]
) -> None:
    call(agent, "mem_session_start", {"id": "s-1", "project": "p"})
    assert f"\nBudget {agent.account}: " in call(agent, name, arguments).text
    assert agent.account in json.loads(call(agent, name, arguments | {"format": "json"}).text)["budget"]


def test_a_reset_states_one_standing(agent: Caller) -> None:
    agent.ledger.debit(agent.account, 65_000)
    text = call(agent, "budget_reset", {}).text
    assert "remaining" in text and "Budget Alert" not in text and "Budget Critical" not in text
