"""Exact counts for other models, with the vocabularies inside the wheel of splintr-rs (the extra `exact`).

Of the packages that need no download it is the one that covers every family here: rs-bpe has only OpenAI's
and no release since its first, tiktoken fetches its rank files, tokenizers and mistral-common want a file per
model. One wheel of 19 MB for each platform, no dependency, 2 ms to import; the first count of a process loads
one vocabulary (0.1 s), the rest run at tens of MB/s.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from splintr import AnyTokenizer

VOCABULARIES = {
    "cl100k": "cl100k_base",
    "llama3": "llama3",
    "qwen": "qwen3",
    "deepseek": "deepseek_v3",
    "mistral": "mistral_v3",
}
"""Profiles, and the names their vocabularies go by in the package."""


def measure_of(name: str) -> Callable[[str], int] | None:
    """The function that counts the tokens of a profile; None where the extra or its vocabulary is not installed."""
    try:
        from splintr import base_vocab_size

        base_vocab_size(VOCABULARIES[name])
    except (ImportError, ValueError):
        return None
    return _count_qwen if name == "qwen" else lambda text: _count(name, text)


def _count(name: str, text: str) -> int:
    # What looks like a special token counts as ordinary text, as it does in the bundled counter.
    try:
        return len(_tokenizer(name).encode_ordinary(text))
    except UnicodeEncodeError:
        from haversack.tokens.o200k import whole_characters

        return len(_tokenizer(name).encode_ordinary(whole_characters(text)))


def _count_qwen(text: str) -> int:
    """Qwen composes characters before it splits a text, which the package leaves to its callers."""
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFC", text)
    return _count("qwen", text)


@cache
def _tokenizer(name: str) -> "AnyTokenizer":
    from splintr import Tokenizer

    return Tokenizer.from_pretrained(VOCABULARIES[name])
