"""What becomes of what is saved."""

import pytest

from haversack.app import Caller
from haversack.errors import InvalidArgument, NotFound, TooLarge
from haversack.memory import context, sessions
from haversack.memory.save import edits
from haversack.memory.save.pipeline import Draft, save
from haversack.store import observations, relations
from haversack.store.records import Filters
from haversack.tokens import count_tokens
from haversack.tools.road.call import call
from haversack.values import replace
from tests.conftest import Clock

PORT = Draft(title="Database port", content="The database listens on port 5432.", project="thesis", kind="config")


def test_a_first_save_on_a_fresh_machine_works_and_makes_its_session(caller: Caller) -> None:
    saved = save(caller.memory, PORT)
    assert (saved.outcome, saved.id, saved.project) == ("saved", 1, "thesis")
    found, total = sessions.recent(caller.memory)
    assert (total, found[0].id, found[0].project) == (1, saved.session_id, "thesis")


def test_everything_given_is_kept(caller: Caller) -> None:
    draft = Draft(
        title=" Title ", content="  indented\n\ttext \n", kind="Decision", project="P", scope="personal", topic_key="a/b",
        namespace="scout", tags=("one", "Two", "one"), importance=0.8, session_id="s1", tool_name="editor", pinned=True,
    )  # fmt: skip
    found = context.recall(caller.memory, save(caller.memory, draft).id)
    assert (found.title, found.content, found.kind) == ("Title", "  indented\n\ttext \n", "decision")
    assert (found.project, found.scope, found.topic_key, found.namespace) == ("P", "personal", "a/b", "scout")
    assert (found.tags, found.importance, found.session_id) == (("one", "Two"), 0.8, "s1")
    assert (found.tool_name, found.pinned, found.status) == ("editor", True, "active")
    assert found.units == count_tokens(found.content)
    assert found.bytes == len(found.content)


def test_the_reply_says_what_happened(caller: Caller) -> None:
    arguments = {"title": "Port", "content": "It is 5432", "project": "p", "topic_key": "config/port"}
    assert call(caller, "mem_save", arguments).text == "saved #1 in project p"
    assert call(caller, "mem_save", arguments).text == "duplicate of #1 (seen 2 times) in project p"
    changed = arguments | {"content": "It is 6543"}
    assert call(caller, "mem_save", changed).text == "updated #1 (revision 2) in project p"
    secret = {"title": "Key", "content": "AKIAIOSFODNN7EXAMPLE is the key", "project": "p"}
    assert "redacted" in call(caller, "mem_save", secret).text


def test_the_same_again_within_the_window_counts_up_instead_of_inserting(caller: Caller, clock: Clock) -> None:
    first = save(caller.memory, PORT)
    clock.advance(minutes=14)
    again = save(caller.memory, PORT)
    assert (again.outcome, again.id, again.times_seen) == ("duplicate", first.id, 2)
    clock.advance(minutes=14)
    assert save(caller.memory, PORT).times_seen == 3, "the window begins anew when it is seen"
    clock.advance(minutes=16)
    assert save(caller.memory, PORT).outcome == "saved"


@pytest.mark.parametrize(
    "changed",
    [
        {"content": "The database listens on port 6543."},
        {"title": "Database port, staging"},
        {"kind": "decision"},
        {"project": "other"},
        {"scope": "personal"},
        {"namespace": "scout"},
        {"content": "The database listens on port 5432!"},
    ],
)
def test_a_changed_fact_is_never_a_duplicate(caller: Caller, changed: dict[str, str]) -> None:
    save(caller.memory, PORT)
    assert save(caller.memory, replace(PORT, **changed)).outcome == "saved"


def test_many_notes_that_differ_in_one_figure_are_all_kept(caller: Caller) -> None:
    outcomes = [
        save(caller.memory, Draft(title="Run", content=f"took {number} ms", project="p")).outcome
        for number in range(90)
    ]
    assert outcomes == ["saved"] * 90


def test_the_case_of_the_project_and_white_space_around_a_text_make_no_difference_to_a_duplicate(
    caller: Caller,
) -> None:
    save(caller.memory, PORT)
    assert save(caller.memory, replace(PORT, project="Thesis", content=f"{PORT.content}\n")).outcome == "duplicate"


