"""The one road: validate, run, fit, stash the rest, log. Every door calls a tool through here and only here."""

from collections.abc import Mapping

from haversack.app import App
from haversack.tokens import Budget
from haversack.tools.declaring import named
from haversack.tools.fitting import Remainder, Reply, Stasher, fit, fit_document
from haversack.tools.layouts import JsonLayout, Layout, TextLayout
from haversack.tools.registry import tools
from haversack.tools.result import LEVELS, Document, Done, Outcome, Result
from haversack.tools.validating import validate
from haversack.values import record


@record
class Options:
    """What a door asks of the road beyond the arguments: text without footer lines, for pasting."""

    footer: bool = True


USUAL = Options()


def call(app: App, name: str, arguments: Mapping[str, object], options: Options = USUAL) -> Reply:
    """Run a tool and give its reply, which is never over the budget; anything wrong is a HaversackError."""
    tool = named(tools(), name)
    values = validate(tool, arguments)
    layout: Layout = JsonLayout() if values.pop("format") == "json" else TextLayout(footer=options.footer)
    level = values.pop("detail_level", "") or "standard"
    asked = values.pop("max_tokens", None) if tool.budgeted else None
    budget = Budget(asked or tool.default_tokens or app.config.budget.per_tool, app.profile)
    outcome = tool.function(app, **values)
    return _fitted(app, outcome, budget, level, layout, name)


def _fitted(app: App, outcome: Outcome, budget: Budget, level: str, layout: Layout, name: str) -> Reply:
    if isinstance(outcome, Done):
        return _message(outcome, budget, layout)
    stash = _stasher(app, outcome, name, LEVELS[0] if level == "auto" else level)
    if isinstance(outcome, Document):
        return fit_document(outcome, budget, layout, stash)
    return fit(outcome, budget, level, layout, stash)


def _message(done: Done, budget: Budget, layout: Layout) -> Reply:
    text = done.message
    if isinstance(layout, JsonLayout):
        from json import dumps

        text = dumps({"message": done.message, **done.facts}, ensure_ascii=False)
    return Reply(text, budget.profile.count(text))


def _stasher(app: App, outcome: Outcome, name: str, level: str) -> Stasher:
    from haversack.tools.paging import frozen

    def stash(remainder: Remainder) -> str:
        shown = 0
        if isinstance(outcome, Result):
            left = sum(block.counted for block, _ in remainder.blocks)
            shown = sum(block.counted for block in outcome.blocks) - left
        return app.stash.keep(frozen(outcome, remainder, shown, level), name)

    return stash


__all__ = ["Options", "Reply", "call"]
