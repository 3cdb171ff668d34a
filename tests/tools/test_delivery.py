"""Delivering what no tool of ours made, and serving several callers at once."""

import json
import threading
from collections import Counter
from pathlib import Path

import pytest

from haversack.app import App, Caller, open_caller
from haversack.config import Config
from haversack.errors import Conflict, InvalidArgument
from haversack.tokens import Budget, count_tokens, profile_named
from haversack.tools.road.call import call
from haversack.tools.road.deliver import Asked, Origin, Reply, admit, deliver
from haversack.tools.road.failures import shorten
from haversack.tools.road.outcomes import Block, Document, Result
from tests.conftest import Clock

FETCH = Origin("web_fetch", {"url": "https://example.org/a"})


def followed(caller: Caller, reply: Reply, **manner: object) -> list[Reply]:
    pages = [reply]
    while (left := pages[-1].left) is not None:
        pages.append(call(caller, "more", {"key": left.key, **manner}))
    return pages


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_foreign_document_is_delivered_within_its_budget_and_more_goes_on(caller: Caller, form: str) -> None:
    lines = [f"line {number} of a page that another server sent" for number in range(300)]
    asked = Asked(max_tokens=400, format="json" if form == "json" else "text")
    reply = deliver(caller, FETCH, Document("\n".join(lines), name="web_fetch"), asked)
    pages = followed(caller, reply, max_tokens=500, format=form)
    assert len(pages) > 5
    assert all(count_tokens(page.text) == page.tokens <= 500 for page in pages)
    together = "\n".join(page.text for page in pages)
    assert all(f"line {number} " in together for number in range(300))


def test_a_foreign_result_is_delivered_within_its_budget_and_more_goes_on(caller: Caller) -> None:
    def block(number: int) -> Block:
        text = f"ISSUE-{number} the build fails on a machine of the kind {number % 7}"
        return Block(f"ISSUE-{number}", lambda _: text, lambda _: {"issue": number})

    result = Result([block(number) for number in range(120)], noun="issues", total=120)
    reply = deliver(caller, Origin("list_issues"), result, Asked(max_tokens=300))
    pages = followed(caller, reply, max_tokens=300)
    assert all(count_tokens(page.text) <= 300 for page in pages)
    assert [name for page in pages for name in page.names] == [f"ISSUE-{number}" for number in range(120)]
    assert "of 120 issues shown" in reply.text


def test_a_delivered_reply_is_debited_and_logged_under_the_name_of_its_origin(tmp_path: Path, clock: Clock) -> None:
    caller = open_caller(Config(home=str(tmp_path / "home")), directory=str(tmp_path), now=clock, own_account=True)
    reply = deliver(caller, FETCH, Document("word " * 3_000, brief="fetched a page"), Asked(max_tokens=200))
    entry = caller.log.entries(caller.account, 1)[0]
    assert (entry.tool, entry.sent, entry.brief) == ("web_fetch", reply.tokens, "fetched a page; part of a line shown")
    assert caller.ledger.standing(caller.account).account.tool_results == reply.tokens
    clock.advance(days=2)
    with pytest.raises(Exception, match="is gone") as caught:
        call(caller, "more", {"key": entry.rest})
    assert 'web_fetch(url="https://example.org/a")' in str(caught.value)
    caller.app.close()


def test_without_a_budget_the_account_decides_how_much_is_delivered(tmp_path: Path, clock: Clock) -> None:
    caller = open_caller(Config(home=str(tmp_path / "home")), directory=str(tmp_path), now=clock, own_account=True)
    long = Document("a line of words\n" * 20_000)
    assert 7_000 < deliver(caller, FETCH, long).tokens <= 8_000
    assert 1_500 < deliver(caller, Origin("fetch", default_tokens=2_000), long).tokens <= 2_000
    caller.app.close()


def test_a_caller_whose_account_is_closed_is_not_admitted(tmp_path: Path, clock: Clock) -> None:
    app = App(Config(home=str(tmp_path / "home")), now=clock)
    ledger = app.caller().ledger
    lease = ledger.open(5_000).handle
    caller = app.caller(directory=str(tmp_path), account=lease)
    admit(caller)
    ledger.close(lease)
    with pytest.raises(Conflict, match="is closed"):
        admit(caller)
    app.close()


