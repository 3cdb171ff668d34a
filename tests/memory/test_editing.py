"""Changing, deleting and restoring what is remembered."""

import pytest

from haversack.app import Caller
from haversack.errors import Conflict, InvalidArgument, NotFound
from haversack.memory import context, relations
from haversack.memory.save import edits
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import search as finding
from haversack.store import observations
from haversack.tools.road.call import call


@pytest.fixture
def note(caller: Caller) -> int:
    return save(caller.memory, Draft(title="Port", content="It is 5432", project="p", tags=("db",), tool_name="t")).id


def test_an_update_keeps_the_earlier_text(caller: Caller, note: int) -> None:
    done = edits.update(caller.memory, note, Changes(content="It is 6543", title="New port"))
    assert (done.revision, set(done.changed)) == (2, {"title", "content"})
    found, revisions = edits.history(caller.memory, note)
    assert (found.content, found.title, found.revision_count) == ("It is 6543", "New port", 1)
    assert [(each.title, each.content, each.tags) for each in revisions] == [("Port", "It is 5432", ("db",))]


def test_an_update_is_found_under_its_new_words_only(caller: Caller, note: int) -> None:
    edits.update(caller.memory, note, Changes(content="bananas"))
    filters = finding.filters(caller.memory)
    assert finding.search(caller.memory, "bananas", filters).total == 1
    assert finding.search(caller.memory, "5432", filters).total == 0


def test_an_update_that_changes_nothing_says_so_and_makes_no_revision(caller: Caller, note: int) -> None:
    done = edits.update(caller.memory, note, Changes(content="It is 5432"))
    assert (done.changed, done.revision) == ((), 0)
    assert "nothing" in call(caller, "mem_update", {"id": note, "title": "Port"}).text


def test_an_empty_string_clears_a_field(caller: Caller, note: int) -> None:
    edits.update(caller.memory, note, Changes(topic_key="k", namespace="n"))
    edits.update(caller.memory, note, Changes(topic_key="", namespace="", tool_name="", tags=(), project=""))
    found = context.recall(caller.memory, note)
    assert (found.topic_key, found.namespace, found.tool_name, found.tags, found.project) == ("", "", "", (), "")


def test_changing_another_field_does_not_give_a_memory_without_a_project_one(caller: Caller, note: int) -> None:
    edits.update(caller.memory, note, Changes(project=""))
    done = edits.update(caller.memory, note, Changes(title="Other"))
    assert done.changed == ("title",)
    assert context.recall(caller.memory, note).project == ""


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (Changes(title=" "), "title"),
        (Changes(content=""), "content"),
        (Changes(status="gone"), "status"),
        (Changes(verification="sure"), "verification"),
        (Changes(importance=2.0), "importance"),
        (Changes(kind="a b"), "kind"),
        (Changes(), "nothing"),
    ],
)
def test_a_wrong_change_is_an_error_and_changes_nothing(
    caller: Caller, note: int, changes: Changes, named: str
) -> None:
    before = context.recall(caller.memory, note)
    with pytest.raises(InvalidArgument, match=named):
        edits.update(caller.memory, note, changes)
    after = context.recall(caller.memory, note)
    assert (before.title, before.content, before.updated_at) == (after.title, after.content, after.updated_at)


def test_a_taken_topic_key_is_refused(caller: Caller, note: int) -> None:
    save(caller.memory, Draft(title="t", content="c", topic_key="k", project="p"))
    with pytest.raises(Conflict, match="#2"):
        edits.update(caller.memory, note, Changes(topic_key="k"))


def test_pinning_and_verifying_keep_the_text_and_make_no_revision(caller: Caller, note: int) -> None:
    done = edits.update(caller.memory, note, Changes(pinned=True, verification="verified", status="archived"))
    assert (done.observation.pinned, done.observation.verification, done.observation.status) == (
        True,
        "verified",
        "archived",
    )
    assert done.revision == 0


def test_a_soft_delete_hides_and_a_restore_brings_back(caller: Caller, note: int) -> None:
    edits.delete(caller.memory, note)
    with pytest.raises(NotFound, match="is deleted") as caught:
        context.recall(caller.memory, note)
    assert "restore=true" in caught.value.hint
    filters = finding.filters(caller.memory)
    assert finding.search(caller.memory, "5432", filters).total == 0
    assert edits.update(caller.memory, note, Changes(restore=True)).restored
    assert finding.search(caller.memory, "5432", filters).total == 1


def test_a_hard_delete_takes_revisions_relations_and_tags_with_it(caller: Caller, note: int) -> None:
    other = save(caller.memory, Draft(title="t", content="c", project="p")).id
    relations.relate(caller.memory, note, other, "fixes")
    edits.update(caller.memory, note, Changes(content="new"))
    edits.delete(caller.memory, note, hard=True)
    with caller.database.read() as tx:
        assert observations.get(tx, note) is None
        for table in ("revisions", "tags"):
            assert tx.value(f"SELECT count(*) FROM {table} WHERE observation_id = ?", (note,)) == 0
        assert tx.value("SELECT count(*) FROM relations") == 0
        assert tx.words.check() == ""
    with pytest.raises(NotFound, match="cannot be undone"):
        edits.update(caller.memory, note, Changes(restore=True))


def test_an_id_is_never_given_to_another(caller: Caller, note: int) -> None:
    edits.delete(caller.memory, note, hard=True)
    assert save(caller.memory, Draft(title="t", content="c")).id > note


@pytest.mark.parametrize("hard", [False, True])
def test_deleting_an_unknown_id_is_an_error(caller: Caller, hard: bool) -> None:
    with pytest.raises(NotFound, match="#404"):
        edits.delete(caller.memory, 404, hard=hard)


def test_deleting_twice_is_an_error_that_says_how_to_undo_the_first(caller: Caller, note: int) -> None:
    edits.delete(caller.memory, note)
    with pytest.raises(NotFound, match="is deleted"):
        edits.delete(caller.memory, note)
    edits.delete(caller.memory, note, hard=True)


def test_restoring_what_is_not_deleted_is_an_error(caller: Caller, note: int) -> None:
    with pytest.raises(Conflict, match="not deleted"):
        edits.update(caller.memory, note, Changes(restore=True))


def test_a_restored_topic_does_not_push_its_successor_away(caller: Caller) -> None:
    old = save(caller.memory, Draft(title="t", content="old", topic_key="k", project="p")).id
    edits.delete(caller.memory, old)
    save(caller.memory, Draft(title="t", content="new", topic_key="k", project="p"))
    with pytest.raises(Conflict, match="topic key 'k'"):
        edits.update(caller.memory, old, Changes(restore=True))


def test_many_updates_are_all_in_the_history_newest_first(caller: Caller, note: int) -> None:
    for number in range(12):
        edits.update(caller.memory, note, Changes(content=f"text {number}"))
    _, revisions = edits.history(caller.memory, note)
    assert [each.revision for each in revisions] == list(range(12, 0, -1))
    assert revisions[0].content == "text 10"
    assert call(caller, "observation_history", {"id": note, "max_tokens": 64}).total == 12
