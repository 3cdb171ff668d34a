import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.text.stems import prefix_choices, stem

ENDINGS = (
    "ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti"
    " iviti biliti ical ness icate iciti ful ative alize al ance ence er ic able ible ant ement ment ent ion sion tion"
    " ou ism ate iti ous ive ize s es ies sses ss ed eed ing y e ll at bl iz"
)
ROOTS = (
    "a b cr fl hop tan fall hiss fizz fail fil rel condit valen hesit digit conform radic differ vile analog vietnam"
)


def indexed_terms(words: list[str]) -> list[str]:
    """What FTS5's own tokenizer makes of each word."""
    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61 remove_diacritics 2')")
    database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    with database:
        database.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(words, 1))
    return [term for (term,) in database.execute("SELECT term FROM v ORDER BY doc")]


def test_every_root_with_every_ending_is_stemmed_as_the_index_does_it() -> None:
    words = [
        f"{root}{first}{second}"
        for root in ROOTS.split()
        for first in ("", *ENDINGS.split())
        for second in ("", "s", "ed", "ing", "ly")
    ]
    assert [stem(word) for word in words] == indexed_terms(words)


@given(st.lists(st.text("aeioubcdlstyz", min_size=1, max_size=12), min_size=1, max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_letters_are_stemmed_as_the_index_does_it(words: list[str]) -> None:
    assert [stem(word) for word in words] == indexed_terms(words)


@pytest.mark.parametrize("word", ["сделанs", "naturaл", "日ing", "x" * 60 + "ings", "x" * 70 + "ing", "éed"])
def test_lengths_and_letters_count_in_utf8_as_in_the_index(word: str) -> None:
    folded = word.replace("é", "e")
    assert [stem(folded)] == indexed_terms([word])


@given(st.text("aeioubcdlstyz", min_size=1, max_size=14))
def test_a_word_begins_with_its_stem_but_for_the_last_letter(word: str) -> None:
    assert word.startswith(stem(word)[:-1])


@pytest.mark.parametrize(
    "word",
    [
        *("authentication", "authenticates", "copyright", "copying", "deployment", "encryption", "mapped", "settings"),
        *("running", "universities", "agreement", "security", "happily", "analysis", "configuration", "relational"),
    ],
)
def test_every_prefix_of_a_word_leads_to_its_stem(word: str) -> None:
    for length in range(1, len(word) + 1):
        prefix, words = prefix_choices(word[:length])
        assert stem(word).startswith(stem(prefix)) or stem(word) in map(stem, words)


def test_a_prefix_does_not_reach_words_that_only_share_its_stem() -> None:
    prefix, words = prefix_choices("running")
    assert not stem("runtime").startswith(stem(prefix))
    assert stem("runtime") not in map(stem, words)


def test_a_common_prefix_needs_no_second_question() -> None:
    assert prefix_choices("config") == ("config", [])


def test_stemming_leaves_identifiers_with_digits_alone() -> None:
    words = ["sha256", "ipv6", "42"]
    assert [stem(word) for word in words] == words
