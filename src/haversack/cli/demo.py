"""`demo`: the main job in a minute, on a small realistic store in a temporary place."""

import tempfile

from haversack import terminal
from haversack.app import Caller, open_caller
from haversack.argument_parser import plain_parser
from haversack.cli.tool_command import tally
from haversack.config import Config
from haversack.tools.road.call import Options, call

PROJECT = "orchard"

MEMORIES = """
Sessions use JWT with RS256 | decision | auth,jwt | 0.9
We sign access tokens with RS256 and rotate the signing key every hour; refresh tokens live 14 days in an
HttpOnly cookie. HS256 was rejected: every service would need the shared secret. The public keys are served at
/.well-known/jwks.json and cached for ten minutes.

Token rotation raced with slow requests | bugfix | auth,jwt | 0.7
Requests that started before a rotation and verified after it were refused with 401. Fixed by keeping the
previous key valid for two minutes (`previousKeyGrace` in auth/keys.ts) and adding a test that rotates mid-request.

Postgres listens on 6543 behind pgbouncer | config | database | 0.6
The app connects to pgbouncer on port 6543 (transaction mode), not to Postgres on 5432. Prepared statements
must be off: set `statement_cache_size=0`.

Invoices are rounded per line, not per total | decision | billing | 0.8
The accountants asked for rounding each line to cents before summing (bankers' rounding). Totals therefore
differ by up to a few cents from the spreadsheet; that is expected and documented for support.

Run the importer with --batch 500 | procedure | importer,operations | 0.5
Batches over 1,000 rows exceed the 30 s statement timeout on the small instance. 500 is safe. Resume a failed
run with `--from-checkpoint`; checkpoints are kept for seven days in importer_state.

Prefers small pull requests | preference | team | 0.4
Mira reviews faster when a change is under 300 lines and has the screenshots in the description.

Search falls back to trigram matching | architecture | search | 0.6
Full-text search answers first; under three results we add trigram similarity above 0.35. Measured on the
support queries of May: found 94 % instead of 81 %, 12 ms slower at the median.

Staging deploys from main every night | fact | deploy | 0.5
The nightly job at 02:00 UTC deploys main to staging and runs the smoke tests; production is deployed by hand
with `make release` after the changelog is written.

Redis is only a cache | decision | architecture,cache | 0.7
Nothing may live in Redis alone: it is flushed on every release. Rate limits and sessions are in Postgres.

Flaky test: checkout shows the discount | discovery | tests | 0.4
It fails when the clock crosses midnight UTC between the two requests. Freeze the time in `checkoutFixture`.
"""

QUESTION = "how did we do the jwt auth"


def run(typed: list[str]) -> int:
    """Seed a store, search and pack it at two budgets, and show how to get the rest."""
    plain_parser("demo", "Show the main job on a small store in a temporary place.").parse_args(typed)
    with tempfile.TemporaryDirectory(prefix="haversack-demo-") as home:
        caller = open_caller(Config(home=home), directory=home)
        try:
            _show(caller)
        finally:
            caller.app.close()
    return 0


def _show(caller: Caller) -> None:
    saved = memories()
    for arguments in saved:
        call(caller, "mem_save", arguments)
    terminal.show(f"A store with {len(saved)} memories of the project {PROJECT!r}, in a temporary place.")
    for budget in (120, 400):
        _step(f'haversack search "{QUESTION}" --token-budget {budget}')
        reply = call(caller, "mem_search", {"query": QUESTION, "max_tokens": budget})
        terminal.show(reply.text)
    if reply.left:
        _step(f"haversack more {reply.left.key} --token-budget 300")
        terminal.show(call(caller, "more", {"key": reply.left.key, "max_tokens": 300}).text)
    for budget in (250, 700):
        _step(f"haversack context-pack --project {PROJECT} --tokens {budget}")
        pack = call(caller, "context_pack", {"project": PROJECT, "max_tokens": budget}, Options(footer=False))
        terminal.show(pack.text)
        if pack.left:
            terminal.show(f"(on standard error: {tally(pack, 'memories')})")
    _compare(reply.text)
    _step("connect a client")
    terminal.show(CONNECT)


def memories() -> list[dict[str, object]]:
    """The demo's memories as arguments of `mem_save`."""
    return [_arguments(text) for text in MEMORIES.strip().split("\n\n")]


def _arguments(text: str) -> dict[str, object]:
    head, *lines = text.split("\n")
    title, kind, tags, importance = head.split(" | ")
    return {
        "title": title,
        "kind": kind,
        "tags": tags.split(","),
        "importance": float(importance),
        "content": " ".join(lines),
        "project": PROJECT,
    }


CONNECT = """This machine: haversack install      # finds Claude Code, Codex, Gemini CLI, ... and connects them
By hand:      claude mcp add haversack -s user -- haversack serve
Any client:   {"mcpServers": {"haversack": {"command": "haversack", "args": ["serve"]}}}
More clients: docs/clients.md"""


def _compare(text: str) -> None:
    from haversack.tokens import PROFILES

    counts = ", ".join(f"{name} {profile.count(text)}" for name, profile in PROFILES.items())
    _step("one reply under each way of counting tokens")
    terminal.show(counts)


def _step(line: str) -> None:
    terminal.show(f"\n$ {line}" if line.startswith("haversack") else f"\n# {line}")
