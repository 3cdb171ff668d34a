import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.memory.save.topics import LONGEST_SLUG, suggest_topic_key


@pytest.mark.parametrize(
    ("title", "kind", "key"),
    [
        ("Use Postgres for the store", "decision", "decision/use-postgres-store"),
        ("Fix N+1 query in UserList", "bugfix", "bug/n-1-query-userlist"),
        ("Fixed: login crash on iOS", "manual", "bug/login-ios"),
        ("Decided to adopt C++17", "", "decision/cplusplus17"),
        ("Layered architecture of the gateway", "observation", "architecture/layered-gateway"),
        ("数据库连接池", "config", "config/数据库连接池"),
        ("Größe ändern – überall", "pattern", "pattern/größe-ändern-überall"),
        ("हिन्दी भाषा", "fact", "fact/हिन्दी-भाषा"),
        ("Weekly notes", "meeting notes", "meeting-notes/weekly-notes"),
        ("Bug", "bugfix", "bug/bug"),
        ("to be or not to be", "", "topic/to-be-or-not"),
        ("🎉", "", "topic/u1f389"),
    ],
)
def test_a_title_and_a_kind_give_a_key(title: str, kind: str, key: str) -> None:
    assert suggest_topic_key(title, "whatever it says", kind) == key


def test_case_and_spacing_of_a_title_make_no_difference() -> None:
    assert suggest_topic_key("  Auth  MODEL ", "", "decision") == suggest_topic_key("auth model", "", "decision")


def test_the_content_does_not_change_the_key_of_a_title() -> None:
    assert suggest_topic_key("Auth model", "one", "") == suggest_topic_key("Auth model", "a bug", "")


def test_without_a_title_the_first_line_of_the_content_is_used() -> None:
    assert suggest_topic_key("", "\n---\nPort of the database\nis 6543", "config") == "config/port-database"


def test_texts_without_words_do_not_share_a_key() -> None:
    assert suggest_topic_key("?", "", "fact") != suggest_topic_key("!", "", "fact")


@given(st.text(), st.text(), st.sampled_from(["", "decision", "own kind", "???"]))
def test_every_text_has_a_bounded_key_of_two_parts(title: str, content: str, kind: str) -> None:
    family, slug = suggest_topic_key(title, content, kind).split("/")
    assert family
    assert 0 < len(slug) <= LONGEST_SLUG
    assert family + slug == "".join((family + slug).split())
