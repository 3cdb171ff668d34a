"""Which memories are about a prompt: usually none, since a weak match costs more tokens than it is worth."""

from math import log

from haversack.memory.room import Memory
from haversack.memory.search.query import Query, Term, parse_query, term_expression
from haversack.memory.search.search import filters, search
from haversack.memory.search.snippets import match_positions
from haversack.store.engine import Reader
from haversack.store.records import Observation
from haversack.values import record

LOOKED_AT = 2_000
"""Characters of a prompt that are searched with: its beginning says what it is about."""
CANDIDATES = 8
LEAST_SHARED = 2
"""Words with a weight that a prompt and a memory must share; a single one is a coincidence."""
COMMON = 0.2
"""A word in more than this share of the memories has no weight."""
_ALWAYS_TELLING = 3
"""Memories that may hold a word before it can count as common, in a store of whatever size."""


@record
class Related:
    """A memory with the share of the prompt's words, or of its title's words, that both have; from 0 to 1."""

    observation: Observation
    share: float
    query: Query


def related(memory: Memory, prompt: str, project: str, *, least: float) -> list[Related]:
    """The memories of a project that are about a prompt, the best first; usually none."""
    text = prompt[:LOOKED_AT]
    query = parse_query(text)
    if len(query.terms) < LEAST_SHARED:
        return []
    found = search(memory, text, filters(memory, project=project), limit=CANDIDATES)
    with memory.database.read() as tx:
        weights = _Weights(tx)
        judged = [Related(hit.observation, _share(hit.observation, query, text, weights), query) for hit in found.hits]
    # The search ranks them; the share only decides which of them are about the prompt.
    return [each for each in judged if each.share >= least]


class _Weights:
    """The weight of a word: high for rare words, 0 for common ones."""

    def __init__(self, tx: Reader) -> None:
        self._tx = tx
        self._rows = max(1, tx.words.census().rows)
        self._known: dict[Term, float] = {}

    def __call__(self, term: Term) -> float:
        if term not in self._known:
            having = self._tx.words.rows_matching(term_expression(term))
            is_common = having > max(_ALWAYS_TELLING, COMMON * self._rows)
            self._known[term] = 0.0 if is_common else log(1 + self._rows / (having + 0.5))
        return self._known[term]


def _share(observation: Observation, query: Query, prompt: str, weights: _Weights) -> float:
    """The larger of two weighted shares: the prompt's words in the memory, and the title's words in the prompt."""
    held = f"{observation.title}\n{observation.content}\n{' '.join(observation.tags)}"
    matched = [term for term in query.terms if weights(term) and match_positions(held, Query((term,)))]
    if len(matched) < LEAST_SHARED:
        return 0.0
    of_prompt = sum(map(weights, matched)) / (sum(map(weights, query.terms)) or 1.0)
    title = parse_query(observation.title)
    named = [term for term in title.terms if weights(term) and match_positions(prompt, Query((term,)))]
    of_title = sum(map(weights, named)) / (sum(map(weights, title.terms)) or 1.0)
    return max(of_prompt, of_title if len(named) >= LEAST_SHARED else 0.0)
