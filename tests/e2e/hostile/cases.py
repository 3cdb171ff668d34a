"""Calls that once broke something; each stays as a regression test."""

from typing import Any

from tests.e2e.hostile.material import NESTED_JSON, NESTED_TEXT

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "a list nested deeper than the parser goes": ("mem_save", {"title": "t", "content": "c", "tags": NESTED_TEXT}),
    "an object nested deeper than the parser goes": ("mem_progress", {"project": "p", "content": NESTED_JSON}),
    "half of a surrogate pair": ("mem_save", {"title": "\ud800", "content": "a \udfff b"}),
    "a parameter named by half of a surrogate pair": ("budget_open", {"\ud800": ""}),
    "half of a surrogate pair deep inside": ("mem_save", {"title": "t", "content": "c", "tags": ["x", "\ud800"]}),
    "a path of a megabyte, which an error must not repeat": ("read_file", {"path": "x" * 1_000_000}),
    "a number too long to be written": ("mem_get_observation", {"id": 10**4_000}),
    "a NUL": ("mem_save", {"title": "a\0b", "content": "c\0d"}),
}
