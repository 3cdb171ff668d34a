"""Words and stems of a text, made by SQLite's own tokenizer, so that the engines cannot disagree about them."""

import threading
from typing import Any

import apsw

from haversack.store.words import TOKENIZER

# A tokenizer has a buffer of its own, so threads do not share one.
_local = threading.local()


def stems_of(text: str) -> list[str]:
    """The stems of a text in their order."""
    tokenizer: Any = getattr(_local, "tokenizer", None)
    if tokenizer is None:
        tokenizer = apsw.Connection(":memory:").fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
        _local.tokenizer = tokenizer
    return list(
        tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    )
