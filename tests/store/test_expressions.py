"""A query tree survives JSON, and SQLite compiles any tree to an expression it accepts."""

import json

import apsw
from hypothesis import given
from hypothesis import strategies as st

from haversack.store.expressions import AllOf, AnyOf, Expression, Phrase, Prefix, Word, freeze, thaw
from haversack.store.sqlite.words import compiled
from tests.conftest import examples

words = st.text(st.sampled_from('ab"*()é数 '), min_size=1, max_size=4)
leaves = st.one_of(
    words.map(Word),
    words.map(Prefix),
    st.builds(Phrase, st.lists(words, min_size=2, max_size=3).map(tuple), st.booleans()),
)
trees: st.SearchStrategy[Expression] = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.lists(parts, min_size=1, max_size=3).map(tuple).map(AnyOf),
        st.lists(parts, min_size=1, max_size=3).map(tuple).map(AllOf),
    ),
    max_leaves=6,
)


@examples(100)
@given(trees)
def test_a_tree_is_the_same_after_a_journey_through_json(tree: Expression) -> None:
    assert thaw(json.loads(json.dumps(freeze(tree)))) == tree


@examples(100)
@given(trees)
def test_sqlite_accepts_every_tree(tree: Expression) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE notes USING fts5 (body)")
    connection.execute("SELECT rowid FROM notes WHERE notes MATCH ?", (compiled(tree),)).fetchall()


def test_an_empty_choice_matches_nothing() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE notes USING fts5 (body); INSERT INTO notes VALUES ('a')")
    assert connection.execute("SELECT * FROM notes WHERE notes MATCH ?", (compiled(AnyOf(())),)).fetchall() == []
