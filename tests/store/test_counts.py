"""Counts that do not walk through the store agree with counts that do, whatever happened to it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from haversack.config import MemorySettings
from haversack.memory import relations
from haversack.memory.room import Memory
from haversack.memory.save import compaction, edits, pipeline
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store import observations
from haversack.store.filters import where
from haversack.store.records import Filters
from tests.conftest import Clock, examples, fresh_store

PROJECTS = ("thesis", "garden", "")
KINDS = ("decision", "note")
WORDS = ("apple", "pear", "plum")
FILTERS = [
    Filters(project_key=project, kind=kind, scope=scope, namespace=namespace, statuses=statuses)
    for project in ("", "thesis", "nowhere")
    for kind in ("", "note")
    for scope in ("", "personal")
    for namespace in (None, "", "n")
    for statuses in ((), ("active", "pending"), ("superseded",), ("active",), ("archived", "superseded"))
]

acts = st.lists(
    st.tuples(
        st.sampled_from(
            ["save", "save", "save", "edit", "delete", "erase", "restore", "supersede", "release", "compact"]
        ),
        st.integers(0, 20),
        st.sampled_from(PROJECTS),
        st.sampled_from(KINDS),
        st.sampled_from(WORDS),
        st.sampled_from(["project", "personal"]),
        st.sampled_from(["", "n"]),
        st.sampled_from(["active", "pending", "archived"]),
    ),
    max_size=25,
)


def perform(memory: Memory, ids: list[int], act: tuple[Any, ...]) -> None:
    verb, number, project, kind, word, scope, namespace, status = act
    if verb == "save":
        draft = Draft(
            f"Note {len(ids)}", f"{word} {len(ids)}", kind, project, scope, namespace=namespace, status=status
        )
        ids.append(pipeline.save(memory, draft).id)
    elif not ids:
        return
    elif verb == "edit":
        changes = Changes(project=project or None, kind=kind, scope=scope, namespace=namespace, status=status)
        edits.update(memory, ids[number % len(ids)], changes)
    elif verb in ("delete", "erase"):
        edits.delete(memory, ids[number % len(ids)], hard=verb == "erase")
    elif verb == "restore":
        edits.update(memory, ids[number % len(ids)], Changes(restore=True))
    elif verb == "supersede":
        relations.relate(memory, ids[-1], ids[number % len(ids)], "supersedes")
    elif verb == "release":
        relations.unrelate(memory, number)
    else:
        compaction.compact(memory, Filters(), 0, (ids[number % len(ids)],), None)


@examples(60)
@given(acts)
def test_counts_agree_with_a_walk_through_every_row(performed: list[tuple[Any, ...]]) -> None:
    from haversack.errors import HaversackError

    memory = Memory(fresh_store(), MemorySettings(project="home"), "/", Clock())
    ids: list[int] = []
    for act in performed:
        try:
            perform(memory, ids, act)
        except HaversackError:
            continue
    for filters in FILTERS:
        condition, values = where(filters)
        with memory.database.read() as tx:
            walked = tx.value(f"SELECT count(*) FROM observations o WHERE {condition}", values)
            apples = tx.value(
                f"SELECT count(*) FROM observations o WHERE {condition} AND o.content LIKE 'apple%'", values
            )
            assert observations.count_observations(tx, filters) == walked
        assert search.count_search_results(memory, "apple", filters) == apples
    memory.database.close()
