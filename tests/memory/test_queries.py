from collections.abc import Iterator

import apsw
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from haversack.memory.search.query import MOST_TERMS, Mode, Term, match_expression, parse_query
from haversack.store.sqlite.words import compiled
from haversack.text.words import index_text, normalise, words_in

SCHEMA = """
CREATE VIRTUAL TABLE notes USING fts5(
    title, body, tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
)
"""


class Notes:
    """A real full-text table."""

    def __init__(self) -> None:
        self.database = apsw.Connection(":memory:")
        self.database.execute(SCHEMA)

    def add(self, *texts: str) -> "Notes":
        self.database.execute("DELETE FROM notes")
        rows = [(index_text(text),) for text in texts]
        self.database.executemany("INSERT INTO notes (title, body) VALUES ('', ?)", rows)
        return self

    def search(self, text: str, mode: Mode = "any") -> list[int]:
        """The places of the notes found, best first."""
        expression = compiled(match_expression(parse_query(text), mode=mode))
        rows = self.database.execute("SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY rank, rowid", (expression,))
        return [rowid for (rowid,) in rows]


@pytest.fixture(scope="module")
def shared_notes() -> Notes:
    return Notes()


@pytest.fixture
def notes() -> Iterator[Notes]:
    yield Notes()


NASTY = [
    *("", "   ", "\n\t", '"', '""', '"a', 'a"b"c', '" "', "(", ")", "AND", "AND (", "a AND (b OR", "NOT x"),
    *("NEAR(a b, 3)", "title:foo", "-x", "^x", "x^2", "*", "**", "a*b", "{a b}:c", "a + b", "C++", "c#", "\0", "a\0b"),
    *("\ud800", "x\udfff y", "🎉", "👩\u200d👩\u200d👧", "→", "'", "it's", "don't", ";--", "%", "_", "\\", "½", "٣"),
    *("“curly” „quotes“ «x»", "ﷺ", "\u200d", "e\u0301", "a" * 10_000, "word " * 2_000, "数" * 10_000, '"' * 5_000),
    *("a/" * 5_000, "getUser" * 1_000, "* " * 5_000),
]


@pytest.mark.parametrize("mode", ["any", "all"])
@pytest.mark.parametrize("text", NASTY)
def test_no_text_is_a_wrong_query(shared_notes: Notes, text: str, mode: Mode) -> None:
    shared_notes.add("something").search(text, mode)


@given(st.text(max_size=60), st.sampled_from(["any", "all"]))
@settings(max_examples=300, deadline=None)
def test_any_text_at_all_is_a_query(shared_notes: Notes, text: str, mode: Mode) -> None:
    shared_notes.add("something").search(text, mode)


@given(st.text(st.sampled_from('ab "*()+-:^{}ANDORNOT数é🎉\0\ud800')), st.sampled_from(["any", "all"]))
@settings(max_examples=300, deadline=None)
def test_any_mixture_of_signs_is_a_query(shared_notes: Notes, text: str, mode: Mode) -> None:
    shared_notes.add("something").search(text, mode)


# Twenty-one letters of New Tai Lue and Vedic are not letters to SQLite.
UNKNOWN_TO_SQLITE = set(map(chr, [*range(0x19B0, 0x19CA), *range(0x1CF2, 0x1CF8)]))


@given(st.text(max_size=80))
@example("HTTPServer2 数据库を使う C++17 🎉 naïve snake_case a.b/c-d हिन्दी ที่นี่ ǅ İstanbul ﬁ ½ x² Ⅷ")
@settings(max_examples=400, deadline=None)
def test_what_was_indexed_is_found_by_each_of_its_words(shared_notes: Notes, text: str) -> None:
    shared_notes.add(text)
    for word in (*text.split(), *words_in(normalise(text))):
        query = parse_query(word)
        if query.terms and not set(word) & UNKNOWN_TO_SQLITE:
            assert shared_notes.search(word), word
            assert shared_notes.search(word, "all"), word


