"""Nobody sees, finds, counts or changes what belongs to a realm they are not in."""

from collections.abc import Callable

import psycopg
import pytest

from haversack.errors import Forbidden
from haversack.memory.room import Memory
from haversack.memory.save import edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store import observations, vectors
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.upgrade import add_member, add_realm, remove_member
from haversack.store.records import Filters
from tests.postgres_stores import schemas

MemoryOf = Callable[[str], Memory]


def save(memory: Memory, text: str, **more: object) -> int:
    return pipeline.save(memory, Draft(text, text, **more)).id  # type: ignore[arg-type]


def found(memory: Memory, question: str) -> list[int]:
    return [hit.observation.id for hit in search.search(memory, question, Filters(), limit=100).hits]


def test_what_is_personal_is_seen_by_its_author_alone(memory_of: MemoryOf) -> None:
    alice, bob = memory_of("alice"), memory_of("bob")
    secret = save(alice, "the secret kettle", scope="personal")
    shared = save(alice, "the shared kettle")
    assert sorted(found(alice, "kettle")) == [secret, shared]
    assert found(bob, "kettle") == [shared]
    assert search.count_search_results(bob, "kettle", Filters()) == 1
    with bob.database.read() as tx:
        assert observations.get(tx, secret) is None
        assert observations.count_observations(tx, Filters()) == 1
        assert tx.words.rows_with_stems([["secret"], ["kettl"]]) == [0, 1]
        assert tx.words.census().rows == 1


def test_what_others_save_in_private_changes_no_score(memory_of: MemoryOf) -> None:
    alice, bob = memory_of("alice"), memory_of("bob")
    for number in range(5):
        save(bob, f"a kettle for tea {number}")
    now = bob.now()
    before = [hit.parts[0] for hit in search.search(bob, "kettle tea", Filters()).hits]
    for number in range(20):
        save(alice, f"kettle tea kettle {number}", scope="personal")
    assert [hit.parts[0] for hit in search.search(bob, "kettle tea", Filters()).hits] == before
    assert now


def test_a_namespace_with_a_realm_is_its_members_alone(memory_of: MemoryOf, owner_url: str) -> None:
    add_realm(owner_url, "leads", "hiring")
    alice, bob = memory_of("alice"), memory_of("bob")
    add_member(owner_url, "alice", realm="leads")
    kept = save(alice, "a candidate called Kim", namespace="hiring")
    assert found(alice, "Kim") == [kept]
    assert found(bob, "Kim") == []
    with pytest.raises(Forbidden, match="may not write"):
        save(bob, "another candidate", namespace="hiring")
    with alice.database.read() as tx:
        assert observations.count_observations(tx, Filters()) == 1


def test_whoever_may_only_read_a_realm_cannot_save_change_or_erase_there(memory_of: MemoryOf, owner_url: str) -> None:
    alice, guest = memory_of("alice"), memory_of("guest")
    add_member(owner_url, "guest", may_write=False)
    note = save(alice, "a note for all")
    assert found(guest, "note") == [note]
    with pytest.raises(Forbidden):
        save(guest, "graffiti")
    with pytest.raises(Forbidden):
        edits.update(guest, note, Changes(content="graffiti"))
    with pytest.raises(Forbidden):
        edits.delete(guest, note)
    with guest.database.write() as tx:
        assert tx.run("DELETE FROM observations") == 0
    assert found(alice, "note") == [note]


def test_a_right_taken_away_is_gone_with_the_next_call(memory_of: MemoryOf, owner_url: str) -> None:
    alice, bob = memory_of("alice"), memory_of("bob")
    save(alice, "a note for all")
    assert len(found(bob, "note")) == 1
    remove_member(owner_url, "bob")
    assert found(bob, "note") == []


def test_a_stranger_gets_an_error_that_says_what_to_do(store: PostgresStore) -> None:
    with pytest.raises(Forbidden, match="not a member") as caught, store.as_member("mallory'; --").read():
        pytest.fail("it was opened")
    assert "haversack store member" in caught.value.hint


