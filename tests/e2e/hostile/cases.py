"""Calls that once broke something; each stays as a regression test."""

from typing import Any

from tests.e2e.hostile.material import NESTED_JSON, NESTED_TEXT

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "a list nested deeper than the parser goes": ("mem_save", {"title": "t", "content": "c", "tags": NESTED_TEXT}),
    "an object nested deeper than the parser goes": ("mem_progress", {"project": "p", "content": NESTED_JSON}),
    "half of a surrogate pair": ("mem_save", {"title": "\ud800", "content": "a \udfff b"}),
    "a NUL": ("mem_save", {"title": "a\0b", "content": "c\0d"}),
}
