"""The tools that read a plan: its status, and its passages about a change."""

from collections.abc import Iterator
from typing import Annotated

from haversack.app import Caller
from haversack.errors import WrongStage
from haversack.sdd.documents.artifacts import shown_score
from haversack.sdd.documents.markdown import Section
from haversack.sdd.flows import change_steps, overview
from haversack.sdd.flows.overview import Artifact
from haversack.sdd.flows.pipeline import STAGES
from haversack.sdd.results import Overview, StageRow
from haversack.text.amounts import counted
from haversack.text.clipping import one_line
from haversack.tools.declaration import Command, tool
from haversack.tools.memory.observation_views import SNIPPET_WIDTH
from haversack.tools.road.outcomes import Block, Document, Facts, Outcome, Result
from haversack.tools.sdd import plan_relevance
from haversack.tools.sdd.plan_replies import moment, shorter, what_is_next, workspace

CHECK_TOKENS = 2_000
TABLE = "| stage | status | finished | size | file |"


@tool(
    Command(
        "sdd context",
        ("stage",),
        examples=("haversack sdd context", "haversack sdd context design --detail full --token-budget 1500"),
    ),
    group="sdd",
    level="summary",
    title="Where the plan stands",
)
def sdd_get_context(caller: Caller, level: str, *, stage: Annotated[str, STAGES] = "") -> Outcome:
    """Where the plan stands and what is next. Defaults to summary, a line per stage; standard adds sizes, full the \
artifacts. stage shows one artifact."""
    root = workspace(caller)
    try:
        held = overview.overview(root)
    except WrongStage as none_started:
        return Result(
            (),
            noun="stages",
            total=0,
            empty=f"No plan is kept here. {none_started.hint}.",
            brief="no plan is kept here",
        )
    brief = f"plan of {one_line(held.name, 60)}: {held.next_step.sentence}"
    if stage:
        return _one_artifact(overview.artifact(root, stage), held, level, brief)
    if level == "full":
        return _every_artifact(caller, root, held, brief)
    rows = [_row_block(row, held, root, section=TABLE if level == "standard" else "") for row in held.stages]
    return Result(
        blocks=[_project_block(caller, held), *rows], noun="stages", total=len(rows), items_name="items", brief=brief
    )


def _project_block(caller: Caller, held: Overview) -> Block:
    """The first line of every answer: what it is about and which tool is next."""
    done = sum(1 for row in held.stages if row.status == "done")
    standing = f"{done} of {len(held.stages)} stages done"
    lines = [f"Project {held.name} ({held.mode}): {standing}. {what_is_next(caller, held.next_step)}"]
    change = held.active_change
    if change:
        lines.append(f"Change {change.slug} ({change.size} {change.type}): {what_is_next(caller, held.change_step)}")
    facts: dict[str, object] = {
        "project": held.name,
        "mode": held.mode,
        "done": done,
        "next_tool": held.next_step.tool,
        "next_stage": held.next_step.stage,
        **({"change": change.slug, "change_tool": held.change_step.tool} if change else {}),
    }
    more_facts = {
        "description": held.description,
        "root": held.root,
        "changes": held.changes,
        "decisions": held.decisions,
        "clarity": float(shown_score(held.gate.score)),
        "verdict": held.verdict,
    }
    kept = f"{counted(held.changes, 'change')}, {counted(held.decisions, 'decision')}."

    def text(level: str) -> str:
        return "\n".join(lines if level == "summary" else [*lines, one_line(held.description, SNIPPET_WIDTH), kept])

    return Block(
        "Project",
        text,
        lambda level: facts if level == "summary" else facts | more_facts,
        worth=4.0,
        required=True,
        counted=False,
    )


def _row_block(row: StageRow, held: Overview, root: str, *, section: str) -> Block:
    status = row.status.replace("_", " ") + _standing(row, held)
    size = "-" if row.size is None else f"{counted(row.size, 'byte')}, {counted(row.lines, 'line')}"
    line = f"| {row.stage} | {status} | {row.finished_at[:10] or '-'} | {size} | {row.path} |"
    facts = {"stage": row.stage, "status": row.status}
    more_facts = facts | {
        "path": row.path,
        "bytes": row.size,
        "lines": row.lines,
        "iterations": row.iterations,
        "finished": row.finished_at,
    }

    def artifact() -> str:
        return overview.artifact(root, row.stage).text.rstrip() if row.size is not None else ""

    def text(level: str) -> str:
        if level == "summary":
            return f"- {row.stage}: {status}"
        return line if level == "standard" else f"{line}\n{artifact()}".rstrip()

    def shown(level: str) -> Facts:
        return facts if level == "summary" else more_facts if level == "standard" else more_facts | {"text": artifact()}

    return Block(row.stage, text, shown, section=section)


