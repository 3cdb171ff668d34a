"""Any sequence of operations against a plain model: what remains, the histories and the leases are never wrong."""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from haversack.config import BudgetSettings
from haversack.errors import Conflict, InvalidArgument
from haversack.store.records import Entry
from haversack.worklog.log import WorkLog, line, open_log

TOTAL = 60_000
HISTORY = 300


@dataclass
class Model:
    """An account as anyone would keep it on paper."""

    total: int
    parent: "Model | None" = None
    server: int = 0
    system: int = 0
    user: int = 0
    results: int = 0
    reserve: int = 0
    history_limit: int = 0
    log: list[tuple[int, int]] = field(default_factory=list)
    """Ids and costs, the least recently used first."""
    evicted: int = 0
    leases: "list[Model]" = field(default_factory=list)
    closed: bool = False

    @property
    def history(self) -> int:
        return sum(cost for _, cost in self.log)

    @property
    def spent(self) -> int:
        held = sum(lease.total for lease in self.leases if not lease.closed)
        return self.server + self.system + self.user + self.results + self.history + held

    @property
    def remaining(self) -> int:
        return max(0, self.total - self.reserve - self.spent)

    def use(self, identifiers: set[int]) -> None:
        used = sorted(each for each in self.log if each[0] in identifiers)
        self.log = [each for each in self.log if each[0] not in identifiers] + used

    def close(self) -> None:
        for lease in self.leases:
            if not lease.closed:
                lease.close()
        spent = self.spent
        self.closed = True
        if self.parent:
            self.parent.results += spent


class Accounts(RuleBasedStateMachine):
    handles: Bundle[str] = Bundle("handles")

    def __init__(self) -> None:
        super().__init__()
        self.log: WorkLog = open_log(
            settings=BudgetSettings(
                total=TOTAL, system=5_000, history=HISTORY, tool_results=30_000, user=5_000, reserve=19_700
            ),
            profile="bytes4",
        )
        self.models: dict[str, Model] = {}

    def teardown(self) -> None:
        self.log.database.close()

    def _opened(self, handle: str, parent: Model | None) -> str:
        account = self.log.ledger.standing(handle).account
        self.models[handle] = Model(account.total, parent, reserve=account.reserve, history_limit=account.history_limit)
        if parent:
            parent.leases.append(self.models[handle])
        return handle

    @rule(target=handles, total=st.none() | st.integers(1_000, 200_000))
    def open(self, total: int | None) -> str:
        return self._opened(self.log.ledger.open(total).handle, None)

    @rule(target=handles, parent=handles, total=st.none() | st.integers(500, 50_000))
    def lease(self, parent: str, total: int | None) -> str:
        model = self.models[parent]
        wanted = model.remaining // 2 if total is None else total
        if not model.closed and 1_000 <= wanted <= model.remaining:
            return self._opened(self.log.ledger.open(total, parent=parent).handle, model)
        try:
            self.log.ledger.open(total, parent=parent)
        except (Conflict, InvalidArgument):
            return parent
        raise AssertionError("a lease that cannot be was given")

    @rule(handle=handles, tokens=st.integers(0, 20_000), tier=st.sampled_from(["server", "system", "user", "results"]))
    def spend(self, handle: str, tokens: int, tier: str) -> None:
        ledger, model = self.log.ledger, self.models[handle]
        change = {
            "server": ledger.measure_system,
            "system": ledger.declare_system,
            "user": ledger.declare_user,
            "results": ledger.debit,
        }[tier]
        if model.closed:
            try:
                change(handle, tokens)
            except Conflict:
                return
            raise AssertionError("a closed account was changed")
        change(handle, tokens)
        setattr(model, tier, tokens if tier == "server" else getattr(model, tier) + tokens)

    @rule(handle=handles, result=st.text(max_size=600))
    def record(self, handle: str, result: str) -> None:
        model = self.models[handle]
        if model.closed:
            return
        entry = self.log.record(handle, "read", {}, result)
        model.results += self.log.profile.count(result)
        model.log.append((entry.id, self.log.profile.count(line(entry))))
        while model.history > model.history_limit:
            model.log.pop(0)
            model.evicted += 1
        assert self.log.expand(entry.key) == result
        model_with_key = {each.id for each in self._with_key(entry)}
        for other in self.models.values():
            for identifier in model_with_key:
                other.use({identifier})

    def _with_key(self, entry: Entry) -> list[Entry]:
        return [each for handle in self.models for each in self.log.entries(handle, 10_000) if each.key == entry.key]

    @rule(handle=handles, choice=st.sets(st.integers(0, 30)))
    def show(self, handle: str, choice: set[int]) -> None:
        model = self.models[handle]
        shown = {identifier for at, (identifier, _) in enumerate(model.log) if at in choice}
        self.log.use(handle, shown)
        model.use(shown)

    @rule(handle=handles)
    def reset(self, handle: str) -> None:
        model = self.models[handle]
        if not model.closed:
            self.log.ledger.reset(handle)
            model.results = 0

    @rule(handle=consumes(handles))
    def close(self, handle: str) -> None:
        model = self.models[handle]
        if model.closed:
            return
        closed = self.log.ledger.close(handle)
        model.close()
        assert closed.spent == model.spent

    @invariant()
    def every_account_stands_as_the_model_says(self) -> None:
        for handle, model in self.models.items():
            standing = self.log.ledger.standing(handle)
            tiers = {tier.name: tier.used for tier in standing.tiers}
            assert standing.remaining == max(0, standing.total - sum(tiers.values())) == model.remaining
            assert tiers["history"] == model.history
            assert self.log.recount(handle) == (model.history, len(model.log), model.evicted)
            assert {entry.id for entry in self.log.entries(handle, 10_000)} == {each for each, _ in model.log}


TestAccounts = Accounts.TestCase
TestAccounts.settings = settings(max_examples=60, stateful_step_count=40)