@pytest.mark.parametrize(("before", "after"), [("set DEBUG=1", "set debug=1"), ("if a:\n  b()", "if a:\nb()")])
def test_a_change_of_case_or_spacing_is_not_a_duplicate(caller: Caller, before: str, after: str) -> None:
    assert save(caller.memory, replace(PORT, content=before)).outcome == "saved"
    assert save(caller.memory, replace(PORT, content=after)).outcome == "saved"


def test_a_deleted_twin_does_not_make_a_duplicate(caller: Caller) -> None:
    edits.delete(caller.memory, save(caller.memory, PORT).id)
    assert save(caller.memory, PORT).outcome == "saved"


def test_a_topic_is_updated_in_place_and_its_old_text_is_kept(caller: Caller, clock: Clock) -> None:
    first = save(
        caller.memory, Draft(title="Auth", content="sessions", project="p", topic_key="decision/auth", tags=("a",))
    )
    save(caller.memory, Draft(title="Other", content="between", project="p"))
    clock.advance(days=3)
    again = save(
        caller.memory, Draft(title="Auth v2", content="JWT", project="P", topic_key="decision/auth", kind="decision")
    )
    assert (again.outcome, again.id, again.revision) == ("updated", first.id, 2)
    found, revisions = edits.history(caller.memory, first.id)
    assert (found.title, found.content, found.kind, found.tags) == ("Auth v2", "JWT", "decision", ("a",))
    assert [(each.revision, each.title, each.content) for each in revisions] == [(1, "Auth", "sessions")]
    recent = context.recent(caller.memory, Filters(), 10)
    assert [each.id for each in recent] == [first.id, 2], "a topic with a new text is the most recent"


def test_every_decision_record_of_its_own_topic_is_kept(caller: Caller) -> None:
    for number in range(5):
        save(
            caller.memory,
            Draft(title=f"ADR {number}", content=f"decided {number}", topic_key=f"adr/{number}", project="p"),
        )
    assert context.count_observations(caller.memory, Filters()) == 5


def test_a_topic_is_one_per_project_scope_and_namespace(caller: Caller) -> None:
    places = [
        {"project": "a"},
        {"project": "b"},
        {"project": "a", "scope": "personal"},
        {"project": "a", "namespace": "n"},
    ]
    draft = Draft(title="t", content="c", topic_key="k")
    ids = {save(caller.memory, replace(draft, **place)).id for place in places}
    assert len(ids) == 4


def test_the_same_text_of_a_topic_is_a_duplicate_whenever_it_comes(caller: Caller, clock: Clock) -> None:
    draft = Draft(title="t", content="c", topic_key="k", project="p")
    save(caller.memory, draft)
    clock.advance(days=400)
    assert save(caller.memory, draft).outcome == "duplicate"


def test_a_topic_that_was_deleted_begins_anew(caller: Caller) -> None:
    draft = Draft(title="t", content="c", topic_key="k", project="p")
    edits.delete(caller.memory, save(caller.memory, draft).id)
    assert save(caller.memory, draft).id == 2


def test_saves_in_the_same_microsecond_keep_their_order(caller: Caller) -> None:
    caller.app.now = lambda: 1_770_000_000_000_000
    ids = [save(caller.memory, Draft(title=f"t{number}", content="c", project="p")).id for number in range(20)]
    assert [each.id for each in context.recent(caller.memory, Filters(), 50)] == ids[::-1]
    timeline = context.timeline(caller.memory, ids[10], before=2, after=2)
    assert [each.id for each in timeline.before] == [ids[9], ids[8]]
    assert [each.id for each in timeline.after] == [ids[11], ids[12]]


def test_content_over_the_limit_is_refused_whole_by_an_error_with_both_sizes(caller: Caller) -> None:
    with pytest.raises(TooLarge, match=r"200,001 characters, over the limit of 200,000"):
        save(caller.memory, Draft(title="t", content="x" * 200_001))
    assert context.count_observations(caller.memory, Filters()) == 0
    saved = save(caller.memory, Draft(title="t", content="汉" * 200_000))
    assert len(context.recall(caller.memory, saved.id).content) == 200_000


