"""Profiles of other models: exact with the extra, near without it, and within the budget either way."""

import json
import subprocess
import sys
import sysconfig
import unicodedata
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.bench_tokens import contents
from haversack.app import open_caller
from haversack.cli import main
from haversack.config import Config
from haversack.errors import DamagedFile
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.tokens import (
    Profile,
    count_tokens,
    o200k,
    other_model_estimates,
    other_models,
    profile_named,
    profile_names,
    profiles,
)
from haversack.tokens.profiles import estimated_profile, exact_profile
from haversack.tokens.vocabulary import open_vocabulary
from haversack.tools.road.call import call
from tests.conftest import Clock

MODELS = tuple(other_models.VOCABULARIES)
TRICKY = [
    *"sStTmMdDrReEvVlL'’ſK \t\n\r/.;-_(#09aAzZ~=",
    *("\r\n", "\n\n", "  ", "'s", "'LL", "\x85", "\xa0", "\u2028", "\u3000", "\x1c", "\x0b", "\x0c"),
    *("\u0301", "\u200d", "\ufe0f", "😀", "👩‍💻", "ǅ", "ʰ", "字", "か", "é", "É", "٣", "Ⅷ", "²", "\ufeff", "ก", "ж"),
]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.sampled_from(TRICKY), max_size=30).map("".join),
    st.lists(st.sampled_from(TRICKY).flatmap(lambda one: st.integers(1, 40).map(lambda n: one * n)), max_size=6).map(
        "".join
    ),
)
needs_extra = pytest.mark.skipif(find_spec("splintr") is None, reason="haversack[exact] is not installed")
every_model = pytest.mark.parametrize("name", MODELS)


def both(name: str) -> list[Profile]:
    """The profile as it is estimated, and as it is counted where the extra is installed."""
    real = exact_profile(name)
    return [estimated_profile(name), *([real] if real else [])]


def real_profile(name: str) -> Profile:
    profile = exact_profile(name)
    assert profile is not None
    return profile


@cache
def extra_o200k() -> object:
    from splintr import Tokenizer

    return Tokenizer.from_pretrained("o200k_base")


def extra_count(text: str) -> int:
    return len(extra_o200k().encode_ordinary(text))  # type: ignore[attr-defined]


def test_every_name_is_listed_and_listing_loads_nothing() -> None:
    script = """
import json, sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from haversack.tokens import PROFILES, profile_names
names = list(PROFILES)
loaded = [name for name in opened if name.endswith((".vocab", ".prices"))] + [n for n in sys.modules if "splintr" in n]
print(json.dumps([names == list(profile_names()), names, loaded]))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    same, names, loaded = json.loads(ran.stdout)
    assert same
    assert set(names) == {"bytes4", "o200k", "claude", *MODELS}
    assert loaded == []


@needs_extra
@every_model
def test_with_the_extra_a_profile_is_exact(name: str) -> None:
    assert profile_named(name).exact
    assert profile_named(name) is profile_named(name)


@every_model
def test_without_the_extra_a_profile_is_an_estimate_that_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    assert exact_profile(name) is None
    profile = profiles._Profiles()[name]
    assert not profile.exact
    assert "estimate" in profile.about
    assert profile.count("Hello, world") == 3


@every_model
def test_an_extra_that_lacks_the_vocabulary_gives_way_to_the_estimate(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(other_models.VOCABULARIES, name, "a vocabulary nobody has")
    assert not profiles._Profiles()[name].exact


@needs_extra
def test_the_bundled_counter_counts_what_the_extra_counts_on_a_library_of_sources() -> None:
    paths = sorted(Path(sysconfig.get_path("stdlib")).glob("**/[a-z]*.py"))[::30]
    texts = [path.read_bytes().decode("utf-8", "replace") for path in paths]
    assert sum(map(len, texts)) > 300_000
    assert [o200k.count(text) for text in texts] == [extra_count(text) for text in texts]


@needs_extra
def test_the_bundled_counter_counts_what_the_extra_counts_on_every_class_of_text() -> None:
    texts = contents(20_000)
    assert {kind: o200k.count(text) for kind, text in texts.items()} == {
        kind: extra_count(text) for kind, text in texts.items()
    }


@needs_extra
@settings(max_examples=600)
@given(TEXTS)
def test_the_bundled_counter_counts_what_the_extra_counts_on_any_text(text: str) -> None:
    assert o200k.count(text) == extra_count(text)


@needs_extra
@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Hello, world!", {"cl100k": 4, "llama3": 4, "qwen": 4, "deepseek": 4, "mistral": 4}),
        ("2026-11-16", {"cl100k": 6, "llama3": 6, "qwen": 10, "deepseek": 6, "mistral": 10}),
        ("数据库会立即把每次修改写入磁盘", {"cl100k": 16, "llama3": 12, "qwen": 10, "deepseek": 8, "mistral": 16}),
        ("cafe\u0301 naïve Œuvre", {"cl100k": 8, "llama3": 8, "qwen": 7, "deepseek": 7, "mistral": 7}),
    ],
)
def test_exact_counts_are_those_of_the_models(text: str, counts: dict[str, int]) -> None:
    """The figures come from tiktoken and tokenizers with the files that the models' makers publish."""
    assert {name: count_tokens(text, name) for name in MODELS} == counts


