"""A parent leases parts of its budget to sub-agents; what they do not use comes back."""

from haversack.errors import Conflict
from haversack.worklog import open_log

log = open_log()
ledger = log.ledger
parent = ledger.open(100_000)
print(f"the parent has {parent.remaining:,} tokens")

leases = [ledger.open(20_000, parent=parent.handle) for _ in range(3)]
print(f"with three leases out it has {ledger.standing(parent.handle).remaining:,}")
try:
    ledger.open(20_000, parent=parent.handle)
except Conflict as error:
    print(f"a fourth is refused: it would take more than the {ledger.standing(parent.handle).remaining:,} left")
    assert error.code == "conflict"

for number, lease in enumerate(leases):
    log.record(lease.handle, "read_file", {"path": f"part{number}.md"}, f"Part {number} has this to say. " * 300)
    print(f"sub-agent {number} may still use {ledger.standing(lease.handle).remaining:,}")

returned = sum(ledger.close(lease.handle).returned for lease in leases)
print(f"{returned:,} tokens came back, {ledger.standing(parent.handle).remaining:,} remain")

ledger.declare_user(parent.handle, 50_000)
print(ledger.standing(parent.handle).alert)
