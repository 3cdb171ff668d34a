"""Delivering: any outcome within a budget, the rest stashed, the reply debited and logged.

`call` delivers what our tools return. A gateway or a hook delivers the outcome of a foreign tool:

    outcome = Document(text, name="fetch")                    # or Result([Block(...), ...], noun="items", total=3)
    reply = deliver(caller, Origin("fetch", {"url": url}), outcome, Asked(max_tokens=2_000))

`reply.text` costs at most `max_tokens` in the caller's profile, and `more` goes on with what was left out.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from haversack.app import Caller
from haversack.errors import Conflict, HaversackError, NotFound, StoreUnwritable
from haversack.tokens import Budget, Profile
from haversack.tokens.footers import ALERT_FROM
from haversack.tools.road.documents import fit_document
from haversack.tools.road.drafts import DEAREST_KEY, Draft, Reply
from haversack.tools.road.failures import shorten
from haversack.tools.road.fit import fit
from haversack.tools.road.layouts import NO_NOTES, JsonLayout, Layout, Notes, TextLayout
from haversack.tools.road.outcomes import NO_FACTS, Document, Done, Outcome, Result
from haversack.tools.road.trail import Trail
from haversack.values import record, replace

if TYPE_CHECKING:
    from haversack.worklog.ledger import Standing


@record
class Origin:
    """The call an outcome answers, for the work log and for "make the call again".

    `default_tokens` is the budget of a call that names none (0: the usual allocation). `whole_tokens` is about what
    the outcome cost before it got a shorter form, where it has one.
    """

    tool: str
    arguments: Mapping[str, object] = NO_FACTS
    default_tokens: int = 0
    whole_tokens: int = 0


@record
class Asked:
    """The options of a reply; without `max_tokens` the account decides. Text to paste has no footer.

    `profile` counts the reply in the channel it is sent in, where that is not plain text. `fenced` puts text between
    the lines of a fence.
    """

    max_tokens: int | None = None
    level: str = "standard"
    format: Literal["text", "json"] = "text"
    footer: bool = True
    profile: Profile | None = None
    fenced: bool = False


USUAL = Asked()


def deliver(caller: Caller, origin: Origin, outcome: Outcome, asked: Asked = USUAL) -> Reply:
    """The outcome as a reply within the budget asked for, or within what the caller's account allows.

    What does not fit is stashed under the key the reply names. The reply is debited and logged in the caller's
    account, if there is one, in the same transaction.
    """
    outcome = _in_words_of(caller, outcome)
    standing = _standing(caller)
    allocation = caller.ledger.allocation(standing, origin.tool, origin.default_tokens)
    budget = Budget(asked.max_tokens or allocation.tokens, asked.profile or caller.profile)
    notes = _notes(standing, asked.max_tokens, allocation.reason)
    layout: Layout = (
        JsonLayout(notes=notes)
        if asked.format == "json"
        else TextLayout(footer=asked.footer, notes=notes, worded=caller.console.worded, fenced=asked.fenced)
    )
    while True:
        # Only when another process takes a key between fitting and writing is there a second round.
        outcome, draft = fitted(outcome, budget, asked.level, layout)
        trail = Trail(caller, origin.tool, origin.arguments, origin.whole_tokens)
        reply = draft.reply(trail.key_for(outcome, draft.remainder, asked.level))
        try:
            if trail.write(caller.account, outcome, reply):
                return reply
        except StoreUnwritable:
            if caller.database.is_writing:
                raise  # what was asked for and its trail are one transaction, of which nothing is kept
            # What was asked for has been read or done; only the trail of it is missing, which the reply admits.
            return draft.reply()


def deliver_failure(caller: Caller, origin: Origin, error: HaversackError, asked: Asked = USUAL) -> None:
    """Cut an error to the budget, and debit and log it, since it takes up the reader's context too."""
    as_json = asked.format == "json"
    if asked.max_tokens:
        shorten(error, Budget(asked.max_tokens, caller.profile), lambda each: each.written(as_json=as_json))
    if _standing(caller) is not None:
        Trail(caller, origin.tool, origin.arguments).write_failure(caller.account, error, as_json=as_json)


def admit(caller: Caller) -> None:
    """Refuse a caller whose account is closed or unknown, before anything is done for it."""
    if caller.account:
        caller.ledger.in_force(caller.account)


def _standing(caller: Caller) -> "Standing | None":
    """The figures of the caller's account; None where replies are not debited."""
    try:
        return caller.ledger.in_force(caller.account) if caller.account else None
    except (NotFound, Conflict, StoreUnwritable):
        return None


def _in_words_of(caller: Caller, outcome: Outcome) -> Outcome:
    """The outcome with its advice in the words of the caller's door; what is stored stays as it is."""
    worded = caller.console.worded
    if isinstance(outcome, Done) and outcome.hint:
        return replace(outcome, message=f"{outcome.message}. {worded(outcome.hint)}", hint="")
    if isinstance(outcome, Result) and outcome.empty:
        return replace(outcome, empty=worded(outcome.empty))
    return outcome


def _notes(standing: "Standing | None", max_tokens: int | None, reason: str) -> Notes:
    if standing is None:
        return NO_NOTES
    # A caller that names a budget gets the same bytes for the same question, however the account stands.
    if max_tokens is not None:
        return Notes(standing.alert)
    return Notes(standing.alert, standing.spendable, reason)


def fitted(outcome: Outcome, budget: Budget, level: str, layout: Layout) -> tuple[Outcome, Draft]:
    """A draft of the reply, and its outcome: the one given, or the same with more blocks rendered."""
    if isinstance(outcome, Done):
        return outcome, _confirmation(outcome, budget, layout)
    if isinstance(outcome, Document):
        return outcome, fit_document(outcome, budget, layout)
    draft = fit(outcome, budget, level, layout)
    while outcome.extend and outcome.rest and not (draft.remainder and draft.remainder.blocks):
        longer = extended(outcome)
        if len(longer.blocks) == len(outcome.blocks):
            break
        further = fit(longer, budget, level, layout)
        # The footer of a reply cut by its budget is longer, and can cost the last item its place.
        if len(further.reply(DEAREST_KEY).names) < len(draft.reply(DEAREST_KEY).names):
            break
        outcome, draft = longer, further
    return outcome, draft


def extended(result: Result) -> Result:
    """The result with twice as much of it rendered: a reply that shows all of it may have room for more.

    Items beyond the caller's limit are never added.
    """
    blocks, rest = list(result.blocks), result.rest
    while rest and result.extend and len(blocks) <= 2 * len(result.blocks):
        further, rest = result.extend(rest)
        if not further:
            break
        blocks += further
    return replace(result, blocks=blocks, rest=rest)


def _confirmation(done: Done, budget: Budget, layout: Layout) -> Draft:
    """A confirmation as it is; one that is over the budget in pages, as any other long text."""
    alert = layout.notes.alert if budget.tokens >= ALERT_FROM else ""
    whole = done.message
    text = f"{whole}\n{alert}" if alert else whole
    if layout.is_json:
        from json import dumps

        facts = {"message": done.message, **done.facts}
        whole = dumps(facts, ensure_ascii=False)
        text = dumps(facts | {"alert": alert}, ensure_ascii=False) if alert else whole
    cost = budget.profile.count(text)
    if cost <= budget.tokens:
        reply = Reply(text, cost)
        return Draft(lambda _: reply)
    return fit_document(Document(whole, name="confirmation"), budget, layout)


__all__ = ["Asked", "Origin", "Reply", "admit", "deliver", "deliver_failure"]
