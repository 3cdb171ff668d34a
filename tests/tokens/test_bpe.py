"""The counter against tiktoken itself, which gets the very ranks that the vocabulary file holds."""

import base64
import hashlib
import json
import runpy
import subprocess
import sys
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public  # type: ignore[import-untyped]  # it ships without types

from haversack.errors import DamagedFile
from haversack.tokens import o200k, pretokens
from haversack.tokens.vocabulary import ABSENT, HEADER, PATH, Vocabulary, open_vocabulary

RANK_FILE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
BUILD = Path(__file__).parents[2] / "tools" / "build_vocabulary.py"

SAMPLES = {
    "nothing": "",
    "english": "The quick brown fox can't jump over the dog's 12345 fences; it wouldn't, would it?",
    "endings in any case": "don't don'T DON'T we'RE I've they'Ll he'd i'M x's x'S 'tis ''s 's",
    "long s as an ending": "it'ſ ſ'ſ THAT'ſs",
    "a curly apostrophe is no ending": "don’t it’s",
    "code": "def f(x):\n    return {k: v for k, v in x.items()}  # done\n\n\nclass HTTP2Parser:\n\tpass\n",
    "paths and comments": "a/b//c\n//x\n/* y */\n/\n;\n/\nhttps://example.org/a?b=c&d=e#f",
    "line ends": "a\r\nb\r\n\r\nc\rd\n\n\ne;\r\n\r\n  \r\n x",
    "runs of white space": "a  b   c\t\td \t e    \n    f\n\n   \n  ",
    "white space of other scripts": "a\u00a0b\u2003\u2003c\u3000d\u2028e\u2029f\u0085g\u1680h\u202f\u205fi",
    "control characters are not white space": "a\x1cb\x1d c\x1e\x1f\x00d\x7f e",
    "numbers": "1 12 123 1234 1234567890 3.14159 1,000,000 0x1F2E",
    "numbers of other scripts": "١٢٣٤٥ १२३४५ Ⅷ½²³ ①②③④ 𝟘𝟙𝟚𝟛 〇一二",
    "case": "camelCase PascalCase SCREAMING_CASE iPhone McDonald XMLHttpRequest ÀÉÎõü ÀÉÎ",
    "title case digraphs": "ǅungla ǅǅ ǈa ǋ ǲ",
    "modifier letters": "ʰello aʰb ʰʰ ˈa ªº",
    "combining marks": "e\u0301cole \u0301 \u0301\u0301a A\u0301A\u0301 A\u0301a 1\u0301 \n\u0301x -\u0301-",
    "chinese": "人工智能正在改变世界，我们需要更好的工具。",
    "japanese": "東京タワーへ行きました。ｶﾀｶﾅもあります。",
    "korean": "안녕하세요, 세계! 대한민국의 수도는 서울입니다.",
    "russian": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "hindi": "नमस्ते दुनिया, आप कैसे हैं?",
    "arabic": "مرحبا بالعالم، كيف حالك؟ السَّلامُ عَلَيْكُم",
    "thai": "สวัสดีชาวโลกภาษาไทยไม่มีการเว้นวรรคระหว่างคำและประโยคนี้ก็ยาวมากจนเกินหนึ่งร้อยไบต์",
    "emoji": "👩‍👩‍👧‍👦 👍🏽 🇩🇪🇫🇷 ❤️‍🔥 1️⃣ 😀😀😀",
    "newer than some Pythons": "\u1c89\u1c8a \U0002ebf0\U00031350 \U00010d40 \ua7cb",
    "special tokens are ordinary text": "<|endoftext|><|endofprompt|>",
    "punctuation": "...!!!???---===***###$$$%%%&&& ([{<>}]) «quoted» “quoted” — … a.b,c;d:e",
    "byte order mark": "\ufeffa \ufeff\ufeff",
}
TRICKY = [
    *"sStTmMdDrReEvVlL'’ſK \t\n\r/.;-_(#09aAzZ",
    *("\r\n", "\n\n", "  ", "'s", "'LL", "\x85", "\xa0", "\u2028", "\u3000", "\x1c", "\x0b", "\x0c"),
    *("\u0301", "\u200d", "\ufe0f", "😀", "👩‍💻", "ǅ", "ʰ", "字", "é", "É", "٣", "Ⅷ", "²", "\ufeff"),
]


@cache
def reference() -> tiktoken.Encoding:
    """tiktoken with its own pattern, and ranks read from our file because its own would be downloaded."""
    ranks = {token: rank for rank, token in enumerate(open_vocabulary())}
    with patch.object(openai_public, "load_tiktoken_bpe", return_value=ranks):
        return tiktoken.Encoding(**openai_public.o200k_base())


