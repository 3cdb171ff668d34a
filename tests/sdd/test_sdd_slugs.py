"""Names for files made from titles."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.sdd.documents.slugs import LONGEST, LONGEST_BYTES, slugify, unique

FORBIDDEN = set('<>:"/\\|?*. ') | {chr(code) for code in range(32)}


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Add dark mode!", "add-dark-mode"),
        ("Größe & Übermaß", "größe-übermaß"),
        ("ログイン画面を直す", "ログイン画面を直す"),
        ("लॉगिन ठीक करें", "लॉगिन-ठीक-करें"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full-width"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "x-con"),
        ("lpt1", "x-lpt1"),
        ("***", "untitled"),
        ("", "untitled"),
    ],
)
def test_a_title_becomes_a_readable_slug_in_its_own_script(title: str, slug: str) -> None:
    assert slugify(title) == slug


@given(st.text())
def test_a_slug_is_a_safe_bounded_name_on_every_platform(title: str) -> None:
    slug = slugify(title)
    assert slug
    assert not FORBIDDEN & set(slug)
    assert not slug.startswith("-")
    assert not slug.endswith("-")
    assert len(slug) <= LONGEST + 2
    assert len(slug.encode()) <= LONGEST_BYTES + 2
    assert unicodedata.normalize("NFKC", slug) == slug


@given(st.text())
def test_a_slug_of_a_slug_is_itself(title: str) -> None:
    assert slugify(slugify(title)) == slugify(title)


@given(st.text(), st.integers(1, 30))
def test_slugs_made_unique_never_meet(title: str, count: int) -> None:
    taken: list[str] = []
    for _ in range(count):
        taken.append(unique(slugify(title), taken))
    assert len({name.casefold() for name in taken}) == count
    assert all(len(name) <= LONGEST + 2 for name in taken)


def test_names_that_differ_only_in_case_count_as_taken() -> None:
    assert unique("readme", ["README"]) == "readme-2"


def test_a_long_title_is_cut_between_words() -> None:
    assert slugify("Readers can reserve a book that is out and are told when it comes back") == (
        "readers-can-reserve-a-book-that-is-out-and-are-told-when-it"
    )