@given(st.lists(st.text("aB1_数é🎉. -+#", min_size=1, max_size=8), min_size=1, max_size=6).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_a_text_is_found_by_quoting_it(shared_notes: Notes, text: str) -> None:
    if parse_query(f'"{text}"').terms:
        assert shared_notes.add(text).search(f'"{text}"')


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("we authenticate users here", "authentication"),
        ("the connections were pooled", "connection pooling"),
        ("call getUserName first", "user"),
        ("call getUserName first", "getusername"),
        ("call getUserName first", "get_user_name"),
        ("call get_user_name first", "getUserName"),
        ("see src/auth/login.py", "src/auth/login.py"),
        ("see src/auth/login.py", "login"),
        ("an HTTPServer2 instance", "server"),
        ("我们使用数据库连接", "数据库"),
        ("我们使用数据库连接", "接"),
        ("我们使用数据库连接", "连接怎么配置"),
        ("データベースを使う", "データベース"),
        ("데이터베이스를 씁니다", "데이터베이스"),
        ("ฐานข้อมูลเร็วมาก", "ข้อมูล"),
        ("un café crème", "cafe creme"),
        ("un cafe\u0301", "café"),
        ("compiled as C++", "c++"),
        ("compiled as c++17", "C++"),
        ("written in C#", "c#"),
        ("runs on ASP.NET", ".NET"),
        ("built with node.js", "node.js"),
        ("shipped 🎉", "🎉"),
        ("हिन्दी भाषा", "भाषा"),
        ("the user's name", "users"),
        ("a copyright notice", "copy*"),
        ("the authentication flow", "authentica*"),
        ("getUserName again", "getUser*"),
    ],
)
@pytest.mark.parametrize("mode", ["any", "all"])
def test_a_note_is_found_by_what_people_type(notes: Notes, text: str, query: str, mode: Mode) -> None:
    notes.add("nothing of the kind", text)
    if mode == "any" or query != "连接怎么配置":
        assert notes.search(query, mode) == [2]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("plain old C code", "C++"),
        ("a .NET caller", "C#"),
        ("party 🎈", "🎉"),
        ("运行时数据", "时运"),
        ("the runtime", "running*"),
    ],
)
def test_a_note_is_not_found_by_something_else(notes: Notes, text: str, query: str) -> None:
    assert notes.add(text).search(query) == []


def test_a_natural_question_finds_the_note_that_answers_it(notes: Notes) -> None:
    notes.add("Deploys run from main every night.", "The test database listens on port 6543.", "How we do what we do.")
    assert notes.search("How do I find what port the test database is on?") == [2]


def test_all_asks_for_every_word_and_any_for_one(notes: Notes) -> None:
    notes.add("red apple", "green apple", "red green apple")
    assert sorted(notes.search("red green")) == [1, 2, 3]
    assert notes.search("red green", "all") == [3]


def test_a_quoted_phrase_must_appear_when_it_is_all_that_is_asked(notes: Notes) -> None:
    notes.add("exact phrase here", "phrase exact kettle", "an exact phrase and a kettle")
    assert sorted(notes.search('"exact phrase"')) == [1, 3]
    assert sorted(notes.search('what about the "exact phrase"')) == [1, 3]
    assert sorted(notes.search('"exact phrase" kettle', "all")) == [3]


