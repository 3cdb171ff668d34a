"""The stash: every text once, until it is too old or too much."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.app import Caller
from haversack.config import StashSettings
from haversack.errors import ExpiredKey
from haversack.store import stash as table
from haversack.store.sqlite.engine import Database
from haversack.store.stash import Stashed
from haversack.tokens import count_tokens
from haversack.tools.road.call import call
from haversack.tools.road.drafts import DEAREST_KEY
from haversack.worklog.guesses import ALLOWED, Guesses
from haversack.worklog.stash import Stash, as_document
from tests.conftest import Clock, fresh_store


@pytest.fixture
def stash(clock: Clock) -> Stash:
    return Stash(fresh_store(), StashSettings(), clock)


def incompressible(seed: int, size: int) -> str:
    from random import Random

    return Random(seed).randbytes(size).hex()


def total_size(stash: Stash) -> int:
    with stash.database.read() as tx:
        return table.total_size(tx)


def recounted_size(stash: Stash) -> int:
    with stash.database.read() as tx:
        return int(tx.value("SELECT coalesce(sum(length(body)), 0) FROM stash"))


@given(st.text(st.characters(codec=None)))
def test_any_text_comes_back_as_it_was(text: str) -> None:
    stash = Stash(fresh_store(), StashSettings(), Clock())
    assert stash.fetch(stash.keep(text, "call()")) == (text, "call()")


def test_the_same_text_is_stored_once_under_the_same_short_key(stash: Stash) -> None:
    key = stash.keep("the rest", "mem_search()")
    size = total_size(stash)
    assert stash.keep("the rest", "mem_search()") == key
    assert len(key) == 6
    assert total_size(stash) == size
    assert stash.keep("another rest", "mem_search()") != key


def test_every_key_costs_three_tokens_wherever_it_stands(stash: Stash) -> None:
    keys = {stash.prepare(f"text {number}", "call()").key for number in range(500)}
    assert len(keys) == 500
    for before, after in (('more("', '")'), ("`haversack more ", "`"), ('{"key":"', '","tokens":9}')):
        assert {count_tokens(before + key + after) for key in keys} == {count_tokens(before + DEAREST_KEY + after)}
    assert {count_tokens(key) for key in keys} == {3}


def test_a_text_that_is_prepared_twice_is_stored_once(stash: Stash) -> None:
    twice = (stash.prepare("the same result", "call"), stash.prepare("the same result", "call"))
    with stash.database.write() as tx:
        assert stash.put(tx, twice)
    assert stash.fetch(twice[0].key) == ("the same result", "call")


def test_bytes_of_one_identity_are_stored_once(stash: Stash) -> None:
    key = stash.keep_bytes(b"\0\xff laid out one way", "a search", b"the same")
    assert stash.keep_bytes(b"\0\xff laid out another way", "a search", b"the same") == key
    assert stash.fetch_bytes(key) == b"\0\xff laid out one way"
    assert stash.keep_bytes(b"\0\xff laid out one way", "a search", b"other") != key


def test_an_expired_key_names_the_call_to_make_again(stash: Stash, clock: Clock) -> None:
    key = stash.keep("the rest", 'mem_search(query="jwt")')
    clock.advance(days=1.01)
    stash.keep("something else", "other()")
    with pytest.raises(ExpiredKey, match="24 hours") as caught:
        stash.fetch(key)
    assert caught.value.hint == 'make the call again: mem_search(query="jwt")'


def test_an_expired_text_takes_no_room_and_may_be_stashed_again(stash: Stash, clock: Clock) -> None:
    key = stash.keep("x" * 1000, "first()")
    clock.advance(days=2)
    stash.keep("y", "second()")
    before = total_size(stash)
    assert before == recounted_size(stash)
    assert stash.keep("x" * 1000, "first()") == key
    assert stash.fetch(key)[0] == "x" * 1000
    assert total_size(stash) == recounted_size(stash) > before


def test_storing_again_keeps_a_text_longer(stash: Stash, clock: Clock) -> None:
    key = stash.keep("the rest", "call()")
    clock.advance(days=0.9)
    stash.keep("the rest", "call()")
    clock.advance(days=0.9)
    assert stash.fetch(key)[0] == "the rest"


def test_keys_long_expired_are_forgotten(stash: Stash, clock: Clock) -> None:
    key = stash.keep("the rest", "call()")
    clock.advance(days=40)
    stash.keep("another", "call()")
    with pytest.raises(ExpiredKey, match="never given"):
        stash.fetch(key)


def test_the_oldest_texts_make_room_when_the_stash_is_full(clock: Clock) -> None:
    stash = Stash(fresh_store(), StashSettings(max_megabytes=1), clock)
    keys = [stash.keep(incompressible(number, 300_000), f"call({number})") for number in range(5)]
    assert total_size(stash) == recounted_size(stash) <= 1_000_000
    with pytest.raises(ExpiredKey, match="keeps 1 MB") as caught:
        stash.fetch(keys[0])
    assert "call(0)" in caught.value.hint
    assert stash.fetch(keys[4])[0] == incompressible(4, 300_000)


def test_a_key_another_text_has_is_not_given_twice(stash: Stash) -> None:
    taken = stash.prepare("the rest", "call()").key
    with stash.database.write() as tx:
        table.put(tx, taken, Stashed(b"another digest..", "other()", 2**62, b""))
    key = stash.keep("the rest", "call()")
    assert key != taken
    assert len(key) == 6
    assert stash.fetch(key)[0] == "the rest"


def test_a_key_is_answered_to_its_owner_alone_also_in_a_new_process(stash: Stash, clock: Clock) -> None:
    def seen_by(owner: str) -> Stash:
        return Stash(stash.database, stash.settings, clock, Guesses(), owner=owner)

    key = seen_by("ann").keep("what ann left out", "call()")
    assert guess(seen_by("ann"), key) == "what ann left out"
    for stranger in (seen_by("bob"), seen_by("")):
        for tried in (key, f"ann/{key}", f"ann%2f{key}"):
            assert "what ann left out" not in guess(stranger, tried)
    assert seen_by("bob").keep("what ann left out", "call()") == key
    assert guess(seen_by(""), key).startswith("no key")


def test_a_key_taken_between_preparing_and_storing_is_noticed(stash: Stash) -> None:
    prepared = stash.prepare("the rest", "call()")
    with stash.database.write() as tx:
        table.put(tx, prepared.key, Stashed(b"another digest..", "other()", 2**62, b"body"))
        assert not stash.put(tx, [prepared])
        held = table.get(tx, prepared.key)
    assert held is not None
    assert held.body == b"body"


def test_keys_differ_from_store_to_store(tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> None:
    keys = {
        Stash(Database(str(tmp_path_factory.mktemp("store") / "a.db")), StashSettings(), clock).keep("text", "call()")
        for _ in range(4)
    }
    assert len(keys) > 1


def guess(stash: Stash, key: str) -> str:
    """What a key finds, or what is said instead."""
    try:
        return stash.fetch(key)[0]
    except ExpiredKey as refused:
        return str(refused)


def wrong_keys(number: int) -> list[str]:
    # No key has a letter that can be mistaken for another.
    return [f"l{each:05}" for each in range(number)]


@pytest.fixture
def others(stash: Stash, clock: Clock) -> tuple[Stash, list[str]]:
    """Another caller of the same store and process, and the keys the first one was given."""
    guesses = Guesses()
    first = Stash(stash.database, stash.settings, clock, guesses)
    keys = [first.keep(f"secret {number}", "call()") for number in range(100)]
    return Stash(stash.database, stash.settings, clock, guesses), keys


def test_twelve_thousand_guesses_find_nothing_even_where_many_are_right(others: tuple[Stash, list[str]]) -> None:
    stranger, keys = others
    tried = wrong_keys(ALLOWED) + [key for each in wrong_keys(120) for key in (each, *keys)]
    assert len(tried) > 12_000
    assert [key for key in tried if guess(stranger, key).startswith("secret")] == []


def test_a_refused_key_sounds_the_same_whether_it_is_right_wrong_or_expired(
    stash: Stash, others: tuple[Stash, list[str]], clock: Clock
) -> None:
    stranger, keys = others
    clock.advance(days=1.01)
    right = stash.keep("of another day", "call()")
    for key in wrong_keys(ALLOWED):
        guess(stranger, key)
    told = {guess(stranger, key).replace(key, "KEY") for key in (keys[0], right, "llll")}
    assert told == {
        "'KEY' is not looked up: too many unknown keys were asked for. "
        "make the call that gave it again, or wait 10 minutes"
    }


def test_a_caller_keeps_its_own_keys_while_others_are_refused(others: tuple[Stash, list[str]]) -> None:
    stranger, keys = others
    assert guess(stranger, keys[0]) == "secret 0"
    own = stranger.keep("my own rest", "call()")
    for key in wrong_keys(ALLOWED):
        guess(stranger, key)
    assert "too many unknown keys" in guess(stranger, keys[1])
    assert guess(stranger, own) == "my own rest"
    assert guess(stranger, keys[0]) == "secret 0"


def test_a_few_typing_errors_harm_nobody(others: tuple[Stash, list[str]], clock: Clock) -> None:
    stranger, keys = others
    for key in wrong_keys(10 * ALLOWED):
        assert "it was never given" in guess(stranger, key)
        clock.advance(minutes=0.6)
    assert guess(stranger, keys[1]) == "secret 1"


def test_each_pause_is_twice_as_long_until_a_day_has_passed_in_peace(
    others: tuple[Stash, list[str]], clock: Clock
) -> None:
    stranger, keys = others
    for number, minutes in enumerate((10, 20, 40)):
        for key in wrong_keys(ALLOWED):
            guess(stranger, key)
        clock.advance(minutes=minutes - 1)
        assert "too many unknown keys" in guess(stranger, keys[number])
        clock.advance(minutes=1)
        assert guess(stranger, keys[number]) == f"secret {number}"
    clock.advance(days=1.1)
    for key in wrong_keys(ALLOWED):
        guess(stranger, key)
    assert "wait 10 minutes" in guess(stranger, keys[-1])


def test_threads_that_guess_together_are_counted_together(others: tuple[Stash, list[str]]) -> None:
    stranger, _ = others
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda key: guess(stranger, key), wrong_keys(400)))
    assert ALLOWED <= sum("it was never given" in each for each in told) < ALLOWED + 8


def test_callers_of_one_program_are_counted_together_and_keep_their_own_keys(caller: Caller) -> None:
    key = caller.stash.keep(as_document("the rest of a reply", "notes"), "call()")
    stranger = caller.app.caller()
    for wrong in wrong_keys(ALLOWED):
        with pytest.raises(ExpiredKey, match="never given"):
            call(caller.app.caller(), "more", {"key": wrong})
    with pytest.raises(ExpiredKey, match="too many unknown keys"):
        call(stranger, "more", {"key": key})
    assert "the rest of a reply" in call(caller, "more", {"key": key}).text
