"""The search index on FTS5."""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from haversack.store.expressions import AllOf, AnyOf, Expression, Phrase, Prefix, Word
from haversack.store.filters import where
from haversack.store.records import Filters
from haversack.store.sqlite.marks import marks, narrowed
from haversack.store.words import Census, IndexEntry, Match, Posting

if TYPE_CHECKING:
    from haversack.store.engine import Row, Statement, Value
    from haversack.store.sqlite.engine import Reader


def compiled(expression: Expression) -> str:
    """An expression as the text of an FTS5 MATCH."""
    match expression:
        case Word(text):
            return _quoted(text)
        case Prefix(text):
            return f"{_quoted(text)}*"
        case Phrase(words, is_open):
            return f"{_quoted(' '.join(words))}{'*' if is_open else ''}"
        case AnyOf(parts):
            # FTS5 has no expression that nothing matches, but an empty phrase is one.
            return f"({' OR '.join(map(compiled, parts))})" if parts else '""'
        case AllOf(parts):
            return f"({' AND '.join(map(compiled, parts))})"


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""'))


class FtsWords:
    """The index in one transaction."""

    def __init__(self, tx: "Reader") -> None:
        self._tx = tx

    def put(self, identifier: int, entry: IndexEntry) -> None:
        self.remove(identifier)
        self.add(identifier, entry)

    def add(self, identifier: int, entry: IndexEntry) -> None:
        # Beside its words stand marks of its project, kind and the like, so that the index alone can tell which
        # matches are of them.
        held = self._tx.row(
            "SELECT project_key, kind, scope, namespace, status FROM observations WHERE id = ?", (identifier,)
        )
        assert held is not None
        self._tx.execute(
            "INSERT INTO search_index (rowid, title, content, tags, marks) VALUES (?, ?, ?, ?, ?)",
            (identifier, entry.title, entry.content, entry.tags, marks(*held)),
        )

    def remove(self, identifier: int) -> None:
        self._tx.execute("DELETE FROM search_index WHERE rowid = ?", (identifier,))

    def clear(self) -> None:
        self._tx.execute("DELETE FROM search_index")

    def expected(self, groups: Sequence[Sequence[str]], filters: Filters) -> "Iterable[Statement]":
        return ()

    def census(self) -> Census:
        rows = self._tx.value("SELECT coalesce(sum(observations), 0) FROM tallies")
        # Sessions are never removed, so their highest number counts them.
        sessions = self._tx.value("SELECT coalesce(max(number), 0) FROM sessions")
        usual = self._tx.value("SELECT avg(units) FROM (SELECT units FROM observations ORDER BY id DESC LIMIT 500)")
        return Census(max(rows, 1), max(sessions, 1), max(usual or 1.0, 1.0))

    def rows_with_stems(self, groups: Sequence[Sequence[str]]) -> list[int]:
        stems = list({stem for group in groups for stem in group})
        held: dict[str, int] = dict(
            self._tx.rows(f"SELECT term, doc FROM temp.word_rows WHERE term IN ({_places(stems)})", stems)
        )
        return [sum(held.get(stem, 0) for stem in group) for group in groups]

    def rows_matching(self, expression: Expression) -> int:
        total: int = self._tx.value(
            "SELECT count(*) FROM search_index WHERE search_index MATCH ?", (compiled(expression),)
        )
        return total

    def postings(self, groups: Sequence[Sequence[str]], filters: Filters) -> list[list[Posting]]:
        stems = list({stem for group in groups for stem in group})
        if not stems:
            return [[] for _ in groups]
        condition, values = where(filters)
        # All words at once: to open the index for reading it word by word takes as long as to read a rare word.
        rows = self._tx.rows(
            f"""
            SELECT w.term, o.place, w.title, w.content, w.tags, o.units
            FROM (SELECT term, doc, sum(col = 'title') AS title, sum(col = 'content') AS content,
                      sum(col = 'tags') AS tags
                  FROM temp.word_places WHERE term IN ({_places(stems)}) GROUP BY term, doc) w
            CROSS JOIN observations o INDEXED BY observations_in_brief ON o.id = w.doc
            WHERE {condition}""",
            (*stems, *values),
        )
        by_stem: dict[str, list[Posting]] = {stem: [] for stem in stems}
        for stem, *posting in rows:
            by_stem[stem].append(tuple(posting))
        return [_together([by_stem[stem] for stem in dict.fromkeys(group)]) for group in groups]

    def titled(self, stems: Sequence[str], filters: Filters) -> dict[int, str]:
        condition, values = where(filters)
        return dict(
            self._tx.rows(
                f"""
                SELECT o.place, o.title
                FROM (SELECT DISTINCT doc FROM temp.word_places WHERE term IN ({_places(stems)}) AND col = 'title') w
                CROSS JOIN observations o ON o.id = w.doc
                WHERE {condition}""",
                (*stems, *values),
            )
        )

    def matching(self, expression: Expression, filters: Filters, most: int | None = None) -> list[Match]:
        # Looking up a few rows is faster than reading all marks of a project.
        asked, left = narrowed(compiled(expression), filters) if most is not None else (compiled(expression), filters)
        condition, values = where(left)
        return self._tx.rows(
            "SELECT o.id, o.place, o.units FROM search_index"
            " CROSS JOIN observations o INDEXED BY observations_in_brief ON o.id = search_index.rowid"
            f" WHERE search_index MATCH ? AND {condition} ORDER BY search_index.rowid DESC LIMIT ?",
            (asked, *values, -1 if most is None else most),
        )

    def count(self, expression: Expression, filters: Filters) -> int:
        counted: int = self._counted("count(*)", (), expression, filters)[0]
        return counted

    def count_and_pick(self, expression: Expression, filters: Filters, among: Collection[int]) -> tuple[int, set[int]]:
        if not among:
            return self.count(expression, filters), set()
        condition, asked = self._tx.among("search_index.rowid", among)
        picked = f"group_concat(search_index.rowid) FILTER (WHERE {condition})"
        total, found = self._counted(f"count(*), {picked}", (asked,), expression, filters)
        return total, set(map(int, found.split(","))) if found else set()

    def _counted(self, figures: str, asked: "tuple[Value, ...]", expression: Expression, filters: Filters) -> "Row":
        match, left = narrowed(compiled(expression), filters)
        condition, values = where(left)
        # The index holds no deleted rows; where it can tell all that was asked, no row needs to be looked up.
        looked_up = "" if left == Filters() else " JOIN observations o ON o.id = search_index.rowid"
        also = f" AND {condition}" if looked_up else ""
        row = self._tx.row(
            f"SELECT {figures} FROM search_index{looked_up} WHERE search_index MATCH ?{also}",
            (*asked, match, *(values if looked_up else ())),
        )
        assert row is not None
        return row

    def below(self, expression: Expression, filters: Filters, limit: int, *, below: int) -> list[int]:
        match, left = narrowed(compiled(expression), filters)
        condition, values = where(left)
        rows = self._tx.rows(
            "SELECT search_index.rowid FROM search_index JOIN observations o ON o.id = search_index.rowid"
            f" WHERE search_index MATCH ? AND search_index.rowid < ? AND {condition}"
            " ORDER BY search_index.rowid DESC LIMIT ?",
            (match, below, *values, limit),
        )
        return [row[0] for row in rows]

    def projects(self, expression: Expression, filters: Filters) -> list[tuple[str, int]]:
        match, left = narrowed(compiled(expression), filters)
        condition, values = where(left)
        return self._tx.rows(
            "SELECT min(o.project), count(*) AS many FROM search_index JOIN observations o ON o.id = search_index.rowid"
            f" WHERE search_index MATCH ? AND {condition} GROUP BY o.project_key ORDER BY many DESC, 1",
            (match, *values),
        )

    def check(self) -> str:
        missing = self._tx.value(
            "SELECT count(*) FROM observations o WHERE o.deleted_at IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM search_index_docsize d WHERE d.id = o.id)"
        )
        stray = self._tx.value(
            "SELECT count(*) FROM search_index_docsize d WHERE NOT EXISTS"
            " (SELECT 1 FROM observations o WHERE o.id = d.id AND o.deleted_at IS NULL)"
        )
        if missing or stray:
            return f"the search index lacks {missing} observations and holds {stray} that are gone"
        return ""


def _places(stems: Sequence[str]) -> str:
    return ",".join("?" * len(stems))


def _together(postings: Sequence[list[Posting]]) -> list[Posting]:
    """The postings of several words as those of one."""
    if len(postings) == 1:
        return postings[0]
    held: dict[int, Posting] = {}
    for place, title, content, tags, units in chain.from_iterable(postings):
        _, titles, contents, tagged, _ = held.get(place, (0, 0, 0, 0, 0))
        held[place] = place, title + titles, content + contents, tags + tagged, units
    return list(held.values())
