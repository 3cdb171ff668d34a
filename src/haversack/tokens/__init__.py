"""Arithmetic only: counters, budgets, packing, pages and footers."""

from haversack.tokens.budget import FLOOR, Budget, parse_max_tokens
from haversack.tokens.footers import LeftOut, budget_line, navigation_hint, token_footer
from haversack.tokens.packing import Candidate, Choice, Pack, pack, pack_auto
from haversack.tokens.pages import Page, cut
from haversack.tokens.profiles import (
    DEFAULT_PROFILE,
    PROFILES,
    Profile,
    count_tokens,
    estimate_tokens,
    profile_named,
    profile_names,
    utf8_length,
)

__all__ = [
    "DEFAULT_PROFILE",
    "FLOOR",
    "PROFILES",
    "Budget",
    "Candidate",
    "Choice",
    "LeftOut",
    "Pack",
    "Page",
    "Profile",
    "budget_line",
    "count_tokens",
    "cut",
    "estimate_tokens",
    "navigation_hint",
    "pack",
    "pack_auto",
    "parse_max_tokens",
    "profile_named",
    "profile_names",
    "token_footer",
    "utf8_length",
]