def _standing(row: StageRow, held: Overview) -> str:
    if row.stage == "clarify" and row.iterations:
        return f" (clarity {shown_score(held.gate.score)}, {held.gate.threshold} needed)"
    if row.stage == "validate" and held.verdict:
        return f" ({held.verdict})"
    return f" ({row.iterations} times)" if row.iterations > 1 else ""


def _every_artifact(caller: Caller, root: str, held: Overview, brief: str) -> Result:
    statuses = {row.stage: row.status for row in held.stages}
    blocks = [
        block
        for artifact in overview.written_artifacts(root)
        for block in _section_blocks(artifact, f"# {artifact.path} ({artifact.stage}, {statuses[artifact.stage]})")
    ]
    return Result(
        blocks=[_project_block(caller, held), *blocks],
        noun="sections",
        total=len(blocks),
        items_name="items",
        advice="Increase max_tokens, or name a stage to read its artifact in pages.",
        brief=brief,
    )


def _one_artifact(artifact: Artifact, held: Overview, level: str, brief: str) -> Outcome:
    about = f"{brief}; {artifact.path}"
    if level == "full":
        whole = {"stage": artifact.stage, "path": artifact.path, "text": artifact.text}
        return Document(artifact.text, name=artifact.path, facts=whole, brief=about)
    row = next(each for each in held.stages if each.stage == artifact.stage)
    size = f"{counted(row.size or 0, 'byte')}, {counted(row.lines, 'line')}"
    head = f"{artifact.path}: {row.status.replace('_', ' ')}, {size}"
    facts = {"stage": artifact.stage, "path": artifact.path, "bytes": row.size, "status": row.status}
    about_it = Block(artifact.path, lambda _: head, lambda _: facts, required=True, counted=False)
    blocks = list(_section_blocks(artifact))
    return Result(
        blocks=[about_it, *blocks], noun="sections", total=len(blocks), items_name="items",
        advice="Increase max_tokens for more.", brief=about,
    )  # fmt: skip


def _section_blocks(artifact: Artifact, section: str = "") -> Iterator[Block]:
    """The parts of an artifact that say something, as blocks."""
    for part in artifact.sections:
        if part.text.strip():
            yield _section_block(artifact.path, part, section)


def _section_block(path: str, part: Section, section: str) -> Block:
    body = part.text.strip("\n")
    lines = body.count("\n") + 1
    title = part.title or "(before any heading)"

    def text(level: str) -> str:
        whole = f"{'#' * max(part.level, 1)} {title}\n{body}"
        if level == "full":
            return whole
        head = f"- {title} (line {part.line}, {counted(lines, 'line')})"
        return head if level == "summary" else shorter(f"{head}\n  {one_line(body, SNIPPET_WIDTH)}", whole)

    def facts(level: str) -> Facts:
        shown: dict[str, object] = {"path": path, "line": part.line, "title": part.title, "lines": lines}
        if level == "standard":
            shown["snippet"] = one_line(body, SNIPPET_WIDTH)
        return shown | ({"text": body} if level == "full" else {})

    return Block(f"{path}:{part.line}", text, facts, section=section)


@tool(
    Command(
        "sdd check",
        ("change_description",),
        examples=("haversack sdd check 'Readers reserve books on loan (FR-002)' --token-budget 1500",),
    ),
    group="sdd",
    writes=True,
    idempotent=True,
    confirms=False,
    level="standard",
    default_tokens=CHECK_TOKENS,
    title="Check a change against the plan",
)
def sdd_context_check(
    caller: Caller,
    *,
    change_description: Annotated[str, "What is to change, in words; ids it concerns"],
    project_name: Annotated[str, "Memories of this project only"] = "",
) -> Outcome:
    """What plan and memory say about a change, best first. Requirements, rules, tasks, past changes, decisions, \
conventions, memories, and what is wrong with the plan; every requirement id is accounted for."""
    root = workspace(caller)
    weighed = plan_relevance.weigh(caller, root, change_description, project_name)
    active = change_steps.record_context_check(root, now=moment(caller))
    return plan_relevance.result(caller, weighed, active, change_description)
