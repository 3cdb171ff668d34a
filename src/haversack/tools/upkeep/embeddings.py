"""`reembed`: vectors for the memories that search by meaning cannot see yet."""

from typing import Annotated

from haversack.app import Caller
from haversack.memory.meaning import similarity
from haversack.text.amounts import counted
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Done, Outcome


@tool(
    Command("reembed", examples=("haversack reembed", "haversack reembed --all --json")),
    group="upkeep",
    writes=True,
    idempotent=True,
)
def reembed(caller: Caller, *, all: Annotated[bool, "Compute every vector anew"] = False) -> Outcome:
    """Give memories the vectors that search by meaning needs; interrupted work goes on where it stopped."""
    done = similarity.reembed(
        caller.memory, anew=all, step=lambda made, wanted: caller.console.progress("memories", made, wanted)
    )
    embedded = counted(done.embedded, "memory", "memories")
    later = f"; {done.lacking:,} more were saved meanwhile" if done.lacking else ""
    facts = {"model": done.model, "embedded": done.embedded, "lacking": done.lacking}
    return Done(f"{embedded} embedded with {done.model}{later}", facts, brief=f"{embedded} embedded")
