"""The search index on postings: one row for each stem of each observation."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from haversack.digests import blake2b
from haversack.store.expressions import AllOf, AnyOf, Expression, Phrase, Prefix, Word
from haversack.store.filters import where
from haversack.store.records import Filters
from haversack.store.words import Census, IndexEntry, Match, Posting
from haversack.text.stems import stems_in
from haversack.values import replace

if TYPE_CHECKING:
    from haversack.store.engine import Value
    from haversack.store.postgres.engine import Reader

LONGEST_STEM = 400
"""Bytes of a stem that an index row has room for; a longer one is known by its beginning and a digest."""
_BEGINNING = 100
_LAST = "\U0010ffff"


class PostgresWords:
    """The index in one transaction."""

    def __init__(self, tx: "Reader") -> None:
        self._tx = tx

    def add(self, identifier: int, entry: IndexEntry) -> None:
        self.put(identifier, entry)

    def put(self, identifier: int, entry: IndexEntry) -> None:
        columns = [_known(stems_in(text)) for text in (entry.title, entry.content, entry.tags)]
        counts = [Counter(column) for column in columns]
        stems = sorted(set().union(*counts))
        body = "\n".join(f" {' '.join(column)} " for column in columns)
        self._tx.execute(
            "SELECT put_words(?, ?, ?, ?, ?, ?)",
            (identifier, stems, *([count[stem] for stem in stems] for count in counts), body),
        )

    def remove(self, identifier: int) -> None:
        self._tx.execute("SELECT remove_words(?)", (identifier,))

    def clear(self) -> None:
        for table in ("post", "lexicon", "search_text"):
            self._tx.execute(f"DELETE FROM {table}")

    def census(self) -> Census:
        row = self._tx.row(
            """
            SELECT (SELECT CAST(coalesce(sum(observations), 0) AS bigint) FROM sorts),
                (SELECT CAST(coalesce(sum(sessions), 0) AS bigint) FROM realms WHERE realm = ANY (realms())),
                (SELECT CAST(avg(units) AS double precision)
                 FROM (SELECT units FROM observations ORDER BY id DESC LIMIT 500) newest)
            """
        )
        assert row is not None
        return Census(max(row[0], 1), max(row[1], 1), max(row[2] or 1.0, 1.0))

    def rows_with_stems(self, groups: Sequence[Sequence[str]]) -> list[int]:
        wanted = sorted({stem for stems in groups for stem in _known(stems)})
        rows: dict[str, int] = dict(
            self._tx.rows(
                "SELECT stem, CAST(sum(rows) AS bigint) FROM lexicon WHERE stem = ANY (?) GROUP BY stem", (wanted,)
            )
        )
        return [sum(rows.get(stem, 0) for stem in _known(stems)) for stems in groups]

    def rows_matching(self, expression: Expression) -> int:
        return self._count(expression, None, "", [])

    def postings(self, groups: Sequence[Sequence[str]], filters: Filters) -> list[list[Posting]]:
        found: list[dict[int, list[int]]] = [{} for _ in groups]
        if not groups:
            return []
        sorts, left = self._narrowed(filters)
        join, condition, values = _looked_up(left, "p")
        # A group is read by its number: to join by stem and group again would sort every posting.
        numbered = [(stem, number) for number, stems in enumerate(groups) for stem in dict.fromkeys(_known(stems))]
        rows = self._tx.rows(
            "SELECT g.number, p.place, p.title, p.content, p.tags, p.units"
            " FROM unnest(CAST(? AS text[]), CAST(? AS int[])) AS g (stem, number)"
            f" CROSS JOIN LATERAL (SELECT * FROM post WHERE post.stem = g.stem{_sorted(sorts)}) p{join}"
            f" WHERE 1 = 1{condition}",
            ([stem for stem, _ in numbered], [number for _, number in numbered], *_given(sorts), *values),
        )
        for number, place, title, content, tags, units in rows:
            held = found[number].get(place)
            if held is None:
                found[number][place] = [place, title, content, tags, units]
            else:
                held[1], held[2], held[3] = held[1] + title, held[2] + content, held[3] + tags
        return [[(p, t, c, g, u) for p, t, c, g, u in group.values()] for group in found]

    def titled(self, stems: Sequence[str], filters: Filters) -> dict[int, str]:
        (held,) = self.postings([stems], filters)
        within, wanted = self._tx.among("place", [place for place, title, *_ in held if title])
        return dict(self._tx.rows(f"SELECT place, title FROM observations WHERE {within}", (wanted,)))

    def matching(self, expression: Expression, filters: Filters, most: int | None = None) -> list[Match]:
        sorts, left = self._narrowed(filters)
        sql, values = _rows_of(expression, sorts)
        join, condition, more = _looked_up(left, "m")
        limit = "" if most is None else " LIMIT ?"
        rows = self._tx.rows(
            f"SELECT m.id, m.place, m.units FROM (SELECT id, min(place) AS place, min(units) AS units FROM ({sql}) r"
            f" GROUP BY id) m{join} WHERE 1 = 1{condition} ORDER BY m.id DESC{limit}",
            (*values, *more, *(() if most is None else (most,))),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def count(self, expression: Expression, filters: Filters) -> int:
        sorts, left = self._narrowed(filters)
        join, condition, values = _looked_up(left, "m")
        return self._count(expression, sorts, f"{join} WHERE 1 = 1{condition}", values)

    def _count(self, expression: Expression, sorts: list[int] | None, behind: str, more: "list[Value]") -> int:
        sql, values = _rows_of(expression, sorts)
        total: int = self._tx.value(
            f"SELECT count(*) FROM (SELECT id FROM ({sql}) r GROUP BY id) m{behind}", (*values, *more)
        )
        return total

    def count_and_pick(self, expression: Expression, filters: Filters, among: Collection[int]) -> tuple[int, set[int]]:
        total = self.count(expression, filters)
        if not among or not total:
            return total, set()
        sorts, left = self._narrowed(filters)
        sql, values = _rows_of(expression, sorts)
        join, condition, more = _looked_up(left, "m")
        rows = self._tx.rows(
            f"SELECT m.id FROM ({sql}) m{join} WHERE m.id = ANY (?){condition}", (*values, list(among), *more)
        )
        return total, {row[0] for row in rows}

    def below(self, expression: Expression, filters: Filters, limit: int, *, below: int) -> list[int]:
        sorts, left = self._narrowed(filters)
        sql, values = _rows_of(expression, sorts)
        join, condition, more = _looked_up(left, "m")
        rows = self._tx.rows(
            f"SELECT m.id FROM (SELECT id FROM ({sql}) r WHERE id < ? GROUP BY id) m{join} WHERE 1 = 1{condition}"
            " ORDER BY m.id DESC LIMIT ?",
            (*values, below, *more, limit),
        )
        return [row[0] for row in rows]

    def projects(self, expression: Expression, filters: Filters) -> list[tuple[str, int]]:
        sorts, left = self._narrowed(filters)
        sql, values = _rows_of(expression, sorts)
        condition, more = where(left)
        rows = self._tx.rows(
            f"SELECT min(o.project), count(*) AS many FROM (SELECT id FROM ({sql}) r GROUP BY id) m"
            f" JOIN observations o ON o.id = m.id WHERE {condition} GROUP BY o.project_key ORDER BY many DESC, 1",
            (*values, *more),
        )
        return [(row[0], row[1]) for row in rows]

    def check(self) -> str:
        missing = self._tx.value(
            "SELECT count(*) FROM observations o WHERE o.deleted_at IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM search_text t WHERE t.id = o.id)"
        )
        stray = self._tx.value(
            "SELECT count(*) FROM search_text t WHERE NOT EXISTS"
            " (SELECT 1 FROM observations o WHERE o.id = t.id AND o.deleted_at IS NULL)"
        )
        if missing or stray:
            return f"the search index lacks {missing} observations and holds {stray} that are gone"
        return ""

    def _narrowed(self, filters: Filters) -> tuple[list[int] | None, Filters]:
        """The numbers of the sorts that filters let through, None for all, and the filters they leave open."""
        left = replace(filters, project_key="", kind="", scope="", namespace=None, statuses=())
        condition, values = where(replace(filters, tags=(), session_id="", since=None, until=None, deleted=False))
        condition = condition.replace("o.deleted_at IS NULL", "1 = 1")
        rows = self._tx.rows(f"SELECT o.sort, {condition} FROM sorts o WHERE o.observations > 0", values)
        wanted = [row[0] for row in rows if row[1]]
        return None if len(wanted) == len(rows) else wanted, left


def _known(stems: Sequence[str]) -> list[str]:
    """The stems as the index knows them."""
    return [stem if len(stem.encode()) <= LONGEST_STEM else _short(stem) for stem in stems]


def _short(stem: str) -> str:
    return f"{stem[:_BEGINNING]}\ue000{blake2b(stem.encode(), digest_size=16).hexdigest()}"


def _sorted(sorts: list[int] | None) -> str:
    return "" if sorts is None else " AND sort = ANY (?)"


def _given(sorts: list[int] | None) -> "list[Value]":
    return [] if sorts is None else [sorts]


def _looked_up(left: Filters, alias: str) -> "tuple[str, str, list[Value]]":
    """The join and the condition for what the postings cannot tell; the index holds no deleted rows."""
    if left == Filters():
        return "", "", []
    condition, values = where(left)
    return f" JOIN observations o ON o.id = {alias}.id", f" AND {condition}", values


def _rows_of(expression: Expression, sorts: list[int] | None) -> "tuple[str, list[Any]]":
    """A query for id, place and units of what matches; an id may come more than once."""
    match expression:
        case Word(text):
            return _phrase(text, sorts, is_open=False)
        case Prefix(text):
            return _phrase(text, sorts, is_open=True)
        case Phrase(words, is_open):
            return _phrase(" ".join(words), sorts, is_open=is_open)
        case AnyOf(parts):
            return _any(parts, sorts)
        case AllOf(parts):
            first, *others = [_rows_of(part, sorts) for part in parts]
            within = " AND ".join(f"id IN (SELECT id FROM ({sql}) other)" for sql, _ in others) or "1 = 1"
            return f"SELECT id, place, units FROM ({first[0]}) rows WHERE {within}", [
                *first[1],
                *(value for _, values in others for value in values),
            ]


def _any(parts: tuple[Expression, ...], sorts: list[int] | None) -> "tuple[str, list[Any]]":
    single = [_known(stems_in(part.text)) if isinstance(part, Word) else [] for part in parts]
    stems = [found[0] for found in single if len(found) == 1]
    queries: list[tuple[str, list[Any]]] = [
        _rows_of(part, sorts) for part, found in zip(parts, single, strict=True) if len(found) != 1
    ]
    if stems or not queries:
        queries.append(_with_stems(stems, sorts))
    return " UNION ALL ".join(sql for sql, _ in queries), [value for _, values in queries for value in values]


def _with_stems(stems: list[str], sorts: list[int] | None) -> "tuple[str, list[Any]]":
    return f"SELECT id, place, units FROM post WHERE stem = ANY (?){_sorted(sorts)}", [stems, *_given(sorts)]


def _phrase(text: str, sorts: list[int] | None, *, is_open: bool) -> "tuple[str, list[Any]]":
    stems = _known(stems_in(text))
    if len(stems) == 1 and is_open:
        begin = stems[0]
        return (
            f"SELECT id, place, units FROM post WHERE stem >= ? AND stem < ?{_sorted(sorts)}",
            [begin, begin + _LAST, *_given(sorts)],
        )
    if len(stems) < 2:
        return _with_stems(stems, sorts)
    # The rarest of the words that must stand there whole leads to the rows; the phrase is then looked for in each.
    whole = stems[:-1] if is_open else stems
    sql = (
        "SELECT p.id, p.place, p.units FROM post p JOIN search_text t ON t.id = p.id WHERE p.stem ="
        " (SELECT stem FROM lexicon WHERE stem = ANY (?) GROUP BY stem ORDER BY sum(rows), stem LIMIT 1)"
        f"{_sorted(sorts)} AND strpos(t.body, ?) > 0"
    )
    return sql, [whole, *_given(sorts), f" {' '.join(stems)}{'' if is_open else ' '}"]
