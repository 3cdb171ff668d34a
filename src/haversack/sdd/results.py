"""The results of the operations: paths, sizes and the next step; never an artifact's text."""

from haversack.sdd.checks.traceability import Coverage, Finding
from haversack.sdd.documents.disk import Written
from haversack.sdd.flows.changes import Change
from haversack.sdd.flows.clarity import Gate
from haversack.sdd.flows.pipeline import Mode, Stage, Verdict
from haversack.sdd.flows.stages import NextStep, Status
from haversack.values import record


@record
class ObservationText:
    """The observation that a step saves to memory."""

    title: str
    content: str
    kind: str
    topic_key: str


@record
class Receipt:
    """A written artifact: `stale` lists the stages to write again, `findings` concern this artifact.

    `given_ids` are the ids that its entries were given, `count` how many entries it has where that is
    counted (requirements, rules, tasks).
    """

    project: str
    stage: str
    written: Written
    next_step: NextStep
    stale: tuple[str, ...]
    findings: tuple[Finding, ...]
    observation: ObservationText
    given_ids: tuple[str, ...] = ()
    count: int | None = None
    waves: int | None = None


@record
class ClarityRound:
    """The gate after a round; `receipt` is None when the round had no input and nothing was written."""

    gate: Gate
    rounds: int
    next_step: NextStep
    receipt: Receipt | None


@record
class ValidationReceipt:
    """A validation: the verdict as given and as recorded, every computed finding, and the coverage by tasks.

    A PASS while errors stand is recorded as PASS_WITH_WARNINGS. A FAIL reopens the project at `reopened`.
    """

    receipt: Receipt
    given: Verdict
    recorded: Verdict
    findings: tuple[Finding, ...]
    coverage: tuple[Coverage, ...]
    reopened: Stage | None


@record
class StageRow:
    """One stage in an overview; `size` is None when its artifact is not there."""

    stage: Stage
    status: Status
    iterations: int
    finished_at: str
    path: str
    size: int | None
    lines: int


@record
class Overview:
    """The status of a project."""

    name: str
    description: str
    mode: Mode
    root: str
    stages: tuple[StageRow, ...]
    current: Stage | None
    stale: tuple[Stage, ...]
    gate: Gate
    verdict: Verdict | None
    next_step: NextStep
    active_change: Change | None
    change_step: NextStep
    changes: int
    decisions: int


@record
class ChangeReceipt:
    """A change after a step; `written` is the file of that step."""

    project: str
    change: Change
    written: Written
    next_step: NextStep
    findings: tuple[Finding, ...]
    observation: ObservationText


@record
class ChangeFile:
    """A stage's artifact of a change, with its size in bytes; None when it is not written."""

    stage: str
    status: Status
    iterations: int
    path: str
    size: int | None


@record
class ChangeReport:
    """A change with its files and what comes next; `others` are the slugs of all changes."""

    change: Change
    files: tuple[ChangeFile, ...]
    next_step: NextStep
    others: tuple[str, ...]


@record
class DecisionReceipt:
    """A recorded decision; `superseded` are the numbers of the ones it replaces."""

    project: str
    number: int
    title: str
    written: Written
    superseded: tuple[int, ...]
    findings: tuple[Finding, ...]
    next_step: NextStep
    observation: ObservationText
