"""A namespace isolates a sub-agent everywhere; leaving it out means all of them."""

import json

import pytest

from haversack.app import Caller, open_caller
from haversack.config import Config, MemorySettings
from haversack.errors import Conflict
from haversack.memory import context, progress, sessions
from haversack.memory.context import place_filters
from haversack.memory.save import compaction, pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.tools.road.call import call
from tests.conftest import Clock

NAMESPACES = ("", "scout", "smith")
LEARNINGS = "## Key learnings\n\n1. The cache is flushed on every {} release, without exception\n"


@pytest.fixture
def shared(caller: Caller, clock: Clock) -> Caller:
    for namespace in NAMESPACES:
        name = namespace or "main"
        call(
            caller,
            "mem_save",
            {"title": f"{name} note", "content": f"cache of {name}", "project": "p", "namespace": namespace},
        )
        call(caller, "mem_save_prompt", {"content": f"{name} asks", "project": "p", "namespace": namespace})
        call(caller, "mem_session_start", {"id": f"s-{name}", "project": "p", "namespace": namespace})
        call(caller, "mem_progress", {"project": "p", "content": json.dumps({"who": name}), "namespace": namespace})
        call(caller, "mem_capture_passive", {"content": LEARNINGS.format(name), "project": "p", "namespace": namespace})
    clock.advance(days=10)
    return caller


@pytest.mark.parametrize("tool", ["mem_search", "mem_context", "list_observations", "list_sessions", "context_pack"])
@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_reading_tool_shows_one_namespace_alone(shared: Caller, tool: str, namespace: str) -> None:
    arguments: dict[str, object] = {"namespace": namespace, "project": "p"}
    if tool == "mem_search":
        arguments["query"] = "cache note asks release"
    text = call(shared, tool, arguments).text
    own = namespace or "main"
    assert own in text
    for other in ("main", "scout", "smith"):
        assert other == own or other not in text


def test_leaving_the_namespace_out_means_all_of_them(shared: Caller) -> None:
    text = call(shared, "mem_context", {"project": "p"}).text
    assert all(name in text for name in ("main", "scout", "smith"))
    assert call(shared, "mem_search", {"project": "all", "query": "cache"}).total == 6


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_each_namespace_has_its_own_progress(shared: Caller, namespace: str) -> None:
    held = progress.read(shared.memory, "p", namespace=namespace)
    assert held is not None
    assert json.loads(held.content) == {"who": namespace or "main"}


def test_passive_capture_keeps_its_namespace(shared: Caller) -> None:
    found = search.search(shared.memory, "exception", search.filters(shared.memory, namespace="scout"))
    assert [hit.observation.namespace for hit in found.hits] == ["scout"]
    assert search.search(shared.memory, "exception", search.filters(shared.memory)).total == 3


def test_compaction_touches_one_namespace_alone(shared: Caller) -> None:
    everything = [each.id for each in context.recent(shared.memory, place_filters(), 100)]
    done = compaction.compact(
        shared.memory,
        place_filters(namespace="scout"),
        5,
        tuple(everything),
        Draft(title="s", content="c", namespace="scout"),
    )
    assert {each.namespace for each in done.deleted} == {"scout"}
    assert len(done.deleted) + len(done.refused) == len(everything)
    assert done.summary is not None
    assert context.recall(shared.memory, done.summary.id).namespace == "scout"


def test_sub_agents_do_not_share_the_session_made_for_them(caller: Caller) -> None:
    """A project called a-b and the namespace b of a project called a are two places."""
    drafts = [Draft(title="t", content="c", project="a-b"), Draft(title="t", content="c", project="a", namespace="b")]
    one, other = (pipeline.save(caller.memory, draft).session_id for draft in drafts)
    assert one != other


def test_the_timeline_of_a_sub_agents_memory_shows_its_own_session_alone(shared: Caller) -> None:
    found = search.search(shared.memory, "note", search.filters(shared.memory, namespace="scout")).hits[0].observation
    timeline = context.timeline(shared.memory, found.id, before=100, after=100)
    assert {each.namespace for each in (*timeline.before, *timeline.after)} <= {"scout"}


def test_a_session_of_another_namespace_is_refused(shared: Caller) -> None:
    with pytest.raises(Conflict, match="namespace 'scout'"):
        call(shared, "mem_save", {"title": "t", "content": "c", "session_id": "s-scout", "namespace": "smith"})


def test_the_session_that_is_set_for_a_host_does_not_stop_its_sub_agents(tmp_path: object, clock: Clock) -> None:
    config = Config(home=f"{tmp_path}/home", memory=MemorySettings(session="host-session"))
    caller = open_caller(config, directory=str(tmp_path), now=clock)
    assert pipeline.save(caller.memory, Draft(title="t", content="c", project="p")).session_id == "host-session"
    own = pipeline.save(caller.memory, Draft(title="t", content="c", project="p", namespace="scout")).session_id
    assert own != "host-session"
    found, _ = sessions.recent(caller.memory, namespace="scout")
    assert [each.id for each in found] == [own]
    caller.app.close()