def texts() -> st.SearchStrategy[str]:
    """Any text at all, and texts made of what decides where pieces begin and end."""
    tricky = st.lists(st.sampled_from(TRICKY), max_size=30).map("".join)
    runs = st.lists(st.tuples(st.sampled_from(TRICKY), st.integers(1, 40)), max_size=6)
    return st.one_of(st.text(), tricky, runs.map(lambda pairs: "".join(text * times for text, times in pairs)))


def test_the_vocabulary_is_the_published_one() -> None:
    lines = (base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(open_vocabulary()))
    assert hashlib.sha256(b"".join(lines)).hexdigest() == RANK_FILE_SHA256


def test_every_token_is_found_at_its_rank_and_other_bytes_are_not() -> None:
    vocabulary = open_vocabulary()
    tokens = list(vocabulary)
    assert [vocabulary.rank(token) for token in tokens] == list(range(199_998))
    known = set(tokens)
    strangers = [token + b"\x00q" for token in tokens[:20_000] if token + b"\x00q" not in known]
    assert {vocabulary.rank(stranger) for stranger in strangers} == {ABSENT}
    assert vocabulary.rank(b"") == ABSENT


def test_every_token_is_made_of_merges_of_lower_rank() -> None:
    """Merging all pairs of one rank in one sweep is exact because of this."""
    vocabulary = open_vocabulary()
    ranks = {token: rank for rank, token in enumerate(vocabulary)}
    for token, rank in ranks.items():
        parts = [token[i : i + 1] for i in range(len(token))]
        while len(parts) > 1:
            pairs = [ranks.get(a + b, ABSENT) for a, b in pairwise(parts)]
            lowest = min(pairs)
            assert lowest < rank or (lowest == rank and len(parts) == 2), token
            i = pairs.index(lowest)
            parts[i : i + 2] = [parts[i] + parts[i + 1]]


def test_building_again_gives_the_same_file(tmp_path: Path) -> None:
    rank_file = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(open_vocabulary()))
    source = tmp_path / "o200k_base.tiktoken"
    source.write_bytes(rank_file)
    build = runpy.run_path(str(BUILD))
    tokens = build["parse"](build["read_rank_file"](source))
    assert build["serialise"](tokens, build["character_classes"]()) == Path(PATH).read_bytes()


def test_building_refuses_a_rank_file_that_is_not_the_published_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "o200k_base.tiktoken"
    source.write_bytes(b"IQ== 0\n")
    before = Path(PATH).stat().st_mtime_ns
    assert runpy.run_path(str(BUILD))["main"]([str(source)]) == 1
    assert RANK_FILE_SHA256 in capsys.readouterr().err
    assert Path(PATH).stat().st_mtime_ns == before


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES.keys())
def test_counts_what_tiktoken_counts(text: str) -> None:
    assert o200k.count(text) == len(reference().encode_ordinary(text))


@given(texts())
@settings(deadline=None, max_examples=600)
def test_counts_what_tiktoken_counts_on_any_text(text: str) -> None:
    assert o200k.count(text) == len(reference().encode_ordinary(text))


@given(st.lists(st.integers(0, 199_997), max_size=30))
@settings(deadline=None, max_examples=300)
def test_counts_what_tiktoken_counts_on_tokens_put_side_by_side(ranks: list[int]) -> None:
    text = reference().decode(ranks)
    assert o200k.count(text) == len(reference().encode_ordinary(text))


@given(st.text("abcdeé字", min_size=200, max_size=2_000))
@settings(deadline=None, max_examples=60)
def test_counts_what_tiktoken_counts_on_long_words(text: str) -> None:
    assert o200k.count(text) == len(reference().encode_ordinary(text))


@given(st.lists(st.sampled_from([*TRICKY, "\ud83d", "\ude00", "\udfff"]), max_size=30).map("".join))
@example("\ud83d\ude00")
@example("a\ud800")
@example("\udc00\ud800")
@settings(deadline=None, max_examples=300)
def test_surrogates_count_as_tiktoken_counts_them(text: str) -> None:
    assert o200k.count(text) == len(reference().encode_ordinary(text))


@pytest.mark.parametrize("run", ["a", "A", "ab", "=", "\n", "字", "😀", "e\u0301", "7", "\t ", " /"])
def test_long_runs_count_as_tiktoken_counts_them(run: str) -> None:
    text = run * 20_000
    assert o200k.count(text) == len(reference().encode_ordinary(text))


def test_a_run_of_spaces_of_any_length_is_counted() -> None:
    assert o200k.count(" " * 128 * 2_000) == 2_000


def test_long_texts_count_the_same_whole_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(f"{name}\n\n  {sample} \n\t\n/{sample}" for name, sample in SAMPLES.items()) * 5
    monkeypatch.setattr(pretokens, "_BLOCK", 16)
    parts = list(pretokens.blocks(text))
    assert len(parts) > 100
    assert "".join(parts) == text
    assert o200k.count(text) == len(reference().encode_ordinary(text))


