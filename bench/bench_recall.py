"""How much of the evidence a question needs is inside a reply of N tokens.

Reads a question set with evidence labels (`HAVERSACK_DATA`, or `--data`), stores every turn of every dialogue as an
observation, asks each question at each budget, and prints the share of evidence turns that are inside the reply,
beside two baselines in the same run: every word required and a stop at the first item that does not fit (as many
memory servers do), and plain any-word BM25 over the same rows.

The file: {"categories": {"1": name}, "conversations": [{"id", "turns": [{"id", "s", "date", "who", "text"}],
"qa": [{"q", "cat", "ev": [turn ids]}]}]}. Without a file a small built-in set shows that everything runs.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import apsw

from haversack.app import Caller, open_caller
from haversack.config import Config, MemorySettings
from haversack.memory.meaning import similarity
from haversack.memory.search.query import STOP_WORDS
from haversack.tokens import count_tokens
from haversack.tools.road.call import call

BUDGETS = (250, 500, 1000, 2000, 4000)
MEANING = "mem_search + semantic"
AIMS = {"mem_search": (72, 80, 85, 90, 93), MEANING: (75, 83, 88, 92, 95)}
"""On the long dialogues of LoCoMo; another set has other figures."""
SAMPLE = {
    "categories": {"1": "sample"},
    "conversations": [
        {
            "id": "sample",
            "turns": [
                {"id": "D1:1", "s": 1, "date": "1:56 pm on 8 May, 2023", "who": "Ana", "text": "How was the regatta?"},
                {
                    "id": "D1:2",
                    "s": 1,
                    "date": "1:56 pm on 8 May, 2023",
                    "who": "Ben",
                    "text": "We came third, in the rain!",
                },
                {
                    "id": "D2:1",
                    "s": 2,
                    "date": "9:10 am on 2 June, 2023",
                    "who": "Ana",
                    "text": "I adopted a beagle called Miro.",
                },
            ],
            "qa": [
                {"q": "What is the name of Ana's dog?", "cat": 1, "ev": ["D2:1"]},
                {"q": "How did Ben do at the regatta?", "cat": 1, "ev": ["D1:2"]},
            ],
        }
    ],
}
Ask = Callable[[str, str, int], tuple[set[int], int]]


def moment(text: str) -> int:
    """A dialogue's date in microseconds since 1970."""
    found = datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return int(found.timestamp()) * 1_000_000


def fill(caller: Caller, clock: list[int], conversations: Iterable[dict[str, Any]]) -> dict[tuple[str, str], int]:
    """Store every turn; the observation's id by conversation and turn."""
    ids = {}
    for conversation in conversations:
        project = conversation["id"]
        for order, turn in enumerate(conversation["turns"]):
            clock[0] = moment(turn["date"]) + order
            saved = call(
                caller,
                "mem_save",
                {
                    "title": turn["who"],
                    "content": turn["text"] or "(no words)",
                    "project": project,
                    "session_id": f"{project}-{turn['s']}",
                    "format": "json",
                },
            )
            ids[project, turn["id"]] = json.loads(saved.text)["id"]
    return ids


def shown_ids(text: str) -> set[int]:
    """The observations a reply shows."""
    return {int(found) for found in re.findall(r"^#(\d+) ", text, re.MULTILINE)}


def asking(caller: Caller, tool: str, **extra: object) -> Ask:
    def ask(question: str, project: str, budget: int) -> tuple[set[int], int]:
        reply = call(caller, tool, {"query": question, "project": project, "max_tokens": budget, **extra})
        return shown_ids(reply.text), reply.tokens

    return ask


def asking_for_a_pack(caller: Caller) -> Ask:
    def ask(question: str, project: str, budget: int) -> tuple[set[int], int]:
        arguments = {"query": question, "project": project, "max_tokens": budget, "candidates": 200, "format": "json"}
        reply = call(caller, "context_pack", arguments)
        return {held["id"] for held in json.loads(reply.text)["memories"]}, reply.tokens

    return ask


