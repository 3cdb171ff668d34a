import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.memory.learnings import find_learnings


@pytest.mark.parametrize(
    "title",
    [
        *("Key Learnings", "Learnings", "LESSONS LEARNED", "What I learned", "What we’ve learned", "Key takeaways"),
        *("Discoveries", "Insights from today", "Decisions", "Key decisions made", "💡 Key Learnings", "Takeaways"),
        *("Lecciones aprendidas", "Aprendizajes clave", "Lo que aprendí", "Wichtigste Erkenntnisse", "Entscheidungen"),
        *("Was wir gelernt haben", "Leçons apprises", "Ce que j'ai appris", "Apprentissages clés", "Décisions"),
        *(
            "Lições aprendidas",
            "O que aprendemos",
            "Decisões",
            "关键学习",
            "经验教训",
            "我学到了什么",
            "学んだこと",
            "気づき",
        ),
    ],
)
@pytest.mark.parametrize("form", ["# {}", "### {} ###", "**{}**", "**{}:**", "__{}__", "{}:", "{}\n=====", "> ## {}"])
def test_items_under_such_a_heading_are_found(title: str, form: str) -> None:
    assert find_learnings(f"intro\n\n{form.format(title)}\n\n- pin versions\n") == ("pin versions",)


@pytest.mark.parametrize("title", ["Next steps", "Learning rate", "Decision log format", "Machine learning", "Summary"])
def test_items_under_other_headings_are_not(title: str) -> None:
    assert find_learnings(f"## {title}\n- nothing here\n") == ()


@pytest.mark.parametrize(
    "mark", ["- ", "* ", "+ ", "• ", "1. ", "12) ", "(3) ", "- [ ] ", "- [x] ", "1. [X] ", "•", "1、", "①"]
)
def test_every_common_list_mark_is_known(mark: str) -> None:
    assert find_learnings(f"## Learnings\n{mark}first thing\n{mark}second thing") == ("first thing", "second thing")


def test_lines_of_an_item_are_joined() -> None:
    text = "## Learnings\n- a long item that\n  goes on\nlazily\n\n  and has a second paragraph\n- next"
    assert find_learnings(text) == ("a long item that goes on lazily and has a second paragraph", "next")


def test_nested_items_stay_with_their_parent() -> None:
    text = "## Learnings\n1. parent\n   - child one\n     more\n   - child two\n2. other"
    assert find_learnings(text) == ("parent\n- child one more\n- child two", "other")


def test_a_section_ends_at_the_next_heading_but_not_at_its_own_parts() -> None:
    text = "## Learnings\n- a\n### Backend\n- b\n## Next\n- c\n# Insights\n- d\n**Other**\n- e\n"
    assert find_learnings(text) == ("a", "b", "d")


def test_labels_divide_a_section_that_begins_with_one() -> None:
    assert find_learnings("## Learnings\n**Backend**\n- a\n\nFrontend:\n- b\n## Next\n- c") == ("a", "b")


def test_a_line_with_a_colon_ends_a_section_where_a_paragraph_begins() -> None:
    assert find_learnings("Learnings:\n- a\n\nNext steps:\n- b") == ("a",)


def test_text_between_the_items_is_left_out() -> None:
    assert find_learnings("## Learnings\nWe learned:\n\n- a\n\nThis is prose.\n\n- b\n---\n- c") == ("a", "b", "c")


def test_fenced_code_holds_neither_headings_nor_items() -> None:
    text = "```\n## Learnings\n- no\n```\n## Learnings\n- yes\n~~~md\n- no\n## Next\n~~~\n- also\n"
    assert find_learnings(text) == ("yes", "also")


def test_code_inside_an_item_is_kept_with_it() -> None:
    text = "## Learnings\n- run this:\n  ```\n  make test\n  ```\n- next"
    assert find_learnings(text) == ("run this:\n  ```\n  make test\n  ```", "next")


def test_the_same_item_counts_once_and_an_empty_one_not_at_all() -> None:
    assert find_learnings("## Learnings\n- same\n- same\n- None\n- N/A\n- ---\n") == ("same",)


def test_a_very_long_item_is_never_cut() -> None:
    item = "word " * 10_000 + "end"
    assert find_learnings(f"## Learnings\n- {item}\n") == (item,)


@given(st.text(st.sampled_from("#-*+•1.) \n\t>`~:=Learnings数"), max_size=200))
def test_any_text_can_be_looked_through(text: str) -> None:
    for learned in find_learnings(text):
        assert learned.strip() == learned != ""


def test_an_item_of_very_many_lines_is_read_to_its_end() -> None:
    (learned,) = find_learnings("## Learnings\n- begin\n" + "on and\n" * 50_000 + "end")
    assert learned.startswith("begin on and")
    assert learned.endswith("and end")


@pytest.mark.parametrize("line", ["#" + " " * 200_000 + "x", "- " * 100_000, "!" * 200_000 + "a", "> " * 100_000])
def test_hostile_lines_are_read_like_any_other(line: str) -> None:
    assert isinstance(find_learnings(f"## Learnings\n{line}\n- item {line}"), tuple)
