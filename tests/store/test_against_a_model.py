"""The memory against a plain model of it: whatever is done in whatever order, both say the same."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from haversack.config import MemorySettings
from haversack.errors import Conflict, NotFound
from haversack.memory import context, relations, statistics
from haversack.memory.room import Memory
from haversack.memory.save import edits
from haversack.memory.save.edits import Changes
from haversack.memory.save.pipeline import Draft, save
from haversack.memory.search import index_words
from haversack.memory.search import search as finding
from haversack.store import observations
from haversack.store import relations as relation_table
from haversack.store.records import Filters
from tests.conftest import THOROUGHNESS, Clock, fresh_store

WORDS = ("apricot", "basalt", "cormorant", "dulcimer", "elderberry")
PROJECTS = ("alpha", "Beta")
CONTENTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
TOPICS = st.sampled_from(["", "", "", "topic/one", "topic/two"])
WINDOW = 15 * 60_000_000


@dataclass
class Row:
    """What the model knows of an observation."""

    title: str
    content: str
    project: str
    topic: str
    seen: int
    texts: list[str] = field(default_factory=list)
    duplicates: int = 0
    deleted: bool = False

    @property
    def place(self) -> tuple[str, str]:
        return self.topic, self.project.casefold()


class MemoryMachine(RuleBasedStateMachine):
    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.memory = Memory(fresh_store(), MemorySettings(), "/somewhere", self.clock)
        self.rows: dict[int, Row] = {}
        self.order: list[int] = []
        self.relations: dict[tuple[int, int, str], int] = {}

    def teardown(self) -> None:
        self.memory.database.close()

    def live(self) -> Iterator[tuple[int, Row]]:
        return ((each, row) for each, row in self.rows.items() if not row.deleted)

    @rule(target=ids, title=st.sampled_from(WORDS), content=CONTENTS, project=st.sampled_from(PROJECTS), topic=TOPICS)
    def save(self, title: str, content: str, project: str, topic: str) -> object:
        saved = save(self.memory, Draft(title=title, content=content, project=project, topic_key=topic))
        now = self.clock.time
        if topic:
            twin = next((each for each, row in self.live() if row.place == (topic, project.casefold())), None)
            same = twin is not None and (self.rows[twin].title, self.rows[twin].content) == (title, content)
        else:
            twin = next(
                (
                    each
                    for each in reversed(self.order)
                    if (row := self.rows[each]).title == title
                    and (row.content, row.project.casefold(), row.deleted) == (content, project.casefold(), False)
                    and row.seen >= now - WINDOW
                ),
                None,
            )
            same = twin is not None
        if twin is None:
            assert saved.outcome == "saved"
            self.rows[saved.id] = Row(title, content, project, topic, now)
            self.order.append(saved.id)
            return saved.id
        assert saved.id == twin
        row = self.rows[twin]
        row.seen = now
        if same:
            row.duplicates += 1
            assert (saved.outcome, saved.times_seen) == ("duplicate", row.duplicates + 1)
        else:
            row.texts.append(row.content)
            row.title, row.content = title, content
            self._to_end(twin)
            assert (saved.outcome, saved.revision) == ("updated", len(row.texts) + 1)
        return multiple()

    def _to_end(self, identifier: int) -> None:
        self.order.remove(identifier)
        self.order.append(identifier)

    @rule(minutes=st.sampled_from([1, 20]))
    def time_passes(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)

    @rule(identifier=ids, content=CONTENTS)
    def update(self, identifier: int, content: str) -> None:
        row = self.rows.get(identifier)
        if row is None or row.deleted:
            self._expect(NotFound, lambda: edits.update(self.memory, identifier, Changes(content=content)))
            return
        updated = edits.update(self.memory, identifier, Changes(content=content))
        if content != row.content:
            row.texts.append(row.content)
            row.content = content
            assert updated.revision == len(row.texts) + 1
        else:
            assert updated.changed == ()

    @rule(identifier=ids)
    def delete(self, identifier: int) -> None:
        row = self.rows.get(identifier)
        if row is None or row.deleted:
            self._expect(NotFound, lambda: edits.delete(self.memory, identifier))
            return
        edits.delete(self.memory, identifier)
        row.deleted = True

    @rule(identifier=ids)
    def restore(self, identifier: int) -> None:
        row = self.rows.get(identifier)
        changes = Changes(restore=True)
        if row is None:
            self._expect(NotFound, lambda: edits.update(self.memory, identifier, changes))
        elif not row.deleted or any(row.topic and other.place == row.place for _, other in self.live()):
            self._expect(Conflict, lambda: edits.update(self.memory, identifier, changes))
        else:
            edits.update(self.memory, identifier, changes)
            row.deleted = False

    @rule(identifier=consumes(ids))
    def erase(self, identifier: int) -> None:
        if identifier not in self.rows:
            self._expect(NotFound, lambda: edits.delete(self.memory, identifier, hard=True))
            return
        edits.delete(self.memory, identifier, hard=True)
        del self.rows[identifier]
        self.order.remove(identifier)
        self.relations = {ends: each for ends, each in self.relations.items() if identifier not in ends[:2]}

    @rule(one=ids, other=ids, kind=st.sampled_from(["relates_to", "fixes"]))
    def relate(self, one: int, other: int, kind: str) -> None:
        if one == other:
            return
        if any(each not in self.rows or self.rows[each].deleted for each in (one, other)):
            self._expect(NotFound, lambda: relations.relate(self.memory, one, other, kind))
            return
        made = relations.relate(self.memory, one, other, kind).relations[0]
        assert self.relations.setdefault((one, other, kind), made.id) == made.id

    @rule(data=st.data())
    def unrelate(self, data: st.DataObject) -> None:
        if self.relations:
            ends = data.draw(st.sampled_from(sorted(self.relations)))
            relations.unrelate(self.memory, self.relations.pop(ends))

    def _expect(self, kind: type[Exception], act: object) -> None:
        try:
            act()  # type: ignore[operator]
        except kind:
            return
        raise AssertionError(f"{kind.__name__} was expected")

    @invariant()
    def the_recent_ones_are_the_models_in_its_order(self) -> None:
        found = context.recent(self.memory, Filters(), 200)
        assert [each.id for each in found] == [each for each in reversed(self.order) if not self.rows[each].deleted]
        for each in found:
            row = self.rows[each.id]
            assert (each.title, each.content, each.project) == (row.title, row.content, row.project)
            assert (each.revision_count, each.duplicate_count) == (len(row.texts), row.duplicates)

    @invariant()
    def counts_equal_a_recount(self) -> None:
        figures = statistics.statistics(self.memory)
        alive = dict(self.live())
        assert figures.observations == len(alive)
        assert figures.deleted == len(self.rows) - len(alive)
        assert figures.relations == len(self.relations)
        assert figures.bytes == sum(len(row.content) for row in alive.values())

    @invariant()
    def a_search_finds_exactly_those_that_hold_the_word(self) -> None:
        for word in WORDS[:2]:
            found = finding.search(self.memory, word, finding.filters(self.memory), limit=200)
            expected = {each for each, row in self.live() if word in f"{row.title} {row.content}".split()}
            assert {hit.observation.id for hit in found.hits} - found.beside == expected
            assert found.total == len(expected)

    @invariant()
    def the_index_agrees_with_the_rows(self) -> None:
        with self.memory.database.read() as tx:
            assert tx.words.check() == ""
            assert tx.rows("PRAGMA foreign_key_check") == []

    @invariant()
    def every_earlier_text_is_kept(self) -> None:
        with self.memory.database.read() as tx:
            for identifier, row in self.rows.items():
                assert [each.content for each in reversed(observations.revisions(tx, identifier))] == row.texts
            held = {(each.from_id, each.to_id, each.type): each.id for each in relation_table.everything(tx)}
        assert held == self.relations


MemoryMachine.TestCase.settings = settings(max_examples=25 * THOROUGHNESS, stateful_step_count=30)
TestMemoryAgainstItsModel = MemoryMachine.TestCase


def test_a_rebuilt_index_finds_what_the_kept_one_found() -> None:
    memory = Memory(fresh_store(), MemorySettings(), "/somewhere", Clock())
    for number in range(20):
        save(memory, Draft(title=f"note {number}", content=" ".join(WORDS[: 1 + number % 5]), project="p"))
    edits.delete(memory, 3)

    def found() -> list[tuple[int, float]]:
        result = finding.search(memory, "basalt cormorant", finding.filters(memory), limit=50)
        return [(hit.observation.id, round(hit.score, 6)) for hit in result.hits]

    before = found()
    assert index_words.rebuild_index(memory) == 19
    assert found() == before
