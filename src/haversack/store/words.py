"""The search index: the facts every engine reports about the words in the store.

No engine ranks. It says in how many rows a word stands, where, how often and in how long a text, and which rows
match an expression; `memory` computes the scores.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from haversack.store.expressions import Expression
from haversack.store.records import Filters
from haversack.values import record

if TYPE_CHECKING:
    from haversack.store.engine import Statement

Posting = tuple[int, int, int, int, int]
"""Where a word stands: the row's place, how often in title, content and tags, and the row's length in units."""
Match = tuple[int, int, int]
"""A row that matches: its id, its place and its length in units."""


@record
class IndexEntry:
    """The words under which an observation is found, one text per column of the index."""

    title: str
    content: str
    tags: str


@record
class Census:
    """Figures of the whole store for the ranking: its live rows and sessions, and the usual length of a row."""

    rows: int
    sessions: int
    usual_units: float


class Words(Protocol):
    """The index in one transaction. The caller indexes anew after a change of project, kind, scope or the like."""

    def add(self, identifier: int, entry: IndexEntry) -> None:
        """Index an observation that is not in the index yet."""

    def put(self, identifier: int, entry: IndexEntry) -> None:
        """Index an observation, in place of what was indexed for it before."""

    def remove(self, identifier: int) -> None:
        """Take an observation out of the index."""

    def clear(self) -> None:
        """Empty the index."""

    def expected(self, groups: Sequence[Sequence[str]], filters: Filters) -> "Iterable[Statement]":
        """The queries for the census, the stems and the filters, to be sent ahead."""

    def census(self) -> Census:
        """Figures for weighing words, read without counting the whole store; none is below 1."""

    def rows_with_stems(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """For each group of stems how often rows hold one of them, before any filter."""

    def rows_matching(self, expression: Expression) -> int:
        """How many rows match an expression, before any filter."""

    def postings(self, groups: Sequence[Sequence[str]], filters: Filters) -> list[list[Posting]]:
        """For each group of stems every row that holds any of them and passes the filters."""

    def titled(self, stems: Sequence[str], filters: Filters) -> dict[int, str]:
        """Place -> title of the rows whose title holds any of the stems and that pass the filters."""

    def matching(self, expression: Expression, filters: Filters, most: int | None = None) -> list[Match]:
        """The rows that match and pass the filters, the newest first; of more than `most` the newest."""

    def count(self, expression: Expression, filters: Filters) -> int:
        """How many rows match and pass the filters."""

    def count_and_pick(self, expression: Expression, filters: Filters, among: Collection[int]) -> tuple[int, set[int]]:
        """How many rows match, and which of `among` do."""

    def below(self, expression: Expression, filters: Filters, limit: int, *, below: int) -> list[int]:
        """Ids of matches under an id, the highest first: the unranked tail of a long result."""

    def projects(self, expression: Expression, filters: Filters) -> list[tuple[str, int]]:
        """Which projects have matches, and how many, the most first."""

    def check(self) -> str:
        """What is wrong with the index; empty when it agrees with the observations."""