@pytest.mark.parametrize(
    "pieces",
    [
        ["it'ſ", " it", "'a"],
        ["éé", "Éé", "ÉÉA", "1"],
        ["ÉÉ字Éé", "Ǆǅǆ", "ǅ"],
        ["e\u0301", " \u0301", "1", "\u0301", "\n", "\u0301a"],
        ["٣٣٣", "٣½", "ʰ"],
        ["a", "\u3000b", "\u3000", "\u3000", "1", "\u3000\n", "\x1cc", "\x1c"],
        ["x", ";\r\n//\n//", "y", " //\n"],
    ],
)
def test_pieces_begin_where_the_published_pattern_begins_them(pieces: list[str]) -> None:
    assert list(pretokens.split("".join(pieces), pretokens.Representatives(open_vocabulary()))) == pieces


def test_pieces_together_are_the_text() -> None:
    representatives = pretokens.Representatives(open_vocabulary())
    for text in SAMPLES.values():
        assert "".join(pretokens.split(text, representatives)) == text


@given(texts().map(lambda text: text + "\n"), texts().filter(o200k.starts_cleanly))
@example(";\n", "\u0301x")
@example(" \n", "   x")
@example("x\n", "\u2028 y")
@example(";\n", "\x1c\n")
@settings(deadline=None, max_examples=600)
def test_counts_add_up_where_a_text_starts_cleanly_after_a_line_feed(before: str, after: str) -> None:
    assert o200k.count(before + after) == o200k.count(before) + o200k.count(after)


@pytest.mark.parametrize("text", ["", "a", "#", "字", "\u0301", "  a", "\t", "\u3000x", "'s", "-/", " /", "\ufeff"])
def test_most_texts_start_cleanly(text: str) -> None:
    assert o200k.starts_cleanly(text)


@pytest.mark.parametrize(
    ("before", "after"), [("*\n", "/"), ("\n", "\n"), ("x\n", "\r\nb"), ("\n", "  \nb"), ("\n", "\u3000\n")]
)
def test_what_does_not_start_cleanly_joins_the_piece_before(before: str, after: str) -> None:
    assert not o200k.starts_cleanly(after)
    representatives = pretokens.Representatives(open_vocabulary())
    separate = [*pretokens.split(before, representatives), *pretokens.split(after, representatives)]
    assert list(pretokens.split(before + after, representatives)) != separate


def test_counts_stay_exact_in_threads_while_the_memories_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(o200k, "_PIECES_KEPT", 8)
    monkeypatch.setattr(o200k, "_RANKS_KEPT", 8)
    monkeypatch.setattr(pretokens, "_REPRESENTATIVES_KEPT", 8)
    o200k._counter.cache_clear()
    samples = list(SAMPLES.values())
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(o200k.count, samples * 20))
    assert counts == [len(reference().encode_ordinary(text)) for text in samples] * 20
    assert len(o200k._counter()) <= 16  # every thread may add one more before it sees the limit


def test_the_vocabulary_is_opened_by_the_first_count_not_by_the_import() -> None:
    script = """
import json, sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from haversack.tokens import o200k
before = any(name.endswith("o200k.vocab") for name in opened)
tokens = o200k.count("hello world")
after = any(name.endswith("o200k.vocab") for name in opened)
print(json.dumps([before, tokens, after]))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == [False, 2, True]


def test_the_vocabulary_can_be_read_where_files_cannot_be_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = open_vocabulary().rank(b" hello")
    monkeypatch.setitem(sys.modules, "mmap", None)
    assert open_vocabulary().rank(b" hello") == mapped < ABSENT


def test_the_vocabulary_can_be_read_on_machines_of_the_other_byte_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = bytearray(Path(PATH).read_bytes())
    _, tokens, slots, classes, _ = HEADER.unpack_from(content)
    tables = slice(HEADER.size, HEADER.size + 4 * (tokens + 1 + slots + classes))
    swapped = array("I", bytes(content[tables]))
    swapped.byteswap()
    content[tables] = swapped.tobytes()
    other = "big" if sys.byteorder == "little" else "little"
    monkeypatch.setattr(sys, "byteorder", other)
    vocabulary = Vocabulary(memoryview(content), PATH)
    assert vocabulary.rank(b"!") == 0
    assert vocabulary.character_class(ord("字")) == "caseless"


@pytest.mark.parametrize("content", [b"", b"o200k", Path(PATH).read_bytes()[:-1], b"x" * 100])
def test_a_damaged_vocabulary_is_an_error_that_names_the_file(tmp_path: Path, content: Sequence[int]) -> None:
    path = tmp_path / "o200k.vocab"
    path.write_bytes(bytes(content))
    with pytest.raises(DamagedFile, match=r"o200k\.vocab"):
        open_vocabulary(str(path))


def test_a_missing_vocabulary_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match=r"missing\.vocab"):
        open_vocabulary(str(tmp_path / "missing.vocab"))