def test_callers_of_one_store_keep_their_accounts_roots_and_profiles_apart(tmp_path: Path) -> None:
    app = App(Config(home=str(tmp_path / "home")))
    callers = []
    for name, profile in (("one", "o200k"), ("two", "bytes4")):
        folder = tmp_path / name
        (folder / ".git").mkdir(parents=True)
        (folder / f"{name}.txt").write_text(f"only in {name}\n" * 400, encoding="utf-8")
        callers.append(app.caller(directory=str(folder), own_account=True, profile=profile))
    replies: dict[str, list[Reply]] = {"one": [], "two": []}
    failures: list[BaseException] = []

    def work(caller: Caller, name: str) -> None:
        try:
            for number in range(12):
                replies[name].append(call(caller, "read_file", {"path": f"{name}.txt", "max_tokens": 200 + number}))
                replies[name].append(call(caller, "project_files", {"max_tokens": 200}))
        except BaseException as error:  # noqa: BLE001 - a failure in a thread must fail the test
            failures.append(error)

    threads = [
        threading.Thread(target=work, args=(caller, name))
        for caller, name in zip(callers, replies, strict=True)
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for caller, (name, sent) in zip(callers, replies.items(), strict=True):
        other = "two" if name == "one" else "one"
        assert all(f"{name}.txt" in reply.text and f"{other}.txt" not in reply.text for reply in sent)
        assert all(count_tokens(reply.text, caller.profile.name) == reply.tokens for reply in sent)
        assert caller.ledger.standing(caller.account).account.tool_results == sum(reply.tokens for reply in sent)
    assert callers[0].account != callers[1].account
    assert any(count_tokens(reply.text) != reply.tokens for reply in replies["two"])
    app.close()


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_confirmation_over_its_budget_is_shown_in_pages(caller: Caller, clock: Clock, form: str) -> None:
    for number in range(40):
        call(caller, "mem_save", {"title": f"Note {number}", "content": f"content {number}", "project": "p"})
    ids = list(range(1, 41)) + list(range(1_000, 1_060))
    clock.advance(days=9)
    arguments = {"older_than_days": 1, "ids": ids, "max_tokens": 64, "format": form}
    reply = call(caller, "mem_compact", arguments)
    assert count_tokens(reply.text) == reply.tokens <= 64
    assert "compacted 40 observations" in reply.text
    pages = followed(caller, reply, max_tokens=64, format=form)
    whole = "".join(json.loads(page.text)["text"] for page in pages) if form == "json" else pages[-1].text
    assert ("1059" if form == "json" else "and 40 more") in whole


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_error_says_what_is_wrong_within_the_budget(caller: Caller, form: str) -> None:
    pattern = "(" * 50 + "token " * 600
    with pytest.raises(InvalidArgument) as caught:
        call(caller, "search_content", {"pattern": pattern, "is_regex": True, "max_tokens": 64, "format": form})
    sent = caught.value.written(as_json=form == "json")
    assert count_tokens(sent) <= 64
    assert "…" in sent
    if form == "json":
        assert json.loads(sent)["error"]["code"] == "invalid_argument"


def test_an_error_keeps_its_message_before_its_hint() -> None:
    error = InvalidArgument("the message " * 5, hint="the hint " * 40)
    shorten(error, Budget(64, profile_named("o200k")), lambda each: each.written())
    assert error.message == "the message " * 5
    assert error.hint.endswith("…")
    assert count_tokens(error.written()) in range(55, 65)


def test_the_pages_of_a_long_document_are_positions_in_one_snapshot(caller: Caller) -> None:
    lines = [
        f"{number}: {number * 7919 % 104729} words of a line that differs from all others" for number in range(16_000)
    ]
    document = Document("\n".join(lines), name="long")
    assert len(document.text) > 900_000

    def stored() -> int:
        with caller.database.read() as tx:
            return int(tx.value("SELECT sum(length(body)) FROM stash"))

    reply = deliver(caller, FETCH, document, Asked(max_tokens=2_000))
    snapshot = stored()
    shown = reply.shown
    for _ in range(60):
        assert reply.left is not None
        reply = call(caller, "more", {"key": reply.left.key, "max_tokens": 1_000})
        shown += reply.shown
    assert stored() - snapshot < 60 * 400
    assert f"\n{shown - 1}: " in reply.text


def test_each_item_is_rendered_at_most_once_at_a_level(caller: Caller) -> None:
    rendered: Counter[tuple[int, str]] = Counter()

    def block(number: int) -> Block:
        def text(level: str) -> str:
            rendered[number, level] += 1
            return f"item {number} " + "word " * (5 + number % 9)

        return Block(f"item {number}", text, lambda level: {"item": number})

    for level in ("summary", "standard", "full", "auto"):
        rendered.clear()
        result = Result([block(number) for number in range(80)], noun="items", total=80)
        deliver(caller, Origin("list_items"), result, Asked(max_tokens=300, level=level))
        assert set(rendered.values()) == {1}
