"""Makes the price tables of haversack.tokens.other_model_estimates and tells how far they are from the real tokenizers.

    pip download --no-deps django==5.2.19 sphinx==9.0.4
    python tools/fit_profiles.py FITTED_ON.whl HELD_OUT.whl

The texts are message catalogues, sources and pages inside two wheels: prices are fitted on the first, the
errors printed are those on the second. Any two packages with many translations will do; the tables in the
repository come from the ones above.

A token of o200k that is plain ASCII is priced at what the model's own tokenizer makes of it. In other scripts
models join what o200k keeps apart, so these prices are scaled by one factor for each kind of character, fitted
by least squares on relative errors. Too low is three times as bad as too high. Bytes that are only part of a
character have no count of their own; their price is the factor.
"""

import argparse
import random
import re
import sys
import unicodedata
import zipfile
import zlib
from ast import literal_eval
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from splintr import Tokenizer

from haversack.tokens import other_model_estimates, other_models
from haversack.tokens.vocabulary import open_vocabulary

SUFFIXES = (".py", ".js", ".css", ".html")
WIDELY_WRITTEN = frozenset(
    {"ar", "bn", "cs", "de", "el", "es", "fa", "fr", "he", "hi", "id", "it", "ja", "ko", "nl", "pl", "pt_BR", "ro",
     "ru", "sv", "th", "tr", "uk", "vi", "zh_Hans", "zh_Hant", "emoji", "symbols"}
)  # fmt: skip
"""Classes whose errors weigh four times."""
PASSAGES = 60
"""The most passages of one class that are looked at."""
SIZES = (300, 800, 2_000, 4_000)
"""Characters of a passage, about: estimates are made of short replies as well as of long ones."""
TOO_LOW = 3.0
PULL = 1e-5
"""How strongly factors are held to 1 where the texts say little."""
DEAREST = 255

# Llama's own counts would be a work derived from its vocabulary, which is not free in the way the others are.
# Its ranks begin with those of cl100k, so the counts of cl100k with Llama's factors come close.
COUNTED_WITH = {name: "cl100k" if name == "llama3" else name for name in other_models.VOCABULARIES}

# The first code point after a kind of characters, and the kind; "" is priced as it is counted.
KINDS = (
    (0x80, ""),
    (0x100, "Latin-1"),
    (0x250, "Latin beyond"),
    (0x370, "marks"),
    (0x400, "Greek"),
    (0x530, "Cyrillic"),
    (0x590, "Armenian"),
    (0x600, "Hebrew"),
    (0x900, "Arabic"),
    (0x980, "Devanagari"),
    (0xE00, "Indic"),
    (0xE80, "Thai"),
    (0x1E00, "other Asian"),
    (0x1F00, "Vietnamese"),
    (0x2000, "Greek"),
    (0x2E80, "symbols"),
    (0x3040, "CJK punctuation"),
    (0x3100, "kana"),
    (0xA000, "Han"),
    (0xAC00, "other Asian"),
    (0xD7B0, "Hangul"),
    (0x10000, "full width"),
    (0x110000, "emoji"),
)


@dataclass(frozen=True)
class Passage:
    """A piece of a text of some class, as o200k splits it and with its real counts by profile."""

    kind: str
    tokens: tuple[int, ...]
    counts: Mapping[str, int]
    weight: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Fits every profile, writes its table, and prints the factors and the errors on what was held out."""
    parser = argparse.ArgumentParser(description="Fit the price tables of the token profiles.")
    parser.add_argument("fitted_on", type=Path)
    parser.add_argument("held_out", type=Path)
    wheels = parser.parse_args(arguments)
    seen, unseen = passages(wheels.fitted_on, random.Random(1)), passages(wheels.held_out, random.Random(2))
    classes = len({passage.kind for passage in unseen})
    sys.stdout.write(f"{len(seen)} passages to fit on, {len(unseen)} held out in {classes} classes\n")
    kinds = [kind_of(token) for token in open_vocabulary()]
    for name, counted_with in COUNTED_WITH.items():
        counts = counts_of_tokens(counted_with)
        factors = fit(name, seen, kinds, counts)
        prices = bytes(
            min(DEAREST, max(1, round(other_model_estimates.UNITS * count * factors.get(kind, 1.0))))
            for count, kind in zip(counts, kinds, strict=True)
        )
        Path(other_model_estimates.path_of(name)).write_bytes(zlib.compress(prices, 9))
        shown = ", ".join(f"{kind} {factor:.2f}" for kind, factor in sorted(factors.items()))
        sys.stdout.write(f"\n{name}: {shown}\n")
        report_errors(name, unseen, prices)
    return 0


def kind_of(token: bytes) -> str:
    """The kind of characters a token holds, by the first that is not ASCII."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return f"part {max(token) >> 4:x}" if max(token) < 0xF0 else "part f"
    first = next((character for character in text if not character.isascii()), "a")
    return next(kind for end, kind in KINDS if ord(first) < end)


