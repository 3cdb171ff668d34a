"""What hooks cost and give: their start beside Python's own, tokens per session, and which prompts get memories.

Prompts are replayed over a store: those that ask for something remembered, and those that do not. For each threshold of
relevance it says at what share of prompts something is injected, and how much of that is about the prompt. `--data`
replays a file of LoCoMo conversations (questions with the turns that answer them; other people's questions are the
prompts that ask for nothing remembered) in place of the small project below.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.hosts.hooks.relevance import related
from haversack.memory.save.pipeline import Draft, save
from haversack.tokens import count_tokens

THRESHOLDS = (15, 25, 35, 45, 55, 65, 75)
MEMORIES = (
    ("Signing tokens rotate hourly", "The JWT signing key rotates every hour; the old key stays valid for two."),
    ("Uploads need an idempotency key", "Retried uploads made duplicates in the bucket until each carried a key."),
    ("Staging before production", "Every deploy waits a day in staging; Friday deploys are not done."),
    ("Postgres over MySQL", "Chosen for partial indexes and row-level security on the tenants table."),
    ("The flaky calendar test", "test_calendar fails near midnight UTC because it reads the local clock twice."),
    ("Invoices are rounded per line", "Accounting wants each invoice line rounded half up, then summed."),
    ("Rate limit of the mail provider", "The provider refuses more than 10 mails a second; the queue sends 8."),
    ("Search index is rebuilt nightly", "The product search index is rebuilt at 02:00; partial updates drifted."),
    ("Feature flags live in the database", "Flags are rows cached for 30 seconds, not environment variables."),
    ("Avatars are stored as WebP", "Avatars are converted to WebP at 256 pixels on upload; originals are dropped."),
)
ASKED: tuple[tuple[str, int | None], ...] = (
    ("users are logged out after an hour, is it the signing key that rotates?", 0),
    ("how long does an old JWT key stay valid after rotation", 0),
    ("we see duplicates in the bucket when uploads are retried", 1),
    ("add retries to the upload client", 1),
    ("can we deploy to production this Friday?", 2),
    ("why did we choose Postgres and not MySQL for the tenants table", 3),
    ("test_calendar failed again in CI near midnight", 4),
    ("the invoice total differs by a cent from the sum of its lines", 5),
    ("mails are delayed, what is the rate limit of the provider?", 6),
    ("product search shows a stale price until the index is rebuilt", 7),
    ("add a feature flag for the new checkout", 8),
    ("avatars look blurry at 512 pixels", 9),
    ("yes, go on", None), ("run the tests", None), ("fix the typo in the footer of the page", None),
    ("rename the variable to something clearer", None), ("write a docstring for this function", None),
    ("commit this with a good message", None), ("what does this regular expression match?", None),
    ("make the button green", None), ("explain the difference between a list and a tuple", None),
    ("update the copyright year in every file", None), ("why is the sky blue in this picture", None),
    ("split this file into two modules", None),
)  # fmt: skip


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer starts")
    parser.add_argument("--data", metavar="FILE", help="conversations of LoCoMo to replay")
    parser.add_argument("--conversations", type=int, default=3, help="how many of them")
    parsed = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory() as folder:
        starts(folder, 3 if parsed.quick else 15)
    print("\nprompts replayed; `about` is the share of injected memories that are about the prompt")
    print(f"{'threshold':>9} {'asking':>8} {'others':>8} {'about':>8} {'tokens':>8}")
    replays = list(conversations(parsed.data, parsed.conversations)) if parsed.data else [(MEMORIES, ASKED)]
    rows = list(replayed(replays))
    for row in rows:
        print(row)
    shares = {row.split()[0]: [int(each.rstrip("%")) for each in row.split()[1:3]] for row in rows}
    asking, others = shares[f"{Config(home='').hooks.relevance}%"]
    print(f"claim: prompts about something remembered that get it | {asking} | at least 50 | %")
    print(f"claim: other prompts at which something is injected | {others} | at most 5 | %")
    return 0


def starts(folder: str, rounds: int) -> None:
    """The processor time of a hook beside that of Python alone, and the tokens of a session."""
    home = str(Path(folder) / "home")
    fill(opened(home, folder), MEMORIES)
    environment = {**os.environ, "HAVERSACK_HOME": home}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or sources that were changed would be compiled at every start
    program = [sys.executable, "-m", "haversack"]
    commands = {
        "python -c pass": ([sys.executable, "-c", "pass"], ""),
        "haversack search": ([*program, "search", "signing key"], ""),
    }
    for event, prompt in (("session-start", ""), ("prompt", ASKED[1][0]), ("stop", "")):
        payload = json.dumps({"session_id": "{n}", "cwd": folder, "prompt": prompt})
        commands[f"hook {event}"] = ([*program, "hook", event, "--client", "claude-code"], payload)
    took: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, (command, sent) in commands.items():
            began = _spent()
            text = sent.replace("{n}", f"s{number}-{name[-4:]}").encode()
            subprocess.run(command, input=text, capture_output=True, cwd=folder, env=environment, check=False)
            if number:
                took[name].append(_spent() - began)
    least = min(took["python -c pass"])
    print("processor time, the best of the turns")
    for name, times in took.items():
        print(f"{name:<20} {1_000 * min(times):7.0f} ms  {min(times) / least:5.1f} x python")
    slowest = max(min(times) for name, times in took.items() if name.startswith("hook"))
    ratio = slowest / min(took["haversack search"])
    print(f"claim: the slowest hook, beside haversack search | {ratio:.2f} | at most 1.5 | : 1")
    tokens = 0
    for event, prompt in [("session-start", ""), *(("prompt", text) for text, _ in ASKED)]:
        sent = json.dumps({"session_id": "whole", "cwd": folder, "prompt": prompt, "source": "startup"})
        command = [*program, "hook", event, "--client", "codex"]
        run = subprocess.run(command, input=sent.encode(), capture_output=True, env=environment, check=False)
        tokens += count_tokens(_injected(run.stdout)) if run.stdout else 0
    print(f"\ninjected in a session of {len(ASKED)} prompts: {tokens:,} tokens")


def _spent() -> float:
    """Seconds of processor time that programs started here have used; a busy machine does not change it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _injected(printed: bytes) -> str:
    return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"])


