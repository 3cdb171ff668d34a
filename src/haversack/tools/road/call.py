"""The one road: validate, run, fit, stash the rest, debit, log. Every door calls a tool here and only here."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from haversack.app import Caller
from haversack.errors import Conflict, HaversackError, NotFound, StoreUnwritable
from haversack.tokens import Budget
from haversack.tools.declaration import Tool
from haversack.tools.registry import find
from haversack.tools.road.fit import Remainder, Reply, fit, fit_document
from haversack.tools.road.layouts import NO_NOTES, JsonLayout, Layout, Notes, TextLayout
from haversack.tools.road.outcomes import LEVELS, Document, Done, Outcome, Result
from haversack.tools.road.trail import Trail
from haversack.tools.road.validation import validate, with_whole_characters
from haversack.values import record, replace

if TYPE_CHECKING:
    from haversack.worklog.ledger import Standing


@record
class Options:
    """What a door asks of the road beyond the arguments: text without footer lines, for pasting."""

    footer: bool = True


USUAL = Options()
KeyFor = Callable[[Outcome, Remainder, str], str]


def call(caller: Caller, name: str, arguments: Mapping[str, object], options: Options = USUAL) -> Reply:
    """Run a tool and give its reply, which is never over the budget; anything wrong is a HaversackError."""
    tool = find(name)
    standing = _in_force(caller, tool)
    loggable: Mapping[str, object] = {}
    try:
        arguments = loggable = with_whole_characters(arguments)
        return _answer(caller, tool, arguments, options, standing)
    except HaversackError as error:
        if standing is not None:
            Trail(caller, tool.name, loggable).write_failure(standing.handle, error)
        raise


def _answer(
    caller: Caller, tool: Tool, arguments: Mapping[str, object], options: Options, standing: "Standing | None"
) -> Reply:
    values = validate(tool, arguments)
    as_json = values.pop("format") == "json"
    level = values.pop("detail_level", "") or "standard"
    asked: int | None = values.pop("max_tokens", None) if tool.budgeted else None
    budget = Budget(asked or caller.ledger.allocation(standing, tool.name, tool.default_tokens), caller.profile)
    notes = _notes(standing, asked)
    layout: Layout = JsonLayout(notes=notes) if as_json else TextLayout(footer=options.footer, notes=notes)
    outcome = tool.run(caller, level, values)
    while True:
        # Only when another process takes a key between fitting and writing is there a second round.
        trail = Trail(caller, tool.name, arguments)
        reply = _fitted(outcome, budget, level, layout, trail.key_for)
        try:
            if trail.write(standing.handle if standing else "", outcome, reply):
                return reply
        except StoreUnwritable:
            # What was asked for has been read or done; only the trail of it is missing, which the reply admits.
            return _fitted(outcome, budget, level, layout, _unkept)


def _in_force(caller: Caller, tool: Tool) -> "Standing | None":
    """How the account in force stands; None where calls are not debited."""
    try:
        return caller.ledger.in_force(caller.account) if caller.account else None
    except StoreUnwritable:
        return None
    except (NotFound, Conflict):
        # The tools of the budget are the way to mend an account that is closed or unknown.
        if tool.group == "budget":
            return None
        raise


def _notes(standing: "Standing | None", asked: int | None) -> Notes:
    if standing is None:
        return NO_NOTES
    # A caller that names a budget gets the same bytes for the same question, however the account stands.
    return Notes(standing.alert, standing.spendable if asked is None else None)


def _unkept(outcome: Outcome, remainder: Remainder, level: str) -> str:
    return ""


def _fitted(outcome: Outcome, budget: Budget, level: str, layout: Layout, key_for: KeyFor) -> Reply:
    if isinstance(outcome, Done):
        return _message(outcome, budget, layout)
    stashed_level = LEVELS[0] if level == "auto" else level

    def stash(remainder: Remainder) -> str:
        return key_for(outcome, remainder, stashed_level)

    if isinstance(outcome, Document):
        return fit_document(outcome, budget, layout, stash)
    reply = fit(outcome, budget, level, layout, stash)
    if outcome.extend and outcome.rest and len(reply.names) == len(outcome.blocks):
        longer = extended(outcome)
        if len(longer.blocks) > len(outcome.blocks):
            further = _fitted(longer, budget, level, layout, key_for)
            # The footer of a reply cut by its budget is longer, and can cost the last item its place.
            return further if len(further.names) >= len(reply.names) else reply
    return reply


def extended(result: Result) -> Result:
    """The result with twice as much of it rendered: a reply that shows all of it may have room for more.

    What lies beyond a limit of the caller's is never given this way.
    """
    blocks, rest = list(result.blocks), result.rest
    while rest and result.extend and len(blocks) <= 2 * len(result.blocks):
        further, rest = result.extend(rest)
        if not further:
            break
        blocks += further
    return replace(result, blocks=blocks, rest=rest)


def _message(done: Done, budget: Budget, layout: Layout) -> Reply:
    alert = layout.notes.alert
    if isinstance(layout, JsonLayout):
        from json import dumps

        facts = {"message": done.message, **done.facts} | ({"alert": alert} if alert else {})
        text = dumps(facts, ensure_ascii=False)
    else:
        text = f"{done.message}\n{alert}" if alert else done.message
    return Reply(text, budget.profile.count(text))


__all__ = ["Options", "Reply", "call"]
