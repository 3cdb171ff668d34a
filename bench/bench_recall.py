"""How much of the evidence a question needs is inside a reply of N tokens, on every question set of a folder.

`HAVERSACK_DATA` or `--data` names a folder of sets, or one file. Each turn or note of a set is stored through
`mem_save`; each question is asked at each budget; the figure is the share of its evidence that the reply shows.

Every method answers through the tool `mem_search`, so each pays for the same heading, item lines and footers: the
plain methods only replace the order in which the hits arrive. Replies with whole observations (`detail_level=full`)
and replies with snippets are separate tables, because a snippet shows less of an observation than its evidence.

A set: {"categories": {"1": name}, "conversations": [{"id", "turns": [{"id", "s", "date", "who", "text"}],
"qa": [{"q", "cat", "ev": [turn ids]}]}]}. Without data, two small built-in sets show that everything runs.
"""

import argparse
import glob
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import apsw

from haversack.app import Caller, open_caller
from haversack.config import Config, MemorySettings
from haversack.memory.meaning import similarity
from haversack.memory.search import search
from haversack.memory.search.query import parse_query
from haversack.memory.search.ranking import Hit
from haversack.memory.search.search import Found
from haversack.text.stop_words import STOP_WORDS
from haversack.tools.road.call import Options, call
from haversack.tools.road.quoting import passage

