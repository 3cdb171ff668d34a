"""What an examination found, as a table or as JSON."""

import json

from haversack.fitcheck.candidates import Candidates
from haversack.fitcheck.check import COLUMNS, FAULTS, Check


def as_table(check: Check) -> str:
    """The examination as a table, with an example of each fault."""
    width = max(len(name) for name in check.records) + 2
    head = f"{'tool':<{width}}{'replies':>8}{'refused':>9}{'pages':>7}{'o200k':>8}{'bytes4':>8}"
    lines = [head + "".join(f"{COLUMNS[fault]:>8}" for fault in FAULTS)]
    for record in check.records.values():
        line = f"{record.name:<{width}}{record.replies:>8}{record.refused:>9}{record.pages:>7}"
        line += "".join(f"{ratio:>7.0%} " for ratio in record.worst.values())
        lines.append(line + "".join(f"{record.faults[fault]:>8}" for fault in FAULTS))
    for record in check.records.values():
        lines += [f"{fault}: {example}" for fault, example in record.examples.items()]
    lines += _notes(check)
    lines.append(f"{check.replies:,} replies, {check.violations} violations (counted with {check.profile})")
    return "\n".join(lines)


def _notes(check: Check) -> list[str]:
    chosen, lines = check.candidates, []
    for done in check.prepared:
        why = f", {done.refused} of them refused, the last: {done.reason}" if done.refused else ""
        lines.append(f"prepared with {done.calls} calls{why}")
    if chosen.by_name:
        lines.append(f"taken for reading by their names, for want of annotations: {', '.join(chosen.by_name)}")
    if chosen.left_out:
        lines.append(f"not called, because they may change something (--tool NAME adds one): {_names(chosen)}")
    if chosen.without_budget:
        lines.append(f"without a budget: {', '.join(chosen.without_budget)}")
    return lines


def as_json(check: Check, server: str) -> str:
    """The examination as JSON."""
    chosen = check.candidates
    facts = {
        "server": server, "profile": check.profile, "replies": check.replies, "violations": check.violations,
        "tools": [record.facts() for record in check.records.values()],
        "by_name": chosen.by_name, "not_called": chosen.left_out, "without_budget": chosen.without_budget,
        "prepared": [{"calls": each.calls, "refused": each.refused, "reason": each.reason} for each in check.prepared],
    }  # fmt: skip
    return json.dumps(facts, ensure_ascii=False, indent=1)


def reasons(chosen: Candidates) -> str:
    """Why no tool of a server is called, and what to do about it."""
    if chosen.left_out:
        return f"--tool NAME adds one of those that may change something: {_names(chosen)}"
    return f"budgets are looked for under the usual names; {len(chosen.without_budget)} reading tools have none"


def _names(chosen: Candidates) -> str:
    return ", ".join(chosen.left_out)