def counts_of_tokens(name: str) -> list[int]:
    """How many tokens of a profile each token of o200k makes by itself; 1 for a part of a character."""
    count = real_count(name)
    counts = []
    for token in open_vocabulary():
        try:
            counts.append(count(token.decode()))
        except UnicodeDecodeError:
            counts.append(1)
    return counts


def real_count(name: str) -> Callable[[str], int]:
    """The profile's own tokenizer."""
    measure = other_models.measure_of(name)
    if measure is None:
        raise SystemExit(f"the installed splintr-rs has no vocabulary for {name}")
    return measure


def passages(wheel: Path, chance: random.Random) -> list[Passage]:
    """Passages of every class of text in a wheel, and of made-up lines with emoji and symbols."""
    texts = dict(texts_in(wheel))
    texts["emoji"] = decorated_lines(chance, EMOJI)
    texts["symbols"] = decorated_lines(chance, SYMBOLS)
    o200k = Tokenizer.from_pretrained("o200k_base")
    counters = {name: real_count(name) for name in COUNTED_WITH}
    found = []
    for kind, text in sorted(texts.items()):
        pieces = list(cut_up(text, chance))
        for piece in chance.sample(pieces, min(PASSAGES, len(pieces))):
            counts = {name: count(piece) for name, count in counters.items()}
            weight = (4 if kind in WIDELY_WRITTEN else 1) / min(PASSAGES, len(pieces))
            found.append(Passage(kind, tuple(o200k.encode_ordinary(piece)), counts, weight))
    return found


def texts_in(wheel: Path) -> Iterator[tuple[str, str]]:
    """The texts of each class: a language, or a kind of source."""
    texts: dict[str, list[str]] = defaultdict(list)
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            path = PurePosixPath(name)
            if path.suffix == ".po" and path.parent.name == "LC_MESSAGES":
                texts[path.parts[-3]].append(translations(archive.read(name).decode("utf-8", "replace")))
            elif path.suffix in SUFFIXES:
                texts[path.suffix].append(archive.read(name).decode("utf-8", "replace"))
    for kind, found in texts.items():
        text = "\n".join(found)
        if len(text) >= 2_000:
            yield kind, text


def translations(catalogue: str) -> str:
    """The translated messages of a catalogue, one after the other, without its header."""
    entries = re.findall(r'^msgstr(?:\[\d\])? ((?:"(?:[^"\\\n]|\\.)*"\s*)+)', catalogue, re.MULTILINE)
    messages = ("".join(map(literal_eval, entry.splitlines())) for entry in map(str.strip, entries[1:]))
    return "\n".join(message for message in messages if message)


def characters(*ranges: tuple[int, int]) -> list[str]:
    """Every assigned character in the ranges."""
    points = chain.from_iterable(range(first, last + 1) for first, last in ranges)
    return [chr(point) for point in points if unicodedata.category(chr(point)) not in {"Cn", "Cc", "Cf"}]


FACES = characters((0x1F600, 0x1F64F), (0x1F910, 0x1F93A), (0x1F970, 0x1F97A))
THINGS = characters((0x1F300, 0x1F5FF), (0x1F680, 0x1F6C5), (0x1F947, 0x1F96B))
EMOJI = [*FACES * 3, *THINGS, *"✅❌✨⭐⚡☕✌☀", "❤️", "⚠️", "✔️", "👍🏽", "🙏🏻", "👩‍💻", "🤷‍♂️", "👨‍👩‍👧", "🇩🇪", "🇯🇵"]
SYMBOLS = [
    *characters((0x2010, 0x2027), (0x2030, 0x203A), (0x2190, 0x2199), (0x2200, 0x2265), (0x2500, 0x257F)),
    *"—–…“”‘’•→←↑↓≤≥≠×÷°©®™§¶±µ½²€£¥│─├└┌┐■□▲▶●○✓✗" * 8,
]  # fmt: skip


