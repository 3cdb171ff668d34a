"""What the account in force changes on the road of a call: allocations, warnings, hints, debits and the log."""

import json
import re
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.app import Caller, open_caller
from haversack.config import BudgetSettings, Config, ServerSettings, TokenSettings, WorkspaceSettings, load
from haversack.errors import Conflict, ExpiredKey, InvalidArgument, NotFound, UnknownTool
from haversack.store.records import Entry
from haversack.tools.budget.account import described
from haversack.tools.registry import find
from haversack.tools.road.call import Options, call
from haversack.tools.road.fit import Reply
from haversack.tools.road.layouts import Notes
from haversack.tools.road.outcomes import Outcome
from haversack.values import replace
from haversack.worklog.log import line
from tests.conftest import Clock

ALERT = "[Budget Alert: ~15k tokens remaining. Consider summarizing or completing soon.]"


@pytest.fixture
def debited(caller: Caller, tmp_path: Path, clock: Clock) -> Caller:
    """A program with an account of its own, on a store with sixty memories."""
    for number in range(60):
        content = f"Service number {number} listens on port {5000 + number} behind the gateway.\n" * (1 + number % 4)
        call(caller, "mem_save", {"title": f"Port of service {number}", "content": content})
    return open_caller(caller.config, directory=str(tmp_path), now=clock, own_account=True)


def newest(caller: Caller) -> Entry:
    return caller.log.entries(caller.account, 1)[0]


def spend_down_to(caller: Caller, remaining: int) -> None:
    caller.ledger.declare_user(caller.account, caller.ledger.standing(caller.account).remaining - remaining)


def pages(caller: Caller, key: str, **arguments: object) -> list[Reply]:
    found = [call(caller, "more", {"key": key, **arguments})]
    while (left := found[-1].left) is not None:
        found.append(call(caller, "more", {"key": left.key, **arguments}))
    return found


def test_every_reply_is_debited_and_logged_with_its_own_tools_line(debited: Caller) -> None:
    reply = call(debited, "mem_search", {"query": "gateway port", "limit": 5})
    assert reply.left is not None
    held = debited.ledger.standing(debited.account).account
    entry = newest(debited)
    assert held.tool_results == entry.sent == reply.tokens
    assert entry.before == reply.tokens + reply.left.price
    assert entry.rest == reply.left.key
    assert line(entry).startswith(
        f'[{entry.key}] mem_search(query="gateway port", limit=5) {entry.sent:,} (~{reply.left.price:,} left out)->{entry.after} tokens: '
        "60 results for 'gateway port'"
    )
    assert held.history == debited.profile.count(line(entry))


def test_a_logged_reply_is_read_back_byte_for_byte_after_a_restart(debited: Caller, clock: Clock) -> None:
    reply = call(debited, "mem_search", {"query": "gateway port", "limit": 40})
    key, account = newest(debited).key, debited.account
    debited.app.close()
    again = open_caller(
        Config(home=debited.config.home, budget=BudgetSettings(account=account)),
        directory=debited.directory,
        now=clock,
    )
    assert again.log.expand(key) == reply.text
    whole = call(again, "more", {"key": key, "max_tokens": 20_000})
    assert whole.text.startswith(reply.text)
    texts = [page.text.split("\n⚡ Budget")[0] for page in pages(again, key, max_tokens=400)]
    assert len(texts) > 3
    assert "\n".join(texts).startswith(reply.text)


