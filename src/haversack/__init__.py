"""Memory and context for AI agents that always fits the token budget."""

from typing import TYPE_CHECKING, Any

from haversack.version import __version__

if TYPE_CHECKING:
    from haversack.app import App, Caller, open_caller
    from haversack.library import AsyncMemory, Found, Memory, Saved
    from haversack.memory.search.counts import count_observations, count_search_results
    from haversack.packs import ContextPack, budget_truncate, build_context_pack, format_context_pack
    from haversack.packs.estimates import estimate_index_tokens, estimate_memory_tokens
    from haversack.tokens import (
        Budget,
        count_tokens,
        cut,
        estimate_tokens,
        navigation_hint,
        pack,
        token_footer,
    )
    from haversack.tools.road.call import call

# Each name is loaded when it is first used: importing the package costs nothing.
_HOMES = {
    "App": "haversack.app",
    "AsyncMemory": "haversack.library",
    "Found": "haversack.library",
    "Memory": "haversack.library",
    "Saved": "haversack.library",
    "Caller": "haversack.app",
    "Budget": "haversack.tokens",
    "ContextPack": "haversack.packs",
    "budget_truncate": "haversack.packs",
    "build_context_pack": "haversack.packs",
    "call": "haversack.tools.road.call",
    "count_observations": "haversack.memory.search.counts",
    "count_search_results": "haversack.memory.search.counts",
    "count_tokens": "haversack.tokens",
    "cut": "haversack.tokens",
    "estimate_index_tokens": "haversack.packs.estimates",
    "estimate_memory_tokens": "haversack.packs.estimates",
    "estimate_tokens": "haversack.tokens",
    "format_context_pack": "haversack.packs",
    "navigation_hint": "haversack.tokens",
    "open_caller": "haversack.app",
    "pack": "haversack.tokens",
    "token_footer": "haversack.tokens",
}

__all__ = [
    "App",
    "AsyncMemory",
    "Budget",
    "Caller",
    "ContextPack",
    "Found",
    "Memory",
    "Saved",
    "__version__",
    "budget_truncate",
    "build_context_pack",
    "call",
    "count_observations",
    "count_search_results",
    "count_tokens",
    "cut",
    "estimate_index_tokens",
    "estimate_memory_tokens",
    "estimate_tokens",
    "format_context_pack",
    "navigation_hint",
    "open_caller",
    "pack",
    "token_footer",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'haversack' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
