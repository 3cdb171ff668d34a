"""`memory_figures`: what is stored, by week, kind and project."""

from haversack.app import Caller
from haversack.memory.statistics import figures
from haversack.text.times import date
from haversack.tools.declaration import tool
from haversack.tools.road.outcomes import Block, Facts, Outcome, Result
from haversack.tools.shared_parameters import ProjectFilter


@tool(group="terminal", title="Figures of the memory")
def memory_figures(caller: Caller, *, project: ProjectFilter = "") -> Outcome:
    """Tokens stored by week, kind and project, the newest week first."""
    rows = figures(caller.memory, project=project)
    blocks = [
        _block(f"{date(row.week)} {row.kind} {row.project or '(none)'}", {
            "week": date(row.week), "kind": row.kind, "project": row.project, "count": row.count, "tokens": row.tokens,
        })
        for row in rows
    ]  # fmt: skip
    tokens = sum(row.tokens for row in rows)
    return Result(
        blocks=blocks,
        noun="figures",
        total=len(blocks),
        empty="Nothing is stored yet.",
        facts={"tokens_in_all": tokens},
        brief=f"{tokens:,} tokens in {len(blocks)} figures",
    )


def _block(name: str, facts: Facts) -> Block:
    line = f"{name}: {facts['count']:,} observations, {facts['tokens']:,} tokens"
    return Block(name, lambda _: line, lambda _: facts)