def test_beside_other_words_a_quoted_phrase_is_a_wish(notes: Notes) -> None:
    notes.add("exact phrase here", "phrase exact kettle", "an exact phrase and a kettle", "a saucer")
    assert sorted(notes.search('"exact phrase" kettle')) == [1, 2, 3]
    assert sorted(notes.search('Which "red rabbit" sits in the kettle?')) == [2, 3]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("We deploy on Tuesdays", "deployment"),
        ("The deployment failed", "deploy"),
        ("Payments are due", "pay"),
        ("Die Auslieferung ist freitags", "Auslieferungen"),
        ("Das Haus am See", "Häuser"),
        ("Die Häuser am See", "Haus"),
        ("Der Kunde ruft an", "Kunden"),
        ("Alle Kunden rufen an", "Kunde"),
        ("Das Ergebnis der Messung", "Ergebnisse"),
        ("Il gatto dorme", "gatti"),
        ("I gatti dormono", "gatto"),
        ("Un errore di rete", "errori"),
        ("I problemi di rete", "problema"),
        ("Un problema di rete", "problemi"),
        ("Las luces del puerto", "luz"),
        ("La luz del puerto", "luces"),
        ("Las canciones de ayer", "canción"),
        ("The deployment is green", "deploying"),
        ("Alle Auslieferungen sind geprüft", "Auslieferung"),
        ("Las decisiones tomadas", "decisión"),
        ("Le riunioni sono finite", "riunione"),
        ("As reuniões acabaram", "reunião"),
        ("Les journaux du serveur", "journal"),
        ("De vergaderingen zijn voorbij", "vergadering"),
        ("Skolorna är stängda", "skola"),
        ("Серверы упали ночью", "сервером"),
        ("Решения приняты", "решение"),
        ("Neue Funktionen", "Funktion"),
        ("La migración empezó", "migraciones"),
        ("Uma configuração nova", "configurações"),
        ("We decided on SQLite", "decision"),
        ("The login failure", "fails"),
        ("Configure the proxy", "configuration"),
    ],
)
def test_derived_forms_and_plurals_meet(notes: Notes, text: str, query: str) -> None:
    assert notes.add(text, "something else").search(query) == [1]


@pytest.mark.parametrize(
    ("phrase", "found"),
    [('"使用PostgreSQL数据"', [1]), ('"C++ templates"', [2]), ('"C++"', [2]), ('"C"', [2, 3]), ('"🎉 launch"', [4])],
)
def test_phrases_may_hold_any_script_name_or_symbol(notes: Notes, phrase: str, found: list[int]) -> None:
    notes.add("我们使用PostgreSQL数据库", "C++ templates", "C templates", "our launch 🎉", "a launch")
    assert sorted(notes.search(phrase)) == found


def test_a_whole_identifier_ranks_above_its_scattered_parts(notes: Notes) -> None:
    notes.add("the user has a name to get", "get_user_name", "name of a user")
    assert notes.search("getUserName")[0] == 2


def words(text: str) -> list[str]:
    return [term.text for term in parse_query(text).terms]


def test_stop_words_go_unless_they_are_all_there_is() -> None:
    assert words("What is the port of the database?") == ["port", "database"]
    assert words("what is this") == ["what", "is", "this"]
    assert words('"to be"') == ["to be"]


def test_operators_are_words_like_any_other() -> None:
    assert words("cats AND dogs NOT (birds OR fish)") == ["cats", "dogs", "birds", "fish"]


def test_words_that_differ_by_inflection_are_asked_for_once() -> None:
    assert words("connect connected CONNECTING connections") == ["connect"]


def test_each_kind_of_term_is_told_apart() -> None:
    assert parse_query('port getName "two words" conf* 数据库').terms == (
        Term("two words", ("two", "words"), "phrase"),
        Term("port", ("port",), "word"),
        Term("getName", ("get", "name"), "identifier"),
        Term("conf", ("conf",), "prefix"),
        Term("数据库", ("数据", "据库"), "identifier"),
        Term("two", ("two",), "word"),
        Term("words", ("words",), "word"),
    )


def test_an_arrow_beside_words_is_noise_but_alone_it_is_the_question() -> None:
    assert words("a1 → b2") == ["a1", "b2"]
    assert words("→") == ["→"]


def test_of_too_many_words_the_quoted_the_repeated_and_the_longest_stay_in_their_order() -> None:
    many = " ".join(f"w{'x' * (place % 30)}{place}" for place in range(300))
    terms = parse_query(f'{many} tiny tiny "short one"').terms
    assert len(terms) == MOST_TERMS
    assert terms[0] == Term("short one", ("short", "one"), "phrase")
    assert terms[-1] == Term("tiny", ("tiny",), "word", count=2)
    kept = [term.text for term in terms[1:-1]]
    assert min(map(len, kept)) >= max(len(word) for word in many.split() if word not in kept)
    assert kept == [word for word in many.split() if word in kept]


def test_a_long_question_is_still_answered(notes: Notes) -> None:
    notes.add("the needle", "hay")
    question = "needle " + " ".join(f"straw{place}" for place in range(1_300))
    assert len(question) > 10_000
    assert 1 in notes.search(question + " needle")
    assert notes.search("needle" + "?" * 10_000) == [1]