@needs_extra
@every_model
def test_what_looks_like_a_special_token_counts_as_text(name: str) -> None:
    for text in ("<|endoftext|>", "<|im_start|>", "<|eot_id|>", "[INST]", "<s>"):
        assert real_profile(name).count(text) > 1


@every_model
def test_halves_of_a_character_are_counted_as_the_bundled_counter_counts_them(name: str) -> None:
    for profile in both(name):
        assert profile.measure("a \ud83d\ude00 b") == profile.measure("a 😀 b")
        assert profile.measure("a \ud800 b") == profile.measure("a \ufffd b")


@needs_extra
@given(TEXTS)
def test_qwen_composes_characters_before_it_counts(text: str) -> None:
    composed, apart = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert count_tokens(text, "qwen") == count_tokens(composed, "qwen") == count_tokens(apart, "qwen")


@every_model
@settings(max_examples=150)
@given(before=TEXTS.map(lambda text: text + "\n"), after=TEXTS.filter(o200k.starts_cleanly))
def test_units_add_up_where_a_text_starts_cleanly_after_a_line_feed(name: str, before: str, after: str) -> None:
    for profile in both(name):
        assert profile.measure(before + after) == profile.measure(before) + profile.measure(after), profile.about


@needs_extra
@every_model
def test_estimates_are_near_the_real_counts_and_seldom_below(name: str) -> None:
    errors = []
    for text in contents(8_000).values():
        real = real_profile(name).count(text)
        errors.append((estimated_profile(name).count(text) - real) / real)
    assert sum(map(abs, errors)) / len(errors) < 0.05
    assert min(errors) > -0.08


@needs_extra
@pytest.mark.parametrize("name", [name for name in MODELS if name != "llama3"])
def test_plain_tokens_are_priced_at_what_the_model_makes_of_them(name: str) -> None:
    estimated, real = estimated_profile(name), real_profile(name)
    for token in list(open_vocabulary())[::97]:
        if token.isascii() and real.count(token.decode()) < 16:
            assert estimated.measure(token.decode()) == other_model_estimates.UNITS * real.count(token.decode()), token


@every_model
def test_any_text_costs_something(name: str) -> None:
    estimated = estimated_profile(name)
    assert estimated.count("") == 0
    assert all(estimated.measure(chr(point)) > 0 for point in range(1, 0x3000, 7))


@pytest.mark.parametrize("content", [b"", b"no table", zlib.compress(b"too short")])
def test_a_damaged_table_is_an_error_that_names_the_file(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_model_estimates, "_FOLDER", str(tmp_path))
    (tmp_path / "damaged.prices").write_bytes(content)
    with pytest.raises(DamagedFile, match=r"damaged\.prices"):
        other_model_estimates.measure_of("damaged")("text")
    with pytest.raises(DamagedFile, match=r"missing\.prices"):
        other_model_estimates.measure_of("missing")("text")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store with texts of every class, one of them too large for any budget here."""
    home = str(tmp_path_factory.mktemp("exact") / "home")
    caller = open_caller(Config(home=home), directory=home, now=Clock())
    for kind, text in contents(1_500).items():
        pipeline.save(caller.memory, Draft(title=f"token sample: {kind}", content=text, project="samples"))
        pipeline.save(caller.memory, Draft(title=f"token line: {kind}", content=text[:200], project="samples"))
    pipeline.save(caller.memory, Draft(title="one long line of token", content="token字 " * 12_000, project="samples"))
    caller.app.close()
    yield home


@pytest.mark.parametrize("estimated", [True, False], ids=["estimated", "exact"])
@every_model
def test_replies_fit_whatever_counts_them(name: str, estimated: bool, home: str) -> None:
    profile = estimated_profile(name) if estimated else exact_profile(name)
    if profile is None:
        pytest.skip("haversack[exact] is not installed")
    caller = open_caller(Config(home=home), directory=home, now=Clock())
    caller.profile = profile
    calls: list[tuple[str, dict[str, object]]] = [
        ("mem_search", {"query": "token line", "detail_level": "full", "limit": 20}),
        ("mem_search", {"query": "token", "detail_level": "auto"}),
        ("mem_get_observation", {"id": 27}),
        ("mem_get_observation", {"id": 45}),
    ]
    for tool, arguments in calls:
        for budget in (64, 257, 1_500):
            for layout in ("text", "json"):
                reply = call(caller, tool, {**arguments, "max_tokens": budget, "format": layout})
                assert profile.count(reply.text) == reply.tokens <= budget, (tool, budget, layout)
    caller.app.close()


@every_model
def test_files_are_counted_under_the_profile_and_estimates_are_marked(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note.txt"
    path.write_text("Hello, world", "utf-8")
    monkeypatch.setattr("haversack.tools.upkeep.token_counts.profile_named", estimated_profile)
    assert main(["tokens", str(path), "--profile", name]) == 0
    assert "3~" in capsys.readouterr().out


@needs_extra
def test_files_counted_exactly_carry_no_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "note.txt"
    path.write_text("Hello, world", "utf-8")
    assert main(["tokens", str(path), "--profiles", ",".join(MODELS)]) == 0
    assert "~" not in capsys.readouterr().out.rpartition("📏")[0]


def test_every_profile_can_be_counted_with() -> None:
    assert all(count_tokens("Hello, world", name) >= 3 for name in profile_names())