BUDGETS = (250, 500, 1000, 2000, 4000)
PLAIN, OURS, PACK, MODEL = "plain BM25", "mem_search", "context_pack", "mem_search + model"
TUNED_ON = frozenset({"locomo"})
"""The sets the dialogue weights were fitted on. No claim rests on them alone."""
MOST_HITS = 200
SAMPLES = {
    "sample-dialogue": [
        ("D1:1", 1, "1:56 pm on 8 May, 2023", "Ana", "How was the regatta?"),
        ("D1:2", 1, "1:56 pm on 8 May, 2023", "Ben", "We came third, in the rain!"),
        ("D2:1", 2, "9:10 am on 2 June, 2023", "Ana", "I adopted a beagle called Miro."),
        ("D2:2", 2, "9:10 am on 2 June, 2023", "Ana", "I adopted a beagle called Miro."),
    ],
    "sample-notes": [
        ("n1", 1, "1:00 pm on 1 May, 2024", "Deploys", "We deploy on Tuesdays, after the backup."),
        ("n2", 2, "1:00 pm on 2 May, 2024", "Backups", "The nightly backup goes to the second region."),
        ("n3", 3, "1:00 pm on 3 May, 2024", "Database port", "PostgreSQL listens on port 6543."),
    ],
}
SAMPLE_QUESTIONS = {
    "sample-dialogue": [("What is the name of Ana's dog?", ["D2:1"]), ("How did Ben do at the regatta?", ["D1:2"])],
    "sample-notes": [("When do we deploy?", ["n1"]), ("Which port does the database use?", ["n3"])],
}
Ask = Callable[["Question", int], tuple[set[int], int]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one project, with the ids of the observations that answer it."""

    text: str
    project: str
    evidence: frozenset[int]


@dataclass(slots=True)
class Row:
    """One method on one set: recall and milliseconds per question at each budget, and replies over their budget."""

    method: str
    recall: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    over: int = 0


class QuestionSet:
    """A question set whose notes are stored, with a caller that has no model of meaning and one that may."""

    def __init__(self, name: str, conversations: Sequence[dict[str, Any]], home: str, most: int | None) -> None:
        self.name = name
        self.clock = [0]
        self.home = os.path.join(home, name)
        self.caller = open_caller(
            Config(home=self.home, memory=MemorySettings(semantic="off")), directory=home, now=lambda: self.clock[0]
        )
        self.plain = PlainIndex()
        ids = dict(self._stored(conversations))
        self.observations = len(set(ids.values()))
        asked = [
            Question(
                each["q"],
                held["id"],
                frozenset(ids[held["id"], turn] for turn in each["ev"] if (held["id"], turn) in ids),
            )
            for held in conversations
            for each in held["qa"]
        ]
        asked = [each for each in asked if each.evidence]
        self.questions = asked[:: max(1, -(-len(asked) // most))] if most else asked

    def _stored(self, conversations: Iterable[dict[str, Any]]) -> Iterator[tuple[tuple[str, str], int]]:
        for conversation in conversations:
            project = conversation["id"]
            for order, turn in enumerate(conversation["turns"]):
                self.clock[0] = _moment(turn["date"]) + order
                text = turn["text"] or "(no words)"
                saved = call(
                    self.caller,
                    "mem_save",
                    {
                        "title": turn["who"].strip() or "(no title)",
                        "content": text,
                        "project": project,
                        "session_id": f"{project}-{turn['s']}",
                        "format": "json",
                    },
                )
                # Equal turns are one observation: the second save answers with the id of the first.
                identifier = json.loads(saved.text)["id"]
                self.plain.add(identifier, project, f"{turn['who']}: {text}")
                yield (project, turn["id"]), identifier

    def with_model(self, model: str) -> Caller | None:
        """A caller that searches by meaning too, with every vector made; None where no model is installed."""
        config = Config(home=self.home, memory=MemorySettings(model=model))
        caller = open_caller(config, directory=self.home, now=lambda: self.clock[0])
        if not similarity.model_of(caller.memory):
            return None
        start = time.perf_counter()
        done = similarity.reembed(caller.memory)
        spent = 1000 * (time.perf_counter() - start) / max(done.embedded, 1)
        print(f"  {self.name}: {done.model}, {spent:.1f} ms to embed an observation")
        return caller


class PlainIndex:
    """Full text as others do it: one FTS5 table with Porter stems, any word, ordered by its own bm25()."""

    def __init__(self) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE t USING fts5 (body, project UNINDEXED, tokenize='porter unicode61')")
        self.known: set[int] = set()

    def add(self, identifier: int, project: str, body: str) -> None:
        if identifier not in self.known:
            self.known.add(identifier)
            self.db.execute("INSERT INTO t (rowid, body, project) VALUES (?, ?, ?)", (identifier, body, project))

    def best(self, question: str, project: str) -> list[int]:
        words = [word for word in re.findall(r"\w+", question.lower()) if word not in STOP_WORDS]
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        sql = f"SELECT rowid FROM t WHERE t MATCH ? AND project = ? ORDER BY rank LIMIT {MOST_HITS}"
        return [row[0] for row in self.db.execute(sql, (match, project))]


@contextmanager
def plain_order(plain: PlainIndex, project: str) -> Iterator[None]:
    """Let `mem_search` answer with the hits of a plain index; rendering, fitting and footers stay as they are."""
    ours = search.search

    def ordered(memory: Any, text: str, chosen: Any, **_: object) -> Found:
        held = search.by_ids(memory, plain.best(text, project))
        hits = tuple(Hit(each, 1.0 / rank, ()) for rank, each in enumerate(held, 1))
        found = ours(memory, text, chosen, limit=1)
        return Found(parse_query(text), chosen, found.match, hits, (), len(hits))

    search.search = ordered
    try:
        yield
    finally:
        search.search = ours


def asking(caller: Caller, level: str, plain: PlainIndex | None = None) -> Ask:
    """Ask through `mem_search`, with our order or a plain one."""

    def ask(question: Question, budget: int) -> tuple[set[int], int]:
        arguments = {"query": question.text, "project": question.project, "max_tokens": budget, "limit": MOST_HITS}
        with plain_order(plain, question.project) if plain else nullcontext():
            reply = call(caller, "mem_search", {**arguments, "detail_level": level})
        return {int(found) for found in re.findall(r"^#(\d+) ", reply.text, re.MULTILINE)}, reply.tokens

    return ask


def asking_for_a_pack(caller: Caller) -> Ask:
    """Ask for a pack as it is pasted; its sections carry no ids, so the evidence is looked for by its content."""

    def ask(question: Question, budget: int) -> tuple[set[int], int]:
        arguments = {"query": question.text, "project": question.project, "max_tokens": budget}
        reply = call(caller, "context_pack", {**arguments, "candidates": MOST_HITS}, Options(footer=False))
        evidence = search.by_ids(caller.memory, sorted(question.evidence))
        return {each.id for each in evidence if f"{passage(each.content)}\n" in f"{reply.text}\n"}, reply.tokens

    return ask


def measured(name: str, ask: Ask, questions: Sequence[Question]) -> Row:
    """One method asked every question at every budget."""
    row = Row(name)
    for budget in BUDGETS:
        total = 0.0
        start = time.perf_counter()
        for question in questions:
            found, tokens = ask(question, budget)
            row.over += tokens > budget
            total += len(question.evidence & found) / len(question.evidence)
        row.milliseconds.append(1000 * (time.perf_counter() - start) / max(len(questions), 1))
        row.recall.append(100 * total / max(len(questions), 1))
    return row


def rows_of(held: QuestionSet, modes: Sequence[str], model: str) -> dict[str, list[Row]]:
    """Mode -> its rows on one set."""
    understanding = None if model == "off" else held.with_model(model)
    rows: dict[str, list[Row]] = {}
    for mode in modes:
        level = "full" if mode == "whole" else "standard"
        methods = {PLAIN: asking(held.caller, level, held.plain), OURS: asking(held.caller, level)}
        if mode == "whole":
            methods[PACK] = asking_for_a_pack(held.caller)
        if understanding is not None:
            methods[MODEL] = asking(understanding, level)
        rows[mode] = [measured(name, ask, held.questions) for name, ask in methods.items()]
    if understanding is not None:
        understanding.app.close()
    return rows


def report(name: str, mode: str, rows: Iterable[Row]) -> None:
    """The rows of one set as lines of the table."""
    for row in rows:
        cells = "".join(f"{value:>8.1f}" for value in row.recall)
        spent = sum(row.milliseconds) / len(row.milliseconds)
        print(f"{name:<16}{mode:<9}{row.method:<20}{cells}{spent:>9.1f}{row.over:>6}", flush=True)


def claims(tables: dict[str, dict[str, list[Row]]]) -> Iterator[str]:
    """What the run supports: the least lead over plain BM25 on any set, apart from what was tuned on."""
    sets = {name: modes for name, modes in tables.items() if name not in TUNED_ON}
    for mode in ("whole", "snippet"):
        for place, budget in enumerate(BUDGETS):
            leads = [
                _recall(modes[mode], OURS)[place] - _recall(modes[mode], PLAIN)[place]
                for modes in sets.values()
                if mode in modes
            ]
            if leads:
                what = f"least lead over plain BM25 on {len(leads)} sets, {mode} observations, {budget:,} tokens"
                yield f"claim: {what} | {min(leads):.1f} | at least 0 | points"
    over = sum(row.over for modes in tables.values() for rows in modes.values() for row in rows)
    yield f"claim: replies over their budget | {over} | at most 0 | replies"


def _recall(rows: Sequence[Row], method: str) -> list[float]:
    return next(row.recall for row in rows if row.method == method)


def plot(tables: dict[str, dict[str, list[Row]]], path: str) -> None:
    """Recall against budget, one panel for each set, whole observations; skipped without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("(no plot: matplotlib is not installed)")
        return
    panels = {name: modes.get("whole") or modes["snippet"] for name, modes in tables.items()}
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure, grid = pyplot.subplots(lines, columns, figsize=(4.2 * columns, 3.4 * lines), squeeze=False, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    for axes, (name, rows) in zip(grid.flat, panels.items(), strict=False):
        for row in rows:
            axes.plot(BUDGETS, row.recall, marker="o", label=row.method)
        axes.set_xscale("log", base=2)
        axes.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
        axes.set_title(name)
        axes.grid(alpha=0.3)
        axes.set_ylabel("evidence inside the reply, %")
        axes.legend(loc="lower right", fontsize="small")
    figure.tight_layout()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"plot: {path}")


def sets_at(path: str) -> dict[str, list[dict[str, Any]]]:
    """Set name -> its conversations: one file, every file of a folder, or the built-in samples."""
    if not path:
        return {name: [_sample(name)] for name in SAMPLES}
    files = sorted(glob.glob(os.path.join(path, "*.json"))) if os.path.isdir(path) else [path]
    found = {}
    for file in files:
        with open(file, encoding="utf-8") as opened:
            found[os.path.basename(file).removesuffix(".json")] = json.load(opened)["conversations"]
    return found


def _sample(name: str) -> dict[str, Any]:
    turns = [dict(zip(("id", "s", "date", "who", "text"), turn, strict=True)) for turn in SAMPLES[name]]
    return {"id": name, "turns": turns, "qa": [{"q": q, "cat": 1, "ev": ev} for q, ev in SAMPLE_QUESTIONS[name]]}


def _moment(text: str) -> int:
    found = datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return int(found.timestamp()) * 1_000_000


def main(typed: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--data", default=os.environ.get("HAVERSACK_DATA", ""), help="a folder of sets, or one file")
    parser.add_argument("--sets", default="", help="names of sets, separated by commas; default all")
    parser.add_argument("--questions", type=int, default=None, metavar="N", help="at most N of a set, evenly spread")
    parser.add_argument("--mode", choices=("whole", "snippet", "both"), default="both")
    parser.add_argument("--model", default="", help='a model of meaning, as memory.model; "off" leaves meaning out')
    parser.add_argument("--quick", action="store_true", help="the built-in samples only")
    parsed = parser.parse_args(typed)
    sets = sets_at("" if parsed.quick else parsed.data)
    chosen = parsed.sets.split(",") if parsed.sets else list(sets)
    if not parsed.data and not parsed.quick:
        print("HAVERSACK_DATA names no question sets; the built-in samples only show that everything runs.")
    modes = ("whole", "snippet") if parsed.mode == "both" else (parsed.mode,)
    tables: dict[str, dict[str, list[Row]]] = {}
    print(f"{'set':<16}{'shown':<9}{'method':<20}" + "".join(f"{budget:>8}" for budget in BUDGETS) + "     ms  over")
    with tempfile.TemporaryDirectory() as home:
        for name in chosen:
            held = QuestionSet(name, sets[name], home, parsed.questions)
            tables[name] = rows_of(held, modes, "off" if parsed.quick else parsed.model)
            held.caller.app.close()
            for mode, rows in tables[name].items():
                report(name, mode, rows)
            print(f"  ({held.observations:,} observations, {len(held.questions):,} questions)")
    print()
    for claim in claims(tables):
        print(claim)
    if not parsed.quick and parsed.data:
        plot(tables, os.path.join(os.path.dirname(os.path.abspath(__file__)), "out", "recall.png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