class Baseline:
    """Full text as others do it: one FTS5 table, whole items in rank order."""

    def __init__(self, conversations: Iterable[dict[str, Any]], ids: dict[tuple[str, str], int]) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.execute("CREATE VIRTUAL TABLE t USING fts5 (body, project UNINDEXED, tokenize='porter unicode61')")
        self.cost = {}
        for conversation in conversations:
            for turn in conversation["turns"]:
                row = ids[conversation["id"], turn["id"]]
                line = f"#{row} [{turn['date']}] {turn['who']}: {turn['text']}\n"
                self.cost[row] = count_tokens(line)
                self.db.execute(
                    "INSERT INTO t (rowid, body, project) VALUES (?, ?, ?)",
                    (row, f"{turn['who']}: {turn['text']}", conversation["id"]),
                )

    def rows(self, words: list[str], joint: str, project: str) -> list[int]:
        if not words:
            return []
        match = joint.join(f'"{word}"' for word in words)
        sql = "SELECT rowid FROM t WHERE t MATCH ? AND project = ? ORDER BY rank LIMIT 300"
        return [row[0] for row in self.db.execute(sql, (match, project))]

    def every_word(self, question: str, project: str, budget: int) -> tuple[set[int], int]:
        """Every word required, and a stop at the first item that does not fit."""
        chosen, used = set(), 0
        for row in self.rows(re.findall(r"\w+", question), " AND ", project):
            if used + self.cost[row] > budget:
                break
            chosen.add(row)
            used += self.cost[row]
        return chosen, used

    def any_word(self, question: str, project: str, budget: int) -> tuple[set[int], int]:
        """Plain BM25 over any word, stop words out, skipping what does not fit."""
        words = [word for word in re.findall(r"\w+", question.lower()) if word not in STOP_WORDS]
        chosen, used = set(), 0
        for row in self.rows(words, " OR ", project):
            if used + self.cost[row] <= budget:
                chosen.add(row)
                used += self.cost[row]
        return chosen, used


def measure(ask: Ask, questions: list[dict[str, Any]], budget: int) -> tuple[dict[int, list[float]], float, int]:
    """Recall per category, seconds per question, and how many replies were over the budget."""
    recalls: dict[int, list[float]] = defaultdict(list)
    over = 0
    start = time.perf_counter()
    for question in questions:
        found, tokens = ask(question["q"], question["project"], budget)
        over += tokens > budget
        evidence = question["evidence"]
        recalls[question["cat"]].append(len(evidence & found) / len(evidence))
    return recalls, (time.perf_counter() - start) / max(len(questions), 1), over


def mean(values: Iterable[float]) -> float:
    held = list(values)
    return 100 * sum(held) / len(held) if held else 0.0


