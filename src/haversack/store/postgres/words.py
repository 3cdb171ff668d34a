"""The search index on postings: one row for each stem of each observation."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, cast

from haversack.digests import blake2b
from haversack.store.expressions import AllOf, AnyOf, Expression, Phrase, Prefix, Word
from haversack.store.filters import where
from haversack.store.records import Filters
from haversack.store.words import Census, IndexEntry, Match, Posting
from haversack.text.stems import stems_in
from haversack.values import replace

if TYPE_CHECKING:
    from haversack.store.engine import Statement, Value
    from haversack.store.postgres.engine import Reader, Writer

LONGEST_STEM = 400
"""Bytes of a stem that an index row has room for; a longer one is known by its beginning and a digest."""
_BEGINNING = 100
_LAST = "\U0010ffff"


class PostgresWords:
    """The index in one transaction."""

    def __init__(self, tx: "Reader") -> None:
        self._tx = tx

    @property
    def _writer(self) -> "Writer":
        return cast("Writer", self._tx)

    def add(self, identifier: int, entry: IndexEntry) -> None:
        self._writer.run_later("SELECT add_words(?, ?)", (identifier, _body(entry)))

    def add_many(self, entries: Sequence[tuple[int, IndexEntry]]) -> None:
        """Index observations that are not in the index yet."""
        self._tx.execute(
            "SELECT add_all_words(?, ?)", ([each for each, _ in entries], [_body(entry) for _, entry in entries])
        )

    def put(self, identifier: int, entry: IndexEntry) -> None:
        self.remove(identifier)
        self.add(identifier, entry)

    def remove(self, identifier: int) -> None:
        self._writer.run_later("SELECT remove_words(?)", (identifier,))

    def clear(self) -> None:
        for table in ("post", "lexicon", "search_text"):
            self._tx.execute(f"DELETE FROM {table}")

    def expected(self, groups: Sequence[Sequence[str]], filters: Filters) -> "list[Statement]":
        return [(_CENSUS, ()), _rows_of_stems(groups), _narrowing(filters)[0]]

    def census(self) -> Census:
        row = self._tx.row(_CENSUS)
        assert row is not None
        return Census(max(row[0], 1), max(row[1], 1), max(row[2] or 1.0, 1.0))

    def rows_with_stems(self, groups: Sequence[Sequence[str]]) -> list[int]:
        rows: dict[str, int] = dict(self._tx.rows(*_rows_of_stems(groups)))
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
            " JOIN lexicon l ON l.stem = g.stem"
            f" CROSS JOIN LATERAL (SELECT * FROM post WHERE post.word = l.word{_sorted(sorts)}) p{join}"
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
        sorts, left = self._narrowed(filters)
        sql, values = _rows_of(expression, sorts)
        join, condition, more = _looked_up(left, "m")
        row = self._tx.row(
            "SELECT count(*), array_agg(m.id) FILTER (WHERE m.id = ANY (?))"
            f" FROM (SELECT id FROM ({sql}) r GROUP BY id) m{join} WHERE 1 = 1{condition}",
            (list(among), *values, *more),
        )
        assert row is not None
        return row[0], set(row[1] or ())

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
        """The numbers of the sorts that pass the filters, None for all, and the filters still to be checked."""
        statement, left = _narrowing(filters)
        self._tx.ahead(lambda: [statement])
        rows = self._tx.rows(*statement)
        wanted = [row[0] for row in rows if row[1]]
        return None if len(wanted) == len(rows) else wanted, left


_CENSUS = """
    SELECT (SELECT CAST(coalesce(sum(observations), 0) AS bigint) FROM sorts),
        (SELECT CAST(coalesce(sum(sessions), 0) AS bigint) FROM realms WHERE realm = ANY (realms())),
        (SELECT CAST(avg(units) AS double precision)
         FROM (SELECT units FROM observations ORDER BY id DESC LIMIT 500) newest)
"""


def _rows_of_stems(groups: Sequence[Sequence[str]]) -> "Statement":
    wanted = sorted({stem for stems in groups for stem in _known(stems)})
    return "SELECT stem, CAST(sum(rows) AS bigint) FROM lexicon WHERE stem = ANY (?) GROUP BY stem", (wanted,)


def _narrowing(filters: Filters) -> "tuple[Statement, Filters]":
    """The condition for sorts that pass the filters, and the filters still to be checked."""
    left = replace(filters, project_key="", kind="", scope="", namespace=None, statuses=())
    condition, values = where(replace(filters, tags=(), session_id="", since=None, until=None, deleted=False))
    condition = condition.replace("o.deleted_at IS NULL", "1 = 1")
    return (f"SELECT o.sort, {condition} FROM sorts o WHERE o.observations > 0", values), left


def _body(entry: IndexEntry) -> str:
    """The stems in order between spaces, a line for each column."""
    columns = (_known(stems_in(text)) for text in (entry.title, entry.content, entry.tags))
    return "\n".join(f" {' '.join(column)} " for column in columns)


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
    """The join and the condition for filters that the postings cannot answer; the index holds no deleted rows."""
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
    return f"SELECT id, place, units FROM post WHERE {_worded('stem = ANY (?)')}{_sorted(sorts)}", [
        stems,
        *_given(sorts),
    ]


def _worded(condition: str) -> str:
    """The condition of a posting whose stem fulfils one, in any realm that is seen."""
    return f"word = ANY (ARRAY(SELECT word FROM lexicon WHERE {condition}))"


def _phrase(text: str, sorts: list[int] | None, *, is_open: bool) -> "tuple[str, list[Any]]":
    stems = _known(stems_in(text))
    if len(stems) == 1 and is_open:
        begin = stems[0]
        return (
            f"SELECT id, place, units FROM post WHERE {_worded('stem >= ? AND stem < ?')}{_sorted(sorts)}",
            [begin, begin + _LAST, *_given(sorts)],
        )
    if len(stems) < 2:
        return _with_stems(stems, sorts)
    # The rarest complete word of the phrase selects the rows; the phrase is then checked in each.
    whole = stems[:-1] if is_open else stems
    sql = (
        "SELECT p.id, p.place, p.units FROM post p JOIN search_text t ON t.id = p.id WHERE p."
        + _worded(
            "stem = (SELECT stem FROM lexicon WHERE stem = ANY (?) GROUP BY stem ORDER BY sum(rows), stem LIMIT 1)"
        )
        + f"{_sorted(sorts)} AND strpos(t.body, ?) > 0"
    )
    return sql, [whole, *_given(sorts), f" {' '.join(stems)}{'' if is_open else ' '}"]
