"""The context of a change: passages of the plan and memories, in one ranking.

Memories are found by the memory room's own search and then weighed by the measure the plan's passages are weighed
with, so that the two can stand in one list. What shares no word with the change is no passage of the reply, but
every requirement is at least named.
"""

from collections.abc import Mapping, Sequence

from haversack.app import Caller
from haversack.errors import InvalidArgument
from haversack.memory.projects.identity import project_key
from haversack.memory.search import search
from haversack.memory.search.query import Query, parse_query
from haversack.memory.search.ranking import Hit
from haversack.memory.search.snippets import snippet
from haversack.sdd.checks.change_context import ContextCheck, Passage, Source, check_context
from haversack.sdd.checks.relevance import relevance
from haversack.sdd.checks.traceability import Finding
from haversack.sdd.documents.ids import REQUIREMENTS, cited
from haversack.sdd.flows import changes
from haversack.sdd.flows.changes import Change
from haversack.store.records import Observation
from haversack.text.amounts import counted
from haversack.text.clipping import one_line
from haversack.tools.memory.observation_views import SNIPPET_WIDTH, observation_block
from haversack.tools.road.outcomes import Block, Facts, Result
from haversack.tools.sdd.plan_replies import finding_block, listed, shorter, what_is_next
from haversack.values import record

MEMORIES = 20
_SEARCHED = 100
_PLANNED = "sdd/"
"""How the topics begin under which the steps of a plan are remembered: the plan itself says more."""
_QUOTES = str.maketrans(dict.fromkeys('"“”„‟«»', " "))
_SUMMARY_WIDTH = 100
SECTIONS: Mapping[Source, str] = {
    "requirement": "## Requirements",
    "rule": "## Rules",
    "task": "## Tasks",
    "section": "## Artifacts",
    "change": "## Past changes",
    "decision": "## Decisions",
    "convention": "## Conventions",
}


@record
class Weighed:
    """A checked context with the memories that belong to it, each with its relevance, best first."""

    check: ContextCheck
    query: Query
    memories: tuple[tuple[Observation, float], ...]


def weigh(caller: Caller, root: str, description: str, project: str) -> Weighed:
    """The passages and memories that are relevant to a described change."""
    check = check_context(root, description)
    # A quoted phrase would be a condition; here every word only adds.
    question = description.translate(_QUOTES)
    found = _memories(caller, question, (project,) if project else (check.project, caller.memory.project()))
    texts = [f"{each.title}\n{each.content}" for each in found]
    scores = relevance(question, [*texts, *(f"{each.name}\n{each.text}" for each in check.passages)])
    memories = sorted(zip(found, scores, strict=False), key=lambda each: -each[1])
    return Weighed(check, parse_query(question), tuple(memories))


def _memories(caller: Caller, question: str, projects: Sequence[str]) -> list[Observation]:
    hits: list[Hit] = []
    for project in {project_key(each): each for each in projects}.values():
        chosen = search.filters(caller.memory, project=project)
        try:
            hits += search.search(caller.memory, question, chosen, limit=_SEARCHED).hits
        except InvalidArgument:
            # A description without a word to search for still has a plan to be checked against.
            return []
    hits = [hit for hit in hits if not hit.observation.topic_key.startswith(_PLANNED)]
    ranked = sorted(hits, key=lambda hit: (-hit.score, -hit.observation.position))
    return [hit.observation for hit in ranked[:MEMORIES]]


def result(caller: Caller, weighed: Weighed, active: Change | None, description: str) -> Result:
    """The reply: what is wrong with the change's own words, every requirement's id, then what matters, best first."""
    check = weighed.check
    findings = tuple(dict.fromkeys(check.findings))
    first = [each for each in findings if _concerns(each, check)]
    others = [each for each in findings if each not in first]
    matters = _ranked(weighed)
    blocks = [
        *(finding_block(each, section="## Findings", worth=2.0) for each in first),
        *_requirement_ids(check),
        *matters,
        *(finding_block(each, section="## Findings", worth=0.2) for each in others),
    ]
    errors = sum(1 for each in findings if each.severity == "error")
    return Result(
        blocks=[_head(caller, check, active, len(matters), len(findings), errors), *blocks],
        noun="findings",
        total=len(findings) + len(matters),
        items_name="items",
        brief=f"context of '{one_line(description, 80)}': {_summed(len(matters), len(findings), errors)}",
    )