@pytest.mark.parametrize(
    ("draft", "named"),
    [
        (Draft(title=" ", content="c"), "title"),
        (Draft(title="t", content=" \n "), "content"),
        (Draft(title="t", content="half \ud83d"), "content"),
        (Draft(title="t\ud83d", content="c"), "title"),
        (Draft(title="t", content="c", kind="two words"), "kind"),
        (Draft(title="t", content="c", scope="world"), "scope"),
        (Draft(title="t", content="c", importance=1.5), "importance"),
        (Draft(title="t", content="c", importance=float("nan")), "importance"),
        (Draft(title="t", content="c", tags=("a", " ")), "tag"),
        (Draft(title="t", content="c", topic_key="a\nb"), "topic_key"),
        (Draft(title="t", content="c", session_id="a\nb"), "session_id"),
        (Draft(title="x" * 501, content="c"), "title"),
    ],
)
def test_what_cannot_be_saved_is_an_error_that_names_the_field_and_saves_nothing(
    caller: Caller, draft: Draft, named: str
) -> None:
    with pytest.raises(InvalidArgument, match=named):
        save(caller.memory, draft)
    assert context.count_observations(caller.memory, Filters()) == 0
    assert sessions.recent(caller.memory)[1] == 0


def test_a_zero_width_joiner_is_kept(caller: Caller) -> None:
    saved = save(caller.memory, Draft(title="👨‍👩‍👧", content="a\u200db"))
    assert context.recall(caller.memory, saved.id).content == "a\u200db"


def test_a_save_can_be_related_at_once(caller: Caller) -> None:
    first = save(caller.memory, PORT).id
    saved = save(caller.memory, Draft(title="t", content="c", relate_to=(first,)))
    with caller.database.read() as tx:
        links = relations.touching(tx, [first])
    assert [(each.id, each.from_id, each.to_id, each.type) for each in links] == [
        (saved.relation_ids[0], saved.id, first, "relates_to")
    ]


def test_relating_to_what_is_not_there_saves_nothing(caller: Caller) -> None:
    with pytest.raises(NotFound, match="#99"):
        save(caller.memory, Draft(title="t", content="c", relate_to=(99,)))
    assert context.count_observations(caller.memory, Filters()) == 0


def test_relating_to_what_is_deleted_saves_nothing(caller: Caller) -> None:
    gone = save(caller.memory, PORT).id
    edits.delete(caller.memory, gone)
    with pytest.raises(NotFound, match=f"#{gone}"):
        save(caller.memory, Draft(title="t", content="c", relate_to=(gone,)))


def test_a_topic_key_is_suggested_when_none_was_given(caller: Caller) -> None:
    saved = save(caller.memory, Draft(title="Auth model", content="c", kind="decision"))
    assert saved.suggested_topic_key.startswith("decision/")
    assert save(caller.memory, Draft(title="t", content="c", topic_key="k")).suggested_topic_key == ""


def test_a_batch_that_fails_in_the_middle_leaves_nothing(caller: Caller) -> None:
    with pytest.raises(InvalidArgument), caller.database.write():
        save(caller.memory, PORT)
        save(caller.memory, Draft(title="", content="c"))
    with caller.database.read() as tx:
        assert observations.count_observations(tx, Filters()) == 0


def test_a_secret_in_a_title_made_of_the_content_is_counted_once(caller: Caller) -> None:
    secret = "the database password = t9Xq2LmPz7Rw is rotated"
    assert "redacted 1 secret (password)" in call(caller, "mem_save", {"title": "", "content": secret}).text
    both = {"title": "password = k1xQ77LmPz0w", "content": secret}
    assert "redacted 2 secrets (password x2)" in call(caller, "mem_save", both).text


@pytest.mark.parametrize("since", ["1h", "3 days ago", "2w"])
def test_an_age_means_the_same_moment_to_equal_calls(caller: Caller, clock: Clock, since: str) -> None:
    for number in range(12):
        save(caller.memory, Draft(title=f"Queue {number}", content=f"The queue {number} is drained at night"))
    clock.time -= clock.time % 60_000_000
    asked = {"query": "queue", "since": since, "max_tokens": 120}
    replies = {call(caller, "mem_search", asked).text for _ in range(5)}
    assert len(replies) == 1 and "more(" in replies.pop()