def test_two_members_may_use_the_same_topic_session_and_account_names(memory_of: MemoryOf) -> None:
    from haversack.config import BudgetSettings, StashSettings
    from haversack.worklog.ledger import Ledger
    from haversack.worklog.stash import Stash

    for subject in ("alice", "bob"):
        memory = memory_of(subject)
        mine = save(memory, f"style of {subject}", scope="personal", topic_key="style", session_id="s1")
        assert found(memory, "style") == [mine]
        ledger = Ledger(memory.database, BudgetSettings(), memory.now)
        ledger.open()
        assert ledger.recent()[1] == 1
        assert Stash(memory.database, StashSettings(), memory.now).keep("the same text", "call()")


def test_without_a_member_raw_sql_sees_and_writes_nothing(memory_of: MemoryOf, url: str, schema: str) -> None:
    save(memory_of("alice"), "a note")
    with psycopg.connect(schemas().url(schema).replace(f"&schema={schema}", ""), autocommit=True) as connection:
        connection.execute(f"SET search_path TO {schema}")
        secured = ("sessions", "observations", "sorts", "post", "lexicon", "search_text", "entries", "stash", "audit")
        for table in (*secured, "tallies", "members"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO sorts VALUES (DEFAULT, 0, '', '', '', '', '', 1)")
        for forbidden in ("UPDATE audit SET act = ''", "DELETE FROM audit", "DROP TABLE tags", "DELETE FROM members"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(forbidden)


def test_every_table_has_forced_row_security_and_a_policy(store: PostgresStore, schema: str) -> None:
    with store.read() as tx:
        tables = tx.rows(
            "SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity,"
            " (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relkind = 'r'",
            (schema,),
        )
    assert len(tables) > 15
    assert [row for row in tables if not (row[1] and row[2] and row[3])] == []


def test_every_table_and_column_of_a_file_is_in_the_schema_too(store: PostgresStore, schema: str) -> None:
    from haversack.store.sqlite.engine import MEMORY, Database

    with Database(MEMORY).read() as tx:
        names = [row[0] for row in tx.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        ours = {
            name: {row[1] for row in tx.rows(f"PRAGMA table_info({name})")}
            for name in names
            if not name.startswith(("sqlite_", "search_index"))
        }
    with store.read() as theirs:
        rows = theirs.rows(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = ?", (schema,)
        )
    missing = {(table, column) for table, columns in ours.items() for column in columns} - set(rows)
    assert missing == set()


def test_who_saved_changed_and_deleted_is_kept(memory_of: MemoryOf) -> None:
    alice, bob = memory_of("alice"), memory_of("bob")
    note = save(alice, "a note")
    edits.update(bob, note, Changes(content="a better note"))
    edits.delete(alice, note)
    with alice.database.read() as tx:
        acts = tx.rows("SELECT act, member FROM audit WHERE observation_id = ? ORDER BY at", (note,))
        mine = tx.value("SELECT current_member()")
    assert [act for act, _ in acts] == ["saved", "changed", "deleted"]
    assert acts[0][1] == acts[2][1] == mine != acts[1][1]


def test_a_vector_that_comes_changes_and_goes_is_noted_for_whoever_sees_it(memory_of: MemoryOf) -> None:
    alice, bob = memory_of("alice"), memory_of("bob")
    shared, secret = save(alice, "a shared note"), save(alice, "a secret note", scope="personal")
    with alice.database.write() as tx:
        for note in (shared, secret):
            vectors.put(tx, note, "model", "hash", b"1")
        before = vectors.last_change(tx)
        vectors.put(tx, shared, "model", "hash", b"2")
        assert vectors.changed_since(tx, before, 9) == [shared]
        assert vectors.changed_since(tx, 0, 9) == [shared, secret]
    with bob.database.read() as tx:
        assert vectors.changed_since(tx, 0, 9) == [shared]
    edits.delete(alice, shared, hard=True)
    with bob.database.read() as tx:
        assert vectors.changed_since(tx, before + 1, 9) == [shared]
