"""Thinking before planning."""

import pytest

from haversack.errors import InvalidArgument
from haversack.sdd.documents.exploration import Notes, explore, suggest, topic_of


def test_notes_are_kept_by_section_under_the_topic_of_their_title() -> None:
    found = explore("Dark mode", Notes(goals="- Easy on the eyes", unknowns="- Which colours?"))
    assert found.observation.topic_key == topic_of("Dark mode") == "explore/dark-mode"
    assert found.observation.kind == "explore"
    assert found.observation.content == (
        "# Dark mode\n\n## Goals\n\n- Easy on the eyes\n\n## Unknowns\n\n- Which colours?"
    )
    assert found.open_questions == 1


def test_exploring_again_merges_by_section_and_says_nothing_twice() -> None:
    first = explore("Dark mode", Notes(goals="- Easy on the eyes", context="Asked for by users"))
    again = explore(
        "Dark mode",
        Notes(goals="- easy on the eyes.\n- Saves power", decisions="- No toggle"),
        first.observation.content,
    )
    assert again.observation.content == (
        "# Dark mode\n\n## Goals\n\n- Easy on the eyes\n- Saves power\n\n"
        "## Decisions\n\n- No toggle\n\n## Context\n\nAsked for by users"
    )
    assert {name: count for name, count in again.added.items() if count} == {"goals": 1, "decisions": 1}
    same = explore("Dark mode", Notes(goals="- Saves power"), again.observation.content)
    assert same.observation.content == again.observation.content


def test_headings_inside_notes_do_not_end_their_section() -> None:
    first = explore("X", Notes(goals="# Big\n- a", context="c"))
    again = explore("X", Notes(goals="- b"), first.observation.content)
    assert again.observation.content == "# X\n\n## Goals\n\n### Big\n- a\n- b\n\n## Context\n\nc"


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Login crashes, wrong redirect is a bug", "fix"),
        ("Refactor and simplify the parser", "refactor"),
        ("Improve the existing search, make it faster", "enhancement"),
        ("Add a new export", "feature"),
        ("Weather", "feature"),
    ],
)
def test_the_type_is_suggested_by_the_words_used(title: str, kind: str) -> None:
    assert suggest(title, {}).type == kind


@pytest.mark.parametrize(("goals", "size"), [(1, "small"), (4, "medium"), (9, "large")])
def test_the_size_is_suggested_by_how_much_there_is(goals: int, size: str) -> None:
    suggestion = suggest("X", {"goals": "\n".join(f"- goal {n}" for n in range(goals))})
    assert suggestion.size == size
    assert f"{goals} goal" in suggestion.reasons[1] and "1 goals" not in suggestion.reasons[1]


def test_an_exploration_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="goals, constraints"):
        explore("Dark mode", Notes())
