"""A small memory as a team would have it, for the page."""

import json
from typing import Any

from haversack.app import App
from haversack.tools.road.call import call

MEMORIES: tuple[tuple[str, str, str, str, list[str], float], ...] = (
    ("decision", "Tokens rotate hourly", "We chose JWT with RS256. Keys rotate every hour; the signing key lives in the key store, never in the environment.\n\nWhy: a stolen key is worth an hour.\nWhere: auth/keys.ts", "shop", ["auth", "jwt"], 0.9),
    ("bugfix", "Token rotation raced with slow requests", "Requests that started before a rotation and verified after it were refused with 401. Fixed by keeping the previous key valid for two minutes (`previousKeyGrace` in auth/keys.ts) and adding a test that rotates in the middle of a request.", "shop", ["auth"], 0.8),
    ("pattern", "Every handler returns a Result", "Handlers return Result<T, Problem> and never throw. The router turns a Problem into a status. Thrown errors are bugs and page somebody.", "shop", ["style"], 0.6),
    ("config", "Database pool is 20 per pod", "PgBouncer in transaction mode on port 6543; 20 connections per pod, 5 pods. More than 120 in all and the database swaps.", "shop", ["db", "ops"], 0.7),
    ("preference", "Small pull requests, squash merge", "Reviewers asked for at most 300 changed lines. The title says what is now true.", "shop", ["team"], 0.5),
    ("discovery", "The search index lags by four seconds", "Writes reach OpenSearch through the outbox; p95 is 4 s. Tests must poll, not sleep.", "shop", ["search"], 0.5),
    ("decision", "Prices are integers in the smallest unit", "Floating point lost a cent in 0.3 % of baskets. All amounts are integers; the currency decides the exponent (JPY has none).", "shop", ["money"], 0.9),
    ("bugfix", "Basket emptied on login", "The anonymous basket was dropped when the session id changed. Baskets are merged now, newest quantity wins.", "shop", ["basket"], 0.6),
    ("architecture", "Outbox instead of dual writes", "Every change writes an event into the outbox table in the same transaction; a relay publishes it. No service writes to two places.", "shop", ["events"], 0.8),
    ("decision", "Chapter 3 uses the 2024 survey", "The 2019 survey counts households, the 2024 one persons; only the latter can be compared with the census.", "thesis", ["method"], 0.8),
    ("fact", "Sample size after cleaning is 1,847", "2,310 answers, minus 201 incomplete, 198 duplicates and 64 outside the region.", "thesis", ["data"], 0.7),
    ("procedure", "How to rebuild the figures", "make figures runs R/plots.R with the frozen data of 12 March; seeds are set in the script.", "thesis", ["figures"], 0.5),
    ("learning", "LaTeX floats need [htbp]", "With [h] alone the figure moves to the end of the chapter.", "thesis", ["latex"], 0.3),
    ("discovery", "我们的日志时区是 UTC+8", "生产日志写的是本地时间，不是 UTC。比对事件时要减去八小时。", "shop", ["ops"], 0.5),
)  # fmt: skip
DAYS = 86_400_000_000


def fill(app: App, clock: Any) -> list[int]:
    """Save the sample, spread over some weeks, and give its ids."""
    caller = app.caller(account="", directory=app.config.home)

    def run(name: str, **arguments: Any) -> Any:
        return json.loads(call(caller, name, {**arguments, "format": "json"}).text)

    ids = []
    session = {}
    for number, (kind, title, content, project, tags, importance) in enumerate(MEMORIES):
        clock.advance(days=2.6)
        if number % 3 == 0 or project not in session:
            session[project] = f"{project}-{number}"
            run("mem_session_start", project=project, id=session[project])
        saved = run(
            "mem_save", kind=kind, title=title, content=content, project=project, tags=tags, importance=importance,
            session_id=session[project],
        )  # fmt: skip
        ids.append(int(saved["id"]))
        clock.advance(minutes=45)
    run("mem_relate", from_id=ids[1], to_id=ids[0], relation_type="fixes", note="found in the load test")
    run("mem_update", id=ids[0], pinned=True, verification="verified")
    run("mem_update", id=ids[12], status="pending")
    run("mem_update", id=ids[5], verification="disputed")
    run(
        "mem_update",
        id=ids[3],
        content="PgBouncer in transaction mode on port 6543; 25 connections per pod, 5 pods.\nMore than 130 in all and the database swaps.",
    )
    run("mem_delete", id=ids[7])
    handle = run("budget_open", total=60_000)["account"]["handle"]
    run("budget_open", total=12_000, parent=handle)
    agent = app.caller(account=handle, directory=app.config.home)
    for query in ("token rotation", "database pool", "prices", "survey", "events", "search index", "basket", "auth"):
        clock.advance(minutes=3)
        call(agent, "mem_search", {"query": query, "max_tokens": 700})
        call(agent, "mem_context", {"max_tokens": 1_500})
    return ids