def plot(figures: dict[str, list[float]], path: str) -> None:
    """Recall against budget, one line per method; skipped where matplotlib is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("(no plot: matplotlib is not installed)")
        return
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for name, values in figures.items():
        axes.plot(BUDGETS, values, marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
    axes.set_ylim(0, 100)
    axes.set_xlabel("tokens in the reply")
    axes.set_ylabel("evidence inside the reply, %")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"plot: {path}")


def main(typed: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--data", default=os.environ.get("HAVERSACK_DATA", ""))
    parser.add_argument("--quick", action="store_true", help="a few questions only")
    parser.add_argument("--conversations", type=int, default=None, metavar="N", help="the first N only")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth question only")
    parsed = parser.parse_args(typed)
    data: dict[str, Any] = SAMPLE
    if parsed.data:
        with open(parsed.data, encoding="utf-8") as file:
            data = json.load(file)
    elif not parsed.quick:
        print("HAVERSACK_DATA names no question set; the built-in sample only shows that everything runs.")
    conversations = data["conversations"][: 1 if parsed.quick else parsed.conversations]
    with tempfile.TemporaryDirectory() as home:
        clock = [0]
        # Words alone, as most people will have it; what an installed model of meaning adds is a line of its own.
        words_alone = Config(home=home, memory=MemorySettings(semantic="off"))
        caller = open_caller(words_alone, directory=home, now=lambda: clock[0])
        ids = fill(caller, clock, conversations)
        questions = [
            {
                **asked,
                "project": held["id"],
                "evidence": {ids[held["id"], turn] for turn in asked["ev"] if (held["id"], turn) in ids},
            }
            for held in conversations
            for asked in held["qa"]
        ]
        questions = [asked for asked in questions if asked["evidence"]][:: parsed.every]
        questions = questions[: 40 if parsed.quick else None]
        print(f"{len(ids)} turns, {len(questions)} questions\n")
        understanding: Caller | None = open_caller(Config(home=home), directory=home, now=lambda: clock[0])
        if understanding and similarity.model_of(understanding.memory):
            start = time.perf_counter()
            done = similarity.reembed(understanding.memory)
            spent = 1000 * (time.perf_counter() - start) / max(done.embedded, 1)
            print(f"meaning by {done.model}, {spent:.1f} ms to embed a turn\n")
        else:
            understanding = None
        baseline = Baseline(conversations, ids)
        is_whole = bool(parsed.data) and not parsed.quick
        report(caller, understanding, baseline, questions, data["categories"], is_whole=is_whole)
        caller.app.close()
    return 0


def report(
    caller: Caller,
    understanding: Caller | None,
    baseline: Baseline,
    questions: list[dict[str, Any]],
    categories: dict[str, str],
    *,
    is_whole: bool,
) -> None:
    methods: dict[str, Ask] = {
        "every word, first stop": baseline.every_word,
        "any word, BM25": baseline.any_word,
        "mem_search": asking(caller, "mem_search", limit=200),
        "context_pack": asking_for_a_pack(caller),
    }
    if understanding is not None:
        methods[MEANING] = asking(understanding, "mem_search", limit=200)
    figures: dict[str, list[float]] = {}
    print(f"{'method':<24}" + "".join(f"{budget:>8}" for budget in BUDGETS) + "   ms/question   over budget")
    detail: dict[str, list[dict[int, list[float]]]] = {}
    for name, ask in methods.items():
        measured = [measure(ask, questions, budget) for budget in BUDGETS]
        figures[name] = [mean(value for held in recalls.values() for value in held) for recalls, _, _ in measured]
        detail[name] = [recalls for recalls, _, _ in measured]
        seconds = sum(each for _, each, _ in measured) / len(measured)
        over = sum(count for _, _, count in measured)
        print(
            f"{name:<24}" + "".join(f"{value:>8.1f}" for value in figures[name]) + f"{1000 * seconds:>14.1f}{over:>14}"
        )
    for name in methods:
        if name.startswith(("mem_search", "context_pack")):
            print(f"\n{name} by category")
            for key, label in categories.items():
                cells = [mean(recalls.get(int(key), [])) for recalls in detail[name]]
                print(f"  {label:<22}" + "".join(f"{value:>8.1f}" for value in cells))
    ratio = figures["mem_search"][2] / max(figures["any word, BM25"][2], 0.1)
    print(f"\nrecall at 1000 tokens, mem_search : plain BM25 = {ratio:.2f} : 1")
    if MEANING in figures:
        gains = [ours - words for ours, words in zip(figures[MEANING], figures["mem_search"], strict=True)]
        print("what meaning adds".ljust(24) + "".join(f"{gain:>+8.1f}" for gain in gains))
    print(f"claim: evidence inside 1,000 tokens, beside plain BM25 | {ratio:.2f} | at least 1.25 | : 1")
    for name, aims in AIMS.items() if is_whole else ():
        for budget, figure, aim in zip(BUDGETS, figures.get(name, ()), aims, strict=False):
            print(f"claim: {name}, evidence inside {budget:,} tokens | {figure:.1f} | at least {aim} | %")
    if is_whole:
        plot(figures, os.path.join(os.path.dirname(os.path.abspath(__file__)), "out", "recall.png"))


if __name__ == "__main__":
    sys.exit(main())