def opened(home: str, folder: str) -> Caller:
    return open_caller(Config(home=home), directory=folder)


def fill(caller: Caller, memories: Sequence[tuple[str, str]]) -> list[int]:
    """Save the memories and return their ids."""
    return [save(caller.memory, Draft(title=title, content=content)).id for title, content in memories]


def replayed(replays: Sequence[tuple[Sequence[tuple[str, str]], Sequence[tuple[str, Any]]]]) -> Iterator[str]:
    """A row for each threshold."""
    judged: list[tuple[bool, list[tuple[float, bool, int]]]] = []
    for memories, prompts in replays:
        with tempfile.TemporaryDirectory() as folder:
            caller = opened(str(Path(folder) / "home"), folder)
            places = {identifier: place for place, identifier in enumerate(fill(caller, memories))}
            for prompt, about in prompts:
                wanted = {about} if isinstance(about, int) else set(about or ())
                found = related(caller.memory, prompt, caller.memory.project(), least=0.01)
                judged.append((bool(wanted), [
                    (each.share, places[each.observation.id] in wanted, count_tokens(each.observation.content))
                    for each in found
                ]))  # fmt: skip
            caller.app.close()
    for threshold in THRESHOLDS:
        kept = [(asks, [each for each in found if each[0] >= threshold / 100]) for asks, found in judged]
        asking = [bool(found) for asks, found in kept if asks]
        others = [bool(found) for asks, found in kept if not asks]
        given = [each for _, found in kept for each in found]
        about = sum(is_about for _, is_about, _ in given) / len(given) if given else 1.0
        tokens = sum(cost for _, _, cost in given) / len(kept)
        yield (
            f"{threshold:>8}% {_percent(asking):>8} {_percent(others):>8} {100 * about:>7.0f}% {tokens:>8.0f}"
        )  # fmt: skip


def _percent(held: Sequence[bool]) -> str:
    return f"{100 * sum(held) / len(held):.0f}%" if held else "-"


def conversations(path: str, count: int) -> Iterator[tuple[list[tuple[str, str]], list[tuple[str, Any]]]]:
    """Conversations as memories, one for each turn, with their questions and as many of the next conversation."""
    held = json.loads(Path(path).read_text(encoding="utf-8"))["conversations"]
    for place in range(min(count, len(held))):
        turns = held[place]["turns"]
        numbers = {turn["id"]: number for number, turn in enumerate(turns)}
        memories = [(f"{turn['who']}: {turn['text'][:70]}", f"{turn['who']}: {turn['text']}") for turn in turns]
        own = [
            (each["q"], [numbers[name] for name in each["ev"] if name in numbers]) for each in _questions(held[place])
        ]
        foreign = [(each["q"], None) for each in _questions(held[(place + 1) % len(held)])]
        yield memories, [*own[:60], *foreign[:60]]


def _questions(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in conversation["qa"] if each.get("ev") and each.get("cat") != 5]


if __name__ == "__main__":
    sys.exit(main())
