"""Changing, deleting and restoring what is remembered."""

import pytest

from haversack.app import App
from haversack.errors import Conflict, InvalidArgument, NotFound
from haversack.memory import context, relations
from haversack.memory.save import edits
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import search as finding
from haversack.store import observations
from haversack.store.sqlite import words
from haversack.tools.road.call import call


@pytest.fixture
def note(app: App) -> int:
    return save(app.memory, Draft(title="Port", content="It is 5432", project="p", tags=("db",), tool_name="t")).id


def test_an_update_keeps_the_earlier_text(app: App, note: int) -> None:
    done = edits.update(app.memory, note, Changes(content="It is 6543", title="New port"))
    assert (done.revision, set(done.changed)) == (2, {"title", "content"})
    found, revisions = edits.history(app.memory, note)
    assert (found.content, found.title, found.revision_count) == ("It is 6543", "New port", 1)
    assert [(each.title, each.content, each.tags) for each in revisions] == [("Port", "It is 5432", ("db",))]


def test_an_update_is_found_under_its_new_words_only(app: App, note: int) -> None:
    edits.update(app.memory, note, Changes(content="bananas"))
    filters = finding.filters(app.memory)
    assert finding.search(app.memory, "bananas", filters).total == 1
    assert finding.search(app.memory, "5432", filters).total == 0


def test_an_update_that_changes_nothing_says_so_and_makes_no_revision(app: App, note: int) -> None:
    done = edits.update(app.memory, note, Changes(content="It is 5432"))
    assert (done.changed, done.revision) == ((), 0)
    assert "nothing" in call(app, "mem_update", {"id": note, "title": "Port"}).text


def test_an_empty_string_clears_a_field(app: App, note: int) -> None:
    edits.update(app.memory, note, Changes(topic_key="k", namespace="n"))
    edits.update(app.memory, note, Changes(topic_key="", namespace="", tool_name="", tags=(), project=""))
    found = context.recall(app.memory, note)
    assert (found.topic_key, found.namespace, found.tool_name, found.tags, found.project) == ("", "", "", (), "")


def test_changing_another_field_does_not_give_a_memory_without_a_project_one(app: App, note: int) -> None:
    edits.update(app.memory, note, Changes(project=""))
    done = edits.update(app.memory, note, Changes(title="Other"))
    assert done.changed == ("title",)
    assert context.recall(app.memory, note).project == ""


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
def test_a_wrong_change_is_an_error_and_changes_nothing(app: App, note: int, changes: Changes, named: str) -> None:
    before = context.recall(app.memory, note)
    with pytest.raises(InvalidArgument, match=named):
        edits.update(app.memory, note, changes)
    after = context.recall(app.memory, note)
    assert (before.title, before.content, before.updated_at) == (after.title, after.content, after.updated_at)


def test_a_taken_topic_key_is_refused(app: App, note: int) -> None:
    save(app.memory, Draft(title="t", content="c", topic_key="k", project="p"))
    with pytest.raises(Conflict, match="#2"):
        edits.update(app.memory, note, Changes(topic_key="k"))


def test_pinning_and_verifying_keep_the_text_and_make_no_revision(app: App, note: int) -> None:
    done = edits.update(app.memory, note, Changes(pinned=True, verification="verified", status="archived"))
    assert (done.observation.pinned, done.observation.verification, done.observation.status) == (
        True,
        "verified",
        "archived",
    )
    assert done.revision == 0


def test_a_soft_delete_hides_and_a_restore_brings_back(app: App, note: int) -> None:
    edits.delete(app.memory, note)
    with pytest.raises(NotFound, match="is deleted") as caught:
        context.recall(app.memory, note)
    assert "restore=true" in caught.value.hint
    filters = finding.filters(app.memory)
    assert finding.search(app.memory, "5432", filters).total == 0
    assert edits.update(app.memory, note, Changes(restore=True)).restored
    assert finding.search(app.memory, "5432", filters).total == 1


def test_a_hard_delete_takes_revisions_relations_and_tags_with_it(app: App, note: int) -> None:
    other = save(app.memory, Draft(title="t", content="c", project="p")).id
    relations.relate(app.memory, note, other, "fixes")
    edits.update(app.memory, note, Changes(content="new"))
    edits.delete(app.memory, note, hard=True)
    with app.database.read() as tx:
        assert observations.get(tx, note) is None
        for table in ("revisions", "tags"):
            assert tx.value(f"SELECT count(*) FROM {table} WHERE observation_id = ?", (note,)) == 0
        assert tx.value("SELECT count(*) FROM relations") == 0
        assert words.check(tx) == ""
    with pytest.raises(NotFound, match="cannot be undone"):
        edits.update(app.memory, note, Changes(restore=True))


def test_an_id_is_never_given_to_another(app: App, note: int) -> None:
    edits.delete(app.memory, note, hard=True)
    assert save(app.memory, Draft(title="t", content="c")).id > note


@pytest.mark.parametrize("hard", [False, True])
def test_deleting_an_unknown_id_is_an_error(app: App, hard: bool) -> None:
    with pytest.raises(NotFound, match="#404"):
        edits.delete(app.memory, 404, hard=hard)


def test_deleting_twice_is_an_error_that_says_how_to_undo_the_first(app: App, note: int) -> None:
    edits.delete(app.memory, note)
    with pytest.raises(NotFound, match="is deleted"):
        edits.delete(app.memory, note)
    edits.delete(app.memory, note, hard=True)


def test_restoring_what_is_not_deleted_is_an_error(app: App, note: int) -> None:
    with pytest.raises(Conflict, match="not deleted"):
        edits.update(app.memory, note, Changes(restore=True))


def test_a_restored_topic_does_not_push_its_successor_away(app: App) -> None:
    old = save(app.memory, Draft(title="t", content="old", topic_key="k", project="p")).id
    edits.delete(app.memory, old)
    save(app.memory, Draft(title="t", content="new", topic_key="k", project="p"))
    with pytest.raises(Conflict, match="topic key 'k'"):
        edits.update(app.memory, old, Changes(restore=True))


def test_many_updates_are_all_in_the_history_newest_first(app: App, note: int) -> None:
    for number in range(12):
        edits.update(app.memory, note, Changes(content=f"text {number}"))
    _, revisions = edits.history(app.memory, note)
    assert [each.revision for each in revisions] == list(range(12, 0, -1))
    assert revisions[0].content == "text 10"
    assert call(app, "observation_history", {"id": note, "max_tokens": 64}).total == 12
