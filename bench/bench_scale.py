"""How saving, searching, counting and packing cost as the store grows, beside bare SQLite FTS5 in the same run.

Fills a store with notes of Zipf-distributed words (stop words among them, as in real text), asks questions of eight
words taken from a stored note, three of them stop words, and prints medians and ratios. The bare engine has the same
texts in one FTS5 table of its own and answers the same question as an any-word query, once as typed and once without
its stop words. Milliseconds depend on the machine and its load: trust the ratios.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import apsw

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.memory import context
from haversack.memory.save import pipeline
from haversack.memory.save.checks import CURRENT_STATUSES
from haversack.memory.search import index_words
from haversack.memory.search import search as finding
from haversack.packs import candidates
from haversack.store import observations
from haversack.store import sessions as session_table
from haversack.store.observations import NewObservation
from haversack.store.records import Filters, Session
from haversack.store.words import IndexEntry
from haversack.text.stop_words import STOP_WORDS
from haversack.text.words import index_text
from haversack.tools.road.call import call
from haversack.values import record, replace

VOCABULARY = 40_000
TURNS = 40
PROJECTS = 12
CONVERSATIONS = 4
"""One session in so many is a conversation: a third of its notes ask something."""
KINDS = ("observation", "decision", "fix", "note")
COMMON = (
    *("the", "of", "and", "to", "in", "is", "was", "that", "for", "it", "with", "as", "on", "be", "at", "by", "this"),
    *("had", "not", "are", "but", "from", "or", "have", "an", "they", "which", "one", "you", "were", "all", "we"),
    *("can", "what", "their", "has", "there", "been", "if", "more", "when", "will", "would", "who", "so", "no"),
)
SYLLABLES = (
    *("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "xi"),
    *("yo", "zu", "cra", "ble", "dri", "flo", "gru", "sta", "pre", "tri", "blo", "qua"),
)
YEAR = 365 * 86_400_000_000
CLOCK = 1_760_000_000_000_000
EVERYTHING = Filters(statuses=CURRENT_STATUSES)

Question = tuple[str, int]
Note = tuple[int, str, str]


class Language:
    """Words by rank, each drawn as often as Zipf's law has it; the most common are stop words."""

    def __init__(self, seed: int = 11) -> None:
        self.chance = random.Random(seed)
        made: dict[str, None] = dict.fromkeys(COMMON)
        while len(made) < VOCABULARY:
            made["".join(self.chance.choices(SYLLABLES, k=self.chance.randint(2, 4)))] = None
        self.words = list(made)
        self.weights = list(accumulate(1 / (rank + 2.7) for rank in range(VOCABULARY)))

    def draw(self, count: int) -> list[str]:
        return self.chance.choices(self.words, cum_weights=self.weights, k=count)

    def notes(self, count: int) -> Iterator[Note]:
        for number in range(1, count + 1):
            words = self.draw(5 + self.chance.randint(15, 45))
            asks = (number - 1) // TURNS % CONVERSATIONS == 0 and number % 3 == 0
            yield number, " ".join(words[:5]), " ".join(words[5:]) + ("?" if asks else ".")

    def question(self, note: Note) -> Question:
        """Eight words: three stop words, and five telling ones that the note holds."""
        telling = sorted({word for word in note[2].rstrip(".?").split() if word not in STOP_WORDS})
        asked = self.chance.sample(telling, min(5, len(telling)))
        return " ".join(["what", "was", "the", *asked]), note[0]