def decorated_lines(chance: random.Random, decorations: Sequence[str]) -> str:
    """Lines of English words with some of the decorations among them."""
    from pydoc_data.topics import topics

    words = re.findall(r"[a-z]+", topics["exceptions"])
    lines = []
    for _ in range(1_500):
        line = [chance.choice(words) for _ in range(chance.randint(3, 12))]
        for _ in range(chance.randint(1, 4)):
            line.insert(chance.randint(0, len(line)), chance.choice(decorations) * chance.choice((1, 1, 1, 2, 3)))
        lines.append(" ".join(line))
    return "\n".join(lines)


def cut_up(text: str, chance: random.Random) -> Iterator[str]:
    """The text in passages of different sizes that end with a line."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + chance.choice(SIZES)) + 1
        if not end:
            return
        yield text[start:end]
        start = end


def fit(name: str, seen: Sequence[Passage], kinds: Sequence[str], counts: Sequence[int]) -> dict[str, float]:
    """A factor for each kind of characters: non-negative least squares, the weights renewed until they settle."""
    named = sorted(set(kinds) - {""})
    place = {kind: index for index, kind in enumerate(named)}
    rows = []
    for passage in seen:
        by_kind: Counter[str] = Counter()
        for token in passage.tokens:
            by_kind[kinds[token]] += counts[token]
        real = passage.counts[name]
        wanted = 1 - by_kind.pop("", 0) / real
        rows.append(({place[kind]: count / real for kind, count in by_kind.items()}, wanted, passage.weight))
    factors = [1.0] * len(named)
    for _ in range(25):
        factors = _solved(rows, factors)
    return dict(zip(named, factors, strict=True))


def _solved(rows: Iterable[tuple[dict[int, float], float, float]], factors: list[float]) -> list[float]:
    """The factors of least weighted error, weights being those of the errors that `factors` make."""
    size = len(factors)
    products = [[0.0] * size for _ in range(size)]
    totals = [0.0] * size
    whole = 0.0
    for row, wanted, weight in rows:
        if sum(factors[index] * share for index, share in row.items()) < wanted:
            weight *= TOO_LOW
        whole += weight
        for index, share in row.items():
            totals[index] += weight * share * wanted
            for other, its_share in row.items():
                products[index][other] += weight * share * its_share
    for index in range(size):
        products[index][index] += PULL * whole
        totals[index] += PULL * whole
    solved = list(factors)
    for _ in range(300):
        for index in range(size):
            off = totals[index] - sum(map(_product, products[index], solved))
            solved[index] = max(0.0, solved[index] + off / products[index][index])
    return solved


def _product(one: float, other: float) -> float:
    return one * other


def report_errors(name: str, unseen: Sequence[Passage], prices: bytes) -> None:
    """Prints how far the prices are from the real counts, by passage and by class."""
    errors: dict[str, list[float]] = defaultdict(list)
    for passage in unseen:
        estimate = -(-sum(prices[token] for token in passage.tokens) // other_model_estimates.UNITS)
        errors[passage.kind].append(100 * (estimate / passage.counts[name] - 1))
    mape = sum(sum(map(abs, each)) / len(each) for each in errors.values()) / len(errors)
    means = {kind: sum(each) / len(each) for kind, each in errors.items()}
    lowest, highest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    every = [error for each in errors.values() for error in each]
    sys.stdout.write(
        f"  held out: MAPE {mape:.1f} %, classes from {means[lowest]:+.1f} % ({lowest}) to {means[highest]:+.1f} % "
        f"({highest}), passages from {min(every):+.1f} %; {100 * sum(e < -5 for e in every) / len(every):.1f} % "
        "of passages are under by more than 5 %\n"
    )


if __name__ == "__main__":
    sys.exit(main())
