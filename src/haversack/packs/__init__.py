"""Context packs: the best of the memory within a budget, ready to paste."""

from haversack.packs.context_pack import (
    ContextPack,
    Memorable,
    budget_truncate,
    build_context_pack,
    format_context_pack,
)

__all__ = ["ContextPack", "Memorable", "budget_truncate", "build_context_pack", "format_context_pack"]