def fill(caller: Caller, bare: apsw.Connection, language: Language, count: int, wanted: set[int]) -> list[Note]:
    """Put the same notes into the store and into the bare table, and return those that questions are made from."""
    held = []
    bare.execute("BEGIN")
    with caller.database.write() as tx:
        for note in language.notes(count):
            number, title, content = note
            session = f"s{(number - 1) // TURNS}"
            project = f"project-{min(int(language.chance.paretovariate(1.0)), PROJECTS)}"
            moment = CLOCK - YEAR + number * (YEAR // count)
            if (number - 1) % TURNS == 0:
                session_table.add(tx, Session(session, project, "", "", moment, None, ""), project)
            identifier = observations.insert(tx, observation(note, session, project, moment))
            tx.words.add(identifier, IndexEntry(index_text(title), index_text(content), ""))
            bare.execute("INSERT INTO t (rowid, title, content) VALUES (?, ?, ?)", note)
            if number in wanted:
                held.append(note)
    bare.execute("COMMIT")
    return held


def observation(note: Note, session: str, project: str, moment: int) -> NewObservation:
    number, title, content = note
    return NewObservation(
        uid=f"{number:024x}",
        session_id=session,
        kind=KINDS[number % len(KINDS)],
        title=title,
        content=content,
        tags=(),
        importance=(number * 7 % 11) / 10,
        tool_name="",
        project=project,
        project_key=project,
        scope="project",
        topic_key="",
        namespace="",
        status="archived" if number % 50 == 0 else "active",
        verification="unverified",
        pinned=number % 20_000 == 1,
        content_hash=f"{number:032x}",
        bytes=len(content),
        units=len(content) // 5,
        label=index_words.label(title, content),
        asks=index_words.asks(content),
        created_at=moment,
    )


@record
class Spent:
    """Milliseconds of each run by the clock, sorted, and of the processor on average."""

    clock: list[float]
    work: float


def timed(run: Callable[[Any], object], inputs: list[Any]) -> Spent:
    # Asking for the processor's time is slow on some systems, so it is asked for once.
    spent, start_of_work = [], time.process_time()
    for given in inputs:
        start = time.perf_counter()
        run(given)
        spent.append(1000 * (time.perf_counter() - start))
    return Spent(sorted(spent), 1000 * (time.process_time() - start_of_work) / len(inputs))


def line(name: str, spent: Spent, bare: float | None = None) -> float:
    """Print one line of figures, beside the bare engine's where it can do the same; the mean of the processor."""
    clock, ratio = spent.clock, f"{spent.work / bare:>14.2f}" if bare else ""
    middle, high = clock[len(clock) // 2], clock[int(len(clock) * 0.95)]
    print(f"  {name:<34}{middle:>10.2f}{high:>10.2f}{spent.work:>10.2f}{ratio}")
    return spent.work


def any_word(question: str, *, without: frozenset[str] = frozenset()) -> str:
    return " OR ".join(f'"{word}"' for word in question.split() if word not in without)


def measure_rows(caller: Caller, bare: apsw.Connection, asked: list[str], telling: list[str], limit: int) -> float:
    """Processor time of `mem_search` at a limit beside the bare engine that fetches as many rows with their texts."""
    theirs = line(
        f"bare FTS5, {limit} rows with texts",
        timed(
            lambda match: bare.execute(
                f"SELECT rowid, title, content FROM t WHERE t MATCH ? ORDER BY rank LIMIT {limit}", (match,)
            ).fetchall(),
            telling,
        ),
    )
    ours = timed(lambda text: call(caller, "mem_search", {"query": text, "limit": limit}), asked)
    return line(f"mem_search, limit {limit}", ours, theirs) / theirs


def measure(caller: Caller, bare: apsw.Connection, questions: list[Question], rounds: int, stored: int) -> float:
    """Ask everything, our way and the bare way, and print the table; the median milliseconds of a search."""
    asked = [text for text, _ in questions][:rounds]
    print(f"  {'':<34}{'p50 ms':>10}{'p95 ms':>10}{'mean CPU':>10}{'CPU : bare':>14}")

    def bare_search(match: str) -> object:
        return bare.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (match,)).fetchall()

    def bare_count(match: str) -> object:
        return bare.execute("SELECT count(*) FROM t WHERE t MATCH ?", (match,)).fetchall()

    as_typed = [any_word(text) for text in asked]
    telling = [any_word(text, without=STOP_WORDS) for text in asked]
    line("bare FTS5, question as typed", timed(bare_search, as_typed[: max(5, rounds // 4)]))
    floor = line("bare FTS5, stop words out", timed(bare_search, telling))
    count_floor = line("bare FTS5, count", timed(bare_count, telling))
    chosen = replace(EVERYTHING, project_key="project-1")
    memory = caller.memory
    searching = timed(lambda text: finding.search(memory, text, EVERYTHING), asked)
    line("search", searching, floor)
    line("search in the largest project", timed(lambda text: finding.search(memory, text, chosen), asked), floor)
    line("mem_search, reply of 500 tokens", timed(lambda text: reply(caller, text), asked), floor)
    for limit, aim in ((10, 4), (200, 10)):
        ratio = measure_rows(caller, bare, asked, telling, limit)
        what = f"mem_search at limit {limit} of {stored:,} beside bare FTS5 with the same rows"
        print(f"claim: {what} | {ratio:.1f} | at most {aim} | : 1")
    counting = timed(lambda text: finding.count_search_results(memory, text, EVERYTHING), asked)
    line("count", counting, count_floor)
    counting = timed(lambda text: finding.count_search_results(memory, text, chosen), asked)
    line("count in the largest project", counting, count_floor)
    few = list(range(max(5, rounds // 4)))
    line("context", timed(lambda _: context.context(memory), few))
    line("context of the largest project", timed(lambda _: context.context(memory, project="project-1"), few))
    line("pack, 2000 tokens, with a query", timed(lambda text: pack(caller, text), asked[: len(few)]), floor)
    line("pack without a query", timed(lambda _: candidates.gather(memory, "", EVERYTHING), few))
    line("the same of one project", timed(lambda _: candidates.gather(memory, "", chosen), few))
    found = sum(
        number in [hit.observation.id for hit in finding.search(memory, text, replace(EVERYTHING, statuses=())).hits]
        for text, number in questions[:rounds]
    )
    print(f"  the note asked about is in the first ten: {100 * found / len(asked):.1f} % of {len(asked)} questions")
    return searching.clock[len(searching.clock) // 2]


def measure_shortcut(caller: Caller, questions: list[Question]) -> float:
    """How often the best result is that of a ranking which reads every row of every word, in percent.

    Of texts drawn by chance only the note asked about is a better answer than hundreds of others, so of the rest of
    the ten it is only said how many the two rankings share.
    """
    texts = [text for text, _ in questions]
    shortcut, whole = ([best_ids(caller, text) for text in texts] for _ in _exhaustive_after_the_first())
    same_first = 100 * sum(one[:1] == other[:1] for one, other in zip(shortcut, whole, strict=True)) / len(texts)
    shared = sum(len({*one} & {*other}) for one, other in zip(shortcut, whole, strict=True))
    print(
        f"  beside a ranking that reads every row: the same first result {same_first:.0f} % of {len(texts)} questions,"
        f" {100 * shared / max(1, sum(map(len, whole))):.0f} % of the first ten"
    )
    return same_first


def best_ids(caller: Caller, text: str) -> list[int]:
    return [hit.observation.id for hit in finding.search(caller.memory, text, EVERYTHING).hits]


def _exhaustive_after_the_first() -> Iterator[None]:
    """Two rounds, the second with nothing left out for speed."""
    names = ("MOST_POSTINGS", "MOST_FIRST", "LEAST_CANDIDATES", "MOST_CANDIDATES")
    usual = {name: getattr(finding, name) for name in names}
    yield
    for name, figure in zip(names, (10**9, 10**9, 5_000, 5_000), strict=True):
        setattr(finding, name, figure)
    yield
    for name, figure in usual.items():
        setattr(finding, name, figure)


def reply(caller: Caller, text: str) -> object:
    return call(caller, "mem_search", {"query": text, "max_tokens": 500})


def pack(caller: Caller, text: str) -> object:
    return call(caller, "context_pack", {"query": text, "max_tokens": 2000})


def measure_saving(caller: Caller, bare: apsw.Connection, language: Language, count: int) -> float:
    """Saves one by one, each its own transaction, beside bare inserts that are the same; the ratio."""
    notes = list(language.notes(count))
    spent = timed(
        lambda note: pipeline.save(
            caller.memory, pipeline.Draft(note[1], note[2], project="project-2", session_id="saving")
        ),
        notes,
    )
    bare_spent = timed(lambda note: bare.execute("INSERT INTO t (title, content) VALUES (?, ?)", note[1:]), notes)
    ours, theirs = (1000 * count / sum(each.clock) for each in (spent, bare_spent))
    print(f"  saves a second {ours:,.0f}, bare inserts {theirs:,.0f}: {ours / theirs:.2f} : 1")
    return theirs / ours


def measure_process(home: str, bare_path: str, question: str) -> None:
    """What a process costs that opens the store and answers one question: time to the answer, and memory."""
    # The peak of getrusage would be inherited from this process, which is larger.
    report = "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    ours = f"import sys; from haversack.cli import main; main(['search', {question!r}, '--limit', '10']); {report}"
    theirs = (
        f"import sys, apsw; db = apsw.Connection({bare_path!r}); print(db.execute('SELECT rowid FROM t WHERE t MATCH ?"
        f" ORDER BY rank LIMIT 10', ({any_word(question, without=STOP_WORDS)!r},)).fetchall()); {report}"
    )
    figures = []
    # A start in daily use finds its bytecode written already.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["HAVERSACK_HOME"] = home
    for program in (ours, theirs):
        spent, memory = [], 0
        for _ in range(5):
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
            )
            spent.append(1000 * (time.perf_counter() - start))
            memory = int(done.stderr.split()[-1])
        figures.append((sorted(spent)[2], memory / 1024))
    (time_ours, memory_ours), (time_theirs, memory_theirs) = figures
    print(
        f"  a process that starts and answers: {time_ours:.0f} ms, bare {time_theirs:.0f} ms;"
        f" memory {memory_ours:.0f} MB, bare {memory_theirs:.0f} MB"
    )


@contextmanager
def stores_in(folder: str, rows: int) -> Iterator[str]:
    """A folder for stores of one size: below the one given, which keeps them, or one that is removed at the end."""
    if folder:
        kept = os.path.join(folder, str(rows))
        os.makedirs(kept, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory() as home:
        yield home


def run(rows: int, rounds: int, folder: str = "") -> float:
    """Measure stores of one size, which are filled unless the folder keeps them; the median ms of a search."""
    with stores_in(folder, rows) as home:
        bare_path = os.path.join(home, "bare.db")
        is_filled = os.path.exists(bare_path)
        bare = apsw.Connection(bare_path)
        bare.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16000")
        caller = open_caller(Config(home=home), directory=home, now=lambda: CLOCK)
        language = Language()
        wanted = set(random.Random(3).sample(range(1, rows + 1), min(rounds, rows)))
        start = time.perf_counter()
        if is_filled:
            asked = ",".join(map(str, wanted))
            held: Any = bare.execute(f"SELECT rowid, title, content FROM t WHERE rowid IN ({asked})").fetchall()
            notes: list[Note] = held
        else:
            bare.execute("CREATE VIRTUAL TABLE t USING fts5 (title, content, tokenize='porter unicode61')")
            notes = fill(caller, bare, language, rows, wanted)
        print(f"\n{rows:,} observations (filled in {time.perf_counter() - start:.0f} s)", flush=True)
        questions = [language.question(note) for note in notes]
        middle = measure(caller, bare, questions, rounds, rows)
        print(f"claim: the median search of {rows:,} | {middle:.1f} | at most {30 if rows > 100_000 else 10} | ms")
        same = measure_shortcut(caller, questions[: max(5, rounds // 3)])
        print(f"claim: the same best result of {rows:,} as when every row is read | {same:.0f} | at least 99 | %")
        ratio = measure_saving(caller, bare, language, min(500, rows))
        print(f"claim: a save among {rows:,} beside a bare insert | {ratio:.1f} | at most 10 | : 1")
        caller.app.close()
        bare.close()
        measure_process(home, bare_path, questions[0][0])
        ours, theirs = (os.path.getsize(path) / 1e6 for path in (caller.config.store_path, bare_path))
        print(f"  on disk {ours:.1f} MB, bare {theirs:.1f} MB: {ours / theirs:.2f} : 1", flush=True)
    return middle


def main(typed: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="2,000 observations only, to show that everything runs")
    parser.add_argument("--million", action="store_true", help="a million observations too")
    parser.add_argument("--rows", type=int, default=0, help="this many observations only")
    parser.add_argument("--keep", default="", metavar="FOLDER", help="keep the stores there, and use those kept before")
    parsed = parser.parse_args(typed)
    sizes = [10_000, 100_000] + [1_000_000] * parsed.million
    if parsed.quick:
        sizes = [2_000]
    sizes = [parsed.rows] if parsed.rows else sizes
    medians = {rows: run(rows, 10 if parsed.quick else 60, parsed.keep) for rows in sizes}
    if 100_000 in medians and 1_000_000 in medians:
        ratio = medians[1_000_000] / medians[100_000]
        print(f"claim: the median search of 1,000,000 beside that of 100,000 | {ratio:.1f} | at most 2 | : 1")
    print(f"\npeak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
