"""`mem_stats` and `memory_figures`: counts and tokens of the store."""

from typing import Annotated

from haversack.app import Caller
from haversack.memory.statistics import Statistics, statistics
from haversack.memory.statistics import figures as by_week
from haversack.text.amounts import counted
from haversack.text.clipping import one_line
from haversack.text.times import date
from haversack.tools.declaration import Command, Unlisted, tool
from haversack.tools.road.outcomes import Block, Document, Facts, Outcome, Result
from haversack.tools.shared_parameters import ProjectFilter


@tool(
    Command(
        "stats",
        examples=("haversack stats --json", "haversack stats --svg figures.svg"),
        hidden=("drawing",),
        draws=True,
    ),
    group="memory",
)
def mem_stats(
    caller: Caller,
    *,
    project: ProjectFilter = "",
    drawing: Annotated[str, ("text", "svg"), "Draw the figures", Unlisted()] = "",
) -> Outcome:
    """Counts, tokens stored, projects, size on disk."""
    # Without a project the figures are of the whole store: they name each project.
    project = caller.memory.scope(project) if project else ""
    with caller.database.read():  # one snapshot for all figures
        figures = statistics(caller.memory, project=project)
        rows = by_week(caller.memory, project=project) if drawing else []
    lines = [
        f"{counted(figures.observations, 'observation')}, {counted(figures.tokens, 'token')}, "
        f"{counted(figures.bytes, 'byte')} of text",
        f"{counted(figures.sessions, 'session')}, {counted(figures.prompts, 'prompt')}, "
        f"{counted(figures.relations, 'relation')}, {figures.deleted:,} deleted",
        f"{figures.size_on_disk:,} bytes on disk" + _span(figures),
        *(f"project {one_line(name, 80) or '(none)'}: {count:,}" for name, count in figures.projects),
        *(f"kind {name}: {count:,}" for name, count in figures.kinds),
        *(
            [f"recalled by hooks: {figures.recalled:,}, opened afterwards: {figures.opened:,}"]
            if figures.recalled
            else []
        ),
    ]
    facts = {
        "observations": figures.observations,
        "deleted": figures.deleted,
        "tokens_stored": figures.tokens,  # `tokens` is what the reply itself costs
        "bytes": figures.bytes,
        "sessions": figures.sessions,
        "prompts": figures.prompts,
        "relations": figures.relations,
        "size_on_disk": figures.size_on_disk,
        "oldest": date(figures.oldest) if figures.oldest else None,
        "newest": date(figures.newest) if figures.newest else None,
        "projects": dict(figures.projects),
        "kinds": dict(figures.kinds),
        "recalled": figures.recalled,
        "opened": figures.opened,
    }
    text = "\n".join(lines)
    if drawing:
        from haversack.tools.memory.statistics_drawing import picture, sketch

        text = picture(figures, rows) if drawing == "svg" else sketch(figures, rows)
    brief = f"{figures.observations:,} observations, {figures.tokens:,} tokens in {len(figures.projects)} projects"
    return Document(text, name="stats", facts=facts, brief=brief)


def _span(figures: Statistics) -> str:
    if figures.oldest is None or figures.newest is None:
        return ""
    return f", from {date(figures.oldest)} to {date(figures.newest)}"


@tool(group="terminal", title="Figures of the memory")
def memory_figures(caller: Caller, *, project: ProjectFilter = "") -> Outcome:
    """Tokens stored by week, kind and project, the newest week first."""
    rows = by_week(caller.memory, project=project)
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
