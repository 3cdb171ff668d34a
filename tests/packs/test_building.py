"""Context packs from memories at hand: the library's plain functions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from haversack.errors import InvalidArgument
from haversack.packs import budget_truncate, build_context_pack, format_context_pack
from haversack.tokens import count_tokens
from haversack.values import record
from tests.conftest import START, examples


@record
class Memory:
    """The least a memory must have to enter a pack."""

    title: str
    content: str
    kind: str = "decision"
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    updated_at: int = START


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), min_size=1, max_size=400)
MEMORIES = st.lists(
    st.builds(Memory, title=st.text("abc 汉🙂-#", max_size=30), content=TEXTS, tags=st.just(("a", "b")) | st.just(())),
    max_size=12,
)
PROFILES = st.sampled_from(["bytes4", "o200k", "claude"])


def test_a_pack_is_markdown_ready_to_paste() -> None:
    memories = [
        Memory("Authentication flow", "We sign with RS256.\n", tags=("auth", "jwt"), importance=0.8),
        Memory("Race", "Fixed.", kind="bugfix"),
    ]
    assert format_context_pack(build_context_pack(memories, 500, project_id="thesis")) == snapshot("""\
# Project Context: thesis (2 memories, ~65 tokens)

## [decision] Authentication flow
*2026-02-02 | importance: 0.8 | tags: auth, jwt*

We sign with RS256.

---

## [bugfix] Race
*2026-02-02*

Fixed.
""")


@examples(60)
@given(MEMORIES, st.integers(64, 1500), PROFILES)
def test_a_pack_costs_what_its_first_line_says_and_never_more_than_its_budget(
    memories: list[Memory], budget: int, profile: str
) -> None:
    pack = build_context_pack(memories, budget, project_id="thesis", profile=profile)
    text = format_context_pack(pack)
    assert count_tokens(text, profile) == pack.total_tokens <= budget
    assert f"~{pack.total_tokens:,} tokens)" in text.split("\n")[0]


@examples(60)
@given(MEMORIES, st.integers(64, 1500))
def test_every_memory_is_in_the_pack_or_named_as_omitted_in_the_order_given(
    memories: list[Memory], budget: int
) -> None:
    pack = build_context_pack(memories, budget)
    order = [id(each) for each in memories]
    for part in (pack.memories, pack.omitted):
        assert [id(each) for each in part] == [each for each in order if each in {id(one) for one in part}]
    assert len(pack.memories) + len(pack.omitted) == len(memories)


@examples(60)
@given(MEMORIES, st.integers(64, 1500))
def test_what_was_omitted_would_not_have_fitted(memories: list[Memory], budget: int) -> None:
    pack = build_context_pack(memories, budget)
    for omitted in pack.omitted:
        with_it = format_context_pack(build_context_pack([*pack.memories, omitted], 10**6))
        # The frame is paid for with the largest figures it could show, which is a few tokens more than it takes.
        assert count_tokens(with_it) + 8 > budget


def test_a_memory_too_large_does_not_empty_the_pack() -> None:
    pack = build_context_pack([Memory("large", "word " * 5000), Memory("small", "text")], 200)
    assert [each.title for each in pack.memories] == ["small"]
    assert [each.title for each in pack.omitted] == ["large"]


def test_an_empty_pack_is_a_pack() -> None:
    pack = build_context_pack([], 100)
    assert format_context_pack(pack) == "# Project Context: all projects (0 memories, ~14 tokens)\n\n"


def test_one_memory_is_not_called_memories() -> None:
    assert "(1 memory, " in format_context_pack(build_context_pack([Memory("t", "c")], 100))


def test_the_same_memories_make_the_same_bytes() -> None:
    memories = [Memory(f"t{number}", "text " * number) for number in range(20)]
    one, other = (format_context_pack(build_context_pack(memories, 300)) for _ in range(2))
    assert one == other


@examples(60)
@given(MEMORIES, st.integers(0, 1500), PROFILES)
def test_truncating_keeps_rank_order_and_skips_what_is_too_large(
    memories: list[Memory], budget: int, profile: str
) -> None:
    kept = budget_truncate(memories, budget, profile)
    assert [id(each) for each in kept] == [id(each) for each in memories if any(each is one for one in kept)]
    texts = [format_context_pack(build_context_pack([each], 10**6, profile=profile)) for each in kept]
    assert sum(count_tokens(text, profile) for text in texts) <= budget + 30 * len(kept)


def test_truncating_to_nothing_gives_nothing() -> None:
    assert budget_truncate([Memory("t", "c")], 0) == []


def test_an_unknown_profile_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match="gpt9"):
        build_context_pack([], 100, profile="gpt9")