def _summed(matters: int, problems: int, errors: int) -> str:
    """The findings of all kinds in one figure, which is the footer's too, and what they are."""
    if not matters + problems:
        return "0 findings"
    parts = [f"{matters:,} of plan and memory"] if matters else []
    parts += [f"{counted(problems, 'problem')} ({counted(errors, 'error')})"] if problems else ["no problems"]
    return f"{counted(matters + problems, 'finding')}: {', '.join(parts)}"


def _head(
    caller: Caller, check: ContextCheck, active: Change | None, matters: int, problems: int, errors: int
) -> Block:
    step = changes.next_step(active)
    about = f"Context of {active.slug}, checked" if active else "Context, no change is active"
    facts: Facts = {
        "project": check.project,
        "change": active.slug if active else None,
        "requirements": len(check.requirement_ids),
        "findings": matters + problems,
        "problems": problems,
        "errors": errors,
        "next_tool": step.tool,
    }
    text = f"{about}. {_summed(matters, problems, errors)}. {what_is_next(caller, step)}"
    return Block("Context", lambda _: text, lambda _: facts, worth=4.0, required=True, counted=False)


def _concerns(finding: Finding, check: ContextCheck) -> bool:
    """Whether a finding is about the words of the change or names a requirement they name."""
    named = set(cited(finding.message, REQUIREMENTS)) & set(check.cited_ids)
    return finding.file == "change_description" or bool(named)


def _requirement_ids(check: ContextCheck) -> list[Block]:
    """Every requirement by its id, so that none is forgotten because its text was left out."""
    scores = {passage.name: passage.score for passage in check.passages if passage.source in ("requirement", "rule")}
    related = sorted((name for name in check.requirement_ids if scores.get(name)), key=lambda name: -scores[name])
    others = [name for name in check.requirement_ids if name not in related]
    return [
        *listed("related", "Requirements that share words with it", related),
        *listed("unrelated", "Requirements that share none", others),
    ]


def _ranked(weighed: Weighed) -> list[Block]:
    passages = [
        (passage.score, _passage_block(passage, weighed.query))
        for passage in weighed.check.passages
        if passage.score > 0
    ]
    memories = [
        (score, observation_block(each, query=weighed.query, section="## Memories", worth=max(score, 0.01)))
        for each, score in weighed.memories
    ]
    return [block for _, block in sorted([*passages, *memories], key=lambda each: -each[0])]


def _passage_block(passage: Passage, query: Query) -> Block:
    named = passage.source in ("requirement", "rule")
    is_short = named or passage.source == "task"
    at = f"{passage.file}:{passage.line}"
    priority = f"{passage.priority}, " if passage.priority and passage.priority != "rule" else ""

    def text(level: str) -> str:
        head = f"- {one_line(passage.name, _SUMMARY_WIDTH)} ({priority}{at})"
        if level == "summary":
            return f"{head}: {one_line(passage.text, _SUMMARY_WIDTH)}" if is_short else head
        whole = f"{head}\n{passage.text.strip()}"
        if level == "standard":
            return shorter(f"{head}\n  {snippet(passage.text, query, width=SNIPPET_WIDTH)}", whole)
        return whole

    def facts(level: str) -> Facts:
        shown: dict[str, object] = {"source": passage.source, "name": passage.name, "at": at}
        if passage.priority:
            shown["priority"] = passage.priority
        if level == "summary":
            return shown
        body = passage.text.strip()
        if level != "full":
            body = shorter(snippet(body, query, width=SNIPPET_WIDTH), body)
        return shown | {"relevance": round(passage.score, 3), "text": body}

    name = passage.name if named else at
    return Block(name, text, facts, section=SECTIONS[passage.source], worth=max(passage.score, 0.01))
