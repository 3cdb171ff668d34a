"""A small library project taken through its stages, for tests to start from wherever they like."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from haversack.sdd.documents.artifacts import BusinessRules, Design, Proposal, Requirements, Tasks, Validation
from haversack.sdd.flows import change_steps, clarity, project
from haversack.sdd.flows.pipeline import STAGES, Stage
from haversack.sdd.results import ChangeReceipt, ClarityRound, Receipt, ValidationReceipt

PROPOSAL = Proposal(
    problem_statement="Books get lost between two shelves.",
    target_users="Readers and the librarian.",
    proposed_solution="A catalogue that knows where each book is.",
    out_of_scope="Buying books.",
    success_criteria="A book is found within a minute.",
)
REQUIREMENTS = Requirements(
    must_have="- A reader finds a book by title\n- The librarian records a loan",
    should_have="- A reader renews a loan",
    non_functional="- A search answers within a second",
)
RULES = BusinessRules(
    definitions="- Loan: a book handed to a reader",
    facts="- A reader has a card",
    constraints="- A reader has at most five loans",
)
DESIGN = Design(
    architecture_overview="One process and one file, for FR-001 and FR-002.",
    tech_stack="Python",
    components="- Catalogue (FR-001)\n- Loans (FR-002, BRC-001)",
    data_model="Book, Reader, Loan",
)
TASKS = Tasks(
    estimated_effort="Two weeks",
    tasks=(
        "- Build the catalogue. Covers FR-001, NFR-001\n"
        "- Record loans. Covers FR-002, FR-003, BRC-001. Depends on TASK-001"
    ),
)
VALIDATION = Validation(requirements_coverage="All of them", component_coverage="Both", consistency_issues="None")
CLEAR = dict.fromkeys(clarity.NAMES, 80)


@dataclass
class Desk:
    """A workspace and a clock that moves on by a minute with every step."""

    workspace: str
    ticks: int = field(default=0)

    def now(self) -> datetime:
        self.ticks += 1
        return datetime(2026, 3, 1, 12, 0, tzinfo=UTC) + timedelta(minutes=self.ticks)

    def init(self, *, name: str = "Library", mode: str = "guided", reopen: bool = False) -> Receipt:
        return project.init_project(
            self.workspace, name=name, description="A small library", mode=mode, reopen=reopen, now=self.now()
        )

    def propose(self, content: Proposal = PROPOSAL, *, reopen: bool = False) -> Receipt:
        return project.create_proposal(self.workspace, content, reopen=reopen, now=self.now())

    def specify(self, content: Requirements = REQUIREMENTS, *, reopen: bool = False) -> Receipt:
        return project.generate_requirements(self.workspace, content, reopen=reopen, now=self.now())

    def rules(self, content: BusinessRules = RULES, *, reopen: bool = False) -> Receipt:
        return project.create_business_rules(self.workspace, content, reopen=reopen, now=self.now())

    def clarify(
        self, *, answers: str = "", scores: Mapping[str, float] | None = None, reopen: bool = False
    ) -> ClarityRound:
        return project.clarify(self.workspace, answers=answers, scores=scores, reopen=reopen, now=self.now())

    def design(self, content: Design = DESIGN, *, reopen: bool = False) -> Receipt:
        return project.create_design(self.workspace, content, reopen=reopen, now=self.now())

    def tasks(self, content: Tasks = TASKS, *, reopen: bool = False) -> Receipt:
        return project.create_tasks(self.workspace, content, reopen=reopen, now=self.now())

    def validate(
        self, content: Validation = VALIDATION, *, verdict: str = "PASS", reopen: bool = False
    ) -> ValidationReceipt:
        return project.validate(self.workspace, content, verdict=verdict, reopen=reopen, now=self.now())

    def run(self, stage: Stage, *, reopen: bool = False) -> Receipt | ClarityRound | ValidationReceipt:
        """Write one stage with its usual content."""
        steps: dict[Stage, Callable[[], Receipt | ClarityRound | ValidationReceipt]] = {
            "init": lambda: self.init(reopen=reopen),
            "propose": lambda: self.propose(reopen=reopen),
            "specify": lambda: self.specify(reopen=reopen),
            "business-rules": lambda: self.rules(reopen=reopen),
            "clarify": lambda: self.clarify(scores=CLEAR, reopen=reopen),
            "design": lambda: self.design(reopen=reopen),
            "tasks": lambda: self.tasks(reopen=reopen),
            "validate": lambda: self.validate(reopen=reopen),
        }
        return steps[stage]()

    def upto(self, last: Stage) -> None:
        """Write every stage up to and including `last`."""
        for stage in STAGES[: STAGES.index(last) + 1]:
            self.run(stage)

    def start_change(
        self, description: str = "Readers reserve a book", *, kind: str = "fix", size: str = "small"
    ) -> ChangeReceipt:
        return change_steps.start_change(
            self.workspace, change_type=kind, size=size, description=description, now=self.now()
        )

    def advance(self, content: str = "Done as planned.", *, stage: str = "") -> ChangeReceipt:
        return change_steps.advance_change(self.workspace, content=content, stage=stage, now=self.now())

    def check(self) -> None:
        change_steps.record_context_check(self.workspace, now=self.now())

    def read(self, name: str) -> str:
        return Path(self.workspace, "sdd", name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        path = Path(self.workspace, "sdd", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def files(self) -> set[str]:
        top = Path(self.workspace, "sdd")
        found = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}
        return found - {".lock", ".gitignore"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    # The walk upwards ends at a repository's top, so no test can meet a project outside its own folder.
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return Desk(str(tmp_path))