def test_a_tool_whose_line_fails_is_logged_with_the_beginning_of_its_reply(
    debited: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = find("mem_stats")
    usual = stats.function

    def failing(caller: Caller, **values: object) -> Outcome:
        return replace(usual(caller, **values), brief=lambda: f"{1 // 0}")

    # What the tool takes is read from its function once: from the usual one, whichever test runs first.
    assert stats.parameters
    monkeypatch.setattr(stats, "function", failing)
    reply = call(debited, "mem_stats", {})
    assert newest(debited).brief == " ".join(reply.text.split())


def test_writing_tools_are_logged_too_and_secrets_are_not(debited: Caller) -> None:
    token = "ghp_" + "a1B2" * 9
    call(debited, "mem_save", {"title": "Deploy", "content": f"Use {token} <private>and my PIN</private>"})
    entry = newest(debited)
    assert entry.tool == "mem_save"
    assert "saved #61" in entry.brief
    assert token not in line(entry)
    assert "PIN" not in line(entry)


def test_secrets_in_arguments_and_in_a_tools_own_line_are_not_logged(debited: Caller) -> None:
    token = "ghp_" + "a1B2" * 9
    call(debited, "mem_search", {"query": f"who uses {token}"})
    entry = newest(debited)
    assert "who uses" in entry.arguments and token not in entry.arguments
    assert "who uses" in entry.brief and token not in entry.brief


def test_a_call_that_failed_is_debited_and_logged(debited: Caller) -> None:
    with pytest.raises(NotFound) as caught:
        call(debited, "mem_get_observation", {"id": 999})
    entry = newest(debited)
    assert entry.brief == "failed: no observation #999"
    assert entry.sent == debited.profile.count(caught.value.written())
    with pytest.raises(InvalidArgument):
        call(debited, "mem_search", {"query": "x", "max_tokens": 3})
    assert newest(debited).brief.startswith("failed: max_tokens is 3")
    with pytest.raises(UnknownTool):
        call(debited, "mem_serach", {"query": "x"})
    assert newest(debited).tool == "mem_search"


def test_no_reply_is_over_8000_tokens_unless_asked_for_and_the_ceiling_falls_with_use(debited: Caller) -> None:
    call(debited, "mem_save", {"title": "Long", "content": "A long line of words that goes on.\n" * 5_000})
    replies = [call(debited, "mem_get_observation", {"id": 61}) for _ in range(16)]
    sizes = [reply.tokens for reply in replies]
    assert 7_800 <= sizes[0] <= 8_000
    # A page ends at a line, so that equal allocations may differ by a line.
    assert all(later <= earlier + 20 for earlier, later in pairwise(sizes))
    assert 2_000 < sizes[5] < 5_000
    assert sizes[-1] <= 500
    assert "Reply limited" not in replies[0].text
    assert "[Reply limited to " in replies[5].text
    assert call(debited, "mem_get_observation", {"id": 61, "max_tokens": 20_000}).tokens > 19_000


def test_a_tools_own_size_and_a_setting_for_it_come_before_the_general_size(debited: Caller, tmp_path: Path) -> None:
    for number in range(40):
        call(debited, "mem_save", {"title": f"Essay {number}", "content": f"Number {number}. " + "many words " * 100})
    assert 1_800 <= call(debited, "context_pack", {}).tokens <= 2_000
    settings = BudgetSettings(overrides={"context_pack": 3_000})
    other = open_caller(Config(home=debited.config.home, budget=settings), directory=str(tmp_path))
    assert 2_700 <= call(other, "context_pack", {}).tokens <= 3_000


def test_a_reply_to_a_named_budget_is_the_same_however_the_account_stands(debited: Caller, caller: Caller) -> None:
    arguments = {"query": "gateway port", "limit": 30, "max_tokens": 700}
    plain = call(caller, "mem_search", arguments).text
    assert call(debited, "mem_search", arguments).text == plain
    spend_down_to(debited, 25_000)
    assert call(debited, "mem_search", arguments).text == plain
    spend_down_to(debited, 19_000)
    assert call(debited, "mem_search", arguments).text != plain


def test_the_alert_stands_before_the_hint_and_the_token_line(debited: Caller) -> None:
    spend_down_to(debited, 15_500)
    lines = call(debited, "mem_search", {"query": "gateway port", "limit": 30, "max_tokens": 400}).text.splitlines()
    assert lines[-3] == ALERT
    assert lines[-2].startswith("⚡ Budget:")
    assert lines[-1].startswith("📏")


def test_the_alert_is_computed_anew_for_every_reply(debited: Caller) -> None:
    assert "Budget Alert" not in call(debited, "mem_stats", {}).text
    spend_down_to(debited, 15_500)
    assert ALERT in call(debited, "mem_stats", {}).text
    spend_down_to(debited, 9_300)
    assert "[Budget Critical: ~9k tokens remaining." in call(debited, "mem_stats", {}).text
    debited.ledger.debit(debited.account, 20_000)
    assert "tokens over" in call(debited, "mem_stats", {}).text


def test_the_alert_is_in_confirmations_and_json_too_but_not_in_text_to_paste(debited: Caller) -> None:
    spend_down_to(debited, 15_800)
    assert call(debited, "mem_save", {"title": "T", "content": "C"}).text.endswith("\n" + ALERT)
    assert json.loads(call(debited, "mem_search", {"query": "port", "format": "json"}).text)["alert"] == ALERT
    assert json.loads(call(debited, "mem_delete", {"id": 1, "format": "json"}).text)["alert"] == ALERT
    assert "Budget Alert" not in call(debited, "context_pack", {"max_tokens": 300}, Options(footer=False)).text


READS: tuple[tuple[str, dict[str, object]], ...] = (
    ("mem_search", {"query": "gateway port", "limit": 30}),
    ("mem_context", {}),
    ("mem_timeline", {"observation_id": 20}),
    ("mem_get_observation", {"id": 4}),
    ("context_pack", {}),
    ("work_log", {}),
    ("budget_status", {}),
    ("mem_stats", {}),
)


@pytest.mark.parametrize(("name", "arguments"), READS, ids=[name for name, _ in READS])
@pytest.mark.parametrize("profile", ["o200k", "bytes4", "claude"])
def test_replies_with_an_alert_fit_their_budget(
    debited: Caller, name: str, arguments: dict[str, object], profile: str
) -> None:
    config = Config(
        home=debited.config.home,
        tokens=TokenSettings(profile=profile),
        budget=BudgetSettings(account=debited.account, warning=10**9),
    )
    low = open_caller(config, directory=debited.directory)
    spend_down_to(debited, 19_900)
    for budget in (100, 255, 256, 257, 300, 500, 999, 1_000, 3_000):
        for form in ("text", "json"):
            reply = call(low, name, {**arguments, "max_tokens": budget, "format": form})
            assert low.profile.count(reply.text) == reply.tokens <= budget
            if budget >= 256 or name != "budget_status":
                assert bool(re.search(r"\[Budget (Alert|Critical): ~", reply.text)) == (budget >= 256)


def test_a_cut_reply_says_how_many_more_the_account_would_pay_for(debited: Caller) -> None:
    spend_down_to(debited, 1_500)
    reply = call(debited, "mem_search", {"query": "gateway port", "limit": 10})
    assert reply.left is not None
    hint = next(line for line in reply.text.splitlines() if "Budget allows" in line)
    number = int(hint.split("Budget allows ~")[1].split(" more.")[0].replace(",", ""))
    assert 0 < number < reply.left.items
    facts = json.loads(call(debited, "mem_search", {"query": "gateway port", "format": "json"}).text)
    assert 0 < facts["budget_allows"] < 50


def test_an_account_that_pays_for_all_that_is_left_is_no_hint(debited: Caller) -> None:
    assert "Budget allows" not in call(debited, "mem_search", {"query": "gateway port", "limit": 10}).text


def test_the_hint_falls_with_the_account_and_is_not_given_where_a_budget_is_named(
    debited: Caller, caller: Caller
) -> None:
    spend_down_to(debited, 1_000)
    reply = call(debited, "mem_search", {"query": "gateway port", "limit": 60})
    assert "Budget allows ~" in reply.text
    assert int(reply.text.split("Budget allows ~")[1].split(" ")[0]) < 20
    assert "Budget allows" not in call(debited, "mem_search", {"query": "gateway port", "max_tokens": 300}).text
    assert "Budget allows" not in call(caller, "mem_search", {"query": "gateway port"}).text


@given(st.integers(0, 60_000))
def test_the_number_in_the_hint_is_never_more_than_the_account_would_pay_for(remaining: int) -> None:
    notes = Notes(spendable=remaining)
    number = notes.allows(900, 1_000, 90_000)
    exact = max(0, remaining - 900) / 90
    # "Budget allows ~0 more" would be no hint.
    assert number is None if exact < 1 else number is not None and exact * 0.9 - 1 <= number <= exact
    assert number is None or notes.allows(900, number, 90 * number) is None, (
        "nor where all that is left can be paid for"
    )


@pytest.mark.sqlite_only("SQLite's own count of changes")
def test_without_an_account_nothing_is_logged_or_written(caller: Caller) -> None:
    call(caller, "mem_save", {"title": "Port", "content": "The gateway listens on 443."})
    with caller.database.read() as tx:
        before = tx.value("SELECT total_changes()")
    first = call(caller, "mem_stats", {}).text
    assert call(caller, "mem_stats", {}).text == first
    with caller.database.read() as tx:
        assert tx.value("SELECT count(*) FROM accounts") == 0
        assert tx.value("SELECT count(*) FROM entries") == 0
        assert tx.value("SELECT count(*) FROM stash") == 0
        assert tx.value("SELECT total_changes()") == before


def test_a_process_of_its_own_opens_one_account_however_many_threads_call(debited: Caller) -> None:
    threads = [threading.Thread(target=call, args=(debited, "mem_stats", {})) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert debited.ledger.recent()[1] == 1
    held = debited.ledger.standing(debited.account).account
    assert held.entries == 6
    assert held.tool_results == sum(entry.sent for entry in debited.log.entries(debited.account))


def test_processes_share_the_account_that_the_environment_names(debited: Caller, tmp_path: Path) -> None:
    environ = {"HAVERSACK_HOME": debited.config.home, "HAVERSACK_BUDGET": debited.account}
    sharing = open_caller(load(environ), directory=str(tmp_path), own_account=True)
    call(sharing, "mem_stats", {})
    assert newest(debited).tool == "mem_stats"
    assert debited.ledger.recent()[1] == 1


def test_a_closed_account_refuses_calls_but_not_the_tools_that_mend_it(debited: Caller, tmp_path: Path) -> None:
    lease = debited.ledger.open(5_000, parent=debited.account).handle
    config = Config(home=debited.config.home, budget=BudgetSettings(account=lease))
    agent = open_caller(config, directory=str(tmp_path))
    call(agent, "mem_stats", {})
    spent = agent.ledger.standing(lease).spent
    closing = call(agent, "budget_reset", {"close": True})
    assert closing.text.startswith(f"closed account {lease}: {spent:,} tokens used, {5_000 - spent:,} returned to")
    with pytest.raises(Conflict, match="is closed") as caught:
        call(agent, "mem_stats", {})
    assert "budget_open" in caught.value.hint
    assert "opened account" in call(agent, "budget_open", {"total": 5_000}).text
    # What was sent after the closing is in the parent's account: something was sent, so something is debited.
    opening, told = debited.log.entries(debited.account, 2)
    assert (opening.tool, told.tool) == ("budget_open", "budget_reset")
    assert told.sent == closing.tokens


def test_descriptions_tell_what_the_account_allows_only_when_that_is_asked_for(debited: Caller) -> None:
    search = find("mem_search")
    assert described(debited, search) == search.about
    hinting = open_caller(
        Config(
            home=debited.config.home,
            budget=BudgetSettings(account=debited.account),
            server=ServerSettings(dynamic_hints=True),
        ),
        directory=debited.directory,
    )
    assert described(hinting, search) == f"{search.about} Budget allows ~8,000 tokens."
    debited.ledger.debit(debited.account, 37_000)
    assert described(hinting, search) == f"{search.about} Budget allows ~750 tokens."
    assert described(hinting, find("mem_save")) == find("mem_save").about


def test_an_expired_continuation_names_the_call_to_make_again(caller: Caller, debited: Caller, clock: Clock) -> None:
    reply = call(caller, "mem_search", {"query": "gateway port", "limit": 5})
    assert reply.left is not None
    clock.advance(days=2)
    with pytest.raises(ExpiredKey) as caught:
        call(caller, "more", {"key": reply.left.key})
    assert caught.value.hint == 'make the call again: mem_search(query="gateway port", limit=5)'


@pytest.mark.sqlite_only("a hook of SQLite")
def test_one_call_is_one_transaction(debited: Caller) -> None:
    call(debited, "mem_search", {"query": "service"})
    commits: list[str] = []

    def committed() -> bool:
        commits.append("commit")
        return False

    with debited.database.read() as tx:
        tx._connection.set_commit_hook(committed)  # type: ignore[attr-defined]
    call(debited, "mem_search", {"query": "gateway port", "limit": 5})
    assert commits == ["commit"]
    assert newest(debited).rest


def test_the_log_says_how_many_lines_were_shown_and_what_was_sent(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("".join(f"line {number} of the notes\n" for number in range(58)))
    config = Config(home=str(tmp_path / "home"), workspace=WorkspaceSettings(root=str(tmp_path)))
    caller = open_caller(config, directory=str(tmp_path), own_account=True)
    first = call(caller, "read_file", {"path": "notes.txt", "max_tokens": 300})
    assert 0 < first.shown < 58 and first.left
    page = call(caller, "more", {"key": first.left.key, "max_tokens": 150})
    assert page.left
    whole = call(caller, "read_file", {"path": "notes.txt"})
    log = call(caller, "work_log", {}).text
    assert f"; {first.shown} of 58 lines shown" in log and f"; {page.shown} of 58 lines shown" in log
    assert f"(58 lines, 1.2 KB), lines 1-{first.shown}; " in log and "lines 1-58\n" in log
    assert log.count(" lines shown") == 2, "what was shown whole needs no word"
    for reply in (first, page, whole):
        assert re.search(rf"\) {reply.tokens}(?: \(~{reply.left.price if reply.left else 0} left out\))?->", log)
    assert log.count("📏") == 1 and "  " not in log
    caller.app.close()
