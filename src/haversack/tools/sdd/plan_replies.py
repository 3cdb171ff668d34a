"""Shared parts of the planning tools: finding the plan, saving a step to memory, confirming a step."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby

from haversack.app import Caller
from haversack.errors import DamagedFile, HaversackError
from haversack.memory.save.pipeline import Draft, save
from haversack.sdd.checks.traceability import Finding
from haversack.sdd.documents.library import load_project, located
from haversack.sdd.flows.stages import NextStep
from haversack.sdd.results import ChangeReceipt, DecisionReceipt, ObservationText, Receipt
from haversack.text.amounts import counted
from haversack.text.clipping import one_line
from haversack.text.redaction import describe
from haversack.tools.road.outcomes import NO_FACTS, Block, Facts, Result
from haversack.values import record

Step = Receipt | ChangeReceipt | DecisionReceipt

CONFIRMATION_TOKENS = 1_000
"""The budget of a confirmation, which only findings can fill."""
MOST_SPANS = 12
_WORTH_CUTTING = 60
"""Characters that a snippet has to save; marks and indentation cost a few tokens themselves."""


@record
class Remembered:
    """The result of saving an observation; no id when it could not be saved."""

    id: int | None
    sentence: str


def workspace(caller: Caller) -> str:
    """The folder whose plan a call is about: the root that is set, else the git top level, else the folder itself."""
    from haversack.workspace.root import open_workspace

    return open_workspace(caller.config.workspace, caller.directory).root


def plan_name(caller: Caller) -> str:
    """The name of the project that is planned here; empty when none is started or its state cannot be read."""
    with suppress(DamagedFile):
        project = load_project(located(workspace(caller)))
        return project.name if project else ""
    return ""


def moment(caller: Caller) -> datetime:
    """The time of a call."""
    return datetime.fromtimestamp(caller.now() / 1_000_000, UTC)


def remember(caller: Caller, observation: ObservationText, *, project: str, tool: str) -> Remembered:
    """Save a step to memory; the step is done already, so a failure is reported and not raised."""
    draft = Draft(
        title=observation.title,
        content=observation.content,
        kind=observation.kind,
        project=project,
        topic_key=observation.topic_key,
        tool_name=tool,
    )
    try:
        saved = save(caller.memory, draft)
    except HaversackError as error:
        return Remembered(None, f"Not remembered: {error.message}.")
    secrets = f"; {describe(saved.redactions)}" if saved.redactions else ""
    return Remembered(saved.id, f"Remembered as #{saved.id}{secrets}.")


def confirmed(
    caller: Caller, step: Step, tool: str, said: str, *, more_lines: Sequence[str] = (), facts: Facts = NO_FACTS
) -> Result:
    """The reply to a step: what was written and what is next, with what is wrong with the artifact as blocks."""
    written = step.written
    remembered = remember(caller, step.observation, project=step.project, tool=tool)
    size = f"{counted(written.size, 'byte')}, {counted(written.lines, 'line')}"
    kept = f" The version before is {written.kept}." if written.kept else ""
    opening = f"Wrote {written.path} ({size}): {said}.{kept} {remembered.sentence}"
    lines = (opening, *more_lines, what_is_next(caller, step.next_step))
    findings = tuple(dict.fromkeys(step.findings))
    return Result(
        blocks=[finding_block(finding, section="## Findings") for finding in findings],
        noun="findings",
        total=len(findings),
        # Further pages of the findings do not say again what was written.
        heading=lambda *_: "\n".join(lines),
        advice="Errors come first.",
        facts={
            "project": step.project,
            "path": written.path,
            "bytes": written.size,
            "lines": written.lines,
            **({"kept": written.kept} if written.kept else {}),
            **facts,
            "memory_id": remembered.id,
            "next_tool": step.next_step.tool,
            "next_stage": step.next_step.stage,
        },
        brief=f"{one_line(step.project, 60)}: wrote {written.path} ({written.size:,} bytes), {said}",
    )


def what_is_next(caller: Caller, step: NextStep) -> str:
    """The next step as a sentence in the words of the caller's door; the name of a tool stays as it is."""
    said = step.sentence
    return caller.console.worded(f"{said if said.startswith(step.tool) else said[:1].upper() + said[1:]}.")


def shorter(snippet: str, whole: str) -> str:
    """The snippet, unless the whole is hardly longer: then leaving something out would cost more than it saves."""
    return snippet if len(snippet) + _WORTH_CUTTING < len(whole) else whole


def finding_block(finding: Finding, *, section: str = "", worth: float = 1.0) -> Block:
    """A finding as an item of a list."""
    facts = {"severity": finding.severity, "finding": finding.kind, "at": finding.where, "message": finding.message}
    return Block(
        f"{finding.where} {finding.message}",
        lambda _: f"- {finding.severity}: {finding.where}: {finding.message}",
        lambda _: facts,
        section=section,
        worth=worth,
    )


def spans(ids: Iterable[str]) -> str:
    """Ids in compact form: `FR-001 to FR-009, NFR-001`; of very many ranges, the first."""

    def place(numbered: tuple[int, str]) -> tuple[str, int]:
        prefix, _, number = numbered[1].rpartition("-")
        return prefix, int(number) - numbered[0] if number.isdigit() else -1

    runs = [[name for _, name in run] for _, run in groupby(enumerate(ids), key=place)]
    told = [run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    if len(told) <= MOST_SPANS:
        return ", ".join(told)
    return ", ".join(told[:MOST_SPANS]) + f" and {sum(len(run) for run in runs[MOST_SPANS:])} more"


def listed(name: str, title: str, names: Sequence[str], *, each: int = 25) -> Iterator[Block]:
    """Names as lines of a few each, which are not counted among what a reply is about."""
    for start in range(0, len(names), each):
        some = names[start : start + each]
        yield _line(f"{name} {start}", f"{title}: {', '.join(some)}", {name: list(some)})


def _line(name: str, text: str, facts: Facts) -> Block:
    return Block(name, lambda _: text, lambda _: facts, worth=2.0, counted=False)
