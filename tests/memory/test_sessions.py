"""Sessions, prompts, summaries, progress, passive capture and figures."""

import json
import os

import pytest

from haversack.app import Caller
from haversack.errors import Conflict, InvalidArgument, NotFound, TooLarge
from haversack.memory import context as recalling
from haversack.memory import progress, relations, sessions, statistics
from haversack.memory.save import edits
from haversack.memory.save.pipeline import Draft, save
from haversack.store.records import Filters
from haversack.tokens import count_tokens
from haversack.tools.road.call import call
from tests.conftest import Clock

LEARNINGS = """Done.

## Key Learnings:

1. The importer needs batches of 500 rows at most
2. Prepared statements must be off behind pgbouncer
"""


def test_a_session_is_started_with_an_id_of_its_own(caller: Caller) -> None:
    text = call(caller, "mem_session_start", {"project": "p"}).text
    assert text.startswith("started session s-")


def test_a_taken_session_id_is_an_error(caller: Caller) -> None:
    sessions.start(caller.memory, identifier="s1")
    with pytest.raises(Conflict, match="'s1'"):
        sessions.start(caller.memory, identifier="s1")


def test_saves_belong_to_the_session_under_way(caller: Caller, clock: Clock) -> None:
    session = sessions.start(caller.memory, project="p")
    assert save(caller.memory, Draft(title="t", content="c", project="P")).session_id == session.id
    assert save(caller.memory, Draft(title="t", content="c", project="q")).session_id != session.id
    sessions.end(caller.memory, session.id)
    assert save(caller.memory, Draft(title="u", content="c", project="p")).session_id != session.id


def test_a_session_of_yesterday_is_no_longer_under_way(caller: Caller, clock: Clock) -> None:
    session = sessions.start(caller.memory, project="p")
    clock.advance(days=2)
    assert save(caller.memory, Draft(title="t", content="c", project="p")).session_id != session.id


def test_ending_an_unknown_session_is_an_error(caller: Caller) -> None:
    with pytest.raises(NotFound, match="'none'"):
        call(caller, "mem_session_end", {"id": "none"})


def test_ending_without_a_summary_keeps_the_one_there_is(caller: Caller) -> None:
    session = sessions.start(caller.memory, project="p")
    sessions.end(caller.memory, session.id, "what we did")
    ended, _ = sessions.end(caller.memory, session.id)
    assert ended.summary == "what we did"


def test_a_session_summary_is_a_memory_and_on_the_session(caller: Caller) -> None:
    session = sessions.start(caller.memory, project="p")
    call(caller, "mem_session_summary", {"content": "Goal: ship it", "project": "p"})
    found = recalling.recent(caller.memory, Filters(kind="session_summary"), 5)
    assert [(each.content, each.session_id) for each in found] == [("Goal: ship it", session.id)]
    assert sessions.recent(caller.memory)[0][0].summary == "Goal: ship it"


@pytest.mark.sqlite_only("what the bytes of the file hold")
def test_private_parts_are_kept_nowhere(caller: Caller) -> None:
    hidden = "known <private>hunter2</private> and <PRIVATE>never closed hunter2"
    session = sessions.start(caller.memory, project="p")
    for tool, arguments in (
        ("mem_save", {"title": "t <private>hunter2</private>", "content": hidden}),
        ("mem_save_prompt", {"content": hidden}),
        ("mem_session_summary", {"content": hidden}),
        ("mem_session_end", {"id": session.id, "summary": hidden}),
        ("mem_progress", {"project": "p", "content": json.dumps({"note": hidden})}),
        ("mem_capture_passive", {"content": f"## Key learnings\n- {hidden} which is long enough to be kept"}),
    ):
        assert "hunter2" not in call(caller, tool, arguments).text
    one, other = (save(caller.memory, Draft(title=title, content="c", project="p")).id for title in ("a", "b"))
    relations.relate(caller.memory, one, other, "fixes", note=hidden)
    caller.app.close()
    for name in os.listdir(caller.config.home):
        with open(os.path.join(caller.config.home, name), "rb") as file:
            assert b"hunter2" not in file.read(), name


def test_prompts_are_kept_in_order(caller: Caller) -> None:
    for number in range(3):
        sessions.save_prompt(caller.memory, f"prompt number {number}", project="p")
    context = recalling.context(caller.memory, project="p")
    assert [each.content for each in context.prompts] == [f"prompt number {number}" for number in (2, 1, 0)]


def test_an_empty_prompt_is_an_error(caller: Caller) -> None:
    with pytest.raises(InvalidArgument, match="content"):
        call(caller, "mem_save_prompt", {"content": " "})


