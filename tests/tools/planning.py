"""A plan to try the planning tools on: a workspace of its own, and calls with usual contents."""

import json
from pathlib import Path
from typing import Any

from haversack.app import Caller
from haversack.sdd.flows.clarity import NAMES
from haversack.tools.road.call import call
from haversack.tools.road.fit import Reply

CLEAR = dict.fromkeys(NAMES, 80)
STAGES: dict[str, dict[str, object]] = {
    "sdd_init_project": {"name": "Library", "description": "A small library"},
    "sdd_create_proposal": {
        "problem_statement": "Books get lost between two shelves.",
        "target_users": "Readers and the librarian.",
        "proposed_solution": "A catalogue that knows where each book is.",
        "out_of_scope": "Buying books.",
        "success_criteria": "A book is found within a minute.",
    },
    "sdd_generate_requirements": {
        "must_have": "- A reader finds a book by title\n- The librarian records a loan",
        "should_have": "- A reader renews a loan",
        "non_functional": "- A search answers within a second",
    },
    "sdd_create_business_rules": {
        "definitions": "- Loan: a book handed to a reader",
        "facts": "- A reader has a card",
        "constraints": "- A reader has at most five loans",
    },
    "sdd_clarify": {"answers": "Readers come in person.", "dimension_scores": CLEAR},
    "sdd_create_design": {
        "architecture_overview": "One process and one file, for FR-001 and FR-002.",
        "tech_stack": "Python",
        "components": "- Catalogue (FR-001)\n- Loans (FR-002, BRC-001)",
        "data_model": "Book, Reader, Loan",
    },
    "sdd_create_tasks": {
        "tasks": "- Build the catalogue. Covers FR-001, NFR-001\n"
        "- Record loans. Covers FR-002, FR-003, BRC-001. Depends on TASK-001",
        "estimated_effort": "Two weeks",
    },
    "sdd_validate": {
        "requirements_coverage": "All of them",
        "component_coverage": "Both",
        "consistency_issues": "None",
        "verdict": "PASS",
    },
}
"""The stage tools in their order, with what they are usually called with."""


class Planner:
    """Calls the tools of a program that works in a folder of its own."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    @property
    def folder(self) -> Path:
        return Path(self.caller.directory)

    def reply(self, tool: str, **arguments: object) -> Reply:
        """A tool's reply; a stage tool takes its usual contents where none are given."""
        return call(self.caller, tool, STAGES.get(tool, {}) | arguments)

    def text(self, tool: str, **arguments: object) -> str:
        return self.reply(tool, **arguments).text

    def facts(self, tool: str, **arguments: object) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.reply(tool, **arguments, format="json").text)
        return facts

    def upto(self, last: str) -> None:
        """Take every stage up to and including that of the tool `last`."""
        for tool in STAGES:
            self.reply(tool)
            if tool == last:
                return

    def pages(self, tool: str, **arguments: object) -> list[str]:
        """A reply and everything it left out, page by page, each large enough for any item."""
        reply = self.reply(tool, **arguments)
        pages = [reply.text]
        while reply.left:
            assert len(pages) < 100
            reply = self.reply("more", key=reply.left.key, max_tokens=300)
            pages.append(reply.text)
        return pages

    def memories(self) -> dict[str, dict[str, Any]]:
        """What is remembered of plans, by topic."""
        with self.caller.database.read() as tx:
            rows = tx.rows("SELECT id, topic_key FROM observations WHERE topic_key <> '' ORDER BY id")
        return {topic: self.facts("mem_get_observation", id=identifier) for identifier, topic in rows}

    def written(self, name: str) -> str:
        return (self.folder / "sdd" / name).read_text(encoding="utf-8")
