import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.text.words import fold, index_text, pairs_of, parts_of, spell_names


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ("get", "User", "Name")),
        ("HTTPServer2", ("HTTP", "Server", "2")),
        ("parseJSON", ("parse", "JSON")),
        ("sha256", ("sha", "256")),
        ("größeÄndern", ("größe", "Ändern")),
        ("данныеДляПоиска", ("данные", "Для", "Поиска")),
        ("word", ()),
        ("Word", ()),
        ("HTTP", ()),
        ("5432", ()),
    ],
)
def test_identifiers_fall_into_the_parts_people_read(word: str, parts: tuple[str, ...]) -> None:
    assert parts_of(word) == parts


@pytest.mark.parametrize(
    "word",
    [
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
        "aB" * 50,
        "DEADBEEF01",
    ],
)
def test_hashes_and_encoded_bytes_are_not_taken_apart(word: str) -> None:
    assert parts_of(word) == ()


def test_plain_text_is_indexed_as_it_is() -> None:
    text = "The store keeps one row for each observation.\nIt's quick, at 3 ms."
    assert index_text(text) == text


def test_the_words_keep_their_order_and_the_extra_words_follow() -> None:
    assert index_text("call getUserName twice") == "call getUserName twice\nget User Name"


def test_an_identifier_used_twice_adds_its_parts_once() -> None:
    assert index_text("getName getName").count("get Name") == 1


def test_unspaced_scripts_become_pairs_and_each_character_begins_a_word() -> None:
    assert index_text("数据库").split() == ["数据", "据库", "库"]
    assert index_text("使用PostgreSQL数据").split() == ["使用", "用", "postgresql", "数据", "据", "postgre", "sql"]
    assert index_text("한국어 テスト").split() == ["한국", "국어", "어", "テス", "スト", "ト"]


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("C++ and c++17", ["cplusplus", "cplusplus17"]),
        ("C# or F#, not a# heading", ["csharp", "fsharp"]),
        ("ASP.NET on .net", ["dotnet"]),
        ("the party 🎉 and 👩‍👩‍👧", ["u1f389", "u1f467", "u1f469"]),
        ("❤️ you", ["u2764"]),
    ],
)
def test_names_and_symbols_gain_words_of_their_own(text: str, extra: list[str]) -> None:
    assert set(extra) <= set(index_text(text).rsplit("\n", 1)[1].split())


@pytest.mark.parametrize("text", ["see example.net", "# Heading", "a ├── tree", "1 + 1", "issue #12"])
def test_ordinary_signs_gain_none(text: str) -> None:
    assert "\n" not in index_text(text)


def test_a_sign_newer_than_the_index_does_not_stick_to_its_word() -> None:
    assert index_text("ship🤖it\ue0b0now").splitlines()[0].split() == ["ship", "it", "now"]


def test_what_only_decorates_a_word_does_not_change_it() -> None:
    assert index_text("so\u00adft") == "soft"
    assert index_text("مُحَمَّد") == "محمد"
    assert index_text("ｆｕｌｌ ﬁne") == "full fine"


def test_names_are_spelled_out_inside_a_sentence() -> None:
    assert spell_names("use C++20, C# and .NET.") == "use cplusplus20, csharp and dotnet."


def test_a_query_asks_for_pairs_without_the_last_character_alone() -> None:
    assert pairs_of("数据库") == ("数据", "据库")
    assert pairs_of("库") == ("库",)


def test_folding_removes_case_and_latin_accents_only() -> None:
    assert fold("Ünïcödé") == "unicode"
    assert fold("Й Ё がか") == "й ё がか"


@given(st.text())
def test_any_text_can_be_indexed_and_encoded(text: str) -> None:
    index_text(text + "é").encode("utf-8")


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_text_always_stays_whole_in_the_index(text: str) -> None:
    assert index_text(text).startswith(text)