def test_progress_is_stored_whole_and_read_back_as_it_was(caller: Caller) -> None:
    document = json.dumps({"done": ["step " + "x" * 50] * 200, "next": "汉字"}, ensure_ascii=False, indent=2)
    call(caller, "mem_progress", {"project": "p", "content": document})
    held = progress.read(caller.memory, "P")
    assert held is not None
    assert held.content == document
    facts = json.loads(call(caller, "mem_progress", {"project": "p", "format": "json", "max_tokens": 20_000}).text)
    assert facts["progress"] == document


def test_progress_that_is_not_json_is_refused_and_the_old_one_stays(caller: Caller) -> None:
    progress.write(caller.memory, "p", '{"a": 1}')
    for wrong in ("{", "", "{'a': 1}"):
        with pytest.raises(InvalidArgument, match="JSON"):
            progress.write(caller.memory, "p", wrong)
    held = progress.read(caller.memory, "p")
    assert held is not None and held.content == '{"a": 1}'


def test_progress_over_the_limit_is_refused(caller: Caller) -> None:
    with pytest.raises(TooLarge):
        progress.write(caller.memory, "p", json.dumps("x" * 300_000))


def test_every_earlier_progress_is_kept(caller: Caller) -> None:
    for number in range(3):
        saved, _ = progress.write(caller.memory, "p", json.dumps({"step": number}))
    _, revisions = edits.history(caller.memory, saved.id)
    assert [json.loads(each.content)["step"] for each in revisions] == [1, 0]


def test_no_progress_yet_is_an_answer_with_a_token_line(caller: Caller) -> None:
    text = call(caller, "mem_progress", {"project": "p"}).text
    assert "No progress" in text and "📏" in text
    assert json.loads(call(caller, "mem_progress", {"project": "p", "format": "json"}).text)["progress"] is None


def test_passive_capture_says_what_it_found_saved_and_knew(caller: Caller) -> None:
    arguments = {"content": LEARNINGS, "project": "p", "source": "reviewer"}
    assert call(caller, "mem_capture_passive", arguments).text.startswith("found 2, saved 2, duplicates 0")
    assert call(caller, "mem_capture_passive", arguments).text.startswith("found 2, saved 0, duplicates 2")
    found = recalling.recent(caller.memory, Filters(kind="passive"), 10)
    assert [each.tool_name for each in found] == ["reviewer", "reviewer"]
    assert "batches of 500" in found[1].content


def test_a_text_without_learnings_captures_nothing(caller: Caller) -> None:
    assert call(caller, "mem_capture_passive", {"content": "All done."}).text.startswith("found 0, saved 0")


def test_the_figures_equal_a_recount(caller: Caller) -> None:
    contents = ["one two three", "汉字汉字", "x" * 500]
    for number, content in enumerate(contents):
        save(caller.memory, Draft(title=f"t{number}", content=content, project="p", kind="fact"))
    save(caller.memory, Draft(title="t", content="c", project="Q", kind="decision"))
    edits.delete(caller.memory, save(caller.memory, Draft(title="gone", content="gone", project="p")).id)
    sessions.save_prompt(caller.memory, "hello", project="p")
    relations.relate(caller.memory, 1, 2, "fixes")
    inside, everything = statistics.statistics(caller.memory, project="P"), statistics.statistics(caller.memory)
    assert (inside.observations, inside.deleted, inside.prompts, inside.sessions) == (3, 1, 1, 1)
    assert inside.tokens == sum(map(count_tokens, contents))
    assert inside.bytes == sum(len(content.encode()) for content in contents)
    assert everything.observations == 4
    assert everything.projects == (("p", 3), ("Q", 1))
    assert everything.kinds == (("fact", 3), ("decision", 1))
    assert everything.size_on_disk > 0


def test_the_figures_of_a_project_are_its_own(caller: Caller) -> None:
    ids = [save(caller.memory, Draft(title=f"t{number}", content="c", project="p")).id for number in range(2)]
    relations.relate(caller.memory, ids[0], ids[1], "fixes")
    save(caller.memory, Draft(title="t", content="c", project="q"))
    assert statistics.statistics(caller.memory, project="q").relations == 0
    assert statistics.statistics(caller.memory, project="p").relations == 1


def test_a_project_written_in_two_ways_is_one_project_in_the_figures(caller: Caller) -> None:
    save(caller.memory, Draft(title="t", content="c", project="Thesis"))
    save(caller.memory, Draft(title="u", content="c", project="thesis"))
    assert [count for _, count in statistics.statistics(caller.memory).projects] == [2]


def test_no_topic_key_is_suggested_for_a_summary_which_would_replace_the_last(caller: Caller) -> None:
    reply = call(caller, "mem_session_summary", {"content": "## Goal\nCloses are slow"})
    assert "Suggested" not in reply.text
    said = json.loads(call(caller, "mem_session_summary", {"content": "## Goal\nOther", "format": "json"}).text)
    assert not said["suggested_topic_key"]
    assert "topic_key: " in call(caller, "mem_save", {"title": "Closes are slow", "content": "because of fsync"}).text
